import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openNativeStore } from '../../src/git/objects/native-store.ts';
import { readForkedRange } from '../../src/git/refs/forked-range.ts';
import { readRange } from '../../src/git/refs/range.ts';
import type { Git } from '../../src/git/run.ts';
import { git, temporaryDirectory } from '../temporary.ts';
import { gitAt } from './fixture.ts';

/** Git that cannot be asked for a range: whoever answers has read the commits. */
const NO_RANGE: Git = { dir: '/', env: { PATH: '' } };

function repository(...init: string[]): string {
  const dir = join(temporaryDirectory(), 'r');
  git('/', 'init', '--quiet', '--initial-branch=main', ...init, dir);
  return dir;
}

/** Commits on a branch, which begins where another one is. */
function grow(dir: string, branch: string, count: number, from?: string): void {
  if (from) git(dir, 'switch', '--quiet', '--create', branch, from);
  else git(dir, 'switch', '--quiet', ...(git(dir, 'branch', '--list', branch) ? [] : ['--orphan']), branch);
  for (let n = 0; n < count; n++) git(dir, 'commit', '--quiet', '--allow-empty', '--message', `${branch} ${n}`);
}

function merge(dir: string, into: string, ...from: string[]): void {
  git(dir, 'switch', '--quiet', into);
  git(dir, 'merge', '--quiet', '--no-ff', '--allow-unrelated-histories', '--message', 'merge', ...from);
}

async function both(dir: string, head: string, known: string[], isNear = true) {
  const [oid = '', ...tips] = [head, ...known].map((name) => git(dir, 'rev-parse', name));
  const store = openNativeStore(gitAt(dir));
  try {
    const found = await readForkedRange(isNear ? NO_RANGE : gitAt(dir), store, oid, tips);
    const wanted = await readRange(gitAt(dir), oid, tips);
    const sorted = (range: typeof found) => [range.commits.map((each) => each.oid).sort(), [...range.boundary].sort()];
    const place = new Map(found.commits.map((each, at) => [each.oid, at]));
    for (const each of found.commits)
      for (const parent of each.parents)
        expect(place.get(parent) ?? Number.POSITIVE_INFINITY).toBeGreaterThan(place.get(each.oid)!);
    return [sorted(found), sorted(wanted)];
  } finally {
    await store.close();
  }
}

describe('a range beside others is what git says, without asking it', () => {
  it.each(['sha1', 'sha256'])('where they left each other: %s', async (format) => {
    const dir = repository(`--object-format=${format}`);
    grow(dir, 'main', 20);
    grow(dir, 'work', 3, 'main~2');
    grow(dir, 'other', 2, 'main~1');
    for (const [head, known] of [
      ['work', ['main']],
      ['work', ['main', 'other']],
      ['main', ['work']],
      ['main', ['main~3']],
      ['main~3', ['main']],
    ] as [string, string[]][]) {
      const [found, wanted] = await both(dir, head, known);
      expect(found, `${head} beside ${known}`).toEqual(wanted);
    }
  });

  it('with merges, in both directions', async () => {
    const dir = repository();
    grow(dir, 'main', 5);
    grow(dir, 'work', 3, 'main~1');
    merge(dir, 'work', 'main');
    grow(dir, 'main', 2);
    grow(dir, 'side', 2, 'work~1');
    merge(dir, 'work', 'side', 'main');
    merge(dir, 'main', 'side');
    grow(dir, 'work', 1);
    for (const [head, known] of [
      ['work', 'main'],
      ['main', 'work'],
    ] as const) {
      const [found, wanted] = await both(dir, head, [known]);
      expect(found, `${head} beside ${known}`).toEqual(wanted);
    }
  });

  it('of itself, there is nothing', async () => {
    const dir = repository();
    grow(dir, 'main', 2);
    expect((await both(dir, 'main', ['main']))[0]![0]).toEqual([]);
  });
});

describe('git is asked', () => {
  it('where one goes back to what the others have not, where they have nothing in common, and far back', async () => {
    const dir = repository();
    grow(dir, 'main', 3);
    grow(dir, 'foreign', 2);
    grow(dir, 'work', 2, 'main~1');
    merge(dir, 'work', 'foreign');
    grow(dir, 'long', 140, 'main');
    for (const [head, known] of [
      ['work', ['main']],
      ['foreign', ['main']],
      ['main', ['foreign', 'work']],
      ['long', ['main']],
      ['main', []],
    ] as [string, string[]][]) {
      await expect(both(dir, head, known), `${head} beside ${known}`).rejects.toThrow();
      const [found, wanted] = await both(dir, head, known, false);
      expect(found, `${head} beside ${known}`).toEqual(wanted);
    }
  });

  it('where history was cut off', async () => {
    const from = repository();
    grow(from, 'main', 5);
    const dir = join(temporaryDirectory(), 'clone');
    git('/', 'clone', '--quiet', '--depth=3', `file://${from}`, dir);
    await expect(both(dir, 'main', ['main~1'])).rejects.toThrow();
    const [found, wanted] = await both(dir, 'main', ['main~1'], false);
    expect(found).toEqual(wanted);
  });
});
