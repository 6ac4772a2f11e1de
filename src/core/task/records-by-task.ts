import type { TracedRecord } from './state.ts';

/** By the tasks that they are about, and by those under whose lock they were written: the trail of each is then read from its own. */
export function recordsByTask(records: Iterable<TracedRecord>): Map<string, TracedRecord[]> {
  const groups = new Map<string, TracedRecord[]>();
  for (const placed of records)
    for (const task of tasksOf(placed)) {
      const group = groups.get(task);
      if (group) group.push(placed);
      else groups.set(task, [placed]);
    }
  return groups;
}

function tasksOf({ record: { fields } }: TracedRecord): Set<string> {
  const named = ['task_id' in fields ? fields.task_id : undefined, fields.lock?.task];
  return new Set(named.filter((task) => task !== undefined));
}
