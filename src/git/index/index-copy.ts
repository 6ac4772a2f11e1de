import { createHash } from 'node:crypto';
import {
  type BigIntStats,
  closeSync,
  constants,
  fdatasync,
  fstatSync,
  ftruncateSync,
  openSync,
  readSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { readBlobFile } from '../objects/blob-file.ts';
import type { ObjectFormat } from '../objects/loose-object.ts';
import { type Emit, type Entries, EntryMerger, type Wanted } from './index-entries.ts';
import { countEntries, HEADER } from './index-layout.ts';
import { forgetTrees } from './index-trees.ts';

/** Writes the index with these files as they are. Returns what the old one was; `same` when it had them so, null for git. */
export function copyIndex(
  index: string,
  own: string,
  wanted: readonly Wanted[],
  { format, topLevel }: { format: ObjectFormat; topLevel: string },
): BigIntStats | 'same' | null {
  const top = Buffer.from(`${topLevel}/`);
  const to = openSync(own, 'wx', 0o666);
  let from = -1;
  try {
    from = openSync(index, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const old = fstatSync(from, { bigint: true });
    const isUnchanged: Entries['isUnchanged'] = (name, oid) => readBlobFile(Buffer.concat([top, name]), oid) !== null;
    const writtenAt = Number(old.mtimeNs / 1_000_000_000n);
    const merging = { from, to, own, size: Number(old.size), wanted, format, writtenAt, isUnchanged };
    // how many are new stands first in the file, and is known last
    const likely = wanted.filter(({ onlyIfAbsent }) => !onlyIfAbsent).length;
    const added = mergeIndex(merging, likely);
    if (added === null || added === 'same') return added;
    return added === likely || mergeIndex(merging, added) === added ? old : null;
  } finally {
    if (from >= 0) closeSync(from);
    closeSync(to);
  }
}

interface Merging {
  from: number;
  to: number;
  /** Where the new one is. */
  own: string;
  /** Bytes of the old one. */
  size: number;
  wanted: readonly Wanted[];
  format: ObjectFormat;
  writtenAt: number;
  isUnchanged: Entries['isUnchanged'];
}

/** Ours begin with a dot and stand near the beginning: what is read before they are found is read twice, or looked at twice. */
const FIRST_PIECE = 1 << 15;
/** Small enough to stay in a processor's own cache while it is read, walked, summed up and written. */
const PIECE = 1 << 18;

/** Returns how many entries were added; what was written is right if that is what was expected, and else not whole. */
function mergeIndex(
  { from, to, own, size, wanted, format, writtenAt, isUnchanged }: Merging,
  expected: number,
): number | 'same' | null {
  const width = format === 'sha256' ? 32 : 20;
  const header = Buffer.alloc(HEADER);
  const count = readSync(from, header, 0, HEADER, 0) < HEADER ? null : countEntries(header);
  if (count === null) return null;
  header.writeUInt32BE(count + expected, 8);
  const output = openOutput(to, own, format);
  output.push(header);
  const merger = new EntryMerger({ count, width, writtenAt, isUnchanged }, wanted, output.push);
  const end = mergeEntries(from, merger, expected);
  if (merger.failed) return null;
  if (isOtherwise(merger, expected)) return merger.added;
  const checksum = size - width;
  if (!merger.isDone || end > checksum) return null;
  if (!merger.changed) return 'same';
  if (readAt(from, checksum, width).every((byte) => byte === 0)) return null; // none, on purpose
  if (!copyExtensions(from, { start: end, end: checksum }, wanted, width, output.push)) return null;
  output.finish();
  return merger.added;
}

/** What was expected is wrong, as is known by now; a large index need not be read to its end in vain. */
function isOtherwise({ isSettled, changed, added }: EntryMerger, expected: number): boolean {
  return isSettled && changed && added !== expected;
}

/** Feeds the entries, piece by piece: the whole index in memory would cost more than all the rest. Returns where they end. */
function mergeEntries(from: number, merger: EntryMerger, expected: number): number {
  const buffer = Buffer.allocUnsafe(PIECE);
  let kept = 0;
  let position = HEADER;
  for (let piece = FIRST_PIECE; !merger.isDone && !merger.failed && !isOtherwise(merger, expected); piece *= 2) {
    const size = readSync(from, buffer, kept, Math.min(piece, PIECE) - kept, position);
    if (size === 0) break;
    position += size;
    const taken = merger.push(buffer.subarray(0, kept + size));
    kept += size - taken;
    buffer.copyWithin(0, taken, taken + kept);
  }
  if (merger.isDone) merger.finish();
  return position - kept;
}

function readAt(file: number, position: number, size: number): Buffer {
  const bytes = Buffer.allocUnsafe(size);
  return bytes.subarray(0, readSync(file, bytes, 0, size, position));
}

/** ext4 makes whoever replaces a file wait until the new one is being written: so that begins each time so many bytes are there. */
const AHEAD = 1 << 24;

/** By a descriptor of its own, since the other one may be closed before another thread is done. */
function startWriteback(path: string): void {
  const file = openSync(path, 'r');
  fdatasync(file, () => closeSync(file));
}

/** Bytes go out in order from the beginning, and are summed up on the way. */
function openOutput(to: number, path: string, format: ObjectFormat): { push(bytes: Uint8Array): void; finish(): void } {
  const checksum = createHash(format);
  let position = 0;
  let begun = 0;
  const write = (bytes: Uint8Array): void => {
    for (let at = 0; at < bytes.length; ) {
      const size = writeSync(to, bytes, at, bytes.length - at, position);
      at += size;
      position += size;
    }
    if (position - begun < AHEAD) return;
    begun = position;
    startWriteback(path);
  };
  return {
    push(bytes) {
      checksum.update(bytes);
      write(bytes);
    },
    finish() {
      write(checksum.digest());
      ftruncateSync(to, position);
    },
  };
}

/** False for any extension but `TREE`, which is git's business. */
function copyExtensions(
  from: number,
  { start, end }: { start: number; end: number },
  wanted: readonly Wanted[],
  width: number,
  push: Emit,
): boolean {
  if (start === end) return true;
  const header = readAt(from, start, 8);
  const size = end - start - header.length;
  if (size < 0 || header.toString('latin1', 0, 4) !== 'TREE' || header.readUInt32BE(4) !== size) return false;
  const folders = [...new Set(wanted.map(({ path }) => dirname(path)))];
  // of thousands of folders those of ours may stand near the beginning
  for (const part of new Set([Math.min(PIECE, size), size])) {
    const trees = forgetTrees(readAt(from, start + header.length, part), folders, width);
    if (!trees) continue;
    header.writeUInt32BE(
      trees.reduce((sum, { length }) => sum + length, size - part),
      4,
    );
    for (const bytes of [header, ...trees]) push(bytes);
    copyBytes(from, start + header.length + part, end, push);
    return true;
  }
  return false;
}

function copyBytes(from: number, start: number, end: number, push: Emit): void {
  const buffer = Buffer.allocUnsafe(PIECE);
  for (let at = start; at < end; at += PIECE)
    push(buffer.subarray(0, readSync(from, buffer, 0, Math.min(PIECE, end - at), at)));
}
