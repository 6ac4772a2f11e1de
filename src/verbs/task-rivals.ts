import { findCycle, linkTasks } from '../core/task-order.ts';
import { isSameSession } from '../core/task-state.ts';
import type { Holder } from '../journal/holder.ts';
import type { Writer } from './append.ts';
import { readHolderState } from './at-work.ts';
import type { Held } from './holds.ts';
import type { Known } from './known.ts';
import { type NextAction, nextActions } from './next-actions.ts';
import type { Board } from './task-board.ts';

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
