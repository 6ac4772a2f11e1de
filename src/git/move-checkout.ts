import { copyFileSync, linkSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RepositoryDirs } from './discover.ts';
import { ownName, type Processes } from './own-file.ts';
import { type Git, type GitResult, gitFailure, runGit } from './run.ts';
import type { Oid } from './store.ts';
import { untilUnlocked } from './until-unlocked.ts';

/** Where a branch is checked out, and who moves it. */
interface Checkout {
  git: Git;
  dirs: RepositoryDirs;
  processes: Processes;
}

interface Move {
  branch: string;
  from: Oid;
  to: Oid;
  reason: string;
}

/**
 * Brings a branch that is checked out, its index and its files from one commit to another, and takes along what is staged. Under
 * the lock of the index, since `git checkout -B` compares nothing: a commit that somebody made just before would be dropped. False
 * when the branch has moved on: then all is as it was.
 */
export async function moveCheckout(checkout: Checkout, move: Move): Promise<boolean> {
  const index = join(checkout.dirs.gitDir, 'index');
  const [lock, next] = [ownName(index, checkout.processes), ownName(index, checkout.processes)];
  writeFileSync(lock, '', { flag: 'wx' });
  try {
    const taken = await untilUnlocked(async () => takeLock(lock, `${index}.lock`));
    if (taken.code !== 0) throw gitFailure(['read-tree'], taken);
    try {
      copyFileSync(index, next);
      const isMoved = await moveAll({ ...checkout.git, set: { ...checkout.git.set, GIT_INDEX_FILE: next } }, move);
      if (isMoved) renameSync(next, index);
      return isMoved;
    } finally {
      rmSync(`${index}.lock`, { force: true });
    }
  } finally {
    for (const path of [lock, next]) rmSync(path, { force: true });
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

/** With an index that only this git sees. */
async function moveAll(git: Git, { branch, from, to, reason }: Move): Promise<boolean> {
  await runGit(git, ['update-index', '-q', '--refresh']); // what it has to say of changed files, read-tree says where they matter
  await readTree(git, from, to);
  const moving = ['update-ref', '-m', reason, `refs/heads/${branch}`, to, from];
  const moved = await runGit(git, moving);
  if (moved.code === 0) return true;
  await readTree(git, to, from);
  if (/cannot lock ref/.test(moved.stderr)) return false;
  throw gitFailure(moving, moved);
}

async function readTree(git: Git, from: Oid, to: Oid): Promise<void> {
  const args = ['read-tree', '-m', '-u', from, to];
  const result = await runGit(git, args);
  if (result.code !== 0) throw gitFailure(args, result);
}
