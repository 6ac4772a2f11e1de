import { createHash } from 'node:crypto';
import { HandoffError } from '../../core/error.ts';
import { assertOid } from './asked-name.ts';
import { decodeName } from './name-text.ts';
import type { Oid, TreeEntry } from './store.ts';

/**
 * Reads a tree object: `<mode> <name>\0<id>`, again and again. The width of an id follows from the tree's own. A folder can
 * have thousands of entries, so all of it becomes text at once, and entries are cut from that.
 */
export function parseTree(oid: Oid, bytes: Uint8Array): TreeEntry[] {
  return parseTreeFrom(0, oid, bytes);
}

/** What a tree has after the one that it begins with; null when it does not begin with that. */
export function parseAdded(
  [before, size]: readonly [Oid, number],
  oid: Oid,
  parts: readonly Uint8Array[],
): TreeEntry[] | null {
  const hash = createHash(before.length === 40 ? 'sha1' : 'sha256').update(`tree ${size}\0`);
  const after: Uint8Array[] = [];
  let left = size;
  for (const part of parts) {
    const same = Math.min(left, part.length);
    if (same > 0) hash.update(part.subarray(0, same));
    if (same < part.length) after.push(part.subarray(same));
    left -= same;
  }
  return hash.digest('hex') === before ? parseTree(oid, Buffer.concat(after)) : null;
}

/** What two trees have from the first entry on in which they differ. */
export function parseDifference(
  [a, before]: readonly [Oid, Uint8Array],
  [b, now]: readonly [Oid, Uint8Array],
): [TreeEntry[], TreeEntry[]] {
  const start = commonStart(before, now, a.length / 2);
  return [parseTreeFrom(start, a, before), parseTreeFrom(start, b, now)];
}

export function findTexts(bytes: Uint8Array, texts: readonly string[]): string[] {
  const buffer = asBuffer(bytes);
  return texts.filter((text) => buffer.includes(text));
}

/** Where the first entry begins that is not in both. */
function commonStart(before: Uint8Array, now: Uint8Array, width: number): number {
  const same = commonLength(asBuffer(before), asBuffer(now));
  const text = asBuffer(before).toString('latin1', 0, same); // to look for a byte in text takes half the time
  for (let start = 0; ; ) {
    const nul = text.indexOf('\0', start);
    const end = nul + 1 + width;
    if (nul < 0 || end > same) return start;
    start = end;
  }
}

/** How many bytes two buffers begin with alike, by halves: comparing many bytes at once costs next to nothing. */
function commonLength(a: Buffer, b: Buffer): number {
  let same = 0;
  for (let step = Math.min(a.length, b.length); step > 0; ) {
    const isAlike =
      same + step <= Math.min(a.length, b.length) && a.compare(b, same, same + step, same, same + step) === 0;
    if (isAlike) same += step;
    else step >>= 1;
  }
  return same;
}

function parseTreeFrom(start: number, oid: Oid, tree: Uint8Array): TreeEntry[] {
  const buffer = asBuffer(tree).subarray(start);
  const width = oid.length / 2;
  const text = buffer.toString('latin1');
  const hex = buffer.toString('hex');
  const entries: TreeEntry[] = [];
  for (let at = 0; at < text.length; ) {
    const space = text.indexOf(' ', at);
    const nul = text.indexOf('\0', space);
    const end = nul + 1 + width;
    const mode = text.slice(at, Math.max(at, space));
    const isMode = mode === '40000' || mode === '100644' || /^[0-7]{5,7}$/.test(mode);
    if (space < 0 || nul < 0 || end > text.length || !isMode) throw malformed('tree', oid);
    const name = text.slice(space + 1, nul);
    if (name === '' || name.includes('/')) throw malformed('tree', oid); // a path would pass for a file in another folder
    entries.push({
      mode: mode.padStart(6, '0'),
      name: /[\x80-\xff]/.test(name) ? decodeName(buffer.subarray(space + 1, nul)) : name,
      oid: hex.slice((nul + 1) * 2, end * 2),
    });
    at = end;
  }
  return entries;
}

export function formatTree(entries: readonly TreeEntry[]): Uint8Array {
  const sorted = entries.map(sortable).sort((a, b) => Buffer.compare(a.key, b.key));
  const names = new Set(entries.map((entry) => entry.name));
  if (names.size !== entries.length) throw new HandoffError('bad_name', 'A tree cannot have two entries of one name');
  return Buffer.concat(
    sorted.flatMap(({ entry }) => [
      Buffer.from(`${entry.mode.replace(/^0/, '')} ${entry.name}\0`),
      Buffer.from(entry.oid, 'hex'),
    ]),
  );
}

const MODES = new Set(['100644', '100755', '120000', '040000', '160000']);

// git orders a folder as if its name ended in a slash.
function sortable(entry: TreeEntry): { entry: TreeEntry; key: Buffer } {
  assertOid(entry.oid);
  if (!MODES.has(entry.mode)) throw new HandoffError('mode_invalid', `Not a mode that git writes: ${entry.mode}`);
  assertEntryName(entry.name);
  return { entry, key: Buffer.from(entry.mode === '040000' ? `${entry.name}/` : entry.name) };
}

function assertEntryName(name: string): void {
  const lossy = name.includes('\uFFFD') || Buffer.from(name).toString() !== name;
  if (!lossy && !/^(?:|\.|\.\.|\.git)$|[/\0]/i.test(name)) return;
  throw new HandoffError('bad_name', `Not a name for a tree entry: ${JSON.stringify(name)}`);
}

/** One that readers could take for different things. */
/**
 * Null for an object that git would not write. For objects that a record names: their author chose them, so that one of these stops
 * nobody else.
 */
export async function unlessMalformed<T>(reading: Promise<T>): Promise<T | null> {
  return reading.catch((error: unknown) => {
    if (error instanceof HandoffError && error.code === 'bytes_invalid') return null;
    throw error;
  });
}

export function malformed(type: string, oid: Oid): HandoffError {
  return new HandoffError('bytes_invalid', `Object ${oid} is not a well-formed ${type}, as git would write it.`, {
    hint: `It was made by hand or is damaged: git cat-file -p ${oid} shows it. Leave it out, or make the commit anew with git.`,
    data: { oid, type },
  });
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
