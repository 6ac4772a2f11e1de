import { copyFileSync, existsSync, linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { HandoffError } from '../core/error.ts';
import type { RepositoryDirs } from './discover.ts';
import { isSameFile, ownName, type Processes } from './own-file.ts';
import { type Git, type GitResult, gitFailure, runGitSync } from './run.ts';
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
 * when the branch has moved on, or another one was checked out: then all is as it was. Nothing is waited for while the lock is
 * held, so that whoever is asked to end meanwhile ends afterwards.
 */
export async function moveCheckout(checkout: Checkout, move: Move): Promise<boolean> {
  const { gitDir } = checkout.dirs;
  const index = join(gitDir, 'index');
  if (!existsSync(index)) throw noIndex(index);
  const own = ownName(index, checkout.processes);
  writeFileSync(own, '', { flag: 'wx' });
  try {
    const taken = await untilUnlocked(async () => takeLock(own, `${index}.lock`));
    if (taken.code !== 0) throw gitFailure(['read-tree'], taken);
    const isCheckedOut = readFileSync(join(gitDir, 'HEAD'), 'utf8') === `ref: refs/heads/${move.branch}\n`;
    return isCheckedOut && moveLocked(checkout, move);
  } finally {
    if (isSameFile(own, `${index}.lock`)) rmSync(`${index}.lock`, { force: true });
    rmSync(own, { force: true });
  }
}

function noIndex(path: string): HandoffError {
  return new HandoffError('io', `There is no index: ${path}.`, { hint: 'git reset makes it anew.', data: { path } });
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

/** Files and index come before the branch: should it end there, what is to come looks like something staged, not like something taken back. */
function moveLocked(checkout: Checkout, { branch, from, to, reason }: Move): boolean {
  readTree(checkout, from, to);
  const ref = `refs/heads/${branch}`;
  const moving = ['update-ref', '-m', reason, ref, to, from];
  const moved = runGitSync(checkout.git, moving);
  if (moved.code === 0) return true;
  readTree(checkout, to, from);
  const now = runGitSync(checkout.git, ['rev-parse', '--verify', '--quiet', '--end-of-options', ref]);
  if (now.stdout.toString('latin1').trim() !== from) return false;
  throw gitFailure(moving, moved);
}

/** With a copy of the index, which only this git sees, and which then takes the place of the index. */
function readTree({ git, dirs, processes }: Checkout, from: Oid, to: Oid): void {
  const index = join(dirs.gitDir, 'index');
  const next = ownName(index, processes);
  const hidden = { ...git, set: { ...git.set, GIT_INDEX_FILE: next } };
  try {
    copyFileSync(index, next);
    runGitSync(hidden, ['update-index', '-q', '--refresh']); // what it says of changed files, read-tree says where they matter
    const args = ['read-tree', '-m', '-u', from, to];
    const result = runGitSync(hidden, args);
    if (result.code !== 0) throw gitFailure(args, result);
    renameSync(next, index);
  } finally {
    rmSync(next, { force: true });
  }
}
