import { findCycle, linkTasks } from '../core/task-order.ts';
import type { Holder } from '../journal/lock-commit.ts';
import { readSession } from '../journal/registry.ts';
import type { Writer } from './append.ts';
import { isOpenElsewhere } from './custody.ts';
import { type Held, isElsewhere } from './holds.ts';
import type { Known } from './known.ts';
import { type NextAction, nextActions } from './next.ts';
import { dirsOf, withLiveness } from './session.ts';
import type { Board } from './task-board.ts';

/** Whoever else is at work on a task. Null when it is free, or its holder's session is over or shows no sign of life. */
export async function otherHolder(
  { repository, session: own, trust, holds }: Writer,
  { history }: Known,
  held: Held | null,
): Promise<Holder | null> {
  if (!held || held.released || held.holder.session_id === own.session_id) return null;
  const { holder } = held;
  const session = readSession(dirsOf(repository), holder.session_id);
  if (session) return withLiveness(repository, trust, session).liveness.state === 'active' ? holder : null;
  const isWrapped = history.sessions.some(
    ({ session_id, baton }) => session_id === holder.session_id && baton !== null,
  );
  if (!isElsewhere(held) || isWrapped) return null;
  return (await isOpenElsewhere(holds, holder.session_id)) ? holder : null;
}

/** What else could be begun, for whoever is refused. */
export function alternatives(board: Board, refused: string): NextAction[] {
  const others = findCycle(linkTasks(board.tasks)) ? [] : nextActions(board, SHOWN + 1);
  return others.filter(({ task_id }) => task_id !== refused).slice(0, SHOWN);
}

const SHOWN = 3;
