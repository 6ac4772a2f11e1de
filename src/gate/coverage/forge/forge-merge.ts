import type { Finding } from '../../../core/error.ts';
import type { Oid } from '../../../git/objects/store.ts';
import type { CodeOf } from '../code.ts';
import { openCodeMerger } from '../code-merger.ts';
import type { Comparer } from '../comparer.ts';
import { isSameCode } from '../repeats.ts';
import { canFollow, readSide } from './follow.ts';

/** A branch that does not have the protected one behind it, and is to be merged. */
export interface ForgeMerge {
  base: Oid;
  head: Oid;
  /** None where their histories never met: then no forge merges them. */
  mergeBases: readonly Oid[];
}

/**
 * SPEC §10.4.9: the merge that a forge makes afterwards has no commit yet, and nobody will judge it. It is made here as git makes it of
 * all files, and of code alone: where the code differs, git has followed something that is no code. A squash has the same tree.
 */
export async function judgeForgeMerge(comparer: Comparer, codeOf: CodeOf, input: ForgeMerge): Promise<Finding[]> {
  const { base, head } = input;
  if (!(await mayFollow(comparer, codeOf, input))) return [];
  const sides = [base, head];
  const [made = null] = await comparer.merger.merge([sides]);
  if (made && made.conflicts.length > 0) return []; // somebody has to decide, and what comes of that is judged
  const asked = made ? [{ sides, tree: made.tree }] : [];
  const [remade = null] = await openCodeMerger(comparer, codeOf).merge(asked);
  return (await isSameCode(comparer, codeOf, remade)) ? [] : [unlikeCode(input)];
}

async function mayFollow(
  { readRaw }: Comparer,
  codeOf: CodeOf,
  { base, head, mergeBases }: ForgeMerge,
): Promise<boolean> {
  const [parent, ...others] = mergeBases;
  if (parent === undefined || others.length > 0) return others.length > 0;
  const [ours, theirs] = await readRaw([base, head].map((commit) => ({ commit, parent })));
  return canFollow(readSide(codeOf, ours!), readSide(codeOf, theirs!));
}

function unlikeCode({ base, head }: ForgeMerge): Finding {
  const [main, branch] = [base.slice(0, 12), head.slice(0, 12)];
  return {
    code: 'writeback_missing',
    severity: 'error',
    commit: head,
    message: `Merging ${branch} into ${main} would change code by way of files that ask for no account: git takes one for the other, as where a file was renamed.`,
    hint: `Merge the protected branch into this one (git merge ${main}), look at what git makes of it (git show -m), put it right, and account for the merge: git handoff thought TASK --commit HEAD`,
  };
}
