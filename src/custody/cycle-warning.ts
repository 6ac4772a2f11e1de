import { findStuck, formatCycle, withoutDependencies } from '../core/task/cycle.ts';
import type { OrderedTask } from '../core/task/order.ts';
import type { TaskStatus } from '../core/task/state.ts';
import type { Messages } from '../repository/parts.ts';

/**
 * Warns of tasks that wait for each other, and returns whether there are any. Two changes that each were right can make such a cycle
 * together. Its members can never begin; all other tasks can.
 */
export function warnOfCycle(
  { warn }: Messages,
  tasks: readonly OrderedTask[],
  statusOf: (id: string) => TaskStatus,
): boolean {
  const cycle = findStuck(tasks, statusOf);
  if (!cycle) return false;
  const { task_id, depends_on } = tasks.find((task) => task.task_id === cycle[0])!;
  const mend = withoutDependencies(task_id, depends_on, [cycle[1] ?? task_id]);
  warn(`${formatCycle(cycle)}: these tasks wait for each other, and none can begin. A maintainer mends it: ${mend}`);
  return true;
}
