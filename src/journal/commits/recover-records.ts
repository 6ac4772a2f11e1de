import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { recordName } from '../../core/paths.ts';
import { listSome } from '../../core/text/list-some.ts';
import { type FileToWrite, writeFiles } from '../../disk/tree-files.ts';
import { objectFormat, objectId } from '../../git/objects/loose-object.ts';
import { askRefs, type IsInRef } from '../../repository/ask-refs.ts';
import type { Directories, GitAccess, StateDirectory } from '../../repository/parts.ts';
import { readBranch } from '../../repository/position.ts';
import type { Repository } from '../../repository/repository.ts';
import { type Committed, markCommitted, readCommitted, unmarkCommitted } from '../sessions/committed.ts';
import { markPending } from '../sessions/pending-marks.ts';
import { isOver, lastRecord } from '../sessions/records.ts';
import { listSessions, type Session, type StateDirs } from '../sessions/registry.ts';
import { dirsOf } from '../sessions/session-state.ts';
import { changedAtHead } from './changed-at-head.ts';
import { letGitOverwrite } from './excluded.ts';
import { changedInWorkTree, missingRecords } from './restore.ts';

/** Who writes what, and whether it will be committed right away. */
export interface Writing {
  own: Session;
  /** Paths of the records that were just journalled. */
  written: readonly string[];
  isCommitting: boolean;
  /** Every step of a verb asks this; the refs are read only once. */
  isInRef: IsInRef;
}

/**
 * Writes what the work tree lacks of its sessions, and what it has with other bytes than were signed, but for those that a commit
 * is known to hold and whose commit was not taken back. Returns the paths. SPEC §8.3
 */
export async function recoverRecords(repository: Repository, topLevel: string, writing: Writing): Promise<string[]> {
  const { own, isInRef } = writing;
  const dirs = dirsOf(repository);
  const paths: string[] = [];
  for (const session of listSessions(dirs).filter((each) => isHere(repository, each))) {
    const { session_id } = session;
    const committed = readCommitted(dirs, session_id);
    if (isOnOtherBranch(repository, committed)) continue;
    const isOwn = session_id === own.session_id;
    // that of somebody else who is at work is theirs to put right
    if (isOwn || (!committed && isOver(dirs, session_id))) paths.push(...putBackChanged(topLevel, dirs, session));
    const missing = missingRecords(topLevel, dirs, session);
    if (missing.length === 0) continue;
    const mayBeElsewhere = committed ? committed.branch === null : !isOwn;
    if (mayBeElsewhere && (await isInSomeRef(dirs, session, isInRef))) {
      if (!committed) markCommitted(dirs, session_id, { branch: null }); // which of its branches does not matter
      continue;
    }
    unmarkCommitted(dirs, session_id);
    paths.push(...(await writeMissing(repository, topLevel, { session, missing }, writing)));
  }
  return paths;
}

function putBackChanged(topLevel: string, dirs: StateDirs, session: Session): string[] {
  const changed = changedInWorkTree(topLevel, dirs, session);
  writeFiles(topLevel, changed, dirs.scratch);
  return changed.map(({ path }) => path);
}

/**
 * Those that were just written, and those that went missing. What git took away, with another branch or a commit that was taken
 * back, may come back by git, which must be free to overwrite it: git is told to ignore the folder. From a stash files come back
 * only where nothing is, so what is stashed stays away until it is committed.
 */
async function writeMissing(
  repository: Repository,
  topLevel: string,
  { session, missing }: { session: Session; missing: readonly FileToWrite[] },
  { written, isCommitting }: Writing,
): Promise<string[]> {
  const lost = missing.filter(({ path }) => !written.includes(path));
  const stashed = isCommitting ? new Set<string>() : await stashedAmong(repository, lost);
  if (stashed.size > 0) repository.warn(inStash([...stashed]));
  const files = missing.filter(({ path }) => !stashed.has(path));
  const back = lost.filter(({ path }) => !stashed.has(path));
  if (await mayComeBack(repository, back)) letGitOverwrite(repository.dirs.commonDir, session);
  writeFiles(topLevel, files, dirsOf(repository).scratch);
  const newest = lastPath(dirsOf(repository), session);
  if (newest !== null) markPending(repository.dirs.gitDir, session, newest);
  return files.map(({ path }) => path);
}

/** Whether git has the bytes of one that HEAD lacks: only then some commit can bring it. */
async function mayComeBack({ store, dirs }: GitAccess & Directories, files: readonly FileToWrite[]): Promise<boolean> {
  for (const { path, bytes } of files) {
    const oid = objectId(objectFormat(dirs.commonDir), 'blob', bytes);
    if ((await store.has(oid)) && !(await store.has(`HEAD:${path}`))) return true;
  }
  return false;
}

function inStash(paths: readonly string[]): string {
  return `In the stash, and left there: ${listSome(paths, 1)}. git stash pop brings it back; the next commit has it in any case.`;
}

/**
 * Looks in the newest stash, the one that `git stash pop` brings back. Its third parent has the untracked files. A file that its
 * first parent has too was not stashed: it was committed before.
 */
async function stashedAmong({ store }: GitAccess, files: readonly FileToWrite[]): Promise<Set<string>> {
  const stashed = new Set<string>();
  if (files.length === 0 || !(await store.has('refs/stash'))) return stashed;
  for (const { path } of files) {
    const [inTree, before, unknown] = await Promise.all(
      ['', '^1', '^3'].map((of) => store.has(`refs/stash${of}:${path}`)),
    );
    if (unknown || (inTree && !before)) stashed.add(path);
  }
  return stashed;
}

/** Sessions of a work tree that was removed are everybody's: their records must not be left behind with it. */
export function isHere({ worktree, dirs }: Directories, session: Session): boolean {
  return session.worktree === worktree || !existsSync(join(dirs.commonDir, session.worktree));
}

/** Nobody looks whether that branch still has it, as long as another one is checked out. */
export function isOnOtherBranch(repository: Directories, committed: Committed | null): boolean {
  const branch = committed?.branch ?? null;
  return branch !== null && branch !== readBranch(repository);
}

/**
 * A session that has ended may have been committed by hand, or while no branch was checked out, and be on a branch that is not
 * checked out now: then nothing is lost. One that goes on needs its whole chain on whichever branch it goes on.
 */
export async function isInSomeRef(dirs: StateDirs, session: Session, isInRef: IsInRef): Promise<boolean> {
  if (!isOver(dirs, session.session_id)) return false;
  const last = lastPath(dirs, session);
  return last !== null && (await isInRef(last));
}

export function lastPath(dirs: StateDirs, { session_id, folder }: Session): string | null {
  const last = lastRecord(dirs, session_id);
  return last && 'kind' in last ? `${folder}/${recordName(last.number, last.kind)}` : null;
}

/**
 * Sessions of this work tree that are over and that HEAD should hold and does not: they were restored, or never committed, or
 * somebody's commit took them out again, as one does that was begun before ours. Nobody else will commit them.
 */
export async function leftBehind(
  repository: GitAccess & Directories & StateDirectory,
  { own, isInRef }: Writing,
): Promise<Session[]> {
  const dirs = dirsOf(repository);
  const over = listSessions(dirs).filter(
    (session) =>
      session.session_id !== own.session_id && isHere(repository, session) && isOver(dirs, session.session_id),
  );
  const held = await Promise.all(over.map((session) => isStillCommitted(repository, session, isInRef)));
  return over.filter((_, index) => !held[index]);
}

/** Whether HEAD holds all of it, or another branch that it was committed on; where that is not known, any ref. */
export async function isStillCommitted(
  repository: GitAccess & Directories & StateDirectory,
  session: Session,
  isInRef: IsInRef = askRefs(repository),
): Promise<boolean> {
  const dirs = dirsOf(repository);
  const committed = readCommitted(dirs, session.session_id);
  if (isOnOtherBranch(repository, committed)) return true;
  const last = lastPath(dirs, session);
  if (last === null) return true;
  if (await repository.store.has(`HEAD:${last}`))
    return committed !== null || (await changedAtHead(repository, session)).length === 0;
  return committed?.branch === null && (await isInRef(last));
}
