import { once, oncePer } from '../../core/once.ts';
import type { Account } from '../../core/writeback/account.ts';
import type { Oid } from '../../git/objects/store.ts';
import type { RangeCommit } from '../../git/refs/range.ts';
import { readGit } from '../../git/run.ts';
import type { GitAccess } from '../../repository/parts.ts';
import type { ThoughtCase, ThoughtWork } from './candidates.ts';
import { accountsBehind, readCarried } from './carried.ts';
import { isUntouched, notBehind } from './history.ts';
import type { SingleCommit } from './repeats.ts';
import { type Work, wholeFitsOnce } from './whole-step.ts';

/** How many more commits than a thought lists are looked at: others may have been merged in between. */
const MORE = 256;

const NOT_HERE: ThoughtWork = {
  isHere: false,
  commits: new Map(),
  isWhole: async () => true,
  isAhead: async () => false,
  isUntouched: async () => false,
  carriedOnto: async () => ({ paths: new Set(), beside: [], isListed: false }),
  pathsOf: async () => [],
};

/** Reads what thoughts are about from the commits they name, each once, as far as those are here. */
export function openThoughtWork(repository: GitAccess, input: ThoughtCase): (account: Account) => Promise<ThoughtWork> {
  return oncePer((account: Account) => readThoughtWork(repository, input, account)); // two thoughts may name one commit, and begin at different ones
}

async function readThoughtWork(repository: GitAccess, input: ThoughtCase, account: Account): Promise<ThoughtWork> {
  const { comparer, codeOf, knownCommits } = input;
  const { commit } = account;
  if (!(await repository.store.has(`${commit}^{commit}`))) return NOT_HERE;
  const work = await readWork(repository, input, account);
  const shared = (await Promise.all(knownCommits.map((oid) => comparer.mergeBases(commit, oid)))).flat();
  const others = input.accounts.filter((each) => each !== account);
  const besides = once(() => accountsBehind(repository, account, others));
  return {
    isHere: true,
    commits: work.commits,
    isWhole: once(() => wholeFitsOnce(comparer, account, { ...work, shared })),
    isAhead: aheadOf(repository, shared),
    isUntouched: (since, paths) => isUntouched(repository, knownCommits, since, paths),
    carriedOnto: oncePer((parent: Oid) => readCarried(repository, input, account, parent, besides)),
    pathsOf: async ({ oid }) => (await comparer.changes.read([{ commit: oid }])).flatMap(codeOf),
  };
}

/** The commits of one parent that have the ids which the thought lists, and the merges among them. */
export async function readWork(
  { git }: GitAccess,
  { comparer, knownCommits }: Pick<ThoughtCase, 'comparer' | 'knownCommits'>,
  account: Account,
): Promise<Work> {
  const { commit, commitPatchIds } = account;
  const count = `--max-count=${commitPatchIds.size + MORE}`;
  const args = ['rev-list', '--topo-order', '--parents', count, commit, '--not', ...knownCommits, '--'];
  const lines = (await readGit(git, args)).toString('latin1').split('\n').slice(0, -1);
  const all = lines.map((line) => line.split(' ')).map(([oid, ...parents]): RangeCommit => ({ oid: oid!, parents }));
  const single = all.filter(({ parents }) => parents.length < 2);
  const patches = await comparer.changes.read(single.map(({ oid }) => ({ commit: oid })));
  const commits = new Map<string, SingleCommit[]>();
  for (const [at, each] of single.entries()) {
    const patchId = patches[at]!.patchId ?? '';
    if (commitPatchIds.has(patchId)) commits.set(patchId, [...(commits.get(patchId) ?? []), each]);
  }
  return { commits, merges: all.filter(({ parents }) => parents.length > 1), all };
}

/**
 * Whether a commit was put on something that has all that the thought's commit shares with the protected branch. Where it has not,
 * merging brings what that had then along, which it may have taken back since; and picking leaves out what was there then.
 */
function aheadOf(repository: GitAccess, shared: readonly Oid[]): ThoughtWork['isAhead'] {
  const hasAll = oncePer(async (parent: Oid) => (await notBehind(repository, parent, shared)).size === 0);
  return async ({ parents: [parent] }) => parent !== undefined && shared.length > 0 && hasAll(parent);
}
