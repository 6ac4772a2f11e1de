import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { DEFAULT_LIMITS, openBudget } from '../../src/core/budget.ts';
import type { Oid } from '../../src/git/objects/store.ts';
import type { Trees } from '../../src/git/trees/tree-edit.ts';
import { siftTrees } from '../../src/git/trees/tree-sift.ts';
import { AGAIN, growth } from '../growth.ts';

// THREATS 66: whoever pushes decides how many files a folder has, and how many commits a merge joins. 24 of them with 300,000
// exempt files each took 3.2 GB.

const sieve = { root: '.handoff', takes: () => true, mayBeIn: () => true };

interface Store extends Trees {
  /** What was read and written, in this order. */
  log: string[];
}

/** Objects in memory, and nothing else. */
function openStore(): Store {
  const objects = new Map<Oid, Uint8Array>();
  const log: string[] = [];
  return {
    log,
    async read(oid) {
      log.push(`read ${oid}`);
      return objects.get(oid)!;
    },
    async write(type, bytes) {
      const oid = createHash('sha1').update(type).update(bytes).digest('hex');
      objects.set(oid, bytes);
      log.push(`write ${oid}`);
      return oid;
    },
  };
}

const oidOf = (text: string): Oid => createHash('sha1').update(text).digest('hex');

/** By name, in the order of git. */
function folder(trees: Trees, entries: readonly (readonly [mode: string, name: string, oid: Oid])[]): Promise<Oid> {
  const parts = entries.map(([mode, name, oid]) => Buffer.from(`${mode} ${name}\0${oid}`, 'latin1'));
  const raw = parts.map((part) =>
    Buffer.concat([part.subarray(0, -40), Buffer.from(part.toString('latin1', part.length - 40), 'hex')]),
  );
  return trees.write('tree', Buffer.concat(raw));
}

const nameOf = (at: number): string => `a-page-with-a-title-of-ordinary-length-${String(at).padStart(7, '0')}.md`;

/** A folder of so many files, of which each side has changed its own. */
function sidesOf(trees: Trees, sides: number, files: number): Promise<Oid[]> {
  const same = oidOf('same');
  return Promise.all(
    Array.from({ length: sides }, (_, side) =>
      folder(
        trees,
        Array.from({ length: files }, (__, at) => [
          '100644',
          nameOf(at),
          at % sides === side ? oidOf(`${side}`) : same,
        ]),
      ),
    ),
  );
}

/** How many bytes are held at most. */
async function heldBy(trees: Trees, roots: readonly Oid[]): Promise<number> {
  let most = 0;
  await siftTrees(trees, sieve, roots, (bytes) => {
    most = Math.max(most, bytes);
  });
  return most;
}

describe('what is held at once', () => {
  test('is twice as much for twice as many files, and for twice as many sides', async () => {
    const trees = openStore();
    const held = async (sides: number, files: number) => heldBy(trees, await sidesOf(trees, sides, files));
    const half = await held(4, 500);
    expect((await held(4, 1000)) / half).toBeLessThanOrEqual(2.2);
    expect((await held(8, 500)) / half).toBeLessThanOrEqual(2.2);
  });

  test('is no more where more sides are alike: each is read once', async () => {
    const trees = openStore();
    const roots = await sidesOf(trees, 2, 500);
    const once = await heldBy(trees, roots);
    trees.log.length = 0;
    expect(
      await heldBy(
        trees,
        Array.from({ length: 24 }, (_, at) => roots[at % 2]!),
      ),
    ).toBe(once);
    expect(trees.log.filter((line) => line.startsWith('read'))).toHaveLength(2);
  });

  test('is one folder after the other, and no more for more of them', async () => {
    const trees = openStore();
    const held = async (count: number) => {
      const inside = await sidesOf(trees, 2, 500);
      const names = Array.from({ length: count }, (_, at) => nameOf(at));
      // the ids differ, so that none is read for another: each folder has one more file
      const roots = await Promise.all(
        inside.map(async (files, side) => {
          const each = names.map(async (name) => {
            const below = await folder(trees, [
              ['100644', `of-${name}`, oidOf(`${side}`)],
              ['40000', 'pages', files],
            ]);
            return ['40000', name, below] as const;
          });
          return folder(trees, await Promise.all(each));
        }),
      );
      trees.log.length = 0;
      return { bytes: await heldBy(trees, roots), log: [...trees.log] };
    };
    const [one, ten] = [await held(1), await held(10)];
    expect(ten.bytes).toBeLessThan(1.1 * one.bytes);
    // what is in a folder is read, and its two sides are written, before the next is read
    const steps = ten.log.map((line) => line[0]).join('');
    expect(steps).toMatch(/^w?rr(?:rrrrwwww){10}ww$/);
  });
});

test('twice as many files take at most 2.2 times as long', AGAIN, async () => {
  const trees = openStore();
  const [half, whole] = [await sidesOf(trees, 8, 4000), await sidesOf(trees, 8, 8000)];
  const sifting = (roots: readonly Oid[]) => () => siftTrees(trees, sieve, roots);
  expect(await growth(sifting(half), sifting(whole))).toBeLessThan(2.2);
});

describe('under the limits that there are by default', () => {
  const { assertFits } = openBudget(DEFAULT_LIMITS, () => 0);

  test('a merge in a folder of 100,000 files passes', async () => {
    const trees = openStore();
    const roots = await sidesOf(trees, 4, 100_000);
    expect(await siftTrees(trees, sieve, roots, assertFits)).toHaveLength(4);
  });

  test('24 sides with 300,000 files each are refused before half of them are read', async () => {
    const large = Buffer.alloc(300_000 * 34); // as many as such a folder has at least
    let reads = 0;
    const trees: Trees = {
      write: async () => oidOf(''),
      read: async () => {
        reads++;
        return manyFiles(large, reads);
      },
    };
    const roots = Array.from({ length: 24 }, (_, at) => oidOf(`${at}`));
    await expect(siftTrees(trees, sieve, roots, assertFits)).rejects.toMatchObject({
      code: 'too_large',
      hint: expect.stringMatching(/^Merge fewer branches .*git config handoff\.budget\.memory NUMBER$/),
    });
    expect(reads).toBeLessThanOrEqual(14);
  });
});

/** The same folder each time, but for its ids. */
function manyFiles(bytes: Buffer, seed: number): Buffer {
  for (let at = 0; at * 34 < bytes.length; at++) {
    bytes.write(`100644 ${at.toString(36).padStart(6, '0')}\0`, at * 34, 'latin1');
    bytes.fill(seed, at * 34 + 14, at * 34 + 34);
  }
  return bytes;
}
