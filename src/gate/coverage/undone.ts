import type { Finding } from '../../core/error.ts';
import type { Oid } from '../../git/objects/store.ts';
import type { Range } from '../../git/refs/range.ts';
import type { CodeOf } from './code.ts';
import type { Comparer } from './comparer.ts';
import type { OwnChanges } from './own-changes.ts';
import { openRepeats } from './repeats.ts';

interface DroppedCase {
  base: Oid;
  head: Oid;
  comparer: Comparer;
  /** What base has and head has not, where head takes its place all the same. */
  dropped: Range;
}

/** More are not named. */
const MOST_COMMITS = 100;

/** M72: code that is on the protected branch is taken back by a commit that says so, and not by leaving it out. */
export async function findUndone(input: DroppedCase, own: OwnChanges, codeOf: CodeOf): Promise<Finding[]> {
  const { dropped, comparer, base, head } = input;
  if (dropped.commits.length === 0) return [];
  const single = dropped.commits.filter(({ parents }) => parents.length < 2); // what a merge brought is among them
  const changes = await comparer.changes.read(single.map(({ oid }) => ({ commit: oid })));
  const again = new Set([...own.values()].map(({ patchId }) => patchId));
  const lost = single
    .map(({ oid }, at) => ({ oid, paths: codeOf(changes[at]!), patchId: changes[at]!.patchId }))
    .filter(({ paths, patchId }) => paths.length > 0 && !again.has(patchId));
  // what a merge did, and how often a patch was applied and taken back, no list of patches tells: git does
  const isKept = (await openRepeats(comparer, codeOf).mergedAt(head, [base])).length > 0;
  if (lost.length === 0 && !isKept) return [droppedOf(base)];
  return lost.slice(0, MOST_COMMITS).map(({ oid, paths }) => ({
    code: 'writeback_missing',
    severity: 'error',
    commit: oid,
    path: paths[0]!,
    message: `Commit ${oid.slice(0, 12)} is on the protected branch, and is dropped: nothing here does what it did.`,
    hint: 'Bring the protected branch in (git merge or git rebase) and push without force. What should go is reverted by a commit of its own.',
  }));
}

function droppedOf(base: Oid): Finding {
  return {
    code: 'writeback_missing',
    severity: 'error',
    commit: base,
    message: `The protected branch is dropped at ${base.slice(0, 12)}, and merging it in would change what is here: something that it does is left out.`,
    hint: 'Bring the protected branch in (git merge or git rebase) and push without force. What should go is reverted by a commit of its own.',
  };
}
