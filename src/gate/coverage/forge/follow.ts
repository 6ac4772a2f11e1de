import { isFileMode } from '../../../git/changes/patch-reader.ts';
import type { RawChange } from '../../../git/changes/raw-diff.ts';
import { asChange, type CodeOf } from '../code.ts';

/** What one side has done since two parted, as far as it decides what git can follow. */
export interface Side {
  changed: Set<string>;
  addsCode: boolean;
  removedCode: Set<string>;
  removesOther: boolean;
  /** A link or a submodule under an exempt name, before or after. */
  hasOdd: boolean;
}

export function readSide(codeOf: CodeOf, changes: readonly RawChange[]): Side {
  const isCodeAs = (path: string, isFile: boolean): boolean =>
    codeOf(asChange([{ path, isFile, isEmpty: true }])).length > 0;
  const areFiles = ({ before, after }: RawChange): boolean =>
    [before, after].every((each) => isFileMode(each?.mode ?? '000000'));
  const isCode = (change: RawChange): boolean => isCodeAs(change.path, areFiles(change));
  const isNamedCode = ({ path }: RawChange): boolean => isCodeAs(path, true);
  const removed = changes.filter(({ after }) => after === null);
  return {
    changed: new Set(changes.map(({ path }) => path)),
    addsCode: changes.some((change) => change.before === null && isCode(change)),
    removedCode: new Set(removed.filter(isCode).map(({ path }) => path)),
    removesOther: removed.some((change) => !isNamedCode(change)),
    hasOdd: changes.some((change) => isCode(change) && !isNamedCode(change)),
  };
}

/** What a side has done, and this too. */
export function addTo(side: Side, more: Side): void {
  for (const path of more.changed) side.changed.add(path);
  for (const path of more.removedCode) side.removedCode.add(path);
  side.addsCode ||= more.addsCode;
  side.removesOther ||= more.removesOther;
  side.hasOdd ||= more.hasOdd;
}

/**
 * Whether git can follow a file between code and what is no code. It takes a file that a side has removed for one that the side has
 * added. So there is nothing to follow where no side has removed what is no code and added code; nor where what it has removed of
 * code the other side has left as it was, and has added no code beside it, which would come along into a folder that was renamed.
 */
export function canFollow(ours: Side, theirs: Side): boolean {
  return isFollowed(ours, theirs) || isFollowed(theirs, ours);
}

function isFollowed({ addsCode, removedCode, removesOther, hasOdd }: Side, other: Side): boolean {
  if (hasOdd || (removesOther && addsCode)) return true;
  return removedCode.size > 0 && (other.addsCode || meet(removedCode, other.changed));
}

/** It may be asked for each of many commits: it takes as long as the smaller one is. */
function meet(one: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  const [smaller, larger] = one.size < other.size ? [one, other] : [other, one];
  for (const path of smaller) if (larger.has(path)) return true;
  return false;
}
