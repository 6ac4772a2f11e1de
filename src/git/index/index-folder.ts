import { hash } from 'node:crypto';
import { closeSync, constants, openSync, readdirSync, readSync } from 'node:fs';
import { dirname } from 'node:path';
import { hasCode } from '../../core/error-code.ts';
import type { ObjectFormat } from '../objects/loose-object.ts';
import type { Oid, TreeEntry } from '../objects/store.ts';
import { formatTree } from '../objects/tree-object.ts';
import { countEntries, flagsOf, HEADER, LENGTH, MODE, nameOffset, OID, STAGE, sizeOf } from './index-layout.ts';

const PIECE = 1 << 16;
/** In the flags that follow: it is to be committed one day, and is not yet. */
const INTENT_TO_ADD = 0x2000;
const PLAIN_FILE = 0o100644;

/** The id of a folder of plain files as an index has it, read no further than it has to be. Null where only git can tell, or there is none. */
export function folderInIndex(index: string, folder: string, format: ObjectFormat): Oid | null {
  const file = hasOtherHalf(index) ? null : openPlain(index);
  if (file === null) return null;
  try {
    const files = filesBelow(file, `${folder}/`, format === 'sha256' ? 32 : 20);
    return files && files.size > 0 ? treeOf(files, format) : null;
  } finally {
    closeSync(file);
  }
}

/** A split index leaves most of its entries in another file. */
export function hasOtherHalf(index: string): boolean {
  return readdirSync(dirname(index)).some((name) => name.startsWith('sharedindex.'));
}

/** Null for a link, and where there is none. */
function openPlain(path: string): number | null {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (hasCode(error, 'ELOOP', 'ENOENT')) return null;
    throw error;
  }
}

/** By what follows the name of the folder, which ends in a slash. */
function filesBelow(file: number, folder: string, width: number): Map<string, Oid> | null {
  const header = Buffer.alloc(HEADER);
  const count = readSync(file, header, 0, HEADER, 0) < HEADER ? null : countEntries(header);
  if (count === null) return null;
  const files = new Map<string, Oid>();
  let left = count;
  let rest: Buffer = Buffer.alloc(0);
  for (let position = HEADER; left > 0; ) {
    const piece = Buffer.alloc(PIECE);
    const size = readSync(file, piece, 0, PIECE, position);
    if (size === 0) return null;
    position += size;
    rest = Buffer.concat([rest, piece.subarray(0, size)]);
    for (let entry = readEntry(rest, width); entry && left > 0; entry = readEntry(rest, width), left--) {
      const { name, mode, flags, isIntended, oid, end } = entry;
      if ((flags & LENGTH) === LENGTH) return null; // a name so long that its length is not said
      rest = rest.subarray(end);
      if (name.startsWith(folder)) {
        if (mode !== PLAIN_FILE || flags & STAGE || isIntended || !/^[ -~]+$/.test(name)) return null;
        files.set(name.slice(folder.length), oid);
      } else if (name > folder) return files;
    }
  }
  return files;
}

/** Null where the rest of it is in the next piece. */
function readEntry(bytes: Buffer, width: number) {
  const fixed = nameOffset(0, width);
  if (bytes.length < fixed) return null;
  const flags = flagsOf(bytes, 0, width);
  const start = nameOffset(flags, width);
  const end = sizeOf(flags, width);
  if (bytes.length < end) return null;
  const name = bytes.toString('latin1', start, start + (flags & LENGTH));
  const isIntended = start > fixed && (bytes.readUInt16BE(fixed) & INTENT_TO_ADD) !== 0;
  const oid = bytes.toString('hex', OID, OID + width);
  return { name, mode: bytes.readUInt32BE(MODE), flags, isIntended, oid, end };
}

function treeOf(files: ReadonlyMap<string, Oid>, format: ObjectFormat): Oid {
  const entries: TreeEntry[] = [];
  const folders = new Map<string, Map<string, Oid>>();
  for (const [path, oid] of files) {
    const slash = path.indexOf('/');
    if (slash < 0) entries.push({ mode: '100644', name: path, oid });
    else {
      const name = path.slice(0, slash);
      folders.set(name, (folders.get(name) ?? new Map()).set(path.slice(slash + 1), oid));
    }
  }
  for (const [name, below] of folders) entries.push({ mode: '040000', name, oid: treeOf(below, format) });
  const bytes = formatTree(entries);
  return hash(format, Buffer.concat([Buffer.from(`tree ${bytes.length}\0`), bytes]), 'hex');
}
