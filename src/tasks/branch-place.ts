import { lstatSync, readdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { HandoffError } from '../core/error.ts';
import { quoteWord } from '../core/text/quote.ts';
import { type Work, workRefs } from '../custody/baton/work-place.ts';
import type { KnownSessions } from '../custody/known-sessions.ts';
import type { Oid } from '../git/objects/store.ts';
import { gitFailure, runGit } from '../git/run.ts';
import { replaceSession, type Session } from '../journal/sessions/registry.ts';
import { dirsOf } from '../journal/sessions/session-state.ts';
import type { Directories, GitAccess, Settings } from '../repository/parts.ts';
import { enterWorkTree, openTreeAt, type Repository } from '../repository/repository.ts';
import { isInLostWorkTree, workTreeOf } from '../repository/work-trees.ts';
import { assertFolders, hideTrees, isBeingMade, slugOfText, treePath } from './worktree.ts';

/** The work tree in which a baton's work goes on. */
export interface BranchTree {
  branch: string;
  path: string;
  /** The git command that makes the work tree; null if it is there. */
  toMake: readonly string[] | null;
}

/** Says no before anything is changed. The branch is made from the remote-tracking one where it is only there. */
export async function planBranchTree(
  repository: Directories & Settings & Pick<Repository, 'store'>,
  knownSessions: KnownSessions,
  { branch, worktree, is_here }: Work,
  identity: string,
  head: Oid | null,
): Promise<BranchTree> {
  if (branch === null && head !== null && (await repository.store.has(head))) throw onNoBranch(head);
  if (branch === null || !is_here || branch.startsWith('-')) throw noBranch(branch);
  if (worktree !== null) return { branch, path: worktree, toMake: null };
  const path = freePath(repository, identity, branch);
  const { own, remote } = await workRefs(repository, knownSessions, branch);
  const what = own ? [path, branch] : ['-b', branch, path, remote!.name];
  // git takes a branch for checked out in a work tree that somebody has deleted
  const force = isInLostWorkTree(repository.dirs, branch) ? ['--force'] : [];
  return { branch, path, toMake: ['worktree', 'add', '--quiet', ...force, ...what] };
}

/** Two branches may be called alike, and somebody may have put something there. */
function freePath(repository: Directories, identity: string, branch: string): string {
  const slug = slugOfText(branch) ?? 'work';
  const paths = Array.from({ length: MOST_ALIKE }, (_, at) =>
    treePath(repository, identity, at === 0 ? slug : `${slug}-${at + 1}`),
  );
  assertFolders(dirname(paths[0]!));
  const free = paths.find(isFree);
  if (free !== undefined) return free;
  throw new HandoffError(
    'foreign_directory',
    `${paths[0]} is taken, and so are the ${MOST_ALIKE - 1} names after it.`,
    {
      hint: 'Move what is there away, then run the command again. Or run it without --worktree.',
      data: { path: paths[0]! },
    },
  );
}

const MOST_ALIKE = 20;

function isFree(path: string): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  return !stats || (stats.isDirectory() && readdirSync(path).length === 0);
}

/** The session goes there before it has a record. Whoever is cut off before that has opened none, and finds the work tree. */
export async function moveIn(
  repository: Repository,
  session: Session,
  place: BranchTree | null,
): Promise<{ session: Session; target: Repository }> {
  if (!place) return { session, target: repository };
  const path = place.toMake ? await makeTree(repository, place) : place.path;
  await untilMade(repository, { ...place, path });
  const target = await openTreeAt(repository, path);
  enterWorkTree(target);
  const moved = { ...session, worktree: target.worktree };
  replaceSession(dirsOf(repository), moved);
  return { session: moved, target };
}

/** Whoever was faster has made the same one: then that is entered. */
async function makeTree(repository: GitAccess & Directories, { branch, path, toMake }: BranchTree): Promise<string> {
  hideTrees(repository);
  const result = await runGit(repository.git, toMake!);
  if (result.code === 0) return path;
  const other = workTreeOf(repository.dirs, branch);
  if (other === null) throw gitFailure([...toMake!], result);
  return other;
}

const LOOKS = 25;

/** git locks a work tree until all its files are there. Somebody else may be making it, or was cut off. */
async function untilMade(repository: Settings, { branch, path }: BranchTree): Promise<void> {
  for (let look = 1; isBeingMade(repository, path); look++) {
    if (look === LOOKS) throw unfinished(branch, path);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

function noBranch(branch: string | null): HandoffError {
  const what = branch === null ? 'was on no branch that is known' : `was on ${branch}, which is no branch here`;
  return new HandoffError('usage', `The work to go on with ${what}: there is no work tree to enter.`, {
    hint: 'If the branch is on a server: git fetch. If it was merged, go on where you are: git handoff pickup, without --worktree.',
    data: { branch },
  });
}

/** HEAD was detached, and the commit is here. */
function onNoBranch(head: Oid): HandoffError {
  const commit = head.slice(0, 12);
  return new HandoffError('usage', `The work to go on with was left at commit ${commit}, on no branch.`, {
    hint: `Put it on one: git switch -c NAME ${commit}. Then git handoff pickup, without --worktree.`,
    data: { branch: null, commit: head },
  });
}

function unfinished(branch: string, path: string): HandoffError {
  return new HandoffError('io', `The work tree of ${branch} is being made: ${path}`, {
    hint: `Try again in a moment. Where nobody is making it any more: git worktree remove --force --force ${quoteWord(path)}, then the same command again.`,
    data: { branch, path },
  });
}
