import { type BigIntStats, existsSync, linkSync, lstatSync, renameSync, rmSync } from 'node:fs';
import { hasCode } from '../../core/error-code.ts';
import type { Discards } from '../discards.ts';

/** Bytes of an index whose room takes long to free. */
const LARGE = 1n << 20n;

/** Something that is done while the index is locked, right before a new one takes its place. */
export type Together = () => void;

/** git's own lock: from the link on every other git process waits. Returns what is in place now. */
export function takePlace(
  index: string,
  own: string,
  replaced: BigIntStats,
  discards: Discards,
  together: Together = () => {},
): BigIntStats | 'locked' {
  const [lock, old] = [`${index}.lock`, `${own}.old`];
  try {
    linkSync(own, lock);
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return 'locked';
    throw error;
  }
  let placed: BigIntStats;
  try {
    if (!isSame(lstatSync(index, { bigint: true }), replaced)) throw new Moved();
    if (replaced.size > LARGE) linkSync(index, old);
    placed = lstatSync(lock, { bigint: true });
    together();
    renameSync(lock, index);
  } catch (error) {
    rmSync(lock, { force: true }); // only here: once it was renamed, the next lock is somebody else's
    if (error instanceof Moved) return 'locked';
    throw error;
  }
  if (replaced.size > LARGE) discards.add(old);
  return placed;
}

/** Whether the index is still the one that was put there, and nobody is about to replace it. Its time of change is that of a rename. */
export function isInPlace(index: string, placed: BigIntStats): boolean {
  const now = lstatSync(index, { bigint: true, throwIfNoEntry: false });
  if (now === undefined || existsSync(`${index}.lock`)) return false;
  return now.ino === placed.ino && now.mtimeNs === placed.mtimeNs && now.size === placed.size;
}

/** Another git process has changed the index meanwhile. */
class Moved extends Error {}

function isSame(now: BigIntStats, then: BigIntStats): boolean {
  return now.ino === then.ino && now.mtimeNs === then.mtimeNs && now.ctimeNs === then.ctimeNs && now.size === then.size;
}
