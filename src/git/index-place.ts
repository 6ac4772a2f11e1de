import { randomBytes } from 'node:crypto';
import { type BigIntStats, linkSync, lstatSync, readdirSync, renameSync, rm, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** The old index goes away meanwhile: that of a large repository takes as long as a git process. */
export interface Added {
  cleared: Promise<void>;
}

/** Who may be asked whether a process is still there. */
export interface Processes {
  pid: number;
  /** Names the machine, its start and its process numbers: only there does a number mean the same process. */
  space: string;
  isRunning(pid: number): boolean;
}

/** The name says whose it is: what a killed process left is known by its number. */
const OWN = /^index\.handoff-([0-9a-f]{8})-([0-9]+)-[0-9a-f]{12}(?:\.old)?$/;

/** A name for a new index beside the old one. */
export function ownName(index: string, { pid, space }: Processes): string {
  return `${index}.handoff-${space}-${pid}-${randomBytes(6).toString('hex')}`;
}

/** The room of a large index takes as long to free as a git process takes. */
const LARGE = 1n << 20n;

/** git's own lock: from the link on every other git process waits. */
export function takePlace(index: string, own: string, replaced: BigIntStats): Added | 'locked' {
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
  return { cleared: replaced.size > LARGE ? promisify(rm)(old, { force: true }) : Promise.resolve() };
}

/** Another git process has changed the index meanwhile. */
class Moved extends Error {}

function isSame(now: BigIntStats, then: BigIntStats): boolean {
  return now.ino === then.ino && now.mtimeNs === then.mtimeNs && now.ctimeNs === then.ctimeNs && now.size === then.size;
}

/**
 * A process that was killed may have left its new index, and the lock that it had just taken with it. Whoever gets to rename
 * what it left clears away both: a second one could meet the lock of somebody else.
 */
export function clearLeft(gitDir: string, processes: Processes): void {
  const index = join(gitDir, 'index');
  for (const name of readdirSync(gitDir)) {
    const [, space, pid] = OWN.exec(name) ?? [];
    if (!space || space !== processes.space || processes.isRunning(Number(pid))) continue;
    const mine = ownName(index, processes);
    if (!tryRename(join(gitDir, name), mine)) continue;
    const lock = lstatSync(`${index}.lock`, { throwIfNoEntry: false });
    if (lock?.ino === lstatSync(mine).ino) rmSync(`${index}.lock`, { force: true });
    rmSync(mine, { force: true });
  }
}

function tryRename(from: string, to: string): boolean {
  try {
    renameSync(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}
