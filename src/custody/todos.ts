import type { Source } from '../audit/source/source.ts';
import type { History } from '../core/session/history.ts';
import { statusIn } from '../core/session/history-queries.ts';
import { isOpen } from '../core/task/order.ts';
import type { TaskStatus } from '../core/task/state.ts';
import type { Trust } from '../core/trust/trust.ts';
import type { Messages, StateDirectory } from '../repository/parts.ts';
import { readTasks } from '../repository/task-definitions.ts';
import { warnOfCycle } from './cycle-warning.ts';

interface OpenTask {
  task_id: string;
  title: string;
  status: TaskStatus;
}

export interface Todos {
  /** Open tasks that the baton names, or that are tagged `focus`. */
  focus: OpenTask[];
  open_count: number;
}

export async function readTodos(
  repository: StateDirectory & Messages,
  source: Source,
  trust: Trust,
  history: History,
  focus: readonly string[],
): Promise<Todos> {
  const tasks = await readTasks(repository, source, trust);
  warnOfCycle(repository, tasks, (id) => statusIn(history, id));
  const open = tasks
    .map((task) => ({ task, status: statusIn(history, task.task_id) }))
    .filter(({ status }) => isOpen(status));
  const wanted = open.filter(({ task }) => focus.includes(task.task_id) || task.tags.includes('focus'));
  return {
    focus: wanted.map(({ task, status }) => ({ task_id: task.task_id, title: task.title, status })),
    open_count: open.length,
  };
}
