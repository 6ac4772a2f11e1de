import { waitingTasks } from '../core/task/cycle.ts';
import { findCycle, linkTasks, nextTasks } from '../core/task/order.ts';
import type { Board } from './board.ts';

/** A task that can be begun now, and why it comes where it does. */
export interface NextAction {
  task_id: string;
  title: string;
  critical_path: number;
  unblocks: number;
  priority: number;
  prompt: string | null;
}

/** The most important first. SPEC §9.1: those that wait for each other are not unblocked, and keep nothing else from being begun. */
export function nextActions({ tasks, statusOf, holderOf }: Board, most: number): NextAction[] {
  const linked = linkTasks(tasks);
  // a cycle that a done task is on holds nobody up any more
  const waiting = findCycle(linked) ? linkTasks(waitingTasks(tasks, statusOf)) : linked;
  const ranked = nextTasks(waiting, statusOf, most, (id) => holderOf(id) === null);
  return ranked.map(({ task, critical_path, unblocks }) => {
    const { task_id, title, priority, prompt } = task;
    return { task_id, title, critical_path, unblocks, priority, prompt };
  });
}
