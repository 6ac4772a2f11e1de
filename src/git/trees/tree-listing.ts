import { HandoffError } from '../../core/error.ts';

/**
 * The entries of a tree, as places in its bytes: whoever pushes decides how many there are, and an object for each would take ten
 * times the memory. By name, byte by byte, which is not the order of git: to git the name of a folder ends in a slash.
 */
export interface Listing {
  bytes: Buffer;
  /** Where each entry begins. */
  starts: readonly number[];
}

/** Where the entries of one name begin, in each of some listings. */
type Row = readonly number[];

/** In a listing that has no entry of that name. */
export const ABSENT = -1;

const NUL = 0;
const SPACE = 0x20;

/** `width`: of an id, in bytes. One name twice is an error: readers differ in which of them they take. */
export function listEntries(tree: Uint8Array, width: number): Listing {
  const bytes = Buffer.from(tree.buffer, tree.byteOffset, tree.byteLength);
  const starts: number[] = [];
  for (let start = 0; start < bytes.length; ) {
    const [space, nul] = [bytes.indexOf(SPACE, start), bytes.indexOf(NUL, start)];
    const end = nul + 1 + width;
    if (space < 0 || nul < space || end > bytes.length) throw malformed();
    starts.push(start);
    start = end;
  }
  starts.sort((a, b) => compareNames(bytes, a, bytes, b)); // next to nothing is to be moved
  const isTwice = (start: number, at: number): boolean =>
    at > 0 && compareNames(bytes, starts[at - 1]!, bytes, start) === 0;
  if (starts.some(isTwice)) throw malformed();
  return { bytes, starts };
}

/** The names whose entries differ between the listings, in their order. */
export function* unlikeRows(listings: readonly Listing[], width: number): Generator<Row> {
  const next = listings.map(() => 0);
  for (let row = rowAt(listings, next); row; row = rowAt(listings, next)) {
    for (const [at, start] of row.entries()) if (start !== ABSENT) next[at]!++;
    if (!isAlike(listings, row, width)) yield row;
  }
}

/** The entries of the first name that is still to come; null where none is. */
function rowAt(listings: readonly Listing[], next: readonly number[]): Row | null {
  const order = (one: number, other: number): number =>
    compareNames(
      listings[one]!.bytes,
      listings[one]!.starts[next[one]!]!,
      listings[other]!.bytes,
      listings[other]!.starts[next[other]!]!,
    );
  let firsts: number[] = [];
  for (const [at, { starts }] of listings.entries()) {
    if (next[at]! === starts.length) continue;
    const found = firsts.length === 0 ? -1 : order(at, firsts[0]!);
    if (found < 0) firsts = [at];
    else if (found === 0) firsts.push(at);
  }
  if (firsts.length === 0) return null;
  const row = listings.map(() => ABSENT);
  for (const at of firsts) row[at] = listings[at]!.starts[next[at]!]!;
  return row;
}

function isAlike(listings: readonly Listing[], row: Row, width: number): boolean {
  if (row.includes(ABSENT)) return false;
  const [{ bytes }, first] = [listings[0]!, row[0]!];
  const length = bytes.indexOf(NUL, first) + 1 + width - first;
  return listings.every((listing, at) => isSameRun(bytes, first, listing.bytes, row[at]!, length));
}

function isSameRun(a: Buffer, inA: number, b: Buffer, inB: number, length: number): boolean {
  for (let at = 0; at < length; at++) if (a[inA + at] !== b[inB + at]) return false;
  return true;
}

function compareNames(a: Buffer, startA: number, b: Buffer, startB: number): number {
  let [inA, inB] = [startA, startB];
  while (a[inA++] !== SPACE);
  while (b[inB++] !== SPACE);
  while (a[inA] === b[inB] && a[inA] !== NUL) {
    inA++;
    inB++;
  }
  return a[inA]! - b[inB]!;
}

/** What an entry says, and where. */
export interface RawEntry {
  /** As it is written: git writes five digits for a folder, and six for all else. */
  mode: string;
  /** Byte by byte, as characters below 256. */
  name: string;
  start: number;
  /** Where its id begins, and ends. */
  oid: number;
  end: number;
}

export function entryAt({ bytes }: Listing, start: number, width: number): RawEntry {
  const space = bytes.indexOf(SPACE, start);
  const nul = bytes.indexOf(NUL, space);
  const [mode, name] = [bytes.toString('latin1', start, space), bytes.toString('latin1', space + 1, nul)];
  return { mode, name, start, oid: nul + 1, end: nul + 1 + width };
}

function malformed(): HandoffError {
  return new HandoffError('bytes_invalid', 'Not a well-formed tree');
}
