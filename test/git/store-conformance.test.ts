import fs from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openIsomorphicStore } from '../../src/git/isomorphic/isomorphic-store.ts';
import { openNativeStore } from '../../src/git/objects/native-store.ts';
import type { GitStore, TreeEntry } from '../../src/git/objects/store.ts';
import { disposableDirectory, git, gitInput, temporaryDirectory } from '../temporary.ts';
import { commit, gitAt, history, NAMES, REPOSITORIES } from './fixture.ts';

const STORES: Record<string, (dir: string) => Promise<GitStore>> = {
  native: async (dir) => openNativeStore(gitAt(dir)),
  isomorphic: (dir) => openIsomorphicStore({ fs, ...(fs.existsSync(join(dir, '.git')) ? { dir } : { gitdir: dir }) }),
};

const REFUSED = ['with a linked worktree', 'SHA-256', 'with alternates', 'a partial clone'];
const CASES = Object.keys(REPOSITORIES).flatMap((kind) => Object.keys(STORES).map((store) => ({ kind, store })));
const refused = (c: (typeof CASES)[number]) => c.store === 'isomorphic' && REFUSED.includes(c.kind);

describe.each(CASES.filter((c) => !refused(c)))('the $store store, $kind', ({ kind, store: name }) => {
  const root = disposableDirectory();
  let dir: string;
  let store: GitStore;
  beforeAll(async () => {
    dir = REPOSITORIES[kind]!(root.path);
    store = await STORES[name]!(dir);
  });
  afterAll(async () => {
    await store.close();
    root.remove();
  });
  const oid = (rev: string) => git(dir, 'rev-parse', rev);
  const main = () => oid('HEAD');
  const side = () => oid(git(dir, 'for-each-ref', '--format=%(objectname)', '**/side').split('\n')[0]!);

  test('resolves names and ids, and what names nothing to null', async () => {
    expect(await store.resolve('HEAD')).toBe(main());
    expect(await store.resolve('refs/tags/v1')).toBe(oid('refs/tags/v1'));
    expect(await store.resolve(main())).toBe(main());
    expect(await store.resolve('refs/heads/absent')).toBeNull();
    expect(await store.resolve('1'.repeat(main().length))).toBeNull();
  });

  test('reads the tree of a commit, a tag and a tree', async () => {
    const tree = await store.readTree('HEAD');
    expect(tree?.oid).toBe(oid('HEAD^{tree}'));
    expect(tree?.entries).toEqual(lsTree(dir, 'HEAD'));
    expect(await store.readTree('refs/tags/v1')).toEqual(tree);
    expect(await store.readTree(tree!.oid)).toEqual(tree);
    expect(await store.readTree('refs/heads/absent')).toBeNull();
  });

  /** A partial clone has no files to read. */
  const testFiles: typeof test | (() => void) = kind === 'a partial clone' ? () => {} : test;

  testFiles('reads every file, whatever its name', async () => {
    expect(await readAll(store, 'HEAD')).toEqual(NAMES);
  });

  test('compares trees from the first entry on in which they differ', async () => {
    const before = (await store.readTree('HEAD'))!;
    const last = before.entries.at(-1)!;
    const added = { ...last, name: `${last.name}~` };
    const [longer, shorter] = [[...before.entries, added], before.entries.slice(0, -1)];
    const compare = async (entries: TreeEntry[]) => store.compareTrees(before.oid, await store.writeTree(entries));
    expect(await compare(longer)).toEqual([[], [added]]);
    expect(await compare(shorter)).toEqual([[last], []]);
    expect(await compare(before.entries)).toEqual([[], []]);
    expect(await compare([...shorter, added])).toEqual([[last], [added]]);
    const first = { ...last, name: '!' };
    expect(await compare([first, ...before.entries])).toEqual([before.entries, [first, ...before.entries]]);
    await expect(store.compareTrees('1'.repeat(before.oid.length), before.oid)).rejects.toMatchObject({ code: 'io' });
  });

  test('a file that is not there is an error, not an absence', async () => {
    const absent = '1'.repeat(main().length);
    const missing = { code: 'io', message: expect.stringContaining('no object') };
    await expect(store.readBlob(absent)).rejects.toMatchObject(missing);
    await expect(store.readTree(absent)).rejects.toMatchObject(missing);
    await expect(store.readCommit(absent)).rejects.toMatchObject(missing);
    await expect(store.readCommit('refs/heads/absent')).rejects.toMatchObject({ code: 'unknown_commit' });
  });

  testFiles('what an object is, not what is asked, decides', async () => {
    const blob = oid('HEAD:note.md');
    await expect(store.readBlob(main())).rejects.toMatchObject({ code: 'mode_invalid' });
    await expect(store.readTree(blob)).rejects.toMatchObject({ code: 'mode_invalid' });
    await expect(store.readCommit(blob)).rejects.toMatchObject({ code: 'mode_invalid' });
    await expect(store.readCommit(oid('HEAD^{tree}'))).rejects.toMatchObject({ code: 'mode_invalid' });
  });

  test('reads a commit, also through a tag', async () => {
    const found = await store.readCommit('refs/tags/v1');
    expect(found).toEqual({
      oid: main(),
      tree: oid('HEAD^{tree}'),
      parents: git(dir, 'cat-file', '-p', 'HEAD')
        .match(/^parent .*/gm)!
        .map((line) => line.slice(7)),
      author: 'Ada <ada@example.org> 1767323045 +0000',
      committer: 'Ada <ada@example.org> 1767323045 +0000',
      message: 'second\n\nwith a body\n',
    });
  });

  test('reads a commit up to a limit, and no line goes on to one that is larger than a commit may be', async () => {
    const ident = 'Ada <ada@example.org> 1767323045 +0000';
    const draft = { tree: oid('HEAD^{tree}'), author: ident, committer: ident };
    const large = await store.writeCommit({ ...draft, parents: [], message: 'a'.repeat(1024 * 1024) });
    const next = await store.writeCommit({ ...draft, parents: [large], message: 'next' });
    await expect(store.readCommit(large, 1024 * 1024)).rejects.toMatchObject({ code: 'too_large' });
    expect((await store.readCommit(large)).oid).toBe(large);
    const nowhere = '1'.repeat(large.length);
    expect((await store.readLine(next, nowhere)).map((commit) => commit.oid)).toEqual([next]);
    expect(await store.readLine(large, nowhere)).toEqual([]);
  });

  test('reads a line of commits from the first on, and never beyond its end', async () => {
    const first = git(dir, 'cat-file', '-p', 'HEAD').match(/^parent (.*)/m)![1]!;
    expect(await store.readLine(main(), first)).toEqual([await store.readCommit(main())]);
    expect(await store.readLine(main(), main())).toEqual([]);
    expect((await store.readLine(main(), '1'.repeat(first.length)))[0]!.oid).toBe(main());
    await expect(store.readLine('1'.repeat(first.length), first)).rejects.toMatchObject({ code: 'io' });
  });

  test('tells ancestry, and never guesses in a shallow repository', async () => {
    expect(await store.isShallow()).toBe(kind === 'shallow');
    expect(await store.isAncestor(main(), main())).toBe(true);
    if (kind === 'shallow') {
      await expect(store.isAncestor(side(), main())).rejects.toMatchObject({ code: 'unsupported' });
      await expect(store.mergeBases(side(), main())).rejects.toMatchObject({ code: 'unsupported' });
      return;
    }
    const first = oid('HEAD~1');
    expect(await store.isAncestor(first, main())).toBe(true);
    expect(await store.isAncestor(main(), first)).toBe(false);
    expect(await store.mergeBases(side(), main())).toEqual([first]);
    await expect(store.isAncestor('1'.repeat(first.length), main())).rejects.toMatchObject({ code: 'io' });
  });

  test('lists refs as git does', async () => {
    const format = '--format=%(refname) %(objectname)';
    for (const prefix of ['refs/', 'refs/heads/', 'refs/tags/', 'refs/absent/']) {
      const listed = (await store.refs(prefix)).map((ref) => `${ref.name} ${ref.oid}`).join('\n');
      expect(listed).toBe(git(dir, 'for-each-ref', format, prefix));
    }
    await expect(store.refs('refs/heads')).rejects.toMatchObject({ code: 'usage' });
    await expect(store.refs('refs/*/')).rejects.toMatchObject({ code: 'usage' });
  });

  test('writes objects that git finds sound', async () => {
    const blob = await store.writeBlob(Buffer.from('new\r\n'));
    const tree = await store.writeTree([
      { mode: '100644', name: 'a.b', oid: blob },
      { mode: '040000', name: 'a', oid: await store.writeTree([{ mode: '100644', name: 'ü', oid: blob }]) },
      { mode: '100755', name: 'a-b', oid: blob },
    ]);
    const ident = 'Ada <ada@example.org> 1767323045 +0000';
    const draft = { tree, parents: [main()], author: ident, committer: ident, message: 'ünï\n' };
    const made = await store.writeCommit(draft);
    expect(await store.readCommit(made)).toEqual({ oid: made, ...draft });
    expect((await store.readTree(made))?.entries.map((entry) => entry.name)).toEqual(['a-b', 'a.b', 'a']);
    expect(git(dir, 'fsck', '--strict', '--no-dangling')).toBe('');
    expect(git(dir, 'cat-file', 'blob', blob)).toBe('new\r');
  });

  test('refuses what could be an option or end a request early', async () => {
    for (const rev of ['-h', '--upload-pack=touch x', '', 'HEAD\ncontents HEAD', 'HEAD\r', 'a\0b', ' HEAD']) {
      await expect(store.resolve(rev)).rejects.toMatchObject({ code: 'usage' });
      await expect(store.readTree(rev)).rejects.toMatchObject({ code: 'usage' });
      await expect(store.readCommit(rev)).rejects.toMatchObject({ code: 'usage' });
      await expect(store.readBlob(rev)).rejects.toMatchObject({ code: 'usage' });
      await expect(store.isAncestor(rev, main())).rejects.toMatchObject({ code: 'usage' });
    }
  });
});

test.each(CASES.filter(refused))('the $store store refuses a repository $kind', async ({ kind, store }) => {
  const dir = REPOSITORIES[kind]!(temporaryDirectory());
  const hint = expect.stringContaining('native store');
  await expect(STORES[store]!(dir)).rejects.toMatchObject({ code: 'unsupported', hint });
});

describe.each(Object.keys(STORES))('the %s store', (name) => {
  const open = (dir: string) => STORES[name]!(dir);

  test('sees an unborn branch as nothing', async () => {
    const dir = temporaryDirectory();
    git(dir, 'init', '--quiet');
    const store = await open(dir);
    expect(await store.resolve('HEAD')).toBeNull();
    expect(await store.readTree('HEAD')).toBeNull();
    expect(await store.refs('refs/')).toEqual([]);
    await store.close();
  });

  test('does not mistake a ref to a lost object for an unborn branch', async () => {
    const dir = history(join(temporaryDirectory(), 'r'));
    fs.writeFileSync(join(dir, '.git/refs/heads/lost'), `${'1'.repeat(40)}\n`);
    const store = await open(dir);
    await expect(store.resolve('refs/heads/lost')).rejects.toMatchObject({ code: 'io' });
    await expect(store.readTree('refs/heads/lost')).rejects.toMatchObject({ code: 'io' });
    await store.close();
  });

  test('does not see replaced objects', async () => {
    const dir = history(join(temporaryDirectory(), 'r'));
    const real = git(dir, 'rev-parse', 'HEAD:note.md');
    git(dir, 'replace', real, gitInput(dir, 'forged\n', 'hash-object', '-w', '--stdin'));
    expect(git(dir, 'cat-file', 'blob', real)).toBe('forged');
    const store = await open(dir);
    expect(text(await store.readBlob(real))).toBe('one\n');
    await store.close();
  });

  test('shows duplicate entries and odd modes of a hand-built tree', async () => {
    const dir = history(join(temporaryDirectory(), 'r'));
    const blob = git(dir, 'rev-parse', 'HEAD:note.md');
    const id = Buffer.from(blob, 'hex');
    const entry = (head: string | Buffer) => Buffer.concat([Buffer.from(head as string), Buffer.from([0]), id]);
    const invalid = Buffer.concat([Buffer.from('100644 '), Buffer.from([0xff])]);
    const raw = Buffer.concat([entry('100644 a'), entry('100755 a'), entry('40000 .HANDOFF'), entry(invalid)]);
    const tree = gitInput(dir, raw, 'hash-object', '-t', 'tree', '--literally', '-w', '--stdin');
    const store = await open(dir);
    const entries = (await store.readTree(tree))!.entries;
    expect(entries.map((e) => `${e.mode} ${e.name}`)).toEqual([
      '100644 a',
      '100755 a',
      '040000 .HANDOFF',
      '100644 \uFFFDff',
    ]);
    await expect(store.writeTree(entries.slice(0, 2))).rejects.toMatchObject({ code: 'bad_name' });
    await expect(store.writeTree(entries.slice(3))).rejects.toMatchObject({ code: 'bad_name' });
    await store.close();
  });

  test('reports a tree that is not one', async () => {
    const dir = history(join(temporaryDirectory(), 'r'));
    const store = await open(dir);
    for (const raw of ['100644 a\0short', '100644', 'rw a\0aaaaaaaaaaaaaaaaaaaa']) {
      const tree = gitInput(dir, raw, 'hash-object', '-t', 'tree', '--literally', '-w', '--stdin');
      await expect(store.readTree(tree)).rejects.toMatchObject({ code: 'bytes_invalid' });
    }
    await store.close();
  });

  test('refuses to write names, modes and people that git would not', async () => {
    const dir = history(join(temporaryDirectory(), 'r'));
    const store = await open(dir);
    const oid = git(dir, 'rev-parse', 'HEAD:note.md');
    for (const bad of ['', '.', '..', '.git', '.GIT', 'a/b', 'a\0b', '\ud800'])
      await expect(store.writeTree([{ mode: '100644', name: bad, oid }])).rejects.toMatchObject({ code: 'bad_name' });
    const odd = store.writeTree([{ mode: '100664', name: 'a', oid }]);
    await expect(odd).rejects.toMatchObject({ code: 'mode_invalid' });
    const forged = 'Ada <a@b> 1 +0000\nparent 1';
    const draft = { tree: oid, parents: [], author: forged, committer: forged, message: '' };
    await expect(store.writeCommit(draft)).rejects.toMatchObject({ code: 'usage' });
    await store.close();
  });

  test('says no about unrelated histories and finds the best of several common commits', async () => {
    const dir = history(join(temporaryDirectory(), 'r'));
    const base = git(dir, 'rev-parse', 'HEAD');
    for (const step of ['1', '2', '3']) commit(dir, { step });
    git(dir, 'merge', '--quiet', '--no-ff', '--message=m', 'side');
    const tip = git(dir, 'rev-parse', 'HEAD');
    git(dir, 'switch', '--quiet', '--create', 'other', base);
    const other = commit(dir, { other: '' });
    git(dir, 'switch', '--quiet', '--orphan', 'apart');
    const apart = commit(dir, { apart: '' });
    const store = await open(dir);
    expect(await store.mergeBases(tip, other)).toEqual([base]);
    expect(await store.mergeBases(tip, apart)).toEqual([]);
    expect(await store.isAncestor(apart, tip)).toBe(false);
    await store.close();
  });

  test('a tree over the limit is too large, one of exactly the limit is not', async () => {
    const dir = history(join(temporaryDirectory(), 'r'));
    const store = await open(dir);
    const { oid, entries } = (await (await open(dir)).readTree('HEAD'))!; // another store: what one has read it may keep
    const size = Number(git(dir, 'cat-file', '-s', oid));
    for (const rev of ['HEAD', oid])
      await expect(store.readTree(rev, size - 1)).rejects.toMatchObject({ code: 'too_large', data: { size } });
    expect((await store.readTree('HEAD', size))?.entries).toEqual(entries);
    await store.close();
  });

  test('a blob over the limit is too large, one of exactly the limit is not', async () => {
    const dir = history(join(temporaryDirectory(), 'r'));
    const size = 300 * 1024;
    const blob = gitInput(dir, Buffer.alloc(size, 'a'), 'hash-object', '-w', '--stdin');
    const store = await open(dir);
    await expect(store.readBlob(blob, size - 1)).rejects.toMatchObject({ code: 'too_large', data: { size } });
    expect((await store.readBlob(blob, size)).length).toBe(size);
    expect((await store.readBlob(blob)).length).toBe(size);
    await store.close();
  });

  test('of many blobs each has its own answer, in the order asked', async () => {
    const dir = history(join(temporaryDirectory(), 'r'));
    const blob = (bytes: Buffer) => gitInput(dir, bytes, 'hash-object', '-w', '--stdin');
    const [one, two] = [blob(Buffer.from('one')), blob(Buffer.from('two'))];
    const large = blob(Buffer.alloc(300 * 1024, 'a'));
    const [tree, absent] = [git(dir, 'rev-parse', 'HEAD^{tree}'), '1'.repeat(40)];
    const store = await open(dir);
    for (let time = 0; time < 2; time++) {
      const answers = await store.readBlobs([one, large, absent, two, tree, one, large], 4096);
      expect(answers.map((answer) => (answer instanceof Uint8Array ? text(answer) : answer.code))).toEqual([
        'one',
        'too_large',
        'io',
        'two',
        'mode_invalid',
        'one',
        'too_large',
      ]);
    }
    expect(await store.readBlobs([])).toEqual([]);
    await expect(store.readBlobs([one, 'HEAD'])).rejects.toMatchObject({ code: 'usage' });
    await store.close();
  });
});

test('the native store fetches nothing behind the back of the caller in a partial clone', async () => {
  const dir = REPOSITORIES['a partial clone']!(temporaryDirectory());
  const store = openNativeStore(gitAt(dir));
  const read = store.readBlob(git(dir, 'rev-parse', 'HEAD:note.md'));
  await expect(read).rejects.toMatchObject({ code: 'io', hint: expect.stringContaining('partial clone') });
  await store.close();
});

test('the isomorphic store refuses names it would have to guess at', async () => {
  const dir = history(join(temporaryDirectory(), 'r'));
  const store = await openIsomorphicStore({ fs, dir });
  for (const rev of ['main', 'HEAD~1', 'HEAD:note.md', 'refs/heads/../../config', 'refs/heads/main^{tree}'])
    await expect(store.resolve(rev)).rejects.toMatchObject({ code: 'unsupported' });
});

test('of two merge bases both stores name both', async () => {
  const dir = history(join(temporaryDirectory(), 'r'));
  const bases = [git(dir, 'rev-parse', 'main'), git(dir, 'rev-parse', 'side')].sort();
  git(dir, 'branch', 'x', 'main');
  git(dir, 'merge', '--quiet', '--no-ff', '--message=m', 'side');
  git(dir, 'switch', '--quiet', 'side');
  git(dir, 'merge', '--quiet', '--no-ff', '--message=m', 'x');
  const [a, b] = [git(dir, 'rev-parse', 'main'), git(dir, 'rev-parse', 'side')];
  for (const store of [openNativeStore(gitAt(dir)), await openIsomorphicStore({ fs, dir })]) {
    expect((await store.mergeBases(a, b)).sort()).toEqual(bases);
    await store.close();
  }
});

function lsTree(dir: string, rev: string) {
  const lines = git(dir, 'ls-tree', '-z', rev).split('\0').filter(Boolean);
  return lines.map((line) => {
    const [, mode, oid, name] = /^(\d+) \w+ (\w+)\t(.*)$/s.exec(line)!;
    return { mode, name, oid };
  });
}

async function readAll(store: GitStore, rev: string, prefix = ''): Promise<Record<string, string>> {
  const { entries } = (await store.readTree(rev))!;
  const files: Record<string, string> = {};
  for (const { mode, name, oid } of entries) {
    if (mode === '040000') Object.assign(files, await readAll(store, oid, `${prefix}${name}/`));
    else files[prefix + name] = text(await store.readBlob(oid));
  }
  return files;
}

function text(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('utf8');
}
