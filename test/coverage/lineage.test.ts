import { expect, test } from 'vitest';
import { oldestFirst, parentsIn, readLineage } from '../../src/gate/coverage/lineage.ts';

/** By name, with parents. */
type Graph = Record<string, string[]>;

function behind(graph: Graph, name: string): Set<string> {
  return new Set([name, ...graph[name]!.flatMap((parent) => [...behind(graph, parent)])]);
}

function mergeBases(graph: Graph, a: string, b: string): string[] {
  const ofB = behind(graph, b);
  const common = [...behind(graph, a)].filter((name) => ofB.has(name));
  return common.filter((name) => !common.some((other) => other !== name && behind(graph, other).has(name)));
}

async function parents(graph: Graph, sides: string[]): Promise<[Graph, number]> {
  let asked = 0;
  const lineage = await readLineage(sides, async (a, b) => {
    asked++;
    return mergeBases(graph, a, b);
  });
  return [Object.fromEntries(oldestFirst(lineage).map((oid) => [oid, parentsIn(lineage, oid)])), asked];
}

test('of two commits with one merge base is these three, for one question', async () => {
  const graph = { a: [], b: ['a'], c: ['b'], d: ['b'], e: ['d'] };
  expect(await parents(graph, ['c', 'e'])).toEqual([{ b: [], c: ['b'], e: ['b'] }, 1]);
});

test('has the merge bases of merge bases, and no commit between them', async () => {
  const graph = {
    r: [],
    x: ['r'],
    one: ['x'],
    two: ['r'],
    l: ['one', 'two'],
    m: ['two', 'one'],
    left: ['l'],
    right: ['m'],
  };
  expect(await parents(graph, ['left', 'right'])).toEqual([
    { r: [], one: ['r'], two: ['r'], left: ['one', 'two'], right: ['one', 'two'] },
    2,
  ]);
});

test('of a commit and one that it has behind it is these two', async () => {
  expect(await parents({ a: [], b: ['a'] }, ['b', 'a'])).toEqual([{ a: [], b: ['a'] }, 1]);
});

test('of histories that never met has nothing between them', async () => {
  expect(await parents({ a: [], b: [] }, ['a', 'b'])).toEqual([{ a: [], b: [] }, 1]);
});
