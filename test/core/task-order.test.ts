import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dependenciesOf, isOnCycle, ringsOf, shortestCycle } from '../../src/core/task/cycle.ts';
import { findCycle, layersOf, linkTasks, nextTasks, type OrderedTask } from '../../src/core/task/order.ts';
import type { TaskStatus } from '../../src/core/task/state.ts';
import { byNature } from '../../src/core/text/natural-order.ts';

function task(task_id: string, depends_on: string[] = [], priority = 0): OrderedTask {
  return { task_id, depends_on, priority };
}

function order(tasks: OrderedTask[], done: string[] = [], most = 100): string[] {
  const statusOf = (id: string): TaskStatus => (done.includes(id) ? 'done' : 'todo');
  return nextTasks(linkTasks(tasks), statusOf, most).map((each) => each.task.task_id);
}

describe('the natural order of ids', () => {
  it('reads digits as numbers', () => {
    const ids = ['P0.10', 'P0.2', 'P0.1.1', 'P0.1', 'p0.1', 'P0.01', 'A-9', 'P10'];
    expect(ids.sort(byNature)).toEqual(['A-9', 'P0.01', 'P0.1', 'P0.1.1', 'P0.2', 'P0.10', 'P10', 'p0.1']);
  });

  it('is one order, whatever the ids', () => {
    const id = fc.stringMatching(/^[a-b0-2.]{1,6}$/);
    fc.assert(
      fc.property(id, id, id, (a, b, c) => {
        expect(Math.sign(byNature(a, b))).toBe(-Math.sign(byNature(b, a)) + 0);
        if (a !== b) expect(byNature(a, b)).not.toBe(0);
        if (byNature(a, b) < 0 && byNature(b, c) < 0) expect(byNature(a, c)).toBeLessThan(0);
      }),
      { numRuns: 2000 },
    );
  });

  it('compares numbers that no number can hold', () => {
    expect(byNature(`a${'9'.repeat(40)}`, `a1${'0'.repeat(40)}`)).toBeLessThan(0);
  });
});

describe('what to do next', () => {
  it('begins the longest remaining path, then what most wait for, then priority, then the id', () => {
    const long = [task('L1'), task('L2', ['L1']), task('L3', ['L2'])];
    const wide = [task('W'), task('W1', ['W']), task('W2', ['W'])];
    const narrow = [task('N', [], 9), task('N1', ['N'])];
    const single = [task('S10'), task('S2'), task('S9', [], 1)];
    expect(order([...single, ...narrow, ...wide, ...long])).toEqual(['L1', 'W', 'N', 'S9', 'S2', 'S10']);
  });

  it('a dependency that is cancelled, or that nobody has defined, blocks', () => {
    const tasks = [task('A'), task('B', ['A']), task('C', ['nobody'])];
    const statusOf = (id: string): TaskStatus => (id === 'A' ? 'cancelled' : 'todo');
    expect(nextTasks(linkTasks(tasks), statusOf, 9)).toEqual([]);
    expect(order(tasks, ['A', 'nobody'])).toEqual(['B']);
  });

  it('what is done is on no path and waits for nothing', () => {
    const tasks = [task('A'), task('B', ['A']), task('C', ['B'])];
    expect(nextTasks(linkTasks(tasks), (id) => (id === 'B' ? 'done' : 'todo'), 9)).toMatchObject([
      { task: { task_id: 'A' }, critical_path: 1, unblocks: 0 },
      { task: { task_id: 'C' }, critical_path: 1, unblocks: 0 },
    ]);
  });

  it('asks no more than needed whether somebody has it', () => {
    const asked: string[] = [];
    const tasks = ['A', 'B', 'C', 'D'].map((id) => task(id));
    const found = nextTasks(
      linkTasks(tasks),
      () => 'todo',
      2,
      (id) => {
        asked.push(id);
        return id !== 'A';
      },
    );
    expect(found.map((each) => each.task.task_id)).toEqual(['B', 'C']);
    expect(asked).toEqual(['A', 'B', 'C']);
  });

  it('agrees with a slow reference', () => {
    fc.assert(
      fc.property(graphs(), fc.nat(12), ({ tasks, statuses }, most) => {
        const statusOf = (id: string): TaskStatus => statuses.get(id) ?? 'todo';
        const found = nextTasks(linkTasks(tasks), statusOf, most).map(({ task, ...rest }) => ({
          id: task.task_id,
          ...rest,
        }));
        expect(found).toEqual(slowly(tasks, statusOf).slice(0, most));
      }),
      { numRuns: 500 },
    );
  });

  it('counts more than 32 rivals, and the tasks behind each', () => {
    const roots = Array.from({ length: 70 }, (_, at) => task(`R${at}`));
    const behind = roots.flatMap(({ task_id }, at) =>
      Array.from({ length: (at % 7) + 1 }, (_, each) => task(`${task_id}-${each}`, [task_id])),
    );
    const found = nextTasks(linkTasks([...roots, ...behind]), () => 'todo', 100);
    expect(found.map((each) => each.unblocks)).toEqual(Array.from({ length: 70 }, (_, at) => 7 - Math.floor(at / 10)));
  });

  it('is not stopped by a chain of 20,000', () => {
    const chain = Array.from({ length: 20_000 }, (_, at) => task(`T${at}`, at === 0 ? [] : [`T${at - 1}`]));
    expect(nextTasks(linkTasks(chain.toReversed()), () => 'todo', 1)).toMatchObject([
      { critical_path: 20_000, unblocks: 19_999 },
    ]);
    expect(findCycle(linkTasks(chain))).toBeNull();
    expect(layersOf(linkTasks(chain))).toHaveLength(20_000);
    const ring = chain.map((each, at) => (at === 0 ? task('T0', ['T19999']) : each));
    expect(findCycle(linkTasks(ring))).toHaveLength(20_000);
    expect(ringsOf(dependenciesOf(chain)).size).toBe(0);
    expect(new Set(ringsOf(dependenciesOf(ring)).values()).size).toBe(1);
    expect(shortestCycle(dependenciesOf(ring), 'T0', ['T19999'])).toHaveLength(20_000);
  });
});

describe('a cycle', () => {
  it('has exactly those dependencies from which the task can be reached again', () => {
    fc.assert(
      fc.property(graphs(true), ({ tasks }) => {
        const dependencies = dependenciesOf(tasks);
        const rings = ringsOf(dependencies);
        for (const { task_id: id, depends_on } of tasks) {
          for (const each of depends_on) {
            const isCyclic = each === id || (dependencies.has(each) && reachable(tasks, each).has(id));
            expect(isOnCycle(rings, id, each)).toBe(isCyclic);
            const cycle = shortestCycle(dependencies, id, [each]);
            expect(cycle?.slice(0, each === id ? 1 : 2) ?? null).toEqual(isCyclic ? [...new Set([id, each])] : null);
            for (const [at, member] of (cycle ?? []).entries())
              expect(dependencies.get(member)).toContain(cycle![(at + 1) % cycle!.length]);
          }
        }
      }),
      { numRuns: 500 },
    );
  });

  it('names its members in order, from the first on, without what only waits for it', () => {
    const tasks = [task('X', ['P0.10']), task('P0.10', ['P0.9']), task('P0.9', ['P0.2']), task('P0.2', ['P0.10'])];
    expect(findCycle(linkTasks(tasks))).toEqual(['P0.2', 'P0.10', 'P0.9']);
    expect(findCycle(linkTasks([task('A', ['A'])]))).toEqual(['A']);
    expect(findCycle(linkTasks([task('A', ['B'])]))).toBeNull();
  });

  it('is found exactly where there is one', () => {
    fc.assert(
      fc.property(graphs(true), ({ tasks }) => {
        const cycle = findCycle(linkTasks(tasks));
        const isCyclic = tasks.some(({ task_id }) => reachable(tasks, task_id).has(task_id));
        expect(cycle !== null).toBe(isCyclic);
        for (const [at, id] of (cycle ?? []).entries()) {
          const next = cycle![(at + 1) % cycle!.length]!;
          expect(tasks.find(({ task_id }) => task_id === id)!.depends_on).toContain(next);
        }
        if (cycle) expect(new Set(cycle).size).toBe(cycle.length);
      }),
      { numRuns: 500 },
    );
  });
});

const STATUSES: TaskStatus[] = ['todo', 'todo', 'todo', 'in_progress', 'blocked', 'done', 'done', 'cancelled'];

/** Up to ten tasks; without `cyclic`, each depends only on earlier ones. */
function graphs(cyclic = false) {
  const node = fc.record({
    depends: fc.array(fc.nat(cyclic ? 11 : 9), { maxLength: 3 }),
    priority: fc.nat(2),
    status: fc.constantFrom(...STATUSES),
  });
  return fc.array(node, { maxLength: 10 }).map((nodes) => {
    const tasks = nodes.map(({ depends, priority }, at) => {
      const allowed = depends.filter((each) => cyclic || each < at || each === 9);
      return task(
        `T${at}`,
        allowed.map((each) => (each === 9 && !cyclic ? 'nobody' : `T${each}`)),
        priority,
      );
    });
    return { tasks, statuses: new Map(nodes.map(({ status }, at) => [`T${at}`, status])) };
  });
}

/** As the rule reads, by recursion over everything. */
function slowly(tasks: OrderedTask[], statusOf: (id: string) => TaskStatus) {
  const open = tasks.filter(({ task_id }) => !['done', 'cancelled'].includes(statusOf(task_id)));
  const behind = (id: string) => open.filter(({ depends_on }) => depends_on.includes(id)).map(({ task_id }) => task_id);
  const path = (id: string): number => 1 + Math.max(0, ...behind(id).map(path));
  const all = (id: string): string[] => behind(id).flatMap((each) => [each, ...all(each)]);
  return open
    .filter(
      ({ task_id, depends_on }) => statusOf(task_id) === 'todo' && depends_on.every((id) => statusOf(id) === 'done'),
    )
    .map(({ task_id: id, priority }) => ({ id, priority, critical_path: path(id), unblocks: new Set(all(id)).size }))
    .sort(
      (a, b) =>
        b.critical_path - a.critical_path || b.unblocks - a.unblocks || b.priority - a.priority || byNature(a.id, b.id),
    )
    .map(({ priority: _, ...rest }) => rest);
}

function reachable(tasks: OrderedTask[], from: string, seen = new Set<string>()): Set<string> {
  for (const id of tasks.find(({ task_id }) => task_id === from)?.depends_on ?? []) {
    if (seen.has(id)) continue;
    seen.add(id);
    reachable(tasks, id, seen);
  }
  return seen;
}
