import { type BigIntStats, linkSync, lstatSync, renameSync, rmSync } from 'node:fs';
import type { Discards } from './discards.ts';

/** Bytes of an index whose room takes long to free. */
const LARGE = 1n << 20n;

/** git's own lock: from the link on every other git process waits. */
export function takePlace(index: string, own: string, replaced: BigIntStats, discards: Discards): 'done' | 'locked' {
  const [lock, old] = [`${index}.lock`, `${own}.old`];
  try {
    linkSync(own, lock);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return 'locked';
    throw error;
  }
  try {
    if (!isSame(lstatSync(index, { bigint: true }), replaced)) throw new Moved();
    if (replaced.size > LARGE) linkSync(index, old);
    renameSync(lock, index);
  } catch (error) {
    rmSync(lock, { force: true }); // only here: once it was renamed, the next lock is somebody else's
    if (error instanceof Moved) return 'locked';
    throw error;
  }
  if (replaced.size > LARGE) discards.add(old);
  return 'done';
}

/** Another git process has changed the index meanwhile. */
class Moved extends Error {}

function isSame(now: BigIntStats, then: BigIntStats): boolean {
  return now.ino === then.ino && now.mtimeNs === then.mtimeNs && now.ctimeNs === then.ctimeNs && now.size === then.size;
}
