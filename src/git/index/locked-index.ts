import {
  type BigIntStats,
  copyFileSync,
  existsSync,
  linkSync,
  lstatSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { HandoffError } from '../../core/error.ts';
import { hasCode } from '../../core/error-code.ts';
import type { RepositoryDirs } from '../discover.ts';
import { isSameFile, ownName, type Processes } from '../own-file.ts';
import { type Git, LOCKED } from '../run.ts';
import { untilUnlocked } from './until-unlocked.ts';

/** Where something is checked out, and who changes that. */
export interface Checkout {
  git: Git;
  dirs: RepositoryDirs;
  processes: Processes;
}

/** Runs synchronously while the index is locked, so that a signal to end the process takes effect afterwards. `locked`: somebody else has the lock. */
export async function whileIndexLocked<T>({ dirs, processes }: Checkout, work: () => T): Promise<T | 'locked'> {
  const index = join(dirs.gitDir, 'index');
  const own = ownName(index, processes);
  writeFileSync(own, '', { flag: 'wx' });
  try {
    const taken = await untilUnlocked(async () => takeLock(own, `${index}.lock`));
    return taken === 'locked' ? taken : work();
  } finally {
    if (isSameFile(own, `${index}.lock`)) rmSync(`${index}.lock`, { force: true });
    rmSync(own, { force: true });
  }
}

function takeLock(own: string, lock: string): 'taken' | 'locked' {
  try {
    linkSync(own, lock);
    return 'taken';
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
    return 'locked';
  }
}

/** The outcome of a change to the index; `locked` becomes an error for callers that cannot go on without it. */
export function assertUnlocked<T>({ gitDir }: RepositoryDirs, outcome: T | 'locked'): T {
  if (outcome !== 'locked') return outcome;
  const path = join(gitDir, 'index.lock');
  throw new HandoffError('io', `The index is locked: ${path} is there.`, { ...LOCKED, data: { path } });
}

/** Changes a copy of the index, which only the git that is handed on sees, and which then takes the place of the index. Returns what that is. */
export function replaceIndex({ git, dirs, processes }: Checkout, change: (hidden: Git) => void): BigIntStats {
  const index = join(dirs.gitDir, 'index');
  const next = ownName(index, processes);
  try {
    if (existsSync(index)) copyFileSync(index, next);
    change({ ...git, set: { ...git.set, GIT_INDEX_FILE: next } });
    const placed = lstatSync(next, { bigint: true });
    renameSync(next, index);
    return placed;
  } finally {
    rmSync(next, { force: true });
  }
}
