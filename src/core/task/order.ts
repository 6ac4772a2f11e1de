import { byNature } from '../text/natural-order.ts';
import type { TaskStatus } from './state.ts';

/** What the order of tasks depends on. */
export interface OrderedTask {
  task_id: string;
  depends_on: readonly string[];
  priority: number;
}

export interface NextTask<T extends OrderedTask> {
  task: T;
  /** How many open tasks are on the longest chain that begins with it. */
  critical_path: number;
  /** How many open tasks wait for it, directly or not. */
  unblocks: number;
}

type StatusOf = (id: string) => TaskStatus;

/** Tasks by number, and who depends on whom. Dependencies on what nobody has defined are left out. */
export interface LinkedTasks<T extends OrderedTask> {
  tasks: readonly T[];
  /** The dependents of task i are `dependents[from[i]]` to, without it, `dependents[from[i + 1]]`. */
  from: Int32Array;
  dependents: Int32Array;
  /** Dependencies before dependents; what is on a cycle, or behind one, is missing. */
  order: Int32Array;
  /** 1 for those that depend on what nobody has defined. */
  dangling: Uint8Array;
}

/** Flat, because with many thousand tasks small lists are what takes the time. */
export function linkTasks<T extends OrderedTask>(tasks: readonly T[]): LinkedTasks<T> {
  const numbers = new Map<string, number>();
  for (let at = 0; at < tasks.length; at++) numbers.set(tasks[at]!.task_id, at);
  const edges: number[] = [];
  const from = new Int32Array(tasks.length + 1);
  const waiting = new Int32Array(tasks.length);
  const dangling = new Uint8Array(tasks.length);
  for (let at = 0; at < tasks.length; at++) {
    for (const id of tasks[at]!.depends_on) {
      const dependency = numbers.get(id);
      if (dependency === undefined) dangling[at] = 1;
      else {
        edges.push(dependency, at);
        from[dependency + 1]!++;
        waiting[at]!++;
      }
    }
  }
  for (let at = 0; at < tasks.length; at++) from[at + 1]! += from[at]!;
  const next = from.slice();
  const dependents = new Int32Array(edges.length / 2);
  for (let edge = 0; edge < edges.length; edge += 2) dependents[next[edges[edge]!]!++] = edges[edge + 1]!;
  return { tasks, from, dependents, order: sortByDependency(from, dependents, waiting), dangling };
}

function sortByDependency(from: Int32Array, dependents: Int32Array, waiting: Int32Array): Int32Array {
  const order = new Int32Array(waiting.length);
  let found = 0;
  for (let at = 0; at < waiting.length; at++) if (waiting[at] === 0) order[found++] = at;
  for (let next = 0; next < found; next++) {
    const at = order[next]!;
    for (let edge = from[at]!; edge < from[at + 1]!; edge++) {
      const dependent = dependents[edge]!;
      if (--waiting[dependent]! === 0) order[found++] = dependent;
    }
  }
  return order.subarray(0, found);
}

/**
 * What to do next, the first first: the longest remaining path, then what most others wait for, then priority, then the
 * natural order of ids. Only tasks that are `todo`, whose dependencies are all done, and that `isFree` lets through, which is
 * asked of no more of them than needed. The tasks must have no cycle.
 */
export function nextTasks<T extends OrderedTask>(
  linked: LinkedTasks<T>,
  statusOf: StatusOf,
  most: number,
  isFree: (id: string) => boolean = () => true,
): NextTask<T>[] {
  const { tasks } = linked;
  const statuses = tasks.map(({ task_id }) => statusOf(task_id));
  const open = Uint8Array.from(statuses, (status) => (isOpen(status) ? 1 : 0));
  const paths = longestPaths(linked, open);
  const blocked = findBlocked(linked, statuses);
  const ready: number[] = [];
  for (let at = 0; at < tasks.length; at++) if (statuses[at] === 'todo' && blocked[at] === 0) ready.push(at);
  ready.sort((a, b) => paths[b]! - paths[a]!);
  const chosen: NextTask<T>[] = [];
  for (let from = 0; from < ready.length && chosen.length < most; ) {
    const path = paths[ready[from]!]!;
    const first = from;
    while (from < ready.length && paths[ready[from]!] === path) from++;
    const tied = ready.slice(first, from);
    const unblocks = path === 1 ? tied.map(() => 0) : countDependents(linked, open, tied);
    const ranked = tied.map((at, i) => ({ task: tasks[at]!, critical_path: path, unblocks: unblocks[i]! }));
    for (const next of ranked.sort(byImportance)) {
      if (chosen.length === most) break;
      if (isFree(next.task.task_id)) chosen.push(next);
    }
  }
  return chosen;
}

/** A task that is cancelled provides nothing: what depends on it waits until its definition is changed. */
function findBlocked(
  { from, dependents, dangling }: LinkedTasks<OrderedTask>,
  statuses: readonly TaskStatus[],
): Uint8Array {
  const blocked = dangling.slice();
  for (let at = 0; at < statuses.length; at++) {
    if (statuses[at] === 'done') continue;
    for (let edge = from[at]!; edge < from[at + 1]!; edge++) blocked[dependents[edge]!] = 1;
  }
  return blocked;
}

export function isOpen(status: TaskStatus): boolean {
  return status !== 'done' && status !== 'cancelled';
}

function byImportance(a: NextTask<OrderedTask>, b: NextTask<OrderedTask>): number {
  return b.unblocks - a.unblocks || b.task.priority - a.task.priority || byNature(a.task.task_id, b.task.task_id);
}

/** Counts open tasks only: a task that is done or cancelled is on no path. */
function longestPaths({ from, dependents, order }: LinkedTasks<OrderedTask>, open: Uint8Array): Int32Array {
  const paths = new Int32Array(open.length);
  for (let next = order.length - 1; next >= 0; next--) {
    const at = order[next]!;
    if (open[at] === 0) continue;
    let longest = 0;
    for (let edge = from[at]!; edge < from[at + 1]!; edge++) longest = Math.max(longest, paths[dependents[edge]!]!);
    paths[at] = longest + 1;
  }
  return paths;
}

const BITS = 32;

/** For each of these how many open ones are behind it. One walk over the graph for 32 of them: each has a bit. */
function countDependents(linked: LinkedTasks<OrderedTask>, open: Uint8Array, of: readonly number[]): number[] {
  const counts: number[] = of.map(() => 0);
  for (let first = 0; first < of.length; first += BITS) {
    const reached = spread(linked, open, of.slice(first, first + BITS));
    for (let at = 0; at < reached.length; at++) {
      for (let bits = reached[at]!; bits !== 0; bits &= bits - 1) counts[first + 31 - Math.clz32(bits & -bits)]!++;
    }
  }
  return counts;
}

/** Bit i of a task: it is behind the i-th of these. */
function spread(linked: LinkedTasks<OrderedTask>, open: Uint8Array, of: readonly number[]): Int32Array {
  const { from, dependents, order } = linked;
  const reached = new Int32Array(open.length);
  const own = new Int32Array(open.length);
  for (const [bit, at] of of.entries()) own[at] = 1 << bit;
  for (let next = 0; next < order.length; next++) {
    const at = order[next]!;
    const bits = reached[at]! | own[at]!;
    if (bits === 0) continue;
    for (let edge = from[at]!; edge < from[at + 1]!; edge++) {
      const dependent = dependents[edge]!;
      if (open[dependent] === 1) reached[dependent]! |= bits;
    }
  }
  return reached;
}

/** The members of a cycle, each before the one it depends on, from the first by nature on. Null when there is none. */
export function findCycle({ tasks, order }: LinkedTasks<OrderedTask>): string[] | null {
  if (order.length === tasks.length) return null;
  const sorted = new Set(Array.from(order, (at) => tasks[at]!.task_id));
  const left = new Map(tasks.filter(({ task_id }) => !sorted.has(task_id)).map((task) => [task.task_id, task]));
  // each of these depends on another of them, so whoever goes on comes round
  const path = new Map<string, number>();
  let id = [...left.keys()].sort(byNature)[0]!;
  while (!path.has(id)) {
    path.set(id, path.size);
    id = left.get(id)!.depends_on.find((dependency) => left.has(dependency))!;
  }
  const cycle = [...path.keys()].slice(path.get(id)!);
  const first = cycle.indexOf([...cycle].sort(byNature)[0]!);
  return [...cycle.slice(first), ...cycle.slice(0, first)];
}

/** Tasks in layers: whatever a task depends on is in an earlier one. The tasks must have no cycle. */
export function layersOf<T extends OrderedTask>({ tasks, from, dependents, order }: LinkedTasks<T>): T[][] {
  const depth = new Int32Array(tasks.length);
  for (const at of order)
    for (const dependent of dependents.subarray(from[at]!, from[at + 1]!))
      depth[dependent] = Math.max(depth[dependent]!, depth[at]! + 1);
  const layers: T[][] = [];
  for (const [at, task] of tasks.entries()) {
    layers[depth[at]!] ??= [];
    layers[depth[at]!]!.push(task);
  }
  return layers;
}
