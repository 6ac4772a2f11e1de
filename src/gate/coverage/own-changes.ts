import type { Comparison } from '../../git/changes/changes.ts';
import type { CommitChange } from '../../git/changes/patch-reader.ts';
import type { Oid } from '../../git/objects/store.ts';
import type { RangeCommit } from '../../git/refs/range.ts';
import { asChange, type CodeOf } from './code.ts';
import { openCodeMerger, type Remade } from './code-merger.ts';
import type { Comparer } from './comparer.ts';

/**
 * SPEC §10.4.3, step 1: what each commit changes by itself. Of a merge that is what git would not have made of its parents alone, and
 * whatever it left to a person to decide: a conflict is decided by whoever commits the merge, also where nothing was done about it.
 */
export async function readOwn(
  comparer: Comparer,
  codeOf: CodeOf,
  commits: readonly RangeCommit[],
): Promise<CommitChange[]> {
  const merges = commits.filter(({ parents }) => parents.length > 1);
  const trees = await Promise.all(merges.map(async ({ oid }) => (await comparer.store.readCommit(oid)).tree));
  const asked = merges.map(({ parents }, at) => ({ sides: parents, tree: trees[at]! }));
  const made = await openCodeMerger(comparer, codeOf).merge(asked);
  const ofMerges = await Promise.all(merges.map((merge, at) => readMerge(comparer, merge, made[at]!)));
  const byMerge = new Map(merges.map(({ oid }, at) => [oid, ofMerges[at]!]));
  const single = commits.filter(({ oid }) => !byMerge.has(oid));
  const read = await comparer.changes.read(single.map(({ oid }) => ({ commit: oid })));
  const bySingle = new Map(single.map(({ oid }, at) => [oid, read[at]!]));
  return commits.map(({ oid }) => byMerge.get(oid) ?? bySingle.get(oid)!);
}

/** If git cannot merge the parents, every file that differs from one of them counts: what was added and what was dropped. */
async function readMerge({ changes }: Comparer, merge: RangeCommit, made: Remade | null): Promise<CommitChange> {
  const compared: Comparison[] = made
    ? [{ before: made.tree, after: made.compared }]
    : merge.parents.map((parent) => ({ commit: merge.oid, parent }));
  const found = [...(await changes.read(compared)), asChange(made?.conflicts ?? [])];
  return {
    paths: [...new Set(found.flatMap(({ paths }) => paths))],
    unlikeFiles: new Set(found.flatMap(({ unlikeFiles }) => [...unlikeFiles])),
    patchId: null,
  };
}

export type OwnChanges = ReadonlyMap<Oid, CommitChange>;
