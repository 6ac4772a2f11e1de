import { findCycle, linkTasks } from '../core/task/order.ts';
import { isSameSession } from '../core/task/state.ts';
import { readHolderState } from '../custody/at-work.ts';
import type { Known } from '../custody/known-sessions.ts';
import type { Writer } from '../journal/append.ts';
import type { Holder } from '../journal/locks/holder.ts';
import type { Held } from '../journal/locks/holds.ts';
import type { Board } from './board.ts';
import { type NextAction, nextActions } from './next-actions.ts';

/** Whoever else is at work on a task. Null when it is free, or its holder's session is over or shows no sign of life. */
export async function otherHolder(
  { repository, session: own, trust, holds }: Writer,
  known: Known,
  held: Held | null,
): Promise<Holder | null> {
  if (!held || isSameSession(held.holder, own)) return null;
  const { active } = await readHolderState(repository, trust, known, holds, held);
  return active ? held.holder : null;
}

/** What else could be begun, for whoever is refused. */
export function alternatives(board: Board, refused: string): NextAction[] {
  const others = findCycle(linkTasks(board.tasks)) ? [] : nextActions(board, SHOWN + 1);
  return others.filter(({ task_id }) => task_id !== refused).slice(0, SHOWN);
}

const SHOWN = 3;
