import type { Account } from '../../core/writeback/account.ts';
import type { Oid } from '../../git/objects/store.ts';
import type { Repository } from '../../repository/repository.ts';
import type { Carried, StepCase } from './candidates.ts';
import { notBehind } from './history.ts';

/**
 * SPEC §10.4, step 3: git merges all that a commit has behind it. A thought that is about the last of it accounts for nothing that
 * comes along, unless that is listed too: by it, or by a thought about what is behind it.
 */
export async function readCarried(
  repository: Repository,
  { comparer, codeOf, accounts }: StepCase,
  account: Account,
  parent: Oid,
): Promise<Carried> {
  const { commit, files } = account;
  const shared = await comparer.mergeBases(commit, parent);
  const trees = await Promise.all(
    [parent, ...shared, commit].map(async (oid) => (await repository.store.readCommit(oid)).tree),
  );
  const after = trees.pop()!;
  const differing = (await comparer.changes.read(trees.map((before) => ({ before, after })))).map(codeOf);
  const [fromParent, ...fromShared] = differing;
  const brought = fromShared.reduce((all, some) => all.filter((path) => some.includes(path)), fromParent!);
  const beside = await accountsBehind(repository, account, accounts);
  const listed = new Set([...files, ...beside.flatMap((other) => other.files)]);
  return { paths: new Set(fromShared.flat()), beside, isListed: brought.every((path) => listed.has(path)) };
}

/** The other thoughts about what a thought's commit has behind it. */
async function accountsBehind(repository: Repository, account: Account, all: readonly Account[]): Promise<Account[]> {
  const { store } = repository;
  const others: Account[] = [];
  for (const other of all) if (other !== account && (await store.has(`${other.commit}^{commit}`))) others.push(other);
  const named = others.map(({ commit }) => commit);
  const ahead = await notBehind(repository, account.commit, named);
  return others.filter(({ commit }) => !ahead.has(commit));
}
