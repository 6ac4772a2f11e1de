import { linkTasks, nextTasks } from '../core/task-order.ts';
import { requireTrust } from './current.ts';
import type { Repository } from './repository.ts';
import { assertNoCycle, type Board, readBoard } from './task-board.ts';

export interface NextAction {
  task_id: string;
  title: string;
  critical_path: number;
  unblocks: number;
  priority: number;
  prompt: string | null;
}

const SHOWN = 10;

/** What can be begun now, the most important first. SPEC §9.1 */
export async function next(
  repository: Repository,
  { limit = SHOWN }: { limit?: number } = {},
): Promise<{ actions: NextAction[] }> {
  const board = await readBoard(repository, await requireTrust(repository));
  return { actions: nextActions(board, limit) };
}

export function nextActions({ tasks, statusOf, holderOf }: Board, most: number): NextAction[] {
  const linked = linkTasks(tasks);
  assertNoCycle(linked);
  const ranked = nextTasks(linked, statusOf, most, (id) => holderOf(id) === null);
  return ranked.map(({ task, critical_path, unblocks }) => {
    const { task_id, title, priority, prompt } = task;
    return { task_id, title, critical_path, unblocks, priority, prompt };
  });
}
