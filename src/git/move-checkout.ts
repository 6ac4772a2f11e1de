import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { HandoffError } from '../core/error.ts';
import { type Checkout, mustRun, replaceIndex, whileIndexLocked } from './locked-index.ts';
import { gitFailure, runGitSync } from './run.ts';
import type { Oid } from './store.ts';

interface Move {
  branch: string;
  from: Oid;
  to: Oid;
  reason: string;
}

/**
 * Brings a branch that is checked out, its index and its files from one commit to another, and takes along what is staged. Under
 * the lock of the index, since `git checkout -B` compares nothing: a commit that somebody made just before would be dropped. False
 * when the branch has moved on, or another one was checked out: then all is as it was.
 */
export async function moveCheckout(checkout: Checkout, move: Move): Promise<boolean> {
  const { gitDir } = checkout.dirs;
  const index = join(gitDir, 'index');
  if (!existsSync(index)) throw noIndex(index);
  return whileIndexLocked(checkout, () => {
    const isCheckedOut = readFileSync(join(gitDir, 'HEAD'), 'utf8') === `ref: refs/heads/${move.branch}\n`;
    return isCheckedOut && moveLocked(checkout, move);
  });
}

function noIndex(path: string): HandoffError {
  return new HandoffError('io', `There is no index: ${path}.`, { hint: 'git reset makes it anew.', data: { path } });
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

function readTree(checkout: Checkout, from: Oid, to: Oid): void {
  replaceIndex(checkout, (hidden) => {
    runGitSync(hidden, ['update-index', '-q', '--refresh']); // what it says of changed files, read-tree says where they matter
    mustRun(hidden, ['read-tree', '-m', '-u', from, to]);
  });
}
