import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { recordName } from '../core/paths.ts';
import { readGit } from '../git/run.ts';
import { markCommitted, readCommitted, unmarkCommitted } from '../journal/committed.ts';
import { type FileToWrite, writeFiles } from '../journal/files.ts';
import { isOver, lastRecord } from '../journal/records.ts';
import { listSessions, type Session } from '../journal/registry.ts';
import { missingRecords } from '../journal/restore.ts';
import { readBranch } from './position.ts';
import type { Repository } from './repository.ts';
import { dirsOf } from './session.ts';

/**
 * Writes what the work tree lacks of its sessions, but for those that a commit is known to hold and whose commit was not
 * taken back. Returns the paths. SPEC §8.3
 */
export async function recoverRecords(repository: Repository, topLevel: string, own: Session): Promise<string[]> {
  const dirs = dirsOf(repository);
  const branch = readBranch(repository);
  const paths: string[] = [];
  for (const session of listSessions(dirs).filter((each) => isHere(repository, each))) {
    const { session_id } = session;
    const committed = readCommitted(dirs, session_id);
    if (committed && (committed.branch === null || committed.branch !== branch)) continue;
    const missing = missingRecords(topLevel, dirs, session);
    if (missing.length === 0) continue;
    if (committed) unmarkCommitted(dirs, session_id);
    else if (session_id !== own.session_id && (await isHeldByCommit(repository, session, missing))) continue;
    writeFiles(topLevel, missing, dirs.scratch);
    paths.push(...missing.map(({ path }) => path));
  }
  return paths;
}

/** Sessions of a work tree that was removed are everybody's: their records must not be left behind with it. */
export function isHere({ worktree, dirs }: Repository, session: Session): boolean {
  return session.worktree === worktree || !existsSync(join(dirs.commonDir, session.worktree));
}

/**
 * A session that has ended may have been committed by hand, on a branch that is not checked out now: then nothing is
 * lost. One that goes on needs its whole chain on whichever branch it goes on.
 */
async function isHeldByCommit(
  repository: Repository,
  { session_id }: Session,
  missing: readonly FileToWrite[],
): Promise<boolean> {
  const dirs = dirsOf(repository);
  if (!isOver(dirs, session_id)) return false;
  const found = await readGit(repository.git, ['rev-list', '--all', '-1', '--', missing.at(-1)!.path]);
  const commit = found.toString('latin1').trim();
  if (commit !== '') markCommitted(dirs, session_id, { branch: null }); // which of its branches does not matter
  return commit !== '';
}

/**
 * Sessions of this work tree that are over and that HEAD should hold and does not: they were restored, or never committed, or
 * somebody's commit took them out again, as one does that was begun before ours. Nobody else will commit them.
 */
export async function leftBehind(repository: Repository, own: Session): Promise<Session[]> {
  const dirs = dirsOf(repository);
  const over = listSessions(dirs).filter(
    (session) =>
      session.session_id !== own.session_id && isHere(repository, session) && isOver(dirs, session.session_id),
  );
  const held = await Promise.all(over.map((session) => isHeld(repository, session)));
  return over.filter((_, index) => !held[index]);
}

/** Whether HEAD holds all of it, or another branch that it was committed on. */
export async function isHeld(repository: Repository, { session_id, folder }: Session): Promise<boolean> {
  const dirs = dirsOf(repository);
  const committed = readCommitted(dirs, session_id);
  if (committed && (committed.branch === null || committed.branch !== readBranch(repository))) return true;
  const last = lastRecord(dirs, session_id);
  if (!last || !('kind' in last)) return true;
  const isInHead = await repository.store.has(`HEAD:${folder}/${recordName(last.number, last.kind)}`);
  if (committed && !isInHead) unmarkCommitted(dirs, session_id);
  return isInHead;
}
