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
import type { RepositoryDirs } from '../discover.ts';
import { isSameFile, ownName, type Processes } from '../own-file.ts';
import { type Git, type GitResult, gitFailure } from '../run.ts';
import { untilUnlocked } from './until-unlocked.ts';

/** Where something is checked out, and who changes that. */
export interface Checkout {
  git: Git;
  dirs: RepositoryDirs;
  processes: Processes;
}

/** Nothing is waited for while the index is locked, so that whoever is asked to end meanwhile ends afterwards. */
export async function whileIndexLocked<T>({ dirs, processes }: Checkout, work: () => T): Promise<T> {
  const index = join(dirs.gitDir, 'index');
  const own = ownName(index, processes);
  writeFileSync(own, '', { flag: 'wx' });
  try {
    const taken = await untilUnlocked(async () => takeLock(own, `${index}.lock`));
    if (taken.code !== 0) throw gitFailure(['update-index'], taken);
    return work();
  } finally {
    if (isSameFile(own, `${index}.lock`)) rmSync(`${index}.lock`, { force: true });
    rmSync(own, { force: true });
  }
}

/** As git says it where it cannot have it. */
function takeLock(own: string, lock: string): GitResult {
  try {
    linkSync(own, lock);
    return { code: 0, stdout: Buffer.alloc(0), stderr: '' };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return { code: 128, stdout: Buffer.alloc(0), stderr: `Unable to create '${lock}': File exists.` };
  }
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
