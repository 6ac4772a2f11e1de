import { describe, expect, test } from 'vitest';
import { coverByAncestry, union } from '../../src/gate/coverage/ancestry.ts';
import type { Range } from '../../src/git/refs/range.ts';
import { AGAIN, growth } from '../growth.ts';
import { openRandom } from './random.ts';

// THREATS 70: thoughts × commits.

const oid = (n: number) => n.toString(16).padStart(40, '0');

/** Commits one after the other, the newest first, and a thought about each. */
function line(count: number): { range: Range; accounts: { commit: string }[] } {
  const numbers = Array.from({ length: count }, (_, at) => count - at);
  const commits = numbers.map((n) => ({ oid: oid(n), parents: n === 1 ? [] : [oid(n - 1)] }));
  return { range: { commits, boundary: new Set() }, accounts: commits.map((commit) => ({ commit: commit.oid })) };
}

describe('what thoughts cover by ancestry', () => {
  test('is the same however many there are', () => {
    const random = openRandom(70);
    const numbers = Array.from({ length: 60 }, (_, at) => 60 - at);
    const parentsOf = (n: number) => [...new Set([n - 1, n - 1 - random.below(5)])].filter((each) => each > 0).map(oid);
    const commits = numbers.map((n) => ({ oid: oid(n), parents: parentsOf(n) }));
    const range: Range = { commits, boundary: new Set() };
    const accounts = commits.map((commit) => ({ commit: commit.oid }));
    const together = coverByAncestry(range, accounts);
    for (const account of accounts) {
      const [alone] = coverByAncestry(range, [account]).values();
      expect(new Set(together.get(account))).toEqual(new Set(alone));
      expect(together.get(account)!.size).toBe(alone!.size);
    }
    const some = accounts.filter((_, at) => at % 7 === 3);
    const expected = new Set(some.flatMap((account) => [...together.get(account)!]));
    expect(union(some.map((account) => together.get(account)!))).toEqual(expected);
    expect(union([new Set([oid(99)]), together.get(some.at(-1)!)!]).has(oid(99))).toBe(true);
  });

  test('is put together in a small part of the time that it takes to list it all', AGAIN, async () => {
    const { range, accounts } = line(3000);
    const sets = [...coverByAncestry(range, accounts).values()];
    const listAll = async () => expect(new Set(sets.flatMap((set) => [...set].slice(-1))).size).toBe(sets.length);
    const putTogether = async () => expect(union(sets).size).toBe(sets.length);
    expect(await growth(listAll, putTogether, 2)).toBeLessThan(0.25);
  });
});
