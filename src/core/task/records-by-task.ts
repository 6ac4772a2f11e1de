import { lockOf, type TaskRecord } from './state.ts';

/** By the tasks that they are about, and by those under whose lock they were written: the trail of each is then read from its own. */
export function recordsByTask(records: Iterable<TaskRecord>): Map<string, TaskRecord[]> {
  const groups = new Map<string, TaskRecord[]>();
  for (const placed of records)
    for (const task of tasksOf(placed)) {
      const group = groups.get(task);
      if (group) group.push(placed);
      else groups.set(task, [placed]);
    }
  return groups;
}

function tasksOf(placed: TaskRecord): Set<string> {
  const named = [placed.record.fields.task_id as string | undefined, lockOf(placed)?.task];
  return new Set(named.filter((task) => task !== undefined));
}
