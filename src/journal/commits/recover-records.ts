import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { recordName } from '../../core/paths.ts';
import { writeFiles } from '../../disk/tree-files.ts';
import { askRefs, type IsInRef } from '../../repository/ask-refs.ts';
import { readBranch } from '../../repository/position.ts';
import type { Repository } from '../../repository/repository.ts';
import { type Committed, markCommitted, readCommitted, unmarkCommitted } from '../sessions/committed.ts';
import { isOver, lastRecord } from '../sessions/records.ts';
import { listSessions, type Session, type StateDirs } from '../sessions/registry.ts';
import { dirsOf } from '../sessions/session-state.ts';
import { changedAtHead } from './commit-sessions.ts';
import { changedInWorkTree, missingRecords } from './restore.ts';

/**
 * Writes what the work tree lacks of its sessions, and what it has with other bytes than were signed, but for those that a commit is known to hold and whose commit was not
 * taken back. Returns the paths. SPEC §8.3
 */
export async function recoverRecords(repository: Repository, topLevel: string, own: Session): Promise<string[]> {
  const dirs = dirsOf(repository);
  const isInRef = askRefs(repository);
  const paths: string[] = [];
  const putBackChanged = (session: Session, committed: Committed | null): void => {
    const isOwn = session.session_id === own.session_id;
    if (!isOwn && (committed || !isOver(dirs, session.session_id))) return; // somebody else's, or all is well
    const changed = changedInWorkTree(topLevel, dirs, session);
    writeFiles(topLevel, changed, dirs.scratch);
    paths.push(...changed.map(({ path }) => path));
  };
  for (const session of listSessions(dirs).filter((each) => isHere(repository, each))) {
    const { session_id } = session;
    const committed = readCommitted(dirs, session_id);
    if (isOnOtherBranch(repository, committed)) continue;
    putBackChanged(session, committed);
    const missing = missingRecords(topLevel, dirs, session);
    if (missing.length === 0) continue;
    const mayBeElsewhere = committed ? committed.branch === null : session_id !== own.session_id;
    if (mayBeElsewhere && (await isHeldByRef(dirs, session, isInRef))) {
      if (!committed) markCommitted(dirs, session_id, { branch: null }); // which of its branches does not matter
      continue;
    }
    unmarkCommitted(dirs, session_id);
    writeFiles(topLevel, missing, dirs.scratch);
    paths.push(...missing.map(({ path }) => path));
  }
  return paths;
}

/** Sessions of a work tree that was removed are everybody's: their records must not be left behind with it. */
export function isHere({ worktree, dirs }: Repository, session: Session): boolean {
  return session.worktree === worktree || !existsSync(join(dirs.commonDir, session.worktree));
}

/** Nobody looks whether that branch still has it, as long as another one is checked out. */
export function isOnOtherBranch(repository: Repository, committed: Committed | null): boolean {
  const branch = committed?.branch ?? null;
  return branch !== null && branch !== readBranch(repository);
}

/**
 * A session that has ended may have been committed by hand, or while no branch was checked out, and be on a branch that is not
 * checked out now: then nothing is lost. One that goes on needs its whole chain on whichever branch it goes on.
 */
export async function isHeldByRef(dirs: StateDirs, session: Session, isInRef: IsInRef): Promise<boolean> {
  if (!isOver(dirs, session.session_id)) return false;
  const last = lastPath(dirs, session);
  return last !== null && (await isInRef(last));
}

function lastPath(dirs: StateDirs, { session_id, folder }: Session): string | null {
  const last = lastRecord(dirs, session_id);
  return last && 'kind' in last ? `${folder}/${recordName(last.number, last.kind)}` : null;
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
  const isInRef = askRefs(repository);
  const held = await Promise.all(over.map((session) => isHeld(repository, session, isInRef)));
  return over.filter((_, index) => !held[index]);
}

/** Whether HEAD holds all of it, or another branch that it was committed on; where that is not known, any ref. */
export async function isHeld(
  repository: Repository,
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
  if (committed?.branch === null && (await isInRef(last))) return true;
  unmarkCommitted(dirs, session.session_id);
  return false;
}
