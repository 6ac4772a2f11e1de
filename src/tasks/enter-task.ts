import { HandoffError } from '../core/error.ts';
import { taskStatus } from '../core/session/history-queries.ts';
import { append, type Writer } from '../journal/append.ts';
import { type Claim, writeClaim } from '../journal/locks/claims.ts';
import { isHeldBy } from '../journal/locks/open-locks.ts';
import { releaseClaim } from '../journal/locks/task-lock.ts';
import { dirsOf } from '../journal/sessions/session-state.ts';
import type { Repository } from '../repository/repository.ts';
import { takeLock } from './take-lock.ts';
import type { Wanted } from './wanted-task.ts';
import { addWorktree, type NewWorktree, removeWorktree } from './worktree.ts';

/** What every step of a claim needs. */
export interface Claiming extends Wanted {
  writer: Writer;
  reason?: string | undefined;
}

/**
 * The lock, the claim, the work tree, the record: in this order, so that whoever is cut off finds what is missing by the same
 * command. What fails is taken back, up to the record, which nothing takes back.
 */
export async function enterTask(
  repository: Repository,
  claiming: Claiming,
  earlier: Claim | null,
  taken: number | null,
  place: NewWorktree | null,
): Promise<{ claim: Claim; path: string | null }> {
  const { writer, task } = claiming;
  const { session } = writer;
  const dirs = dirsOf(repository);
  const { task_id } = task;
  // again for a claim that is there: another machine may have its number too, as records tell by now
  const token = Math.max(earlier?.token ?? 0, taken ?? (await takeLock(repository, session, claiming)));
  const at = earlier?.at ?? repository.now().toISOString();
  const where = place ? { branch: place.branch, worktree: place.path } : {};
  const claimed: Claim = { ...earlier, task: task_id, token, at, ...where };
  try {
    writeClaim(dirs, session.session_id, claimed);
    if (place) await addWorktree(repository, place);
    if (isBegun(claiming)) return { claim: claimed, path: null };
    const fields = { task_id, status: 'in_progress' as const, ...(claiming.reason ? { reason: claiming.reason } : {}) };
    const { path } = await append(writer, { kind: 'task', fields });
    return { claim: claimed, path };
  } catch (error) {
    if (error instanceof HandoffError && error.data?.written) throw error;
    if (place) await removeWorktree(repository, place);
    if (earlier) writeClaim(dirs, session.session_id, earlier);
    else await releaseClaim(repository, writer.locks, session, { task: task_id });
    throw error;
  }
}

/** This session has a record already that says that it is at work on the task. */
function isBegun({ writer, board, task, held }: Claiming): boolean {
  const state = taskStatus(board.knownSessions.history, task.task_id);
  return (
    isHeldBy(held, writer.session) &&
    state?.session_id === writer.session.session_id &&
    (state.status === 'in_progress' || state.status === 'blocked')
  );
}
