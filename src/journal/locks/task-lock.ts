import { HandoffError } from '../../core/error.ts';
import { isSameSession } from '../../core/task/state.ts';
import { quoteWord } from '../../core/text/quote.ts';
import type { Messages, StateDirectory, TimeAndHost } from '../../repository/parts.ts';
import type { RecordDraft } from '../drafts/record-draft.ts';
import type { Session } from '../sessions/registry.ts';
import { dirsOf } from '../sessions/session-state.ts';
import { type Claim, dropClaim, readClaims } from './claims.ts';
import type { Holder } from './holder.ts';
import { hasHalf, holderOf, isHeldBy, type LockState, type Locks } from './open-locks.ts';

/** What a record says about the lock that its session holds. */
export interface RecordLock {
  task: string;
  token: number;
}

/**
 * The lock that a record is written under: that of the task it is about, else the newest that the session has. SPEC §8.9:
 * whoever has lost the task writes nothing about it any more; other records go on without it.
 */
export async function lockFor(
  { repository, session, locks }: { repository: StateDirectory & Messages; session: Session; locks: Locks },
  draft: RecordDraft,
): Promise<RecordLock | null> {
  const dirs = dirsOf(repository);
  const about = draft.kind === 'task' || draft.kind === 'thought' ? draft.fields.task_id : null;
  const claims = readClaims(dirs, session.session_id);
  const own = claims.filter(({ task }) => task === about);
  for (const { task, token } of own.length > 0 ? own : claims.reverse()) {
    const held = await locks.read(`task/${task}`);
    if (isHeldBy(held, session) && (await locks.complete(held))) return { task, token };
    if (task === about) throw taskClaimed(task, held?.holder ?? null);
    dropClaim(dirs, session.session_id, task);
    repository.warn(`${task} is no longer yours${held && !held.released ? `: ${held.holder.identity} has it` : ''}.`);
  }
  return null;
}

/** Local and remote numbers count separately: where there is a remote, its number is what everybody sees. */
export function tokenOf({ local, remote }: LockState, session: Session): number {
  return remote && isSameSession(remote.holder, session) ? remote.number : local!.number;
}

/** Gives back every task that a session holds, on the remote too. Again, it does nothing. */
export async function releaseClaims(
  repository: StateDirectory & TimeAndHost,
  locks: Locks,
  session: Session,
): Promise<void> {
  for (const claim of readClaims(dirsOf(repository), session.session_id))
    await releaseClaim(repository, locks, session, claim);
}

export async function releaseClaim(
  repository: StateDirectory & TimeAndHost,
  locks: Locks,
  session: Session,
  { task }: Pick<Claim, 'task'>,
): Promise<void> {
  const held = await locks.read(`task/${task}`);
  const by = holderOf(repository.host.name, session, repository.now().toISOString());
  if (held && hasHalf(held, session)) await locks.release(held, by);
  dropClaim(dirsOf(repository), session.session_id, task);
}

/** A task that could be begun instead. */
interface FreeTask {
  task_id: string;
  title: string;
}

/** `cd` goes to the work tree in which whoever is refused holds it. */
export function taskClaimed(
  task_id: string,
  holder: Holder | null,
  others: readonly FreeTask[] = [],
  cd: string | null = null,
): HandoffError {
  const who = holder
    ? `${holder.identity} holds ${task_id} since ${holder.at}, in session ${holder.session_id} on ${holder.host}.`
    : `Somebody else has taken ${task_id}.`;
  return new HandoffError('task_claimed', who, {
    hint: `${cd === null ? '' : `You have it in another work tree: ${cd}. `}To take it over all the same: git handoff claim ${quoteWord(task_id)} --force --reason TEXT. ${instead(others)}`,
    data: {
      task_id,
      holder: holder && { identity: holder.identity, session_id: holder.session_id, since: holder.at },
      next: others.map((each) => each.task_id),
    },
  });
}

export function instead(others: readonly FreeTask[]): string {
  if (others.length === 0) return 'git handoff next shows what can be begun.';
  const names = others.map(({ task_id, title }) => `${task_id} (${title})`).join(', ');
  return `Unblocked and free: ${names}. Take one: git handoff claim ${quoteWord(others[0]!.task_id)}`;
}
