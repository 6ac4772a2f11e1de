import { type Account, exemption } from '../core/coverage.ts';
import type { Finding } from '../core/error.ts';
import { listSome } from '../core/some.ts';
import type { Change, Changes, Comparison } from '../git/changes.ts';
import type { Range, RangeCommit } from '../git/range.ts';
import { remergeAll } from '../git/remerge.ts';
import type { Oid } from '../git/store.ts';
import { type Covers, coverByAncestry, coverByPatch, isCovered } from './gate-coverage.ts';
import type { Repository } from './repository.ts';

export interface WritebackCase {
  range: Range;
  changes: Changes;
  /** What the whole change is read from, tree by tree; null: from its commits, as what else differs was judged elsewhere. */
  whole: Comparison[] | null;
  /** What base has and head has not, where head takes its place all the same. */
  dropped: Range;
  accounts: readonly Account[];
  /** Commits that a maintainer has waived. */
  waived: ReadonlySet<Oid>;
  exempt: readonly string[];
  /** What was there before: asked for only where that which arrives does not do. */
  older(): Promise<{ accounts: Account[]; waived: Oid[] }>;
  /** Whether a path is the same on the protected branch: then it does not change, whoever changed it too. */
  isThere(path: string): Promise<boolean>;
}

export interface Writeback {
  findings: Finding[];
  /** The thoughts that cover something, and which commits. */
  covers: Covers;
}

/** SPEC §10.4: every commit that changes code is accounted for, and so is every path. */
export async function judgeWriteback(repository: Repository, input: WritebackCase): Promise<Writeback> {
  const { range, accounts } = input;
  const waived = new Set(input.waived);
  const covers = coverByAncestry(range, accounts);
  const code = await readCode(repository, input, covers);
  coverByPatch(range, code.byCommit, accounts, covers);
  const open = (): Oid[] =>
    [...code.byCommit]
      .filter(([oid, { paths }]) => paths.length > 0 && !waived.has(oid) && !isCovered(covers, oid))
      .map(([oid]) => oid);
  if (open().length > 0) {
    // by ancestry alone: what an old thought says of a patch was true once, and does not answer for its coming back
    const older = await input.older();
    for (const oid of older.waived) waived.add(oid);
    for (const [account, commits] of coverByAncestry(range, older.accounts)) covers.set(account, commits);
  }
  const missing = await Promise.all(open().map((oid) => missingFor(repository, oid, code.byCommit.get(oid)!.paths)));
  // what a commit that nobody accounts for changes is said once
  const unclaimed = missing.length > 0 ? [] : await unclaimedPaths({ ...input, waived }, code, [...covers.keys()]);
  return { findings: [...missing, ...uncovered(unclaimed), ...undone(input.dropped, code)], covers };
}

interface Code {
  /** The change as a whole, from each of its beginnings. */
  wholes: Change[];
  /** The commits that were read, without what is exempt. */
  byCommit: Map<Oid, Change>;
  /** The same of those that are dropped. */
  dropped: Map<Oid, Change>;
  isExempt(path: string): boolean;
}

/** What a thought covers need not be read, unless something else is dropped for it. */
async function readCode(repository: Repository, input: WritebackCase, covers: Covers): Promise<Code> {
  const { range, whole, waived, dropped, exempt, changes } = input;
  const isWanted = (oid: Oid): boolean =>
    whole === null || dropped.commits.length > 0 || waived.has(oid) || !isCovered(covers, oid);
  const asked = range.commits.filter(({ oid }) => isWanted(oid));
  const lost = dropped.commits.filter(({ parents }) => parents.length < 2); // what a merge brought is among them
  const isExempt = exemption(exempt);
  const [wholes, own, others] = await Promise.all([
    changes.read(whole ?? []),
    readOwn(repository, changes, asked),
    changes.read(lost.map(({ oid }) => ({ commit: oid }))),
  ]);
  const codeOf = ({ paths, patchId }: Change): Change => ({ paths: paths.filter((path) => !isExempt(path)), patchId });
  return {
    wholes,
    byCommit: new Map(asked.map(({ oid }, at) => [oid, codeOf(own[at]!)])),
    dropped: new Map(lost.map(({ oid }, at) => [oid, codeOf(others[at]!)])),
    isExempt,
  };
}

/** More of them than this that nobody accounts for are not merged again, and count for all that they bring. */
const MOST_MERGES = 256;

/**
 * What each commit does by itself. Of a merge that is what git would not have made of its parents alone: a conflict that was
 * resolved, and anything that was slipped in or left out.
 */
export async function readOwn(
  repository: Repository,
  changes: Changes,
  commits: readonly RangeCommit[],
): Promise<Change[]> {
  const merges = commits.filter(({ parents }) => parents.length > 1);
  const compared = new Map<Oid, Comparison>();
  const parents = merges.length > MOST_MERGES ? [] : merges.map((merge) => merge.parents);
  const trees = await remergeAll(repository.git, repository.store, parents);
  for (const [at, merge] of merges.entries()) {
    const tree = trees[at] ?? null;
    const after = (await repository.store.readCommit(merge.oid)).tree;
    compared.set(merge.oid, tree ? { before: tree, after } : { commit: merge.oid, parent: merge.parents[0]! });
  }
  const read = await changes.read(commits.map(({ oid }) => compared.get(oid) ?? { commit: oid }));
  return read.map((change, at) => (compared.has(commits[at]!.oid) ? { ...change, patchId: null } : change));
}

function pathsOf(changes: readonly Change[]): Set<string> {
  return new Set(changes.flatMap(({ paths }) => paths));
}

/** What differs from every one of several beginnings. */
function inAll([first, ...rest]: readonly Change[], isExempt: (path: string) => boolean): Set<string> {
  const sets = rest.map(({ paths }) => new Set(paths));
  const paths = (first?.paths ?? []).filter((path) => sets.every((set) => set.has(path)));
  return new Set(paths.filter((path) => !isExempt(path)));
}

async function missingFor({ store }: Repository, oid: Oid, paths: readonly string[]): Promise<Finding> {
  const { message } = await store.readCommit(oid);
  return {
    code: 'writeback_missing',
    severity: 'error',
    commit: oid,
    path: paths[0]!,
    message: `Commit ${oid.slice(0, 12)} (${message.split('\n', 1)[0]}) changes ${listSome(paths, 1)}, and no thought record accounts for it.`,
    hint: `Record what was done: git handoff thought TASK --commit ${oid.slice(0, 12)} (in an open session: git handoff start), commit the record too (git commit -- .handoff) and push again. A maintainer may waive it: git handoff waiver ${oid.slice(0, 12)} --reason TEXT`,
  };
}

const MOST_PATHS = 100;

/** The paths that change and that none of these thoughts lists. */
async function unclaimedPaths(
  { whole, waived, isThere }: WritebackCase,
  { wholes, byCommit, isExempt }: Code,
  claiming: readonly Account[],
): Promise<string[]> {
  const wanted = whole === null ? pathsOf([...byCommit.values()]) : inAll(wholes, isExempt);
  const excused = pathsOf([...waived].map((oid) => byCommit.get(oid)).filter((change) => change !== undefined));
  const claimed = new Set(claiming.flatMap(({ files }) => files));
  const unclaimed: string[] = [];
  for (const path of wanted) {
    if (!claimed.has(path) && !excused.has(path) && !(await isThere(path))) unclaimed.push(path);
  }
  return unclaimed;
}

function uncovered(missing: readonly string[]): Finding[] {
  return missing.slice(0, MOST_PATHS).map((path, at) => ({
    code: 'files_uncovered',
    severity: 'error',
    path,
    message: `${path} is changed, and no thought record lists it in files_changed${
      at === MOST_PATHS - 1 && missing.length > MOST_PATHS
        ? ` (and ${missing.length - MOST_PATHS} more such files)`
        : ''
    }.`,
    hint: 'Record a thought for the commit that changes it: files_changed is filled in from git.',
  }));
}

/** Code that is on the protected branch is taken back by a commit that says so, and not by leaving it out. */
function undone({ commits }: Range, { byCommit, dropped }: Code): Finding[] {
  const again = new Set([...byCommit.values()].map(({ patchId }) => patchId));
  const lost = commits.filter(({ oid }) => {
    const change = dropped.get(oid);
    return change && change.paths.length > 0 && !again.has(change.patchId);
  });
  return lost.slice(0, MOST_PATHS).map(({ oid }) => ({
    code: 'writeback_missing',
    severity: 'error',
    commit: oid,
    path: dropped.get(oid)!.paths[0]!,
    message: `Commit ${oid.slice(0, 12)} is on the protected branch, and is dropped: nothing here does what it did.`,
    hint: 'Bring the protected branch in (git merge or git rebase) and push without force. What should go is reverted by a commit of its own.',
  }));
}
