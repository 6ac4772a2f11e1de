import { HandoffError } from '../core/error.ts';
import type { Oid } from './store.ts';

// Work on a tree object as it is: names that are no UTF-8 stay what they are, and thousands of entries stay cheap.

export interface RawEntry {
  mode: '100644' | '40000';
  name: string;
  oid: Oid;
}

/** The id of a folder in a tree; null when nothing has that name. */
export function folderIn(tree: Uint8Array, name: string, width: number): Oid | null {
  const found = findEntry(tree, { mode: '40000', name }, width);
  if (!found.isThere) return null;
  if (!found.isFolder) throw notAFolder(name);
  return Buffer.from(tree.subarray(found.end - width, found.end)).toString('hex');
}

/** The tree with this entry in it, in its place in git's order. */
export function withEntry(tree: Uint8Array, entry: RawEntry, width: number): Uint8Array {
  const found = findEntry(tree, entry, width);
  if (found.isThere && found.isFolder !== (entry.mode === '40000')) throw notAFolder(entry.name);
  const bytes = [Buffer.from(`${entry.mode} ${entry.name}\0`), Buffer.from(entry.oid, 'hex')];
  return Buffer.concat([tree.subarray(0, found.start), ...bytes, tree.subarray(found.end)]);
}

interface Found {
  /** Where the entry is, or would be: then both are the same place. */
  start: number;
  end: number;
  isThere: boolean;
  isFolder: boolean;
}

const NUL = 0;
const SPACE = 0x20;
const SLASH = 0x2f;
/** Of all modes that git writes only a folder's begins with 4. */
const FOUR = 0x34;

function findEntry(tree: Uint8Array, { mode, name }: Pick<RawEntry, 'mode' | 'name'>, width: number): Found {
  const wanted = Buffer.from(name);
  const end = mode === '40000' ? SLASH : NUL;
  let place = -1;
  for (let at = 0; at < tree.length; ) {
    const start = tree.indexOf(SPACE, at) + 1;
    const nul = tree.indexOf(NUL, start);
    const next = nul + 1 + width;
    if (start === 0 || nul < 0 || next > tree.length) throw new HandoffError('bytes_invalid', 'Not a well-formed tree');
    const isFolder = tree[at] === FOUR;
    let same = 0;
    while (same < wanted.length && tree[start + same] === wanted[same]) same++;
    if (same === wanted.length && start + same === nul) return { start: at, end: next, isThere: true, isFolder };
    if (place < 0 && byteAt(tree, start + same, nul, isFolder) > (wanted[same] ?? end)) place = at;
    at = next;
  }
  if (place < 0) place = tree.length;
  return { start: place, end: place, isThere: false, isFolder: false };
}

/** git orders a folder as if its name ended in a slash. */
function byteAt(tree: Uint8Array, at: number, nul: number, isFolder: boolean): number {
  if (at < nul) return tree[at]!;
  return isFolder && at === nul ? SLASH : NUL;
}

function notAFolder(name: string): HandoffError {
  const message = `${JSON.stringify(name)} is a file where a folder should be, or a folder where a file should.`;
  return new HandoffError('mode_invalid', message);
}
