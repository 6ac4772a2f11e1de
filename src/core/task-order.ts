import { byNature } from './natural-order.ts';
import type { TaskStatus } from './task-state.ts';

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

/**
 * What to do next, the first first: the longest remaining path, then what most others wait for, then priority, then the
 * natural order of ids. Only tasks that are `todo`, whose dependencies are all done, and that `isFree` lets through, which is
 * asked of no more of them than needed. The tasks must have no cycle.
 */
export function nextTasks<T extends OrderedTask>(
  tasks: readonly T[],
  statusOf: StatusOf,
  most: number,
  isFree: (id: string) => boolean = () => true,
): NextTask<T>[] {
  const open = tasks.filter(({ task_id }) => isOpen(statusOf(task_id)));
  const graph = toGraph(open);
  const paths = longestPaths(graph);
  const ready = [...open.keys()].filter(
    (at) => statusOf(open[at]!.task_id) === 'todo' && isUnblocked(open[at]!, statusOf),
  );
  ready.sort((a, b) => paths[b]! - paths[a]!);
  const chosen: NextTask<T>[] = [];
  for (let from = 0; from < ready.length && chosen.length < most; ) {
    const path = paths[ready[from]!]!;
    const first = from;
    while (from < ready.length && paths[ready[from]!] === path) from++;
    const tied = ready.slice(first, from);
    const unblocks = path === 1 ? tied.map(() => 0) : countDependents(graph, tied);
    const ranked = tied.map((at, i) => ({ task: open[at]!, critical_path: path, unblocks: unblocks[i]! }));
    for (const next of ranked.sort(byImportance)) {
      if (chosen.length === most) break;
      if (isFree(next.task.task_id)) chosen.push(next);
    }
  }
  return chosen;
}

/** A task that is cancelled provides nothing: what depends on it waits until its definition is changed. */
export function isUnblocked({ depends_on }: OrderedTask, statusOf: StatusOf): boolean {
  return depends_on.every((id) => statusOf(id) === 'done');
}

export function isOpen(status: TaskStatus): boolean {
  return status !== 'done' && status !== 'cancelled';
}

function byImportance(a: NextTask<OrderedTask>, b: NextTask<OrderedTask>): number {
  return b.unblocks - a.unblocks || b.task.priority - a.task.priority || byNature(a.task.task_id, b.task.task_id);
}

/** Tasks by number; for each, who depends on it. Dependencies on what is not among them are left out. */
interface Graph {
  dependents: number[][];
  /** Dependencies before dependents; what is on a cycle, or behind one, is missing. */
  order: number[];
}

function toGraph(tasks: readonly OrderedTask[]): Graph {
  const numbers = new Map(tasks.map(({ task_id }, at) => [task_id, at]));
  const dependents: number[][] = tasks.map(() => []);
  const waiting = new Int32Array(tasks.length);
  for (const [at, { depends_on }] of tasks.entries()) {
    for (const id of depends_on) {
      const dependency = numbers.get(id);
      if (dependency === undefined) continue;
      dependents[dependency]!.push(at);
      waiting[at]!++;
    }
  }
  return { dependents, order: sortByDependency(dependents, waiting) };
}

function sortByDependency(dependents: readonly number[][], waiting: Int32Array): number[] {
  const order = [...waiting.keys()].filter((at) => waiting[at] === 0);
  for (let next = 0; next < order.length; next++) {
    for (const dependent of dependents[order[next]!]!) if (--waiting[dependent]! === 0) order.push(dependent);
  }
  return order;
}

function longestPaths({ dependents, order }: Graph): Int32Array {
  const paths = new Int32Array(dependents.length);
  for (let next = order.length - 1; next >= 0; next--) {
    let longest = 0;
    for (const dependent of dependents[order[next]!]!) longest = Math.max(longest, paths[dependent]!);
    paths[order[next]!] = longest + 1;
  }
  return paths;
}

const BITS = 32;

/** For each of these how many others are behind it. One walk over the graph for 32 of them: each has a bit. */
function countDependents(graph: Graph, of: readonly number[]): number[] {
  const counts: number[] = of.map(() => 0);
  for (let from = 0; from < of.length; from += BITS) {
    const reached = spread(graph, of.slice(from, from + BITS));
    for (let bits of reached) {
      for (; bits !== 0; bits &= bits - 1) counts[from + 31 - Math.clz32(bits & -bits)]!++;
    }
  }
  return counts;
}

/** Bit i of a task: it is behind the i-th of these. */
function spread({ dependents, order }: Graph, of: readonly number[]): Int32Array {
  const reached = new Int32Array(dependents.length);
  const own = new Int32Array(dependents.length);
  for (const [bit, at] of of.entries()) own[at] = 1 << bit;
  for (const at of order) {
    const bits = reached[at]! | own[at]!;
    if (bits !== 0) for (const dependent of dependents[at]!) reached[dependent]! |= bits;
  }
  return reached;
}

/** The members of a cycle, each before the one it depends on, from the first by nature on. Null when there is none. */
export function findCycle(tasks: readonly OrderedTask[]): string[] | null {
  const sorted = new Set(toGraph(tasks).order.map((at) => tasks[at]!.task_id));
  if (sorted.size === tasks.length) return null;
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
export function layersOf<T extends OrderedTask>(tasks: readonly T[]): T[][] {
  const { dependents, order } = toGraph(tasks);
  const depth = new Int32Array(tasks.length);
  for (const at of order)
    for (const dependent of dependents[at]!) depth[dependent] = Math.max(depth[dependent]!, depth[at]! + 1);
  const layers: T[][] = [];
  for (const [at, task] of tasks.entries()) {
    layers[depth[at]!] ??= [];
    layers[depth[at]!]!.push(task);
  }
  return layers;
}
