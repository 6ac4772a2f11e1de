import { HandoffError } from '../../core/error.ts';
import { assertUnlocked } from '../../git/index/locked-index.ts';
import { askRefs } from '../../repository/ask-refs.ts';
import type { Directories, IndexAccess, Messages, StateDirectory } from '../../repository/parts.ts';
import { isDetached, isRebasing } from '../../repository/position.ts';
import { type Repository, requireWorkTree } from '../../repository/repository.ts';
import { markCommitted, unmarkCommitted } from '../sessions/committed.ts';
import { clearPending } from '../sessions/pending-marks.ts';
import { isOver } from '../sessions/records.ts';
import type { Session } from '../sessions/registry.ts';
import { dirsOf } from '../sessions/session-state.ts';
import { changedAtHead } from './changed-at-head.ts';
import { letGitSee } from './excluded.ts';
import type { PublishOptions } from './publish.ts';
import { isHere, leftBehind, recoverRecords, type Writing } from './recover-records.ts';
import { writtenRecords } from './restore.ts';

/**
 * Brings the work tree in line with the journal: the records just written, and any that went missing, which is said. The index
 * is left alone (decision 0027), unless it is asked for, or the session's folder is to be committed.
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
    repository.warn(
      `Session ${session.session_id} is in another work tree (${session.worktree === '.' ? 'the first one' : session.worktree}): the record is not in this one. Run the command again there to have it committed.`,
    );
    return null;
  }
  const isCommitting = message !== null && options.commit !== false && options.stage !== false;
  const writing = { own: session, written, isCommitting, isInRef: askRefs(repository) };
  if (isCommitting) return commitRecords(repository, topLevel, writing, message);
  const paths = await restore(repository, topLevel, writing);
  if (options.stage) await stage(repository, topLevel, [session], paths).catch(warnNotStaged(repository));
  return null;
}

async function commitRecords(
  repository: Repository,
  topLevel: string,
  writing: Writing,
  message: string,
): Promise<string> {
  const { own, written } = writing;
  const paths = new Set(await restore(repository, topLevel, writing));
  const staging = async (isAgain: boolean): Promise<readonly Session[]> => {
    // somebody may have checked out or reset what was restored
    if (isAgain) for (const path of await restore(repository, topLevel, writing)) paths.add(path);
    const left = await leftBehind(repository, writing);
    for (const { session_id } of left) unmarkCommitted(dirsOf(repository), session_id);
    const sessions = [own, ...left];
    for (const each of sessions) for (const path of await noteChanged(repository, each, paths)) paths.add(path);
    await stage(repository, topLevel, sessions, paths).catch((error) => {
      throw writtenAllTheSame(error, written, 'staged');
    });
    return sessions;
  };
  const { commitSessions } = await import('./commit-sessions.ts'); // most verbs write, and do not commit
  const { commit, branch, sessions } = await commitSessions(repository, own, message, staging);
  for (const session of sessions) noteCommitted(repository, session, branch);
  return commit;
}

function noteCommitted(repository: Directories & StateDirectory, session: Session, branch: string | null): void {
  const dirs = dirsOf(repository);
  const { gitDir, commonDir } = repository.dirs;
  if (isOver(dirs, session.session_id)) markCommitted(dirs, session.session_id, { branch });
  clearPending(gitDir, session);
  letGitSee(commonDir, session);
}

/** What HEAD has with other bytes is staged as it was signed, and goes in with this commit. Said once. */
async function noteChanged(
  repository: Repository,
  session: Session,
  warnedOf: ReadonlySet<string>,
): Promise<readonly string[]> {
  const changed = (await changedAtHead(repository, session)).filter((path) => !warnedOf.has(path));
  if (changed.length > 0) repository.warn(putBack(changed));
  return changed;
}

/** Most were written by verbs that do not stage. */
async function stage(
  repository: Directories & StateDirectory & IndexAccess,
  topLevel: string,
  sessions: readonly Session[],
  paths: Iterable<string>,
): Promise<void> {
  const present = sessions.flatMap((session) => writtenRecords(topLevel, dirsOf(repository), session));
  assertUnlocked(repository.dirs, await repository.index.add([...paths], present));
}

/** The record is in the journal and in the work tree: whoever is told that it failed would write it twice. */
function warnNotStaged(repository: Messages): (error: unknown) => void {
  return (error) => {
    if (!(error instanceof HandoffError)) throw error;
    repository.warn(`Written, but not staged: ${error.message} The next commit takes it along all the same.`);
  };
}

/** The records just written, and any that went missing, which is said. Returns the paths of all of them. */
async function restore(repository: Repository, topLevel: string, writing: Writing): Promise<string[]> {
  const { written } = writing;
  try {
    const paths = new Set([...(await recoverRecords(repository, topLevel, writing)), ...written]);
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

/** Only the log of HEAD keeps such a commit. A rebase that is under way puts it on its branch. */
export function warnIfOnNoBranch(repository: Directories & Messages, commit: string | null): void {
  if (commit === null || !isDetached(repository) || isRebasing(repository)) return;
  repository.warn('HEAD is detached, and the commit on no branch: git switch -c NAME keeps it on one.');
}

function restored(paths: readonly string[]): string {
  return `Restored from the journal what the work tree did not have, or had with other bytes: ${shortList(paths)}`;
}

function putBack(paths: readonly string[]): string {
  return `HEAD had other bytes than were signed, and they are put back: ${shortList(paths)}. A hook or a filter of this repository changes them: let it leave .handoff/ alone.`;
}

function shortList(paths: readonly string[]): string {
  return paths.length === 1 ? paths[0]! : `${paths.length} records, ${paths[0]} and more`;
}
