import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { openWorkshop } from '../../src/git/changes/workshop.ts';
import { openTreeReader } from '../../src/git/objects/tree-reader.ts';
import { siftTrees } from '../../src/git/objects/tree-sift.ts';
import { disposableDirectory, git, gitInput } from '../temporary.ts';
import { gitAt } from './fixture.ts';

// SPEC §10.4: what is no code is taken out of trees before they are merged.

/** By path: what is in it; `->` for a link. Paths are bytes, as characters below 256. */
type Files = Record<string, string>;

describe.each(['sha1', 'sha256'])('trees without what is exempt, in %s', (format) => {
  const { path: dir, remove } = disposableDirectory();
  git(dir, 'init', '--quiet', `--object-format=${format}`);
  const workshop = openWorkshop(gitAt(dir), join(dir, '.git'));
  const reader = openTreeReader(workshop.git);
  const trees = {
    read: reader.read,
    write: async (...args: Parameters<typeof workshop.write>) => workshop.write(...args),
  };
  afterAll(async () => {
    await reader.close();
    workshop.close();
    remove();
  });

  const idOf = (text: string) => gitInput(dir, text, 'hash-object', '-w', '--stdin');
  function write(files: Files): string {
    const entries = Object.entries(files).map(
      ([path, text]) => `${text.startsWith('->') ? '120000' : '100644'} ${idOf(text)}\t${path}\0`,
    );
    git(dir, 'read-tree', '--empty');
    gitInput(dir, Buffer.from(entries.join(''), 'latin1'), 'update-index', '-z', '--index-info');
    return git(dir, 'write-tree');
  }

  const sieve = {
    root: '.handoff',
    takes: (path: string) => path === 'docs' || path.startsWith('docs/'),
    mayBeIn: (folder: string) => folder.startsWith('docs/'),
  };
  /** The paths that are left, with a star where something stands in for a file. */
  async function sift(...sides: Files[]): Promise<string[][]> {
    const sifted = await siftTrees(trees, sieve, sides.map(write));
    const args = (oid: string) => ['--git-dir', workshop.git.dir, 'ls-tree', '-r', '-z', oid];
    const env = { ...process.env, ...workshop.git.set };
    return sifted.map((oid) => {
      const lines = execFileSync('git', args(oid), { env }).toString('latin1').split('\0').slice(0, -1);
      return lines.map((line) => line.replace(/^(\d+) .*\t/s, (_, mode) => (mode === '160000' ? '*' : '')));
    });
  }

  test('are without records, whatever they are', async () => {
    expect(await sift({ a: '1', '.handoff/x': '1' }, { a: '1', '.handoff': '->a' })).toEqual([['a'], ['a']]);
    expect(await sift({ '.handoff/x': '1' }, { '.handoff/x': '1' })).toEqual([[], []]);
    expect(await sift({ 'b/.handoff/x': '1' }, {})).toEqual([['b/.handoff/x'], []]);
  });

  test('are without files that differ, and keep those that all have alike', async () => {
    const [one, other] = [
      { 'docs/a': '1', 'docs/b': '1', 'docs/c/d': '1' },
      { 'docs/a': '1', 'docs/b': '2' },
    ];
    expect(await sift(one, other)).toEqual([['docs/a'], ['docs/a']]);
    expect(await sift(one, other, { x: '1' })).toEqual([[], [], ['x']]);
  });

  test('keep links, and what stands for a file in whose place another has something else', async () => {
    expect(await sift({ 'docs/a': '1' }, { 'docs/a': '->x' })).toEqual([['*docs/a'], ['docs/a']]);
    expect(await sift({ docs: '1' }, { 'docs/a': '1', 'docs/b/c': '1' }, {})).toEqual([
      ['*docs'],
      ['*docs/a', '*docs/b/c'],
      [],
    ]);
  });

  test('are without names that are no UTF-8, and keep those that are no exempt ones', async () => {
    expect(await sift({ 'docs/\xff': '1', '\xff': '1' }, { '\xff': '2' })).toEqual([['\xff'], ['\xff']]);
  });
});
