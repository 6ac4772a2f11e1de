import { randomBytes } from 'node:crypto';
import { type BigIntStats, linkSync, lstatSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';

/** The old index goes away meanwhile: that of a large repository takes as long as a git process. */
export interface Added {
  cleared: Promise<void>;
}

/** The name says whose it is: what a killed process left is known by its number. */
const OWN = /^index\.handoff-([0-9]+)-[0-9a-f]{12}(?:\.old)?$/;

/** A name for a new index beside the old one. */
export function ownName(index: string, pid: number): string {
  return `${index}.handoff-${pid}-${randomBytes(6).toString('hex')}`;
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
    if (!isSame(lstatSync(index, { bigint: true }), replaced)) return 'locked';
    if (replaced.size > LARGE) linkSync(index, old);
    renameSync(lock, index);
    return { cleared: replaced.size > LARGE ? rm(old, { force: true }) : Promise.resolve() };
  } finally {
    rmSync(lock, { force: true });
  }
}

function isSame(now: BigIntStats, then: BigIntStats): boolean {
  return now.ino === then.ino && now.mtimeNs === then.mtimeNs && now.ctimeNs === then.ctimeNs && now.size === then.size;
}

/** A process that was killed may have left its new index, and the lock that it had just taken with it. */
export function clearLeft(gitDir: string, isRunning: (pid: number) => boolean): void {
  const left = readdirSync(gitDir).filter((name) => {
    const pid = OWN.exec(name)?.[1];
    return pid !== undefined && !isRunning(Number(pid));
  });
  for (const path of left.map((name) => join(gitDir, name))) {
    const lock = join(gitDir, 'index.lock');
    const ino = lstatSync(path, { throwIfNoEntry: false })?.ino;
    if (ino !== undefined && lstatSync(lock, { throwIfNoEntry: false })?.ino === ino) rmSync(lock, { force: true });
    rmSync(path, { force: true });
  }
}
