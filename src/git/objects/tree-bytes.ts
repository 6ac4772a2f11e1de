import { HandoffError } from '../../core/error.ts';
import type { Oid } from './store.ts';

// Work on a tree object as it is: names that are no UTF-8 stay what they are, and thousands of entries stay cheap.

/** Where a name stands in a tree, or would stand: then both are the same place, and the id is null. */
export interface EntryPlace {
  start: number;
  end: number;
  oid: Oid | null;
}

type Mode = '100644' | '40000';

const NUL = 0;
const SLASH = 0x2f;
/** Only the mode of a folder begins with 4; git writes it with five digits instead of six. */
const FOUR = 0x34;
/** No mode begins with a zero. */
const ZERO = 0x30;
const SPACE = 0x20;

/** The place of a file or a folder. A name that stands for the other one is an error. */
export function findEntry(tree: Uint8Array, mode: Mode, name: string, width: number): EntryPlace {
  const wanted = Buffer.from(name);
  const end = mode === '40000' ? SLASH : NUL;
  let place = -1;
  for (let at = 0; at < tree.length; ) {
    const isFolder = tree[at] === FOUR;
    const start = at + (isFolder ? 6 : 7);
    const nul = tree.indexOf(NUL, start);
    const isMode = tree[at] !== ZERO && tree[start - 1] === SPACE;
    const next = nul + 1 + width;
    if (!isMode || nul < 0 || next > tree.length) throw new HandoffError('bytes_invalid', 'Not a well-formed tree');
    let same = 0;
    while (same < wanted.length && tree[start + same] === wanted[same]) same++;
    if (same === wanted.length && start + same === nul) {
      if (isFolder !== (mode === '40000')) throw notAFolder(name);
      return { start: at, end: next, oid: Buffer.from(tree.subarray(nul + 1, next)).toString('hex') };
    }
    if (place < 0 && byteAt(tree, start + same, nul, isFolder) > (wanted[same] ?? end)) place = at;
    at = next;
  }
  if (place < 0) place = tree.length;
  return { start: place, end: place, oid: null };
}

/** git orders a folder as if its name ended in a slash. */
function byteAt(tree: Uint8Array, at: number, nul: number, isFolder: boolean): number {
  if (at < nul) return tree[at]!;
  return isFolder && at === nul ? SLASH : NUL;
}

/** The tree with an entry in its place. */
export function withEntry(
  tree: Uint8Array,
  { start, end }: EntryPlace,
  mode: Mode,
  name: string,
  oid: Oid,
): Uint8Array {
  const entry = [Buffer.from(`${mode} ${name}\0`), Buffer.from(oid, 'hex')];
  return Buffer.concat([tree.subarray(0, start), ...entry, tree.subarray(end)]);
}

/** The tree without the entry in a place. */
export function withoutEntry(tree: Uint8Array, { start, end }: EntryPlace): Uint8Array {
  return Buffer.concat([tree.subarray(0, start), tree.subarray(end)]);
}

function notAFolder(name: string): HandoffError {
  const message = `${JSON.stringify(name)} is a file where a folder should be, or a folder where a file should.`;
  return new HandoffError('mode_invalid', message);
}
