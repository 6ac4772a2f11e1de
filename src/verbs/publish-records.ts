import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { HandoffError } from '../core/error.ts';
import { readGit } from '../git/run.ts';
import { type FileToWrite, writeFiles } from '../journal/files.ts';
import { isWrapped, readTip } from '../journal/records.ts';
import {
  committedOn,
  isCommitted,
  listSessions,
  markCommitted,
  type Session,
  type StateDirs,
  unmarkCommitted,
} from '../journal/registry.ts';
import { missingRecords, writtenRecords } from '../journal/restore.ts';
import { commitSessions } from './commit-sessions.ts';
import { readBranch } from './position.ts';
import type { PublishOptions } from './publish.ts';
import { type Repository, requireWorkTree } from './repository.ts';
import { dirsOf } from './session.ts';

/**
 * Brings the work tree in line with the journal: the records just written, and any that went missing, which is said.
 * Then stages them and, if asked, commits the session's folder.
 */
export async function publishRecords(
  repository: Repository,
  session: Session,
  written: readonly string[],
  message: string | null,
  options: PublishOptions,
): Promise<string | null> {
  const topLevel = requireWorkTree(repository);
  if (!isHere(repository, session)) {
    repository.warn(`Session ${session.session_id} is in another work tree, which gets the record with its next verb.`);
    return null;
  }
  const paths = await restore(repository, topLevel, session, written);
  if (options.stage === false) return null;
  // some may have been written with --no-stage, or taken out of the index since
  const own = writtenRecords(topLevel, dirsOf(repository), session);
  const stage = () => repository.index.add(paths, own);
  if (message !== null && options.commit !== false) {
    const staging = () => stage().catch((error) => Promise.reject(writtenAllTheSame(error, written, 'staged')));
    const left = leftBehind(repository, session);
    const commit = await commitSessions(repository, [session, ...left], message, staging);
    for (const each of left) rememberCommitted(repository, each, commit);
    return commit;
  }
  await stage().catch((error) => {
    // the record is in the journal and in the work tree: whoever is told that it failed would write it twice
    if (!(error instanceof HandoffError)) throw error;
    repository.warn(`Written, but not staged: ${error.message}. The next git handoff command stages it.`);
  });
  return null;
}

/** Sessions of this work tree that are over and in no commit, restored ones for example: nobody else will commit them. */
function leftBehind(repository: Repository, own: Session): Session[] {
  const dirs = dirsOf(repository);
  return listSessions(dirs).filter(
    (session) =>
      session.session_id !== own.session_id &&
      isHere(repository, session) &&
      isOver(dirs, session) &&
      !isCommitted(dirs, session.session_id),
  );
}

function isOver(dirs: StateDirs, { session_id }: Session): boolean {
  const tip = readTip(dirs, session_id);
  return tip !== null && ('end' in tip || isWrapped(dirs, session_id));
}

/** The records just written, and any that went missing, which is said. Returns the paths of all of them. */
async function restore(
  repository: Repository,
  topLevel: string,
  session: Session,
  written: readonly string[],
): Promise<string[]> {
  try {
    const paths = new Set([...(await recover(repository, topLevel, session)), ...written]);
    const lost = [...paths].filter((path) => !written.includes(path));
    if (lost.length > 0) repository.warn(restored(lost));
    return [...paths];
  } catch (error) {
    throw writtenAllTheSame(error, written, 'in the work tree');
  }
}

/** The journal has it: whoever reads that something failed should not write the same record again. */
function writtenAllTheSame(error: unknown, written: readonly string[], where: string): unknown {
  if (!(error instanceof HandoffError)) return error;
  const { code, message, hint = '', data, cause } = error;
  return new HandoffError(code, `${written.join(', ')} is written, but not ${where}: ${message}`, {
    hint: `${hint} The next git handoff command puts it there; do not write it again.`.trimStart(),
    data: { ...data, written: true },
    cause,
  });
}

/** Every session of this work tree that no commit is known to hold, or whose commit was taken back. */
async function recover(repository: Repository, topLevel: string, own: Session): Promise<string[]> {
  const dirs = dirsOf(repository);
  const branch = readBranch(repository);
  const paths: string[] = [];
  for (const session of listSessions(dirs).filter((each) => isHere(repository, each))) {
    const { session_id } = session;
    const committed = committedOn(dirs, session_id);
    if (committed !== undefined && (committed === null || committed !== branch)) continue;
    const missing = missingRecords(topLevel, dirs, session);
    if (missing.length === 0) continue;
    if (committed !== undefined) unmarkCommitted(dirs, session_id);
    else if (session_id !== own.session_id && (await isHeldByCommit(repository, session, missing))) continue;
    writeFiles(topLevel, missing, dirs.scratch);
    paths.push(...missing.map(({ path }) => path));
  }
  return paths;
}

/** Sessions of a work tree that was removed are everybody's: their records must not be left behind with it. */
function isHere({ worktree, dirs }: Repository, session: Session): boolean {
  return session.worktree === worktree || !existsSync(join(dirs.commonDir, session.worktree));
}

/**
 * A session that has ended may have been committed by hand, on a branch that is not checked out now: then nothing is
 * lost. One that goes on needs its whole chain on whichever branch it goes on.
 */
async function isHeldByCommit(
  repository: Repository,
  session: Session,
  missing: readonly FileToWrite[],
): Promise<boolean> {
  const dirs = dirsOf(repository);
  if (!isOver(dirs, session)) return false;
  const found = await readGit(repository.git, ['rev-list', '--all', '-1', '--', missing.at(-1)!.path]);
  const commit = found.toString('latin1').trim();
  if (commit !== '') markCommitted(dirs, session.session_id, null); // which of its branches does not matter
  return commit !== '';
}

export function rememberCommitted(repository: Repository, session: Session, oid: string | null): void {
  if (oid !== null) markCommitted(dirsOf(repository), session.session_id, readBranch(repository));
}

function restored(paths: readonly string[]): string {
  const what = paths.length === 1 ? paths[0] : `${paths.length} records, ${paths[0]} and more`;
  return `Restored from the journal what the work tree did not have: ${what}`;
}
