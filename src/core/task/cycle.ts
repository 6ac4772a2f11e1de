import { quoteWord } from '../text/quote.ts';
import { findCycle, isOpen, linkTasks, type OrderedTask } from './order.ts';
import type { TaskStatus } from './state.ts';

/** What each task depends on. What nobody has defined is no key. */
export type Dependencies = ReadonlyMap<string, readonly string[]>;

export function dependenciesOf(
  tasks: readonly Pick<OrderedTask, 'task_id' | 'depends_on'>[],
): Map<string, readonly string[]> {
  return new Map(tasks.map(({ task_id, depends_on }) => [task_id, depends_on]));
}

/**
 * The tasks that wait for themselves, directly or by others. Those of one number wait for each other: a dependency is on a cycle
 * exactly where both of its ends have the same one. Tarjan's algorithm, with a stack of its own: a chain may have thousands.
 */
export function ringsOf(dependencies: Dependencies): Map<string, number> {
  const rings = new Map<string, number>();
  const reached = new Map<string, number>();
  const earliest = new Map<string, number>();
  const undecided: string[] = [];
  const isUndecided = new Set<string>();
  for (const root of dependencies.keys()) if (!reached.has(root)) walk(root);
  return rings;

  function walk(root: string): void {
    const path = [enter(root)];
    for (let step = path.at(-1); step !== undefined; step = path.at(-1)) {
      const { id, left } = step;
      const { value: next, done } = left.next();
      if (done) {
        path.pop();
        if (earliest.get(id) === reached.get(id)) close(id);
        if (path.length > 0) reach(path.at(-1)!.id, earliest.get(id)!);
      } else if (!reached.has(next)) path.push(enter(next));
      else if (isUndecided.has(next)) reach(id, reached.get(next)!);
    }
  }

  function enter(id: string) {
    const number = reached.size;
    reached.set(id, number);
    earliest.set(id, number);
    undecided.push(id);
    isUndecided.add(id);
    return { id, left: (dependencies.get(id) ?? []).values() };
  }

  function reach(id: string, number: number): void {
    earliest.set(id, Math.min(earliest.get(id)!, number));
  }

  /** All since this one wait for each other; one alone is on a cycle only where it names itself. */
  function close(id: string): void {
    const members = undecided.splice(undecided.lastIndexOf(id));
    const isRing = members.length > 1 || dependencies.get(id)?.includes(id) === true;
    for (const member of members) {
      isUndecided.delete(member);
      if (isRing) rings.set(member, reached.get(id)!);
    }
  }
}

export function isOnCycle(rings: ReadonlyMap<string, number>, id: string, dependency: string): boolean {
  const ring = rings.get(id);
  return ring !== undefined && ring === rings.get(dependency);
}

/** The shortest cycle that one of these dependencies of a task is on, from the task on. Null where none of them is. */
export function shortestCycle(dependencies: Dependencies, id: string, through: readonly string[]): string[] | null {
  const cameFrom = new Map<string, string>(through.map((dependency) => [dependency, id]));
  for (const at of cameFrom.keys()) {
    if (at === id) return pathTo(cameFrom, id);
    for (const next of dependencies.get(at) ?? []) if (!cameFrom.has(next)) cameFrom.set(next, at);
  }
  return null;
}

function pathTo(cameFrom: ReadonlyMap<string, string>, id: string): string[] {
  const back = [id];
  for (let at = cameFrom.get(id)!; at !== id; at = cameFrom.get(at)!) back.push(at);
  return [id, ...back.slice(1).reverse()];
}

/** The open tasks, and of what they depend on that which is not done. */
export function waitingTasks<T extends OrderedTask>(tasks: readonly T[], statusOf: (id: string) => TaskStatus): T[] {
  const done = new Set(tasks.filter(({ task_id }) => statusOf(task_id) === 'done').map(({ task_id }) => task_id));
  return tasks
    .filter(({ task_id }) => isOpen(statusOf(task_id)))
    .map((task) => ({ ...task, depends_on: task.depends_on.filter((id) => !done.has(id)) }));
}

/** Tasks that wait for each other and so can never begin, as `findCycle` has them. Null where there are none. */
export function findStuck(tasks: readonly OrderedTask[], statusOf: (id: string) => TaskStatus): string[] | null {
  return findCycle(linkTasks(tasks)) && findCycle(linkTasks(waitingTasks(tasks, statusOf)));
}

const NAMED = 8;

/** Who waits for whom, and for whom the last one: as many as can be read. */
export function formatCycle(cycle: readonly string[]): string {
  const left = cycle.length - NAMED;
  const named = left > 0 ? [...cycle.slice(0, NAMED), `(${left} more)`] : cycle;
  return [...named, cycle[0]].join(' → ');
}

/** What a maintainer types for a task no longer to depend on these. */
export function withoutDependencies(id: string, depends_on: readonly string[], without: readonly string[]): string {
  const left = depends_on.filter((dependency) => !without.includes(dependency));
  return `git handoff task edit ${quoteWord(id)} --depends ${left.length > 0 ? quoteWord(left.join(',')) : '""'}`;
}
