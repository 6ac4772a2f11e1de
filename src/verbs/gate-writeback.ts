import { type Account, exemption } from '../core/coverage.ts';
import type { Finding } from '../core/error.ts';
import { unaccountedPaths } from '../core/lines.ts';
import type { Change, Changes, Comparison } from '../git/changes.ts';
import { ancestorsIn, type Range, type RangeCommit } from '../git/range.ts';
import type { Oid } from '../git/store.ts';
import type { Repository } from './repository.ts';

export interface WritebackCase {
  range: Range;
  changes: Changes;
  /** What the whole change is read from, tree by tree; null: from its commits, as what else differs was judged elsewhere. */
  whole: Comparison[] | null;
  /** Head does not have all that base has, and takes its place all the same. */
  isRewritten: boolean;
  accounts: readonly Account[];
  /** Commits that a maintainer has excepted. */
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
  covers: Map<Account, Set<Oid>>;
}

/** SPEC §10.4: every commit that changes code is accounted for, and so is every path. */
export async function judgeWriteback(repository: Repository, input: WritebackCase): Promise<Writeback> {
  const { whole } = input;
  const waived = new Set(input.waived);
  const covers = coverByAncestry(input.range, input.accounts);
  const read = await readCode(input, coverage(covers));
  const open = () =>
    read.asked.filter((oid) => !coverage(covers)(oid) && !waived.has(oid) && read.paths(oid).length > 0);
  coverByPatch(input.range, read.byCommit, input.accounts, covers);
  let claiming = [...covers.keys()];
  if (open().length > 0) {
    const older = await input.older();
    for (const oid of older.waived) waived.add(oid);
    for (const [account, commits] of coverByAncestry(input.range, older.accounts)) covers.set(account, commits);
    // what an old thought says of a patch was true once: it does not answer for its coming back
    claiming = [...covers.keys()];
    coverByPatch(input.range, read.byCommit, older.accounts, covers);
  }
  const missing = await Promise.all(open().map((oid) => missingFor(repository, oid, read.paths(oid))));
  if (missing.length > 0) return { findings: missing, covers };
  const wanted = whole === null ? pathsOf([...read.byCommit.values()]) : inAll(read.wholes, read.isExempt);
  const excused = pathsOf([...waived].map((oid) => read.byCommit.get(oid)).filter((change) => change !== undefined));
  const unclaimed = uncovered(await unclaimedPaths(input, wanted, excused, claiming));
  return { findings: [...unclaimed, ...undone(input, read)], covers };
}

interface Code {
  wholes: Change[];
  /** The commits that were read. */
  asked: Oid[];
  byCommit: Map<Oid, Change>;
  /** The commits, and of merges that are accounted for each side, line by line; empty where nothing can be undone. */
  lines: Change[];
  isExempt(path: string): boolean;
  paths(oid: Oid): string[];
}

/** With one process. What a thought covers need not be read, unless a merge makes it matter what each commit did. */
async function readCode(input: WritebackCase, isCovered: (oid: Oid) => boolean): Promise<Code> {
  const { range, whole, waived, exempt, isRewritten } = input;
  const isAccounted = (oid: Oid): boolean => isCovered(oid) || waived.has(oid);
  const merges = range.commits.filter(({ parents }) => parents.length > 1);
  const withLines = whole !== null && (isRewritten || merges.some(({ oid }) => !isAccounted(oid)));
  const asked = range.commits
    .map(({ oid }) => oid)
    .filter((oid) => withLines || whole === null || waived.has(oid) || !isCovered(oid));
  const sides = withLines ? merges.filter(({ oid }) => isAccounted(oid)).flatMap(sidesOf) : [];
  const comparisons = [...(whole ?? []), ...asked.map((oid) => ({ commit: oid })), ...sides];
  const changes = await input.changes.read(comparisons, { lines: withLines });
  const wholes = changes.splice(0, whole?.length ?? 0);
  const isExempt = exemption(exempt);
  const byCommit = new Map(asked.map((oid, at) => [oid, codeOf(changes[at]!, isExempt, withLines)]));
  const paths = (oid: Oid): string[] => byCommit.get(oid)!.paths;
  return { wholes, asked, byCommit, lines: withLines ? changes : [], isExempt, paths };
}

function sidesOf({ oid, parents }: RangeCommit): Comparison[] {
  return parents.map((parent) => ({ commit: oid, parent }));
}

function coverByAncestry(range: Range, accounts: readonly Account[]): Map<Account, Set<Oid>> {
  const commits = byOid(range);
  const covers = new Map<Account, Set<Oid>>();
  for (const account of accounts) {
    const found = ancestorsIn(commits, account.commit);
    if (found.size > 0) covers.set(account, found);
  }
  return covers;
}

function byOid({ commits }: Range): Map<Oid, RangeCommit> {
  return new Map(commits.map((commit) => [commit.oid, commit]));
}

function coverage(covers: ReadonlyMap<Account, Set<Oid>>): (oid: Oid) => boolean {
  return (oid) => [...covers.values()].some((commits) => commits.has(oid));
}

/**
 * After squash, rebase or cherry-pick the commit is another, and what it does the same. It is done once: the same patch on top of
 * itself is a change of its own, somewhere else in the file.
 */
function coverByPatch(
  range: Range,
  byCommit: ReadonlyMap<Oid, Change>,
  accounts: readonly Account[],
  covers: Map<Account, Set<Oid>>,
): void {
  const commits = byOid(range);
  for (const { oid } of [...range.commits].reverse()) {
    const patchId = byCommit.get(oid)?.patchId;
    const fitting = patchId ? accounts.filter(({ patchIds }) => patchIds.has(patchId)) : [];
    if (fitting.length === 0) continue;
    const ancestors = ancestorsIn(commits, oid);
    const isAgain = (done: Oid): boolean =>
      done !== oid && byCommit.get(done)?.patchId === patchId && ancestors.has(done);
    for (const account of fitting) {
      const covered = covers.get(account) ?? new Set<Oid>();
      if ([...covered].some(isAgain) || (ancestors.has(account.commit) && account.commit !== oid)) continue;
      covers.set(account, covered.add(oid));
    }
  }
}

/** A file that a merge has moved has lines that no parent has at that path: where lines are counted, they tell. */
function codeOf({ paths, moved, patchId }: Change, isExempt: (path: string) => boolean, withLines: boolean): Change {
  return { paths: paths.filter((path) => !isExempt(path) && !(withLines && moved?.has(path))), patchId };
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
  const what = paths.length === 1 ? paths[0] : `${paths[0]} and ${paths.length - 1} more`;
  return {
    code: 'writeback_missing',
    severity: 'error',
    commit: oid,
    path: paths[0]!,
    message: `Commit ${oid.slice(0, 12)} (${message.split('\n', 1)[0]}) changes ${what}, and no thought record accounts for it.`,
    hint: `Record what was done: git handoff thought TASK --commit ${oid.slice(0, 12)}, commit the record too (git commit -- .handoff) and push again. A maintainer may except the commit: git handoff waiver ${oid.slice(0, 12)} --reason TEXT`,
  };
}

const MOST_PATHS = 100;

async function unclaimedPaths(
  { isThere }: WritebackCase,
  wanted: ReadonlySet<string>,
  excused: ReadonlySet<string>,
  accounts: readonly Account[],
): Promise<string[]> {
  const claimed = new Set(accounts.flatMap(({ files }) => files));
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

/** A merge can take back, line by line, what the protected branch has, and look to git like one that takes a side. */
function undone({ range }: WritebackCase, { wholes, lines, isExempt }: Code): Finding[] {
  if (lines.length === 0) return [];
  const linesOf = (changes: readonly Change[]) => changes.map((change) => change.lines!);
  const paths = unaccountedPaths(linesOf(wholes), linesOf(lines), isExempt);
  const merge = range.commits.find(({ parents }) => parents.length > 1);
  return paths.slice(0, MOST_PATHS).map((path) => ({
    code: 'writeback_missing',
    severity: 'error',
    path,
    ...(merge ? { commit: merge.oid } : {}),
    message: `${path} has lost or gained lines that no commit which is accounted for took away or brought${merge ? ': a merge did' : ''}.`,
    hint: 'Merge again and keep what the protected branch has; or record a thought for the merge that says why not: git handoff thought TASK --commit MERGE',
  }));
}
