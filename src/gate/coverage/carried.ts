import type { Account } from '../../core/writeback/account.ts';
import type { Oid } from '../../git/objects/store.ts';
import type { GitAccess } from '../../repository/parts.ts';
import type { Carried, ThoughtCase } from './candidates.ts';
import { notBehind } from './history.ts';

/**
 * SPEC §10.4.5: git merges all that a commit has behind it. A thought that is about the last of it accounts for nothing that
 * comes along, unless that is listed too: by it, or by a thought about what is behind it.
 */
export async function readCarried(
  repository: GitAccess,
  { comparer, codeOf }: ThoughtCase,
  { commit, files }: Account,
  parent: Oid,
  besides: () => Promise<readonly Account[]>,
): Promise<Carried> {
  const shared = await comparer.mergeBases(commit, parent);
  const trees = await Promise.all(
    [parent, ...shared, commit].map(async (oid) => (await repository.store.readCommit(oid)).tree),
  );
  const after = trees.pop()!;
  const differing = (await comparer.changes.read(trees.map((before) => ({ before, after })))).map(codeOf);
  const [fromParent, ...fromShared] = differing;
  const brought = fromShared
    .map((each) => new Set(each))
    .reduce((all, each) => all.filter((path) => each.has(path)), fromParent!);
  const paths = new Set(fromShared.flat());
  const isIn = (listed: readonly string[]) => isSubset(brought, new Set(listed));
  if (isIn(files)) return { paths, beside: [], isListed: true };
  const beside = await besides();
  return { paths, beside, isListed: isIn([...files, ...beside.flatMap((other) => other.files)]) };
}

function isSubset(part: readonly string[], all: ReadonlySet<string>): boolean {
  return part.every((path) => all.has(path));
}

/** The other thoughts about what a thought's commit has behind it. */
export async function accountsBehind(
  repository: GitAccess,
  { commit }: Account,
  others: readonly Account[],
): Promise<Account[]> {
  const named = others.filter((other) => other.commit !== commit).map((other) => other.commit);
  const ahead = await notBehind(repository, commit, named);
  const isHere = await Promise.all(others.map((other) => repository.store.has(`${other.commit}^{commit}`)));
  return others.filter((other, at) => isHere[at] && !ahead.has(other.commit));
}
