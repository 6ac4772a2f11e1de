import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { openNativeStore } from '../../src/git/objects/native-store.ts';
import { disposableDirectory, git, gitInput, temporaryDirectory } from '../temporary.ts';
import { gitAt } from './fixture.ts';

const BYTES = Buffer.from('new\n');

describe.each(['sha1', 'sha256'])('files added to a tree, in %s', (format) => {
  const { path: dir, remove } = disposableDirectory();
  git(dir, 'init', '--quiet', `--object-format=${format}`);
  const store = openNativeStore(gitAt(dir));
  afterAll(async () => {
    await store.close();
    remove();
  });

  /** What git itself makes of it, through an index. */
  function byGit(paths: readonly string[], added: readonly string[]): { before: string; after: string } {
    const blob = gitInput(dir, 'old\n', 'hash-object', '-w', '--stdin');
    const fresh = gitInput(dir, BYTES, 'hash-object', '-w', '--stdin');
    const info = (list: readonly string[], oid: string) => list.map((path) => `100644 ${oid}\t${path}\0`).join('');
    git(dir, 'read-tree', '--empty');
    gitInput(dir, info(paths, blob), 'update-index', '-z', '--index-info');
    const before = git(dir, 'write-tree');
    gitInput(dir, info(added, fresh), 'update-index', '-z', '--index-info');
    return { before, after: git(dir, 'write-tree') };
  }

  it('are where git would put them, whatever is there already', async () => {
    const name = fc.constantFrom('a', 'a.b', 'a-b', 'a0', 'ab', 'b', 'sessions', '.handoff', 'ü', 'z z', 'A');
    const folder = fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => `d/${names.join('/d/')}`);
    const file = name.map((base) => `${base}.f`);
    const present = fc.uniqueArray(fc.tuple(folder, file), { maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(
        present,
        folder,
        fc.uniqueArray(file, { minLength: 1, maxLength: 4 }),
        async (old, at, added) => {
          const paths = (list: string[][]) => list.map((names) => names.join('/'));
          const { before, after } = byGit(paths(old), paths(added.map((base) => [at, base])));
          const seen: string[] = [];
          const tree = await store.addToFolder(before, at, (there) => {
            seen.push(...there.map(({ name }) => name));
            return added.map((base) => ({ name: base, bytes: BYTES }));
          });
          expect(tree).toBe(after);
          const inside = [...new Set(paths(old))].filter((path) => path.startsWith(`${at}/`));
          expect(new Set(seen)).toEqual(new Set(inside.map((path) => path.slice(at.length + 1).split('/')[0])));
        },
      ),
      { numRuns: 12 },
    );
    git(dir, 'fsck', '--strict');
  });

  it('leave a name that is no UTF-8 as it is', async () => {
    const blob = gitInput(dir, 'old\n', 'hash-object', '-w', '--stdin');
    const before = gitInput(
      dir,
      Buffer.concat([Buffer.from(`100644 blob ${blob}\tx`), Buffer.from([0xff, 0])]),
      'mktree',
      '-z',
    );
    const after = await store.addToFolder(before, 'y', () => [{ name: 'z', bytes: BYTES }]);
    expect(git(dir, 'ls-tree', '-r', '--name-only', after!)).toBe('"x\\377"\ny/z');
  });

  it('never replace a folder by a file, or a file by a folder', async () => {
    const { before } = byGit(['a/b/c'], []);
    const add = (folder: string) => store.addToFolder(before, folder, () => [{ name: 'b', bytes: BYTES }]);
    await expect(add('a')).rejects.toMatchObject({ code: 'mode_invalid' });
    await expect(add('a/b/c')).rejects.toMatchObject({ code: 'mode_invalid' });
  });

  it('are none when none are wanted', async () => {
    const { before } = byGit(['a/b'], []);
    expect(await store.addToFolder(before, 'a', () => [])).toBe(null);
  });
});

describe('an object', () => {
  it('is what git would have written, readable by all and writable by none', async () => {
    const dir = temporaryDirectory();
    git(dir, 'init', '--quiet');
    const store = openNativeStore(gitAt(dir));
    const oid = await store.writeBlob(BYTES);
    expect(gitInput(dir, BYTES, 'hash-object', '--stdin')).toBe(oid);
    const path = join(dir, '.git/objects', oid.slice(0, 2), oid.slice(2));
    expect(statSync(path).mode & 0o777).toBe(0o444);
    expect(await store.writeBlob(BYTES)).toBe(oid);
    await store.close();
    expect(readFileSync(path)).not.toHaveLength(0);
  });

  it('is written by git itself where it was told how', async () => {
    const dir = temporaryDirectory();
    git(dir, 'init', '--quiet', '--shared=0660');
    const store = openNativeStore(gitAt(dir));
    const oid = await store.writeBlob(BYTES);
    await store.close();
    const path = join(dir, '.git/objects', oid.slice(0, 2), oid.slice(2));
    expect(statSync(path).mode & 0o777).toBe(0o440);
  });
});
