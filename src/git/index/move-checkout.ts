import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { HandoffError } from '../../core/error.ts';
import { gitFailure, runGitSync } from '../run.ts';
import { takeHalfMoved, type Way } from './half-moved.ts';
import { assertUnlocked, type Checkout, replaceIndex, whileIndexLocked } from './locked-index.ts';

interface Move extends Way {
  branch: string;
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
  const moved = await whileIndexLocked(checkout, () => {
    const isCheckedOut = readFileSync(join(gitDir, 'HEAD'), 'utf8') === `ref: refs/heads/${move.branch}\n`;
    return isCheckedOut && moveLocked(checkout, move);
  });
  return assertUnlocked(checkout.dirs, moved);
}

function noIndex(path: string): HandoffError {
  return new HandoffError('io', `There is no index: ${path}.`, { hint: 'git reset makes it anew.', data: { path } });
}

/** Files and index come before the branch: should it end there, what is to come looks like something staged, not like something taken back. */
function moveLocked(checkout: Checkout, { branch, from, to, derived, reason }: Move): boolean {
  readTree(checkout, { from, to, derived });
  const ref = `refs/heads/${branch}`;
  const moving = ['update-ref', '-m', reason, ref, to, from];
  const moved = runGitSync(checkout.git, moving);
  if (moved.code === 0) return true;
  readTree(checkout, { from: to, to: from, derived });
  const now = runGitSync(checkout.git, ['rev-parse', '--verify', '--quiet', '--end-of-options', ref]);
  if (now.stdout.toString('latin1').trim() !== from) return false;
  throw gitFailure(moving, moved);
}

function readTree(checkout: Checkout, way: Way): void {
  const args = ['read-tree', '-m', '-u', way.from, way.to];
  replaceIndex(checkout, (hidden) => {
    runGitSync(hidden, ['update-index', '-q', '--refresh']); // what it says of changed files, read-tree says where they matter
    const result = runGitSync(hidden, args);
    if (result.code === 0) return;
    if (!IN_THE_WAY.test(result.stderr)) throw gitFailure(args, result);
    takeHalfMoved(hidden, way);
    const again = runGitSync(hidden, args);
    if (again.code !== 0) throw inTheWay(gitFailure(args, again));
  });
}

const IN_THE_WAY = /not uptodate|would be overwritten|would be removed|would lose/;

function inTheWay({ message }: HandoffError): HandoffError {
  return new HandoffError('io', message, {
    hint: 'It is in the way of what is to be checked out. Put it aside: git stash push --include-untracked. Then run the command again; git stash pop brings it back.',
  });
}
