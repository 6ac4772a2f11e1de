import { expect, it } from 'vitest';
import { compareFolders } from './index-readers.ts';
import { compareCommits, compareTags, compareTrees } from './readers.ts';

// The same as in readers.test.ts, some thousand times.

it('commits', () => {
  const { read, refused } = compareCommits({ count: 8000, seed: 45 });
  expect(Math.min(read, refused)).toBeGreaterThan(1000);
});

it('trees', () => {
  const { read, refused } = compareTrees({ count: 3000, seed: 46 });
  expect(Math.min(read, refused)).toBeGreaterThan(500);
});

it('tags', async () => {
  const { read, refused } = await compareTags({ count: 2000, seed: 47 });
  expect(Math.min(read, refused)).toBeGreaterThan(100);
});

it('folders of an index', { timeout: 600_000 }, () => {
  expect(compareFolders({ count: 1500, seed: 48 })).toBeGreaterThan(300);
});
