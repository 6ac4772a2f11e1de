import { HandoffError } from '../../core/error.ts';
import { isDetached, isRebasing } from '../../repository/position.ts';
import { type Repository, requireWorkTree } from '../../repository/repository.ts';
import { markCommitted } from '../sessions/committed.ts';
import { isOver } from '../sessions/records.ts';
import type { Session } from '../sessions/registry.ts';
import { dirsOf } from '../sessions/session-state.ts';
import { changedAtHead, commitSessions } from './commit-sessions.ts';
import type { PublishOptions } from './publish.ts';
import { isHere, leftBehind, recoverRecords } from './recover-records.ts';
import { writtenRecords } from './restore.ts';

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
    repository.warn(
      `Session ${session.session_id} is in another work tree (${session.worktree === '.' ? 'the first one' : session.worktree}): the record is not in this one. Run the command again there to have it committed.`,
    );
    return null;
  }
  const paths = new Set(await restore(repository, topLevel, session, written));
  if (options.stage === false) return null;
  if (message === null || options.commit === false) {
    await stage(repository, topLevel, [session], paths).catch(warnNotStaged(repository));
    return null;
  }
  const staging = async (isAgain: boolean): Promise<readonly Session[]> => {
    // somebody may have checked out or reset what was restored
    if (isAgain) for (const path of await restore(repository, topLevel, session, written)) paths.add(path);
    const sessions = [session, ...(await leftBehind(repository, session))];
    for (const each of sessions) for (const path of await noteChanged(repository, each, paths)) paths.add(path);
    await stage(repository, topLevel, sessions, paths).catch((error) => {
      throw writtenAllTheSame(error, written, 'staged');
    });
    return sessions;
  };
  const { commit, branch, sessions } = await commitSessions(repository, session, message, staging);
  const dirs = dirsOf(repository);
  for (const { session_id } of sessions) if (isOver(dirs, session_id)) markCommitted(dirs, session_id, { branch });
  return commit;
}

/** What HEAD has with other bytes is staged as it was signed, and goes in with this commit. Said once. */
async function noteChanged(
  repository: Repository,
  session: Session,
  known: ReadonlySet<string>,
): Promise<readonly string[]> {
  const changed = (await changedAtHead(repository, session)).filter((path) => !known.has(path));
  if (changed.length > 0) repository.warn(putBack(changed));
  return changed;
}

/** Some may have been written with --no-stage, or taken out of the index since. */
function stage(
  repository: Repository,
  topLevel: string,
  sessions: readonly Session[],
  paths: Iterable<string>,
): Promise<void> {
  const present = sessions.flatMap((session) => writtenRecords(topLevel, dirsOf(repository), session));
  return repository.index.add([...paths], present);
}

/** The record is in the journal and in the work tree: whoever is told that it failed would write it twice. */
function warnNotStaged(repository: Repository): (error: unknown) => void {
  return (error) => {
    if (!(error instanceof HandoffError)) throw error;
    repository.warn(`Written, but not staged: ${error.message}. The next git handoff command stages it.`);
  };
}

/** The records just written, and any that went missing, which is said. Returns the paths of all of them. */
async function restore(
  repository: Repository,
  topLevel: string,
  session: Session,
  written: readonly string[],
): Promise<string[]> {
  try {
    const paths = new Set([...(await recoverRecords(repository, topLevel, session)), ...written]);
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
export function warnIfOnNoBranch(repository: Repository, commit: string | null): void {
  if (commit === null || !isDetached(repository) || isRebasing(repository)) return;
  repository.warn('HEAD is detached, and the commit on no branch: git switch -c NAME keeps it on one.');
}

function restored(paths: readonly string[]): string {
  return `Restored from the journal what the work tree did not have, or had with other bytes: ${some(paths)}`;
}

function putBack(paths: readonly string[]): string {
  return `HEAD had other bytes than were signed, and they are put back: ${some(paths)}. A hook or a filter of this repository changes them: let it leave .handoff/ alone.`;
}

function some(paths: readonly string[]): string {
  return paths.length === 1 ? paths[0]! : `${paths.length} records, ${paths[0]} and more`;
}
