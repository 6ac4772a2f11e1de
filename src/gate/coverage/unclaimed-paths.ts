import { type Budget, whileTime } from '../../core/budget.ts';
import type { Finding } from '../../core/error.ts';
import type { Account } from '../../core/writeback/account.ts';
import type { Comparison } from '../../git/changes/changes.ts';
import type { CommitChange } from '../../git/changes/patch-reader.ts';
import type { Oid } from '../../git/objects/store.ts';
import type { Range } from '../../git/refs/range.ts';
import type { FindUnlisted } from '../reviews/unlisted.ts';
import type { Covers } from './ancestry.ts';
import type { CodeOf } from './code.ts';
import type { Comparer } from './comparer.ts';
import { type OwnChanges, readOwn } from './own-changes.ts';

/** What the paths of a change are judged with. */
export interface PathCase {
  range: Range;
  comparer: Comparer;
  budget: Budget;
  /** What the whole change is read from, tree by tree; null: from its commits, as what else differs was judged elsewhere. */
  whole: Comparison[] | null;
  /** What base has and head has not, where head takes its place all the same. */
  dropped: Range;
  /** Which of the thoughts that list files may account for the files they list. */
  claimsOf(claiming: readonly Account[], covers: Covers<Account>, find: FindUnlisted): Promise<readonly Account[]>;
  /** Whether a path is the same on the protected branch: then it does not change, whoever changed it too. */
  isThere(path: string): Promise<boolean>;
}

/** Which paths need no thought that lists them. */
export interface PathExcuses {
  /** The thoughts that cover something, and which commits. */
  covers: Covers<Account>;
  waived: ReadonlySet<Oid>;
  /** The thoughts that list paths. */
  claiming: Account[];
  /** Commits that git has put elsewhere, and the paths that were changed before: others are git's choice. */
  moved: ReadonlyMap<Oid, ReadonlySet<string>>;
  findUnlisted: FindUnlisted;
}

const MOST_PATHS = 100;

/** SPEC §10.4, step 6: the paths that change and that none of the thoughts that cover lists. */
export async function unclaimedPaths(
  input: PathCase,
  own: OwnChanges,
  codeOf: CodeOf,
  { claiming, covers, waived, moved, findUnlisted }: PathExcuses,
): Promise<string[]> {
  const { whole, isThere, comparer, range, dropped, budget } = input;
  const wanted =
    whole === null ? pathsOf([...own.values()], codeOf) : inAll(await comparer.changes.read(whole), codeOf);
  const pathsOfCommit = (oid: Oid): string[] => codeOf(own.get(oid) ?? NOTHING);
  const excused = new Set([...waived].flatMap(pathsOfCommit));
  for (const [oid, before] of moved) for (const path of pathsOfCommit(oid)) if (!before.has(path)) excused.add(path);
  const claimed = new Set((await input.claimsOf(claiming, covers, findUnlisted)).flatMap(({ files }) => files));
  const unclaimed: string[] = [];
  for (const path of whileTime(budget, wanted)) {
    if (!claimed.has(path) && !excused.has(path) && !(await isThere(path))) unclaimed.push(path);
  }
  if (unclaimed.length === 0 || dropped.commits.length > 0) return unclaimed;
  // what no commit changes by itself, git has put there: it follows a file that another side renamed
  const changed = pathsOf(await readOwn(comparer, codeOf, range.commits), codeOf);
  return unclaimed.filter((path) => changed.has(path));
}

const NOTHING: CommitChange = { paths: [], unlikeFiles: new Set(), patchId: null };

function pathsOf(changes: readonly CommitChange[], codeOf: CodeOf): Set<string> {
  return new Set(changes.flatMap(codeOf));
}

/** What differs from every one of several beginnings. */
function inAll([first, ...rest]: readonly CommitChange[], codeOf: CodeOf): Set<string> {
  const sets = rest.map((change) => new Set(codeOf(change)));
  return new Set(first ? codeOf(first).filter((path) => sets.every((set) => set.has(path))) : []);
}

/** `listed`: by thoughts that would count if somebody approved them. */
export function uncovered(missing: readonly string[], listed: ReadonlySet<string>): Finding[] {
  const left = missing.length > MOST_PATHS ? ` (and ${missing.length - MOST_PATHS} more such files)` : '';
  return missing.slice(0, MOST_PATHS).map((path, at) => ({
    code: 'files_uncovered',
    severity: 'error',
    path,
    message: `${path} is changed, and no thought record ${listed.has(path) ? 'that somebody else has approved ' : ''}lists it in files_changed${at === MOST_PATHS - 1 ? left : ''}.`,
    hint: listed.has(path)
      ? 'Somebody else looks at the thought record that lists it: git handoff review TASK --verdict approve; or a new thought lists all that comes, and is reviewed.'
      : 'Record a thought for the commit that changes it: files_changed is filled in from git.',
  }));
}
