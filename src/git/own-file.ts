import { randomBytes } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { RepositoryDirs } from './discover.ts';

/** Who may be asked whether a process is still there. */
export interface Processes {
  pid: number;
  /** Names the machine, its start and its process numbers: only there does a number mean the same process. */
  space: string;
  isRunning(pid: number): boolean;
}

/** The name says whose it is: what a killed process left is known by its number. */
const OWN = /^(?:index|HEAD)\.handoff-([0-9a-f]{8})-([0-9]+)-[0-9a-f]{12}(?:\.old)?$/;

/** A name for a file beside one of git's, which is to take its place, or to lock it by a second name of the same file. */
export function ownName(path: string, { pid, space }: Processes): string {
  return `${path}.handoff-${space}-${pid}-${randomBytes(6).toString('hex')}`;
}

/**
 * A process that was killed may have left such a file, and the locks that it had just taken with it. Whoever gets to rename
 * what it left clears away all of it: a second one could meet the lock of somebody else.
 */
export function clearLeft(dirs: RepositoryDirs, processes: Processes): void {
  for (const name of readdirSync(dirs.gitDir)) {
    const [, space, pid] = OWN.exec(name) ?? [];
    if (!space || space !== processes.space || processes.isRunning(Number(pid))) continue;
    const mine = ownName(join(dirs.gitDir, 'index'), processes);
    if (!tryRename(join(dirs.gitDir, name), mine)) continue;
    for (const lock of locksIn(dirs)) if (isSameFile(lock, mine)) rmSync(lock, { force: true });
    rmSync(mine, { force: true });
  }
}

/** All that such a process may have held. While HEAD is locked it names the same branch. */
function locksIn({ gitDir, commonDir }: RepositoryDirs): string[] {
  const ref = /^ref: (refs\/heads\/.+)\n$/.exec(readFileSync(join(gitDir, 'HEAD'), 'utf8'))?.[1];
  const locked = [join(gitDir, 'index'), join(gitDir, 'HEAD'), ...(ref === undefined ? [] : [join(commonDir, ref)])];
  return locked.map((path) => `${path}.lock`);
}

function isSameFile(path: string, other: string): boolean {
  const [found, own] = [path, other].map((each) => lstatSync(each, { bigint: true, throwIfNoEntry: false }));
  return found !== undefined && found.ino === own?.ino && found.dev === own.dev;
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
