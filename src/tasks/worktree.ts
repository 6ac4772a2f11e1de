import { existsSync, lstatSync, readFileSync, rmdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { find } from '../audit/source/source.ts';
import { openTree } from '../audit/source/tree-source.ts';
import { HandoffError } from '../core/error.ts';
import { hasCode } from '../core/error-code.ts';
import { quoteWord } from '../core/text/quote.ts';
import { guarded } from '../disk/durable.ts';
import { ifThere } from '../disk/if-there.ts';
import { removeFile } from '../disk/tree-files.ts';
import { discoverRepository } from '../git/discover.ts';
import { assertUnlocked } from '../git/index/locked-index.ts';
import { gitFailure, runGit } from '../git/run.ts';
import { exclude } from '../journal/commits/excluded.ts';
import type { PublishOptions } from '../journal/commits/publish.ts';
import { publishRecords } from '../journal/commits/publish-records.ts';
import { isHere } from '../journal/commits/recover-records.ts';
import { missingRecords, writtenRecords } from '../journal/commits/restore.ts';
import type { Claim } from '../journal/locks/claims.ts';
import { clearPending } from '../journal/sessions/pending-marks.ts';
import { dropPointers, pointTo } from '../journal/sessions/pointers.ts';
import { replaceSession, type Session } from '../journal/sessions/registry.ts';
import { dirsOf } from '../journal/sessions/session-state.ts';
import type { Directories, GitAccess, Settings } from '../repository/parts.ts';
import { openTreeAt, type Repository, requireWorkTree } from '../repository/repository.ts';
import type { TaskDefinition } from '../repository/task-definitions.ts';

/** A work tree for one task. */
export interface NewWorktree {
  branch: string;
  path: string;
  /** An earlier attempt of this session was cut off: what it left is used. */
  isResumed: boolean;
}

const FOLDER = '.worktrees';

/** Says no before anything is changed. */
export async function planWorktree(
  repository: GitAccess & Directories,
  task: TaskDefinition,
  { session, identity }: { session: Session | null; identity: string },
  earlier: Claim | null,
): Promise<NewWorktree> {
  if (earlier?.branch && earlier.worktree) {
    assertFolders(earlier.worktree);
    return { branch: earlier.branch, path: earlier.worktree, isResumed: true };
  }
  if (session && !isHere(repository, session)) throw notHere(session);
  const slug = slugOf(task);
  const branch = `feature/${slug}`;
  if (await repository.store.has(`refs/heads/${branch}`)) throw branchExists(task.task_id, branch);
  if ((await repository.store.resolve('HEAD')) === null)
    throw new HandoffError('usage', 'There is no commit yet that a work tree could begin from.', {
      hint: 'git commit',
    });
  const path = treePath(repository, identity, slug);
  assertFolders(path);
  return { branch, path, isResumed: false };
}

/** Where the work trees of an identity are. */
export function treePath(repository: Directories, identity: string, slug: string): string {
  return join(mainTree(repository), FOLDER, identity, slug);
}

/** A branch can bring a link under this name, and git would follow it out of the repository. */
export function assertFolders(path: string): void {
  for (const folder of [dirname(dirname(path)), dirname(path), path]) {
    const stats = lstatSync(folder, { throwIfNoEntry: false });
    if (!stats || stats.isDirectory()) continue;
    const what = stats.isSymbolicLink() ? 'a symbolic link' : 'a file';
    throw new HandoffError('foreign_directory', `${folder} is ${what}; work trees are made only in plain folders.`, {
      hint: 'Move it away, then run the command again. Or run it without --worktree.',
      data: { path: folder },
    });
  }
}

const LONGEST_SLUG = 60;

/** `P0.1.1`, `Package setup` → `p0-1-1-package-setup`. An id has a letter or a digit, so there is always something. */
export function slugOf({ task_id, title }: Pick<TaskDefinition, 'task_id' | 'title'>): string {
  return slugOfText(`${task_id} ${title}`)!;
}

/** Null for a text without a letter or a digit. */
export function slugOfText(text: string): string | null {
  const plain = text.normalize('NFKD').replace(/\p{M}/gu, ''); // ü is u
  const words = plain.toLowerCase().match(/[a-z0-9]+/g) ?? [];
  const whole = words.filter((_, at) => words.slice(0, at + 1).join('-').length <= LONGEST_SLUG);
  return whole.join('-') || (words[0]?.slice(0, LONGEST_SLUG) ?? null);
}

/** Where the first work tree is: those of tasks are all beside each other, whichever they were made from. */
function mainTree(repository: Directories): string {
  const { commonDir, gitDir } = repository.dirs;
  return gitDir !== commonDir && basename(commonDir) === '.git' ? dirname(commonDir) : requireWorkTree(repository);
}

/** Keeps the work trees of tasks and batons from being shown as untracked files. */
export function hideTrees({ dirs }: Directories): void {
  guarded(FOLDER, () => exclude(dirs.commonDir, `${FOLDER}/`));
}

export async function addWorktree(repository: GitAccess & Directories & Settings, place: NewWorktree): Promise<void> {
  hideTrees(repository);
  if (place.isResumed && (await isWhole(repository, place))) return;
  const isThere = place.isResumed && (await repository.store.has(`refs/heads/${place.branch}`));
  const what = isThere ? [place.path, place.branch] : ['-b', place.branch, place.path, 'HEAD'];
  const args = ['worktree', 'add', '--quiet', ...what];
  const result = await runGit(repository.git, args);
  if (result.code === 0) return;
  if (/branch named .* already exists/.test(result.stderr)) throw branchExists(null, place.branch);
  if (!place.isResumed) await removeBranch(repository, place);
  throw gitFailure(args, result);
}

/** git locks a work tree until all its files are there. One that was not finished is made anew. */
async function isWhole(repository: GitAccess & Settings, { path }: NewWorktree): Promise<boolean> {
  if (!existsSync(join(path, '.git'))) return false;
  if (!isBeingMade(repository, path)) return true;
  await runGit(repository.git, ['worktree', 'remove', '--force', '--force', path]);
  return false;
}

export function isBeingMade({ env }: Settings, path: string): boolean {
  const { gitDir } = discoverRepository(path, env);
  return ifThere(() => readFileSync(join(gitDir, 'locked'), 'utf8').trim()) === 'initializing';
}

/** As if it had not been tried. What an earlier attempt left stays. */
export async function removeWorktree(repository: GitAccess, place: NewWorktree): Promise<void> {
  if (place.isResumed || !existsSync(join(place.path, '.git'))) return;
  await runGit(repository.git, ['worktree', 'remove', '--force', place.path]);
  await removeBranch(repository, place);
}

/** git makes the branch first, and leaves it. With `-d` it keeps one that has commits of its own: then it is not ours. */
async function removeBranch({ git }: GitAccess, { branch }: NewWorktree): Promise<void> {
  await runGit(git, ['branch', '--quiet', '-d', branch]);
}

/**
 * The session goes on in the new work tree, and what no commit holds of it goes along. It is in the journal: whoever is cut off
 * in between has it restored, where the session then is, by its next verb.
 */
export async function moveSession(
  repository: Repository,
  session: Session,
  { path }: NewWorktree,
  message: string | null,
  options: PublishOptions,
): Promise<Session> {
  const target = await openTreeAt(repository, path);
  const dirs = dirsOf(repository);
  try {
    const moved = { ...session, worktree: target.worktree };
    if (session.worktree === repository.worktree && session.worktree !== target.worktree)
      await takeAway(repository, session);
    replaceSession(dirs, moved);
    pointTo(dirs, moved);
    if (session.worktree !== target.worktree) dropPointers(dirs, session);
    if (repository.worktree !== target.worktree) dropPointers(dirs, { ...session, worktree: repository.worktree });
    const arriving = missingRecords(path, dirs, moved).map((file) => file.path);
    await publishRecords(target, moved, arriving, message, options);
    return moved;
  } finally {
    await target.close();
  }
}

/** What HEAD has stays: it is the branch's. */
async function takeAway(repository: Repository, session: Session): Promise<void> {
  const topLevel = requireWorkTree(repository);
  const source = await openTree(repository.store, 'HEAD');
  const folder = await find(source, session.folder);
  const committed = new Set((folder ? await source.list(folder) : []).map((entry) => entry.path));
  const paths = writtenRecords(topLevel, dirsOf(repository), session).filter((each) => !committed.has(each));
  if (paths.length === 0) return;
  for (const each of paths) removeFile(topLevel, each);
  for (const each of [session.folder, dirname(session.folder)]) removeIfEmpty(join(topLevel, each));
  clearPending(repository.dirs.gitDir, session);
  assertUnlocked(repository.dirs, await repository.index.add(paths)); // some may have been staged
}

function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch (error) {
    if (!hasCode(error, 'ENOTEMPTY', 'EEXIST', 'ENOENT')) throw error;
  }
}

function branchExists(task_id: string | null, branch: string): HandoffError {
  return new HandoffError('branch_exists', `The branch ${branch} exists already: somebody has begun this before.`, {
    hint: `Go on where it is checked out (git worktree list), with git handoff claim ${quoteWord(task_id ?? 'ID')} there. If that is over and merged: git worktree remove <its path>, git branch -d ${quoteWord(branch)}, then the same command again. Or take another task: git handoff next`,
    data: { branch, ...(task_id === null ? {} : { task_id }) },
  });
}

function notHere({ session_id }: Session): HandoffError {
  return new HandoffError('usage', `Session ${session_id} is in another work tree; it moves only from there.`, {
    hint: 'Run it there, with git handoff -C <directory>.',
    data: { session_id },
  });
}
