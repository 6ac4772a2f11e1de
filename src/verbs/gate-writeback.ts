import { type Account, exemption } from '../core/coverage.ts';
import type { Finding } from '../core/error.ts';
import { ROOT } from '../core/paths.ts';
import { type Change, type Comparison, readChanges } from '../git/changes.ts';
import { ancestorsIn, type Range } from '../git/range.ts';
import type { Oid } from '../git/store.ts';
import type { Repository } from './repository.ts';

export interface WritebackCase {
  range: Range;
  /** What the whole change is read from, tree by tree; null: from its commits, as what else differs was judged elsewhere. */
  whole: Comparison[] | null;
  accounts: readonly Account[];
  /** Commits that a maintainer has excepted. */
  waived: ReadonlySet<Oid>;
  exempt: readonly string[];
  /** Thoughts that were there before: asked for only where those that arrive do not do. */
  older(): Promise<Account[]>;
}

export interface Writeback {
  findings: Finding[];
  /** The thoughts that cover something, and which commits. */
  covers: Map<Account, Set<Oid>>;
}

/** SPEC §10.4: every commit that changes code is accounted for, and so is every path. */
export async function judgeWriteback(repository: Repository, input: WritebackCase): Promise<Writeback> {
  const { range, whole, waived } = input;
  const covers = coverByAncestry(range, input.accounts);
  const isCovered = coverage(covers);
  const asked = range.commits.filter(({ oid }) => whole === null || waived.has(oid) || !isCovered(oid));
  const comparisons = asked.map(({ oid }) => ({ commit: oid }));
  const changes = await readChanges(repository.git, [...(whole ?? []), ...comparisons], ROOT);
  const isExempt = exemption(input.exempt);
  const byCommit = new Map(asked.map(({ oid }, at) => [oid, codeOf(changes[(whole?.length ?? 0) + at]!, isExempt)]));
  const open = () =>
    asked.filter(({ oid }) => !isCovered(oid) && !waived.has(oid) && byCommit.get(oid)!.paths.length > 0);
  coverByPatch(byCommit, input.accounts, covers);
  if (open().length > 0) {
    const older = await input.older();
    for (const [account, commits] of coverByAncestry(range, older)) covers.set(account, commits);
    coverByPatch(byCommit, older, covers);
  }
  const missing = await Promise.all(open().map(({ oid }) => missingFor(repository, oid, byCommit.get(oid)!)));
  const wanted = whole === null ? pathsOf([...byCommit.values()]) : inAll(changes.slice(0, whole.length), isExempt);
  const excused = pathsOf([...waived].map((oid) => byCommit.get(oid)).filter((change) => change !== undefined));
  const unclaimed = missing.length > 0 ? [] : uncovered(wanted, excused, [...covers.keys()]);
  return { findings: [...missing, ...unclaimed], covers };
}

function coverByAncestry(range: Range, accounts: readonly Account[]): Map<Account, Set<Oid>> {
  const commits = new Map(range.commits.map((commit) => [commit.oid, commit]));
  const covers = new Map<Account, Set<Oid>>();
  for (const account of accounts) {
    const found = ancestorsIn(commits, account.commit);
    if (found.size > 0) covers.set(account, found);
  }
  return covers;
}

function coverage(covers: ReadonlyMap<Account, Set<Oid>>): (oid: Oid) => boolean {
  return (oid) => [...covers.values()].some((commits) => commits.has(oid));
}

/** After squash, rebase or cherry-pick the commit is another, and what it does the same. */
function coverByPatch(
  byCommit: ReadonlyMap<Oid, Change>,
  accounts: readonly Account[],
  covers: Map<Account, Set<Oid>>,
): void {
  for (const [oid, { patchId }] of byCommit) {
    const account = patchId === null ? undefined : accounts.find(({ patchIds }) => patchIds.has(patchId));
    if (account) covers.set(account, (covers.get(account) ?? new Set()).add(oid));
  }
}

function codeOf({ paths, patchId }: Change, isExempt: (path: string) => boolean): Change {
  return { paths: paths.filter((path) => !isExempt(path)), patchId };
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

async function missingFor({ store }: Repository, oid: Oid, { paths }: Change): Promise<Finding> {
  const { message } = await store.readCommit(oid);
  const what = paths.length === 1 ? paths[0] : `${paths[0]} and ${paths.length - 1} more`;
  return {
    code: 'writeback_missing',
    severity: 'error',
    commit: oid,
    path: paths[0]!,
    message: `Commit ${oid.slice(0, 12)} (${message.split('\n', 1)[0]}) changes ${what}, and no thought record accounts for it.`,
    hint: `Record what was done: git handoff thought TASK --commit ${oid.slice(0, 12)}, commit the record and push again. A maintainer may except the commit: git handoff waiver ${oid.slice(0, 12)} --reason TEXT`,
  };
}

const MOST_PATHS = 100;

function uncovered(wanted: ReadonlySet<string>, excused: ReadonlySet<string>, accounts: readonly Account[]): Finding[] {
  const claimed = new Set(accounts.flatMap(({ files }) => files));
  const missing = [...wanted].filter((path) => !claimed.has(path) && !excused.has(path));
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
