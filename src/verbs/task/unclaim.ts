import { HandoffError } from '../../core/error.ts';
import { assertTask } from '../../core/task/name.ts';
import { quoteWord } from '../../core/text/quote.ts';
import { requireSession } from '../../custody/chosen-session.ts';
import { append } from '../../journal/append.ts';
import { publishRecords } from '../../journal/commits/publish-records.ts';
import { writeTrailers } from '../../journal/commits/trailers.ts';
import { requireSigner } from '../../journal/keys/identity-choice.ts';
import { type Claim, dropClaim, readClaim } from '../../journal/locks/claims.ts';
import { isHeldBy, type LockState } from '../../journal/locks/open-locks.ts';
import { releaseClaim, taskClaimed, tokenOf } from '../../journal/locks/task-lock.ts';
import { assertWritable, dirsOf } from '../../journal/sessions/session-state.ts';
import { enterWorkTree, type Repository } from '../../repository/repository.ts';
import { requireTrust } from '../../repository/trusted-now.ts';
import type { Claiming } from '../../tasks/enter-task.ts';
import { readWanted } from '../../tasks/wanted-task.ts';
import { authorOf } from '../session/record-verbs.ts';
import type { ClaimOptions, ClaimResult } from './claim.ts';

/** Gives a task back: others may claim it. Its branch and its work tree stay. */
export async function unclaim(
  repository: Repository,
  options: Omit<ClaimOptions, 'worktree' | 'force' | 'reason'>,
): Promise<ClaimResult> {
  enterWorkTree(repository);
  const { writer, board, task, held, locks } = await prepare(repository, options);
  const { session } = writer;
  const { task_id } = task;
  const claimed = readClaim(dirsOf(repository), session.session_id, task_id);
  if (!isHeldBy(held, session)) {
    if (!claimed) throw notYours(task_id, held);
    dropClaim(dirsOf(repository), session.session_id, task_id);
    repository.warn(`${task_id} was no longer yours.`);
    return { task_id, token: claimed.token, ...placeOf(claimed), ...authorOf(session) };
  }
  const token = claimed?.token ?? tokenOf(held, session);
  if (board.statusOf(task_id) === 'in_progress') {
    const { path } = await append(writer, { kind: 'task', fields: { task_id, status: 'todo' } });
    const message = options.commit ? `handoff: ${session.identity} gives ${task_id} back` : null;
    await publishRecords(repository, session, [path], message, options);
  }
  await releaseClaim(repository, locks, session, { task: task_id });
  writeTrailers(repository, session, null);
  return { task_id, token, ...placeOf(claimed), ...authorOf(session) };
}

/** They stay: whoever goes on finds the work there. */
function placeOf(claim: Claim | null): Pick<ClaimResult, 'branch' | 'worktree'> {
  return { branch: claim?.branch ?? null, worktree: claim?.worktree ?? null };
}

async function prepare(repository: Repository, options: ClaimOptions): Promise<Claiming> {
  assertTask(options.id);
  const trust = await requireTrust(repository);
  const live = await requireSession(repository, trust, options);
  assertWritable(live);
  const { session } = live;
  const signer = await requireSigner(repository, trust, session.identity);
  const wanted = await readWanted(repository, trust, options);
  return { ...wanted, writer: { repository, session, trust, signer, locks: wanted.locks } };
}

function notYours(task_id: string, held: LockState | null): HandoffError {
  if (held && !held.released) return taskClaimed(task_id, held.holder);
  return new HandoffError('usage', `${task_id} is not claimed.`, {
    hint: `git handoff claim ${quoteWord(task_id)}`,
    data: { task_id },
  });
}
