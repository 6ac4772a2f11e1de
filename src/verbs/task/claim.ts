import { HandoffError } from '../../core/error.ts';
import { taskStatus } from '../../core/session/history-queries.ts';
import { assertTask } from '../../core/task/name.ts';
import { isOpen } from '../../core/task/order.ts';
import { firstFreeToken } from '../../core/task/rival-tokens.ts';
import { quoteWord } from '../../core/text/quote.ts';
import { requireSession } from '../../custody/chosen-session.ts';
import { tidyKnown } from '../../custody/tidy.ts';
import { append, type Writer } from '../../journal/append.ts';
import { publishRecords } from '../../journal/commits/publish-records.ts';
import { removeTrailers, writeTrailers } from '../../journal/commits/trailers.ts';
import { requireSigner } from '../../journal/keys/acting.ts';
import { type Claim, dropClaim, readClaim, writeClaim } from '../../journal/locks/claims.ts';
import { type Held, holderOf, isHeldBy, openHolds } from '../../journal/locks/holds.ts';
import { REACH } from '../../journal/locks/lock-ref.ts';
import { instead, releaseClaim, taskClaimed, tokenOf } from '../../journal/locks/task-lock.ts';
import { assertWritable, dirsOf } from '../../journal/sessions/session-state.ts';
import { readBranch } from '../../repository/position.ts';
import { enterWorkTree, type Repository } from '../../repository/repository.ts';
import { requireTask, type TaskDefinition } from '../../repository/task-definitions.ts';
import { requireTrust } from '../../repository/trusted-now.ts';
import { type Board, blockedBy, readBoard, withTrails } from '../../tasks/board.ts';
import { alternatives, otherHolder } from '../../tasks/rivals.ts';
import { addWorktree, moveSession, type NewWorktree, planWorktree, removeWorktree } from '../../tasks/worktree.ts';
import type { RecordOptions } from '../session/record-verbs.ts';

export interface ClaimOptions extends RecordOptions {
  id: string;
  worktree?: boolean;
  /** Take it from whoever is at work on it. */
  force?: boolean;
  /** Why, for the record. */
  reason?: string;
}

export interface ClaimResult {
  task_id: string;
  /** The number of the lock: records carry it. */
  token: number;
  branch: string | null;
  worktree: string | null;
}

/** What every step of a claim needs. */
interface Claiming {
  writer: Writer;
  board: Board;
  task: TaskDefinition;
  held: Held | null;
  reason?: string | undefined;
}

/** Takes a task's lock and says so; from then on the session's records carry its number. SPEC §8.9 */
export async function claim(repository: Repository, options: ClaimOptions): Promise<ClaimResult> {
  const topLevel = enterWorkTree(repository);
  const reason = givenReason(options);
  const claiming = { ...(await prepare(repository, options)), reason };
  const { writer, board, task, held } = claiming;
  const { session } = writer;
  const id = task.task_id;
  const other = await otherHolder(writer, board.known, held);
  if (other && !options.force) throw taskClaimed(id, other, alternatives(board, id));
  assertClaimable(claiming);
  const earlier = isHeldBy(held, session) ? readClaim(dirsOf(repository), session.session_id, id) : null;
  const place = options.worktree ? await planWorktree(repository, task, session, earlier) : null;
  await tidyKnown(repository, writer.trust, board.known);
  const taken = await enter(repository, claiming, earlier, place);
  const written = taken.path === null ? [] : [taken.path];
  const message = options.commit ? `handoff: ${session.identity} claims ${id}` : null;
  const moved = place && (await moveSession(repository, session, place, message, options));
  if (!moved && written.length > 0) await publishRecords(repository, session, written, message, options);
  if (moved) removeTrailers(repository, session);
  writeTrailers(repository, moved ?? session, id);
  const { token, branch = readBranch(repository), worktree = topLevel } = taken.claim;
  return { task_id: id, token, branch, worktree };
}

/** Gives a task back: others may claim it. Its branch and its work tree stay. */
export async function unclaim(
  repository: Repository,
  options: Omit<ClaimOptions, 'worktree' | 'force' | 'reason'>,
): Promise<ClaimResult> {
  enterWorkTree(repository);
  const { writer, board, task, held } = await prepare(repository, options);
  const { session, holds } = writer;
  const { task_id } = task;
  const claimed = readClaim(dirsOf(repository), session.session_id, task_id);
  if (!isHeldBy(held, session)) {
    if (!claimed) throw notYours(task_id, held);
    dropClaim(dirsOf(repository), session.session_id, task_id);
    repository.warn(`${task_id} was no longer yours.`);
    return { task_id, token: claimed.token, branch: null, worktree: null };
  }
  const token = claimed?.token ?? tokenOf(held, session);
  if (board.statusOf(task_id) === 'in_progress') {
    const { path } = await append(writer, { kind: 'task', fields: { task_id, status: 'todo' } });
    const message = options.commit ? `handoff: ${session.identity} gives ${task_id} back` : null;
    await publishRecords(repository, session, [path], message, options);
  }
  await releaseClaim(repository, holds, session, { task: task_id });
  writeTrailers(repository, session, null);
  return { task_id, token, branch: null, worktree: null };
}

/** Whoever takes a task from somebody says why, in a record that both can read. */
function givenReason({ id, force, reason = '' }: ClaimOptions): string | undefined {
  if (force && reason.trim() === '') {
    throw new HandoffError('usage', 'A claim by force needs a reason.', {
      hint: `git handoff claim ${quoteWord(id)} --force --reason TEXT`,
    });
  }
  return reason === '' ? undefined : reason;
}

async function prepare(repository: Repository, options: ClaimOptions): Promise<Claiming> {
  assertTask(options.id);
  const trust = await requireTrust(repository);
  const live = await requireSession(repository, trust, options);
  assertWritable(live);
  const { session } = live;
  const signer = await requireSigner(repository, trust, session.identity);
  const shown = await readBoard(repository, trust);
  const task = requireTask(shown.tasks, options.id);
  const board = await withTrails(shown, [options.id, ...task.depends_on]);
  const holds = await openHolds(repository, trust, options);
  const held = await holds.read(`task/${options.id}`);
  return { writer: { repository, session, trust, signer, holds }, board, task, held };
}

/**
 * The lock, the claim, the work tree, the record: in this order, so that whoever is cut off finds what is missing by the same
 * command. What fails is taken back, up to the record, which nothing takes back.
 */
async function enter(
  repository: Repository,
  claiming: Claiming,
  earlier: Claim | null,
  place: NewWorktree | null,
): Promise<{ claim: Claim; path: string | null }> {
  const { writer, task } = claiming;
  const { session } = writer;
  const dirs = dirsOf(repository);
  const { task_id } = task;
  const token = earlier?.token ?? (await takeLock(claiming));
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
    else await releaseClaim(repository, writer.holds, session, { task: task_id });
    throw error;
  }
}

/** This session has said so already. */
function isBegun({ writer, board, task, held }: Claiming): boolean {
  const state = taskStatus(board.known.history, task.task_id);
  return (
    isHeldBy(held, writer.session) &&
    state?.session_id === writer.session.session_id &&
    (state.status === 'in_progress' || state.status === 'blocked')
  );
}

/**
 * SPEC §8.9: whoever decides under a number that others hold, or have passed, is refused (§6.6), so those are all passed: but
 * only from the number after the last one, where all who want the lock meet, and in steps that a server takes.
 */
async function takeLock({ writer, board, task, held, reason }: Claiming): Promise<number> {
  const { repository, session, holds } = writer;
  const name = `task/${task.task_id}` as const;
  const holder = holderOf(repository.host.name, session, repository.now().toISOString(), reason);
  const tokens = board.trailOf(task.task_id)?.tokens ?? [];
  let own = isHeldBy(held, session) ? held : await takeSteps(held, 1);
  for (const first = tokenOf(own, session); ; ) {
    const token = tokenOf(own, session);
    const free = firstFreeToken(token, first, tokens, session);
    if (free === token) return token;
    own = await takeSteps(own, Math.min(free - token, REACH));
  }

  async function takeSteps(prior: Held | null, steps: number): Promise<Held> {
    const isTaken = await holds.take(name, prior, holder, steps);
    const now = await holds.read(name);
    if (!isTaken || !isHeldBy(now, session)) throw lost(task.task_id, now, board);
    return now;
  }
}

function lost(task_id: string, held: Held | null, board: Board): HandoffError {
  return taskClaimed(task_id, held?.holder ?? null, alternatives(board, task_id));
}

function assertClaimable({ writer, board, task, held }: Claiming): void {
  const { task_id } = task;
  const status = board.statusOf(task_id);
  if (!isOpen(status)) {
    throw new HandoffError('usage', `${task_id} is ${status}: there is nothing left to do.`, {
      hint: `${instead(alternatives(board, task_id))} To do it again: git handoff task update ${quoteWord(task_id)} --status todo`,
      data: { task_id, status },
    });
  }
  const blocked_by = isHeldBy(held, writer.session) ? [] : blockedBy(task, board);
  if (blocked_by.length === 0) return;
  const others = alternatives(board, task_id);
  const names = blocked_by
    .map((id) => `${id} (${board.isDefined(id) ? board.statusOf(id) : 'not defined'})`)
    .join(', ');
  throw new HandoffError('not_unblocked', `${task_id} waits for ${names}.`, {
    hint: instead(others),
    data: { task_id, blocked_by, next: others.map((each) => each.task_id) },
  });
}

function notYours(task_id: string, held: Held | null): HandoffError {
  if (held && !held.released) return taskClaimed(task_id, held.holder);
  return new HandoffError('usage', `${task_id} is not claimed.`, {
    hint: `git handoff claim ${quoteWord(task_id)}`,
    data: { task_id },
  });
}
