import type { Account } from '../../core/writeback/account.ts';
import { emptyTree } from '../../git/changes/changes.ts';
import type { CommitChange } from '../../git/changes/patch-reader.ts';
import type { Oid } from '../../git/objects/store.ts';
import type { RangeCommit } from '../../git/refs/range.ts';
import type { Comparer } from './comparer.ts';
import { allFitOnce, type SingleCommit } from './repeats.ts';

/** What a thought's commit has behind it. */
export interface Work {
  /** Its own commits, by their patch ids. */
  commits: ReadonlyMap<string, readonly SingleCommit[]>;
  merges: readonly RangeCommit[];
  /** These, and whatever else is among them. */
  all: readonly RangeCommit[];
}

/** More places at which a piece of work may have begun are not looked at. */
const MOST_BEGINNINGS = 64;

/** What a thought's commit changes, compared with one of the places where the work may have begun. */
interface Whole {
  comparison: { before: Oid; after: Oid };
  change: CommitChange;
}

/**
 * All that may be the whole of a thought's work. The thought does not say where it began: at what the protected branch and the commit
 * have in common, or at a parent of its own commits, or of a merge among them.
 */
export async function readWholes(
  comparer: Comparer,
  commit: Oid,
  { commits, merges, shared }: Omit<Work, 'all'> & { shared: readonly Oid[] },
): Promise<Whole[]> {
  const own = [...commits.values()].flat();
  const isOwn = new Set(own.map(({ oid }) => oid));
  const nothing = own.some(({ parents }) => parents.length === 0) ? [null] : [];
  const parents = [...own.toReversed(), ...merges].flatMap((each) => each.parents).filter((oid) => !isOwn.has(oid));
  const beginnings = [...new Set([...shared, ...nothing, ...parents])].slice(0, MOST_BEGINNINGS);
  const treeOf = async (oid: Oid | null) =>
    oid === null ? emptyTree(commit) : (await comparer.store.readCommit(oid)).tree;
  const after = await treeOf(commit);
  const compared = await Promise.all(beginnings.map(async (oid) => ({ before: await treeOf(oid), after })));
  const changes = await comparer.changes.read(compared);
  return compared.map((comparison, at) => ({ comparison, change: changes[at]! }));
}

/** Whether one of them has the patch id that the thought gives it, and that patch fits at one place. */
export async function wholeFitsOnce(
  comparer: Comparer,
  { commit, wholePatchId }: Account,
  work: Work & { shared: readonly Oid[] },
): Promise<boolean> {
  for (const { comparison, change } of await readWholes(comparer, commit, work)) {
    if (change.patchId !== wholePatchId) continue;
    const [hunks = null] = await comparer.changes.readHunks([comparison]);
    if (hunks !== null && (await allFitOnce(comparer, hunks))) return true;
  }
  return false;
}
