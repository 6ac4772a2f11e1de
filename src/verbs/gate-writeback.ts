import { type Account, exemption } from '../core/coverage.ts';
import type { Finding } from '../core/error.ts';
import { unaccountedPaths } from '../core/lines.ts';
import { listSome } from '../core/some.ts';
import type { Change, Changes, Comparison } from '../git/changes.ts';
import type { Range, RangeCommit } from '../git/range.ts';
import type { Oid } from '../git/store.ts';
import { type Covers, coverByAncestry, coverByPatch, isCovered } from './gate-coverage.ts';
import type { Repository } from './repository.ts';

export interface WritebackCase {
  range: Range;
  changes: Changes;
  /** What the whole change is read from, tree by tree; null: from its commits, as what else differs was judged elsewhere. */
  whole: Comparison[] | null;
  /** Head does not have all that base has, and takes its place all the same. */
  isRewritten: boolean;
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
  const code = await readCode(input, covers);
  coverByPatch(range, code.byCommit, accounts, covers);
  const open = (): Oid[] =>
    [...code.byCommit]
      .filter(([oid, { paths }]) => paths.length > 0 && !waived.has(oid) && !isCovered(covers, oid))
      .map(([oid]) => oid);
  let claiming = [...covers.keys()];
  if (open().length > 0) {
    const older = await input.older();
    for (const oid of older.waived) waived.add(oid);
    for (const [account, commits] of coverByAncestry(range, older.accounts)) covers.set(account, commits);
    // what an old thought says of a patch was true once: it does not answer for its coming back
    claiming = [...covers.keys()];
    coverByPatch(range, code.byCommit, older.accounts, covers);
  }
  const missing = await Promise.all(open().map((oid) => missingFor(repository, oid, code.byCommit.get(oid)!.paths)));
  if (missing.length > 0) return { findings: missing, covers };
  const unclaimed = await unclaimedPaths({ ...input, waived }, code, claiming);
  return { findings: [...uncovered(unclaimed), ...undone(range, code)], covers };
}

interface Code {
  /** The change as a whole, from each of its beginnings. */
  wholes: Change[];
  /** The commits that were read, without what is exempt. */
  byCommit: Map<Oid, Change>;
  /** The commits, and of merges that are accounted for each side, line by line; empty where nothing can be undone. */
  lines: Change[];
  isExempt(path: string): boolean;
}

/** With one process. What a thought covers need not be read, unless a merge makes it matter what each commit did. */
async function readCode(input: WritebackCase, covers: Covers): Promise<Code> {
  const { range, whole, waived, exempt, isRewritten } = input;
  const isAccounted = (oid: Oid): boolean => isCovered(covers, oid) || waived.has(oid);
  const merges = range.commits.filter(({ parents }) => parents.length > 1);
  const withLines = whole !== null && (isRewritten || merges.some(({ oid }) => !isAccounted(oid)));
  const asked = range.commits
    .map(({ oid }) => oid)
    .filter((oid) => withLines || whole === null || waived.has(oid) || !isCovered(covers, oid));
  const sides = withLines ? merges.filter(({ oid }) => isAccounted(oid)).flatMap(sidesOf) : [];
  const comparisons = [...(whole ?? []), ...asked.map((oid) => ({ commit: oid })), ...sides];
  const changes = await input.changes.read(comparisons, { lines: withLines });
  const wholes = changes.splice(0, whole?.length ?? 0);
  const isExempt = exemption(exempt);
  const byCommit = new Map(asked.map((oid, at) => [oid, codeOf(changes[at]!, isExempt, withLines)]));
  return { wholes, byCommit, lines: withLines ? changes : [], isExempt };
}

function sidesOf({ oid, parents }: RangeCommit): Comparison[] {
  return parents.map((parent) => ({ commit: oid, parent }));
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
  return {
    code: 'writeback_missing',
    severity: 'error',
    commit: oid,
    path: paths[0]!,
    message: `Commit ${oid.slice(0, 12)} (${message.split('\n', 1)[0]}) changes ${listSome(paths, 1)}, and no thought record accounts for it.`,
    hint: `Record what was done: git handoff thought TASK --commit ${oid.slice(0, 12)}, commit the record too (git commit -- .handoff) and push again. A maintainer may waive it: git handoff waiver ${oid.slice(0, 12)} --reason TEXT`,
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

/** A merge can take back, line by line, what the protected branch has, and look to git like one that takes a side. */
function undone({ commits }: Range, { wholes, lines, isExempt }: Code): Finding[] {
  if (lines.length === 0) return [];
  const linesOf = (changes: readonly Change[]) => changes.map((change) => change.lines!);
  const paths = unaccountedPaths(linesOf(wholes), linesOf(lines), isExempt);
  const merge = commits.find(({ parents }) => parents.length > 1);
  return paths.slice(0, MOST_PATHS).map((path) => ({
    code: 'writeback_missing',
    severity: 'error',
    path,
    ...(merge ? { commit: merge.oid } : {}),
    message: `${path} has lost or gained lines that no commit which is accounted for took away or brought${merge ? ': a merge did' : ''}.`,
    hint: 'Merge again and keep what the protected branch has; or record a thought for the merge that says why not: git handoff thought TASK --commit MERGE',
  }));
}
