import type { Account } from '../../core/writeback/account.ts';
import { emptyTree } from '../../git/changes/changes.ts';
import type { Oid } from '../../git/objects/store.ts';
import type { RangeCommit } from '../../git/refs/range.ts';
import type { Comparer } from './comparer.ts';
import { allFitOnce, type SingleCommit } from './repeats.ts';

/** What a thought's commit has behind it. */
export interface Work {
  /** Its own commits, by their patch ids. */
  commits: ReadonlyMap<string, readonly SingleCommit[]>;
  merges: readonly RangeCommit[];
}

/** More places at which a piece of work may have begun are not looked at. */
const MOST_BEGINNINGS = 64;

/**
 * Whether the patch id of the whole is that of the thought's commit, compared with where the work may have begun, and that patch
 * fits at one place. A thought does not say where it began: it was what the protected branch and the commit have in common, or a
 * parent of its own commits, or of a merge among them.
 */
export async function wholeFitsOnce(
  comparer: Comparer,
  { commit, wholePatchId }: Account,
  { commits, merges, shared }: Work & { shared: readonly Oid[] },
): Promise<boolean> {
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
  const same = compared.filter((_, at) => changes[at]!.patchId === wholePatchId);
  for (const comparison of same) {
    const [hunks = null] = await comparer.changes.readHunks([comparison]);
    if (hunks !== null && (await allFitOnce(comparer, hunks))) return true;
  }
  return false;
}
