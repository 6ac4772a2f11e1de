import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { parseRaw, RAW } from '../../src/git/changes/raw-diff.ts';
import { openWorkshop } from '../../src/git/changes/workshop.ts';
import { openTreeReader } from '../../src/git/objects/tree-reader.ts';
import { runGit } from '../../src/git/run.ts';
import { type Sieve, siftTrees } from '../../src/git/trees/tree-sift.ts';
import { disposableDirectory, git, gitInput } from '../temporary.ts';
import { rawTree } from '../threats/forge.ts';
import { gitAt } from './fixture.ts';

// SPEC §10.4.2: what is no code is hidden in trees before they are merged.

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
  const EMPTY = idOf('');
  /** The paths that are left: with a star where something stands in for a file, and in brackets where a file is empty. */
  const sift = (...sides: Files[]): Promise<string[][]> => siftOids(sieve, ...sides.map(write));
  async function siftOids(by: Sieve, ...oids: string[]): Promise<string[][]> {
    const sifted = await siftTrees(trees, by, oids);
    const args = (oid: string) => ['--git-dir', workshop.git.dir, 'ls-tree', '-r', '-z', oid];
    const env = { ...process.env, ...workshop.git.set };
    return sifted.map((oid) => {
      const lines = execFileSync('git', args(oid), { env }).toString('latin1').split('\0').slice(0, -1);
      return lines.map((line) => {
        const [, mode, id, path] = /^(\d+) \w+ (\w+)\t(.*)$/s.exec(line)!;
        return id === EMPTY ? `(${path})` : `${mode === '160000' ? '*' : ''}${path}`;
      });
    });
  }

  test('are without records, whatever they are', async () => {
    expect(await sift({ a: '1', '.handoff/x': '1' }, { a: '1', '.handoff': '->a' })).toEqual([['a'], ['a']]);
    expect(await sift({ '.handoff/x': '1' }, { '.handoff/x': '1' })).toEqual([[], []]);
    expect(await sift({ 'b/.handoff/x': '1' }, {})).toEqual([['b/.handoff/x'], []]);
  });

  test('have empty files for those that differ, and keep those that all have alike', async () => {
    const [one, other] = [
      { 'docs/a': '1', 'docs/b': '1', 'docs/c/d': '1' },
      { 'docs/a': '1', 'docs/b': '2' },
    ];
    expect(await sift(one, other)).toEqual([
      ['docs/a', '(docs/b)', '(docs/c/d)'],
      ['docs/a', '(docs/b)'],
    ]);
    expect(await sift(one, other, { x: '1' })).toEqual([
      ['(docs/a)', '(docs/b)', '(docs/c/d)'],
      ['(docs/a)', '(docs/b)'],
      ['x'],
    ]);
    expect(await sift({ 'docs/a': '' }, { 'docs/a': '1' })).toEqual([['(docs/a)'], ['(docs/a)']]);
  });

  test('have the same in place of a file, whatever its mode was', async () => {
    const modes = ['100644', '100755', '100664', '0100644', '7777777777777777777777100644'];
    const folders = modes.map((mode, at) =>
      rawTree(dir, [{ mode: '40000', name: 'docs', oid: rawTree(dir, [{ mode, name: 'a', oid: idOf(`${at}`) }]) }]),
    );
    expect(await siftOids(sieve, ...folders)).toEqual(folders.map(() => ['(docs/a)']));
  });

  test('are as they were where nothing differs', async () => {
    const tree = write({ a: '1', 'docs/a': '1', 'docs/c/d': '1' });
    expect(await siftTrees(trees, sieve, [tree, tree])).toEqual([tree, tree]);
  });

  test('may have a file, and a folder of a name that comes after others', async () => {
    const [one, other] = [
      { x: '1', 'x-a': '1', 'x.a': '1', x0: '1' },
      { 'x/a': '1', 'x-a': '1', 'x.a': '2' },
    ];
    expect(await sift(one, other)).toEqual([
      ['x', 'x-a', 'x.a', 'x0'],
      ['x-a', 'x.a', 'x/a'],
    ]);
  });

  test('keep links, and what stands for a file in whose place another has something else', async () => {
    expect(await sift({ 'docs/a': '1' }, { 'docs/a': '->x' })).toEqual([['*docs/a'], ['docs/a']]);
    expect(await sift({ docs: '1' }, { 'docs/a': '1', 'docs/b/c': '1' }, {})).toEqual([
      ['*docs'],
      ['*docs/a', '*docs/b/c'],
      [],
    ]);
    expect(await sift({ docs: '1', 'docs-a': '1' }, { 'docs/a': '1', 'docs-a': '1' })).toEqual([
      ['*docs', 'docs-a'],
      ['docs-a', '*docs/a'],
    ]);
  });

  test('are without what is exempt in names that are no UTF-8, and keep what is not', async () => {
    expect(await sift({ 'docs/\xff': '1', '\xff': '1' }, { '\xff': '2' })).toEqual([['(docs/\xff)', '\xff'], ['\xff']]);
  });

  // the whole path is read as one: where any of its names is no UTF-8, every byte of it beyond ASCII is escaped
  test.each([
    ['a name below', 'd\xc3\xb6c/\xff', 'd\ufffdc3\ufffdb6c/\ufffdff'],
    ['a name above', '\xff/d\xc3\xb6c', '\ufffdff/d\ufffdc3\ufffdb6c'],
    ['a letter that a slash divides', 'd\xc3/\xb6c', 'd\ufffdc3/\ufffdb6c'],
  ])('are asked about whole paths, as a change of them is: no UTF-8 in %s', async (_, path, text) => {
    const [before, after] = [write({}), write({ [path]: '1' })];
    const { stdout } = await runGit(gitAt(dir), ['diff-tree', ...RAW, before, after]);
    expect(parseRaw(stdout).map((each) => each.path)).toEqual([text]);
    const folder = text.slice(0, text.indexOf('/') + 1);
    const one = { ...sieve, takes: (each: string) => each === text, mayBeIn: (each: string) => each === folder };
    expect(await siftOids(one, before, after)).toEqual([[], [`(${path})`]]);
  });
});
