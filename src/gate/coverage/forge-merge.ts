import type { Finding } from '../../core/error.ts';
import { isFileMode } from '../../git/changes/patch-reader.ts';
import type { RawChange } from '../../git/changes/raw-diff.ts';
import type { Oid } from '../../git/objects/store.ts';
import { asChange, type CodeOf } from './code.ts';
import { openCodeMerger } from './code-merger.ts';
import type { Comparer } from './comparer.ts';
import { isSameCode } from './repeats.ts';

/** A branch that does not have the protected one behind it, and is to be merged. */
export interface ForgeMerge {
  base: Oid;
  head: Oid;
  /** None where their histories never met: then no forge merges them. */
  mergeBases: readonly Oid[];
}

/**
 * SPEC §10.4: the merge that a forge makes afterwards has no commit yet, and nobody will judge it. It is made here as git makes it of
 * all files, and of code alone: where the code differs, git has followed something that is no code.
 */
export async function judgeForgeMerge(comparer: Comparer, codeOf: CodeOf, input: ForgeMerge): Promise<Finding[]> {
  const { base, head, mergeBases } = input;
  if (mergeBases.length === 0 || !(await mayFollow(comparer, codeOf, input))) return [];
  const sides = [base, head];
  const [made = null] = await comparer.merger.merge([sides]);
  if (made && made.conflicts.length > 0) return []; // somebody has to decide, and what comes of that is judged
  const asked = made ? [{ sides, tree: made.tree }] : [];
  const [remade = null] = await openCodeMerger(comparer, codeOf).merge(asked);
  return (await isSameCode(comparer, codeOf, remade)) ? [] : [unlikeCode(input)];
}

/**
 * Whether git can follow a file between code and what is no code. It takes a file that a side has removed for one that the side has
 * added. So there is nothing to follow where no side has removed what is no code and added code; nor where what it has removed of
 * code the other side has left as it was, and has added no code beside it, which would come along into a folder that was renamed.
 */
async function mayFollow(
  { readRaw }: Comparer,
  codeOf: CodeOf,
  { base, head, mergeBases }: ForgeMerge,
): Promise<boolean> {
  if (mergeBases.length > 1) return true;
  const [ours, theirs] = await Promise.all(
    [base, head].map(async (side) => sortOut(codeOf, await readRaw(mergeBases[0]!, side))),
  );
  return isFollowed(ours!, theirs!) || isFollowed(theirs!, ours!);
}

/** What one side has done since they parted. */
interface Side {
  changed: ReadonlySet<string>;
  addsCode: boolean;
  removedCode: readonly string[];
  removesOther: boolean;
  /** A link or a submodule under an exempt name, before or after. */
  hasOdd: boolean;
}

function sortOut(codeOf: CodeOf, changes: readonly RawChange[]): Side {
  const isCode = ({ path, before, after }: RawChange): boolean =>
    codeOf(asChange([{ path, isFile: [before, after].every((each) => isFileMode(each?.mode ?? '000000')) }])).length >
    0;
  const isNamedCode = ({ path }: RawChange): boolean => codeOf(asChange([{ path, isFile: true }])).length > 0;
  const removed = changes.filter(({ after }) => after === null);
  return {
    changed: new Set(changes.map(({ path }) => path)),
    addsCode: changes.some((change) => change.before === null && isCode(change)),
    removedCode: removed.filter(isCode).map(({ path }) => path),
    removesOther: removed.some((change) => !isNamedCode(change)),
    hasOdd: changes.some((change) => isCode(change) && !isNamedCode(change)),
  };
}

function isFollowed(side: Side, other: Side): boolean {
  const { addsCode, removedCode, removesOther, hasOdd } = side;
  if (hasOdd || (removesOther && addsCode)) return true;
  return removedCode.length > 0 && (other.addsCode || removedCode.some((path) => other.changed.has(path)));
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
