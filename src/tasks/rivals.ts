import { isSameSession, type SessionKey } from '../core/task/state.ts';
import { readHolderState } from '../custody/at-work.ts';
import type { KnownSessions } from '../custody/known-sessions.ts';
import type { Writer } from '../journal/append.ts';
import type { Holder } from '../journal/locks/holder.ts';
import type { LockState } from '../journal/locks/open-locks.ts';
import type { Board } from './board.ts';
import { type NextAction, nextActions } from './next-actions.ts';

/** Whoever wants a task, perhaps before there is a session to have it. */
type Asker = Pick<Writer, 'repository' | 'trust' | 'locks'> & { session: SessionKey | null };

/** Whoever else is at work on a task. Null when it is free, or its holder's session is over or shows no sign of life. */
export async function otherHolder(
  { repository, session: own, trust, locks }: Asker,
  knownSessions: KnownSessions,
  held: LockState | null,
): Promise<Holder | null> {
  if (!held || (own && isSameSession(held.holder, own))) return null;
  const { active } = await readHolderState(repository, trust, knownSessions, locks, held);
  return active ? held.holder : null;
}

/** Other tasks that could be begun instead, for the error message. */
export function alternatives(board: Board, refused: string): NextAction[] {
  return nextActions(board, SHOWN + 1)
    .filter(({ task_id }) => task_id !== refused)
    .slice(0, SHOWN);
}

const SHOWN = 3;
