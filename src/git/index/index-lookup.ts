import { readFileSync } from 'node:fs';
import type { ObjectFormat } from '../objects/loose-object.ts';
import type { Oid } from '../objects/store.ts';
import { orNull } from '../or-null.ts';
import type { Leaf } from '../trees/tree-graft.ts';
import { hasOtherHalf } from './index-folder.ts';
import { countEntries, MODE, OID, STAGE, walkEntries } from './index-layout.ts';

/** What an index has at one path; null for nothing, and undefined where only git can tell. */
export function oidInIndex(path: string, name: string, format: ObjectFormat): Oid | null | undefined {
  const index = orNull(() => readFileSync(path));
  if (index === null) return null;
  if (hasOtherHalf(path) || countEntries(index) === null) return undefined;
  return lookUp(index, [name], format === 'sha256' ? 32 : 20).get(name)?.oid ?? null;
}

/**
 * What an index of version 2 or 3, which git has just written, has at these paths; null where it has nothing. Paths are bytes, one a
 * character.
 */
export function lookUp(index: Buffer, paths: Iterable<string>, width: number): Map<string, Leaf | null> {
  const found = new Map<string, Leaf | null>([...paths].map((path) => [path, null]));
  walkEntries(index, width, (at, flags, start, end) => {
    const path = index.toString('latin1', start, end);
    if (found.has(path) && (flags & STAGE) === 0) {
      const mode = index.readUInt32BE(at + MODE).toString(8);
      found.set(path, { mode, oid: index.toString('hex', at + OID, at + OID + width) });
    }
    return true;
  });
  return found;
}
