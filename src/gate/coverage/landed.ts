import type { Budget } from '../../core/budget.ts';
import type { Account } from '../../core/writeback/account.ts';
import type { Oid } from '../../git/objects/store.ts';
import type { RangeCommit } from '../../git/refs/range.ts';
import { readGit } from '../../git/run.ts';
import type { GitAccess } from '../../repository/parts.ts';
import { openAnchoring } from './anchors.ts';
import type { CodeOf } from './code.ts';
import type { Comparer } from './comparer.ts';
import { eachByTree } from './found-by-tree.ts';
import { listChanging } from './history.ts';
import { readOwn } from './own-changes.ts';
import { openRepeats } from './repeats.ts';
import { openThoughtWork } from './thought-work.ts';

export interface LandedCase {
  head: Oid;
  comparer: Comparer;
  codeOf: CodeOf;
  budget: Budget;
}

/**
 * SPEC §10.5: whether what a thought is about has come, where the thought was there before. Its records may have come without it.
 * This reads history, and is asked only where such a thought makes a task done.
 */
export async function hasLanded(repository: GitAccess, input: LandedCase, account: Account): Promise<boolean> {
  const { head, comparer, codeOf } = input;
  const { store } = repository;
  const isHere = await store.has(`${account.commit}^{commit}`);
  if (isHere && (await store.isAncestor(account.commit, head))) return true;
  const repeats = openRepeats(comparer, codeOf);
  if (isHere && (await repeats.mergedAt(head, [account.commit])).length > 0) return true;
  const { before, commits } = await readSince(repository, input, account);
  const changes = await readOwn(comparer, codeOf, commits);
  const own = new Map(commits.map(({ oid }, at) => [oid, changes[at]!]));
  const workOf = openThoughtWork(repository, { comparer, codeOf, knownCommits: before, accounts: [account] });
  const anchorCase = { range: { commits, boundary: new Set<Oid>() }, head, own, repeats, workOf };
  if (await eachByTree({ ...anchorCase, free: [], alike: new Map() }, account)) return true; // all of it is at head
  const anchoring = openAnchoring(anchorCase);
  await anchoring.byPatch([account]);
  await anchoring.byTree(account);
  return anchoring.found.anchored.has(account);
}

interface Since {
  /** What the branch was at just before the record came; nothing where it began with it. */
  before: Oid[];
  /** Those that may be what the thought is about, the newest first. */
  commits: RangeCommit[];
}

/**
 * The commits of one parent that change a file of the thought, since its record came; and before that as many as it lists, as after a
 * rebase the record comes last.
 */
async function readSince(repository: GitAccess, { head, budget }: LandedCase, account: Account): Promise<Since> {
  const { store } = repository;
  const came = await firstWith(repository, head, account.path);
  const [parent] = came === null ? [] : (await store.readCommit(came)).parents;
  const before = parent === undefined ? [] : [parent];
  const count = [...account.commitPatchIds.values()].reduce((sum, each) => sum + each, 1);
  const oids = [
    ...(await listChanging(repository, [head, ...before.map((oid) => `^${oid}`)], account.files)),
    ...(parent === undefined ? [] : await listChanging(repository, [parent], account.files, count)),
  ];
  budget.spend('commits', oids.length);
  const read = await Promise.all(oids.map((oid) => store.readCommit(oid)));
  return { before, commits: read.map(({ oid, parents }) => ({ oid, parents })) };
}

/** The commit with which a record came to a branch. Records stay as they are: no other one changes it. */
async function firstWith({ git }: GitAccess, head: Oid, path: string): Promise<Oid | null> {
  const out = await readGit(git, ['rev-list', '--first-parent', head, '--', path]);
  return out.toString('latin1').split('\n').slice(0, -1).at(-1) ?? null;
}
