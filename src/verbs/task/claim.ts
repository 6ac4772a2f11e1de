import { HandoffError } from '../../core/error.ts';
import { assertTask } from '../../core/task/name.ts';
import { isOpen } from '../../core/task/order.ts';
import { formatCd, quoteWord } from '../../core/text/quote.ts';
import { batonAbout } from '../../custody/baton/not-picked-up.ts';
import { wayToSession } from '../../custody/elsewhere.ts';
import { tidyKnownSessions } from '../../custody/tidy.ts';
import { publishRecords } from '../../journal/commits/publish-records.ts';
import { removeTrailers, writeTrailers } from '../../journal/commits/trailers.ts';
import { readClaim } from '../../journal/locks/claims.ts';
import { isHeldBy } from '../../journal/locks/open-locks.ts';
import { instead, taskClaimed } from '../../journal/locks/task-lock.ts';
import type { Session } from '../../journal/sessions/registry.ts';
import { dirsOf } from '../../journal/sessions/session-state.ts';
import { readBranch } from '../../repository/position.ts';
import { enterWorkTree, type Repository } from '../../repository/repository.ts';
import { requireTrust } from '../../repository/trusted-now.ts';
import { blockedBy } from '../../tasks/board.ts';
import { beginWithTask, findClaimant, toStarted, withStarted } from '../../tasks/claimant.ts';
import { type Claiming, enterTask } from '../../tasks/enter-task.ts';
import { alternatives, otherHolder } from '../../tasks/rivals.ts';
import { readWanted, type Wanted } from '../../tasks/wanted-task.ts';
import { moveSession, type NewWorktree, planWorktree } from '../../tasks/worktree.ts';
import { type Author, authorOf, type RecordOptions } from '../session/record-verbs.ts';

export interface ClaimOptions extends RecordOptions {
  id: string;
  worktree?: boolean;
  /** Take it from whoever is at work on it. */
  force?: boolean;
  /** Why, for the record. */
  reason?: string;
}

export interface ClaimResult extends Author {
  task_id: string;
  /** The number of the lock: records carry it. */
  token: number;
  branch: string | null;
  worktree: string | null;
  /** The command that goes to the work tree, where that is another one. */
  cd?: string;
  /** The session was opened for it. */
  started?: true;
}

/**
 * Takes a task's lock and says so; from then on the session's records carry its number. SPEC §8.9. Where no session is open, one
 * is opened: after all that can be refused was asked, and its lock of the task comes before its first record.
 */
export async function claim(repository: Repository, options: ClaimOptions): Promise<ClaimResult> {
  const topLevel = enterWorkTree(repository);
  const reason = givenReason(options);
  assertTask(options.id);
  const trust = await requireTrust(repository);
  const claimant = await findClaimant(repository, trust, options);
  const wanted = await readWanted(repository, trust, options);
  const { board, task, held, locks } = wanted;
  const id = task.task_id;
  const other = await otherHolder({ repository, trust, locks, session: claimant.session }, board.knownSessions, held);
  if (other && !options.force) {
    const cd = other.identity === claimant.identity ? wayToSession(repository, other.session_id) : null;
    throw taskClaimed(id, other, alternatives(board, id), cd);
  }
  assertClaimable(wanted, claimant.session);
  const isOwn = claimant.session !== null && isHeldBy(held, claimant.session);
  const earlier = isOwn ? readClaim(dirsOf(repository), claimant.session!.session_id, id) : null;
  const place = options.worktree ? await planWorktree(repository, task, claimant, earlier) : null;
  if (claimant.session) await tidyKnownSessions(repository, trust, board.knownSessions);
  const begun = claimant.session ? null : await beginWithTask(repository, trust, claimant, { ...wanted, reason });
  const writer = begun?.writer ?? { repository, trust, locks, session: claimant.session!, signer: claimant.signer };
  const claiming: Claiming = { ...wanted, writer, reason };
  try {
    const entered = await enterTask(repository, claiming, earlier, begun?.token ?? null, place);
    const paths = [begun?.path ?? null, entered.path].filter((path) => path !== null);
    await settle(repository, writer.session, id, { paths, place }, options);
    const { token, branch = readBranch(repository), worktree = topLevel } = entered.claim;
    const left = isOwn ? null : batonAbout(board.knownSessions, id, repository.now());
    if (left) repository.warn(left);
    const cd = worktree === topLevel ? {} : { cd: formatCd(worktree) };
    const author = begun ? toStarted(writer.session) : authorOf(writer.session);
    return { task_id: id, token, branch, worktree, ...cd, ...author };
  } catch (error) {
    if (!begun) throw error;
    writeTrailers(repository, writer.session, null);
    throw withStarted(error, writer.session);
  }
}

/** The session goes to its work tree, and the records to where they belong. */
async function settle(
  repository: Repository,
  session: Session,
  task: string,
  { paths, place }: { paths: string[]; place: NewWorktree | null },
  options: ClaimOptions,
): Promise<void> {
  const message = options.commit ? `handoff: ${session.identity} claims ${task}` : null;
  const moved = place && (await moveSession(repository, session, place, message, options));
  if (!moved && paths.length > 0) await publishRecords(repository, session, paths, message, options);
  if (moved) removeTrailers(repository, session);
  writeTrailers(repository, moved ?? session, task);
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

function assertClaimable({ board, task, held }: Wanted, session: Session | null): void {
  const { task_id } = task;
  const status = board.statusOf(task_id);
  if (!isOpen(status)) {
    throw new HandoffError('usage', `${task_id} is ${status}: there is nothing left to do.`, {
      hint: `To do it again: git handoff task update ${quoteWord(task_id)} --status todo. ${instead(alternatives(board, task_id))}`,
      data: { task_id, status },
    });
  }
  const blocked_by = session && isHeldBy(held, session) ? [] : blockedBy(task, board);
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
