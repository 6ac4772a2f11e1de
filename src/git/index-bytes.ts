import type { ObjectFormat } from './loose-object.ts';
import type { Oid } from './store.ts';

// git's index as it is on disk: what another git process would have written, byte for byte, for the plain case. The other
// cases are git's: they are told apart here, and null means that git has to do it.

/** A file as the index remembers it. */
export interface IndexedFile {
  path: string;
  oid: Oid;
  stat: FileStat;
}

/** As `fs.fstat` tells it with `bigint`. */
export interface FileStat {
  ctimeNs: bigint;
  mtimeNs: bigint;
  dev: bigint;
  ino: bigint;
  uid: bigint;
  gid: bigint;
  size: bigint;
}

/** Where an index has, or would have, the entries of some paths. */
export interface Layout {
  places: Place[];
  /** Where the entries end and the extensions begin. */
  end: number;
  /** Entries that may have been changed in the second in which the index was written. */
  racy: number[];
}

export interface Place {
  path: string;
  start: number;
  /** The same place when it has no entry. */
  end: number;
}

const HEADER = 12;
const MTIME = 8;
const MODE = 24;
const SIZE = 36;
const OID = 40;
const NAME_LENGTH = 0x0fff;
const EXTENDED = 0x4000;
const STAGE = 0x3000;
const ASSUME_VALID = 0x8000;
const SUBMODULE = 0o160000;

export function widthOf(format: ObjectFormat): number {
  return format === 'sha256' ? 32 : 20;
}

/**
 * Looks for paths, which must be in order. `writtenAt` is the second in which the index was written.
 * Null for a version, an extension or an entry that only git should handle.
 */
export function readLayout(index: Buffer, paths: readonly string[], writtenAt: number, width: number): Layout | null {
  if (index.length < HEADER + width || index.toString('latin1', 0, 4) !== 'DIRC') return null;
  if (index.readUInt32BE(4) !== 2 && index.readUInt32BE(4) !== 3) return null;
  if (index.subarray(-width).every((byte) => byte === 0)) return null; // written without a checksum, on purpose
  const entries = readEntries(index, writtenAt, width);
  if (!entries || entries.racy.length > RACY_LIMIT) return null;
  const places = paths.map((path) => findPlace(index, entries.starts, path, width));
  return places.includes(null) ? null : { places: places as Place[], end: entries.starts.at(-1)!, racy: entries.racy };
}

/** A whole checkout can be of one second. git compares such files before it makes everybody compare them. */
const RACY_LIMIT = 64;

/** Where each entry starts, and where the last one ends. A large repository has hundreds of thousands: no object is made. */
function readEntries(index: Buffer, writtenAt: number, width: number): { starts: Uint32Array; racy: number[] } | null {
  const count = index.readUInt32BE(8);
  const limit = index.length - width;
  if (count * (OID + width + 2) > limit) return null;
  const view = new DataView(index.buffer, index.byteOffset, index.length);
  const starts = new Uint32Array(count + 1);
  const racy: number[] = [];
  let at = HEADER;
  for (let entry = 0; entry < count; entry++) {
    starts[entry] = at;
    if (at + OID + width + 2 > limit) return null;
    const flags = view.getUint16(at + OID + width);
    if ((flags & NAME_LENGTH) === NAME_LENGTH) return null;
    if (view.getUint32(at + MTIME) >= writtenAt && view.getUint32(at + MODE) !== SUBMODULE) racy.push(at);
    at += (OID + width + (flags & EXTENDED ? 4 : 2) + (flags & NAME_LENGTH) + 8) & ~7;
  }
  if (at > limit) return null;
  starts[count] = at;
  return { starts, racy };
}

/** Null when it is in a conflict or marked, or when a file stands where a folder should, or the other way round. */
function findPlace(index: Buffer, starts: Uint32Array, path: string, width: number): Place | null {
  const names = path.split('/');
  const folders = names.slice(1).map((_, depth) => names.slice(0, depth + 1).join('/'));
  if (folders.some((folder) => findName(index, starts, folder, width).isThere)) return null;
  const { entry, isThere } = findName(index, starts, path, width);
  const start = starts[entry]!;
  const flags = isThere ? index.readUInt16BE(start + OID + width) : 0;
  if (flags & (STAGE | EXTENDED | ASSUME_VALID)) return null;
  const inside = findName(index, starts, `${path}/`, width).entry;
  const next = inside < starts.length - 1 ? nameOf(index, starts[inside]!, width) : null;
  if (next?.toString('latin1').startsWith(`${path}/`)) return null;
  return { path, start, end: isThere ? starts[entry + 1]! : start };
}

/** The first entry of that name, or the one before which it would be. */
function findName(
  index: Buffer,
  starts: Uint32Array,
  name: string,
  width: number,
): { entry: number; isThere: boolean } {
  const wanted = Buffer.from(name);
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (Buffer.compare(nameOf(index, starts[middle]!, width), wanted) < 0) low = middle + 1;
    else high = middle;
  }
  return { entry: low, isThere: low < starts.length - 1 && nameOf(index, starts[low]!, width).equals(wanted) };
}

function nameOf(index: Buffer, start: number, width: number): Buffer {
  const flags = index.readUInt16BE(start + OID + width);
  const at = start + OID + width + (flags & EXTENDED ? 4 : 2);
  return index.subarray(at, at + (flags & NAME_LENGTH));
}

/**
 * The index with these files in their places, which the layout must have; in parts, to be written one after the other, and
 * without the checksum that ends it. Racy entries lose their size, as git does it: whoever looks at them next compares bytes.
 */
export function withFiles(
  index: Buffer,
  layout: Layout,
  files: readonly IndexedFile[],
  format: ObjectFormat,
): Uint8Array[] | null {
  const width = widthOf(format);
  const extensions = withoutTrees(index.subarray(layout.end, -width), files.map(folderOf), width);
  if (!extensions) return null;
  for (const at of layout.racy) index.writeUInt32BE(0, at + SIZE);
  const places = new Map(layout.places.map((place) => [place.path, place]));
  const parts: Uint8Array[] = [];
  let at = 0;
  let added = 0;
  for (const file of files) {
    const { start, end } = places.get(file.path)!;
    parts.push(index.subarray(at, start), formatEntry(file, width));
    if (start === end) added++;
    at = end;
  }
  parts.push(index.subarray(at, layout.end), ...extensions);
  index.writeUInt32BE(index.readUInt32BE(8) + added, 8);
  return parts;
}

function formatEntry({ path, oid, stat }: IndexedFile, width: number): Buffer {
  const name = Buffer.from(path);
  const entry = Buffer.alloc((OID + width + 2 + name.length + 8) & ~7);
  const numbers = [
    stat.ctimeNs / NANO,
    stat.ctimeNs % NANO,
    stat.mtimeNs / NANO,
    stat.mtimeNs % NANO,
    stat.dev,
    stat.ino,
    PLAIN_FILE,
    stat.uid,
    stat.gid,
    stat.size,
  ];
  for (const [position, number] of numbers.entries())
    entry.writeUInt32BE(Number(BigInt.asUintN(32, number)), position * 4);
  entry.write(oid, OID, 'hex');
  entry.writeUInt16BE(name.length, OID + width);
  name.copy(entry, OID + width + 2);
  return entry;
}

const NANO = 1_000_000_000n;
const PLAIN_FILE = 0o100644n;

function folderOf({ path }: IndexedFile): string[] {
  return path.split('/').slice(0, -1);
}

/** The extensions, with the trees of these folders and all above them marked as unknown. Null for any but `TREE`. */
function withoutTrees(extensions: Buffer, folders: readonly string[][], width: number): Uint8Array[] | null {
  if (extensions.length === 0) return [];
  const size = extensions.length < 8 ? -1 : extensions.readUInt32BE(4);
  if (extensions.toString('latin1', 0, 4) !== 'TREE' || size !== extensions.length - 8) return null;
  const distinct = new Map(folders.map((folder) => [folder.join('/'), folder]));
  let trees: Buffer = extensions.subarray(8);
  try {
    for (const folder of distinct.values()) trees = invalidate(trees, folder, width);
  } catch (error) {
    if (error instanceof Malformed) return null;
    throw error;
  }
  const header = Buffer.from('TREE\0\0\0\0');
  header.writeUInt32BE(trees.length, 4);
  return [header, trees];
}

interface TreeNode {
  /** Where its name ends. */
  nul: number;
  isKnown: boolean;
  children: number;
  end: number;
}

/** Marks as unknown the nodes from the top down to a folder, as far as they are there. */
function invalidate(trees: Buffer, folder: readonly string[], width: number): Buffer {
  const parts: Buffer[] = [];
  let done = 0;
  let at: number | null = 0;
  for (let depth = 0; at !== null; depth++) {
    const node = readNode(trees, at, width);
    if (node.isKnown) {
      parts.push(trees.subarray(done, node.nul + 1), Buffer.from(`-1 ${node.children}\n`));
      done = node.end;
    }
    const name = folder[depth];
    at = name === undefined ? null : findChild(trees, node, name, width);
  }
  return Buffer.concat([...parts, trees.subarray(done)]);
}

function findChild(trees: Buffer, parent: TreeNode, name: string, width: number): number | null {
  const wanted = Buffer.from(`${name}\0`);
  let at = parent.end;
  for (let child = 0; child < parent.children; child++) {
    if (trees.subarray(at, at + wanted.length).equals(wanted)) return at;
    for (let left = 1; left > 0; left--) {
      const node = readNode(trees, at, width);
      left += node.children;
      at = node.end;
    }
  }
  return null;
}

const MINUS = 0x2d;
const SPACE = 0x20;
const NEWLINE = 0x0a;

/** `<name>\0<entries> <children>\n<oid, if known>`, each node followed by its children. */
function readNode(trees: Buffer, at: number, width: number): TreeNode {
  const nul = trees.indexOf(0, at);
  const space = trees.indexOf(SPACE, nul);
  const newline = trees.indexOf(NEWLINE, space);
  if (nul < 0 || space < 0 || newline < 0) throw new Malformed();
  let children = 0;
  for (let digit = space + 1; digit < newline; digit++) children = children * 10 + trees[digit]! - ZERO;
  const isKnown = trees[nul + 1] !== MINUS;
  return { nul, isKnown, children, end: newline + 1 + (isKnown ? width : 0) };
}

const ZERO = 0x30;

class Malformed extends Error {}
