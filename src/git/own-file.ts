import { randomBytes } from 'node:crypto';
import { existsSync, lstatSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { hasCode } from '../core/error-code.ts';
import type { RepositoryDirs } from './discover.ts';

/** Who may be asked whether a process is still there. */
export interface Processes {
  pid: number;
  /** Names the machine, its start and its process numbers: only there does a number mean the same process. */
  space: string;
  isRunning(pid: number): boolean;
}

/** The name says whose it is: what a killed process left is known by its number. */
const OWN = /^(?:index|HEAD)\.handoff-([0-9a-f]{8})-([0-9]+)-[0-9a-f]{12}(?:\.old|\.lock)?$/;

/** A name for a file beside one of git's, which is to take its place, or to lock it by a second name of the same file. */
export function ownName(path: string, { pid, space }: Processes): string {
  return `${path}.handoff-${space}-${pid}-${randomBytes(6).toString('hex')}`;
}

/**
 * A process that was killed may have left such a file, and the locks that it had just taken with it. Whoever gets to rename
 * what it left clears away all of it: a second one could meet the lock of somebody else.
 */
export function clearLeft(dirs: RepositoryDirs, processes: Processes): void {
  for (const folder of new Set([dirs.gitDir, dirs.commonDir]))
    for (const name of readdirSync(folder)) {
      const [, space, pid] = OWN.exec(name) ?? [];
      if (!space || space !== processes.space || processes.isRunning(Number(pid))) continue;
      const mine = ownName(join(folder, 'index'), processes);
      if (!tryRename(join(folder, name), mine)) continue;
      removeLocks(dirs, mine);
      rmSync(mine, { force: true });
    }
}

/** As above, for callers that go on with git: a lock that cannot be removed stops git too, and git says which. */
export function tryClearLeft(dirs: RepositoryDirs, processes: Processes): void {
  try {
    clearLeft(dirs, processes);
  } catch (error) {
    if (!hasCode(error)) throw error;
  }
}

/** Every lock that is another name of the file. It is most often one of this work tree; else its branch, or the work tree, is another. */
function removeLocks(dirs: RepositoryDirs, own: string): void {
  for (const locks of [locksHere, locksAnywhere]) {
    if (lstatSync(own, { throwIfNoEntry: false })?.nlink === 1) return;
    for (const lock of locks(dirs)) if (isSameFile(lock, own)) rmSync(lock, { force: true });
  }
}

function locksHere({ gitDir, commonDir }: RepositoryDirs): string[] {
  const ref = /^ref: (refs\/heads\/.+)\n$/.exec(readFileSync(join(gitDir, 'HEAD'), 'utf8'))?.[1];
  return [...locksOf(gitDir), ...(ref === undefined ? [] : [join(commonDir, `${ref}.lock`)])];
}

function locksAnywhere({ commonDir }: RepositoryDirs): string[] {
  const worktrees = join(commonDir, 'worktrees');
  const others = existsSync(worktrees) ? readdirSync(worktrees).map((name) => join(worktrees, name)) : [];
  const heads = join(commonDir, 'refs/heads');
  const refs = (readdirSync(heads, { recursive: true }) as string[]).map((name) => join(heads, name));
  return [...[commonDir, ...others].flatMap(locksOf), ...refs.filter((path) => path.endsWith('.lock'))];
}

function locksOf(gitDir: string): string[] {
  return ['index.lock', 'HEAD.lock'].map((name) => join(gitDir, name));
}

/** Whether both are names of one file. */
export function isSameFile(path: string, other: string): boolean {
  const [found, own] = [path, other].map((each) => lstatSync(each, { bigint: true, throwIfNoEntry: false }));
  return found !== undefined && found.ino === own?.ino && found.dev === own.dev;
}

function tryRename(from: string, to: string): boolean {
  try {
    renameSync(from, to);
    return true;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return false;
    throw error;
  }
}
