import { spawnSync } from 'node:child_process';
import fs, {
  appendFileSync,
  chmodSync,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Discards, openDiscards } from '../../src/git/discards.ts';
import { discoverRepository } from '../../src/git/discover.ts';
import { type IndexFile, openIndexFile } from '../../src/git/index/index-file.ts';
import { assertUnlocked } from '../../src/git/index/locked-index.ts';
import { openNativeStore } from '../../src/git/objects/native-store.ts';
import type { ObjectWriter } from '../../src/git/objects/object-writer.ts';
import { nodeHost } from '../../src/host.ts';
import { git, gitInput, isolatedEnv, temporaryDirectory } from '../temporary.ts';
import { gitAt } from './fixture.ts';

interface Place {
  dir: string;
  index: IndexFile;
  discards: Discards;
  /** The commands that git was asked for. */
  commands(): string[];
}

/** A repository whose files are older than its index, so that none of them is racy. */
function place(format = 'sha1', files: readonly string[] = ['a', '.handoff/policy/0001.yaml', 'z/z']): Place {
  const dir = temporaryDirectory();
  git(dir, 'init', '--quiet', `--object-format=${format}`);
  for (const path of files) write(dir, path, `old ${path}\n`, 10_000);
  git(dir, 'add', '--all');
  return { dir, ...openAt(dir) };
}

function openAt(dir: string, processes = nodeHost): Omit<Place, 'dir'> {
  const trace = join(dir, '.git', 'trace');
  const at = { ...gitAt(dir), env: { ...isolatedEnv, GIT_TRACE: trace } };
  const store = openNativeStore(at);
  onTestFinished(() => store.close());
  const dirs = discoverRepository(dir, at.env);
  const discards = openDiscards();
  const index = openIndexFile({ git: at, dirs, store, config: () => store.config(), processes, discards });
  const commands = () =>
    existsSync(trace) ? [...readFileSync(trace, 'utf8').matchAll(/built-in: git (\S+)/g)].map(([, name]) => name!) : [];
  return { index, discards, commands };
}

function write(dir: string, path: string, text: string, secondsAgo = 0): string {
  mkdirSync(dirname(join(dir, path)), { recursive: true });
  writeFileSync(join(dir, path), text);
  const at = Date.now() / 1000 - secondsAgo;
  if (secondsAgo > 0) utimesSync(join(dir, path), at, at);
  return path;
}

function indexOf({ dir }: Place): Buffer {
  return readFileSync(join(dir, '.git/index'));
}

/** The same index as `git update-index` would have written it. */
function byGit(at: Place, before: Buffer, paths: readonly string[]): Buffer {
  const copy = join(at.dir, '.git/copy');
  writeFileSync(copy, before);
  spawnSync('git', ['-C', at.dir, 'update-index', '--add', '--remove', '-z', '--stdin'], {
    input: paths.map((path) => `${path}\0`).join(''),
    env: { ...isolatedEnv, GIT_INDEX_FILE: copy },
  });
  return readFileSync(copy);
}

const RECORD = '.handoff/sessions/ada/20260101T000000-00000000/0001-start.yaml';

describe('a record in the index', () => {
  it.each(['sha1', 'sha256'])(
    'is there byte for byte as git would have put it, without a process, in %s',
    async (format) => {
      const at = place(format);
      git(at.dir, 'commit', '--quiet', '--message', 'with trees');
      git(at.dir, 'read-tree', 'HEAD');
      git(at.dir, 'update-index', '--refresh');
      const before = indexOf(at);
      expect(before.includes('TREE')).toBe(true);
      await at.index.add([write(at.dir, RECORD, 'new\n')]);
      expect(at.commands()).not.toContain('update-index');
      expect(indexOf(at).equals(byGit(at, before, [RECORD]))).toBe(true);
      expect(git(at.dir, 'status', '--porcelain')).toBe(`A  ${RECORD}`);
      git(at.dir, 'fsck', '--strict');
    },
  );

  it('is where it belongs, whatever else is there', async () => {
    const name = fc.constantFrom('a', 'a.b', 'a-b', 'ab', 'b', '0', 'é', 'Z', 'z z');
    const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => `${names.join('.d/')}.f`);
    const record = path.map((tail) => `.handoff/${tail}`);
    const some = <T>(of: fc.Arbitrary<T>) => fc.uniqueArray(of, { minLength: 1, maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(some(fc.oneof(path, record)), some(record), fc.boolean(), async (old, added, committed) => {
        const at = place('sha1', old);
        if (committed) git(at.dir, 'commit', '--quiet', '--message', 'old');
        const before = indexOf(at);
        for (const each of added) write(at.dir, each, `new ${each}\n`, 5_000);
        await at.index.add(added);
        expect(at.commands()).not.toContain('update-index');
        expect(indexOf(at).equals(byGit(at, before, added))).toBe(true);
      }),
      { numRuns: 12 },
    );
  });

  it('is alone in an index that was empty', async () => {
    const at = place();
    git(at.dir, 'read-tree', '--empty');
    const before = indexOf(at);
    await at.index.add([write(at.dir, RECORD, 'new\n', 50)]);
    expect(at.commands()).not.toContain('update-index');
    expect(indexOf(at).equals(byGit(at, before, [RECORD]))).toBe(true);
  });

  it('is found in an index of many pieces', async () => {
    const many = Array.from(
      { length: 12_000 },
      (_, at) => `100644 ${'1'.repeat(40)}\t.handoff/sessions/ada/${at}/0001-start.yaml\0`,
    );
    const at = place();
    gitInput(at.dir, many.join(''), 'update-index', '-z', '--index-info');
    const before = indexOf(at);
    expect(before.length).toBeGreaterThan(1 << 20);
    const paths = ['.handoff/a.yaml', '.handoff/sessions/ada/6000/0002-note.yaml', '.handoff/zz.yaml'];
    for (const path of paths) write(at.dir, path, 'new\n', 5_000);
    await at.index.add(paths);
    expect(at.commands()).not.toContain('update-index');
    expect(indexOf(at).equals(byGit(at, before, paths))).toBe(true);
  });

  it.each([
    ['the first', '.handoff/ledger/checkpoint'],
    ['one in the middle', '.handoff/sessions/ada/6000/0002-note.yaml'],
    ['the last', '.handoff/sessions/ada/11999/0002-note.yaml'],
    ['one that is new', '.handoff/sessions/bea/1/0001-start.yaml'],
  ])('makes git forget %s of thousands of folders', async (_, path) => {
    const record = (name: string) => `100644 ${'1'.repeat(40)}\t.handoff/${name}\0`;
    const many = Array.from({ length: 12_000 }, (__, at) => record(`sessions/ada/${at}/0001-start.yaml`));
    const at = place();
    gitInput(at.dir, [record('ledger/tile'), ...many].join(''), 'update-index', '-z', '--index-info');
    git(at.dir, 'write-tree', '--missing-ok');
    const before = indexOf(at);
    expect(before.length - before.lastIndexOf('TREE')).toBeGreaterThan(1 << 18);
    write(at.dir, path, 'new\n', 5_000);
    await at.index.add([path]);
    expect(at.commands()).not.toContain('update-index');
    expect(indexOf(at).equals(byGit(at, before, [path]))).toBe(true);
  });

  it('that is there is left alone, unless it was asked for', async () => {
    const at = place();
    const [first, second] = [write(at.dir, RECORD, 'one\n', 50), write(at.dir, `${RECORD}2`, 'two\n', 50)];
    await at.index.add([first], [second]);
    expect(git(at.dir, 'ls-files', '.handoff/sessions').split('\n')).toEqual([first, second]);
    const before = indexOf(at);
    await at.index.add([], [first, second]);
    expect(indexOf(at).equals(before)).toBe(true);
    write(at.dir, first, 'another\n', 20);
    await at.index.add([first], [second]);
    expect(git(at.dir, 'diff', '--name-only')).toBe('');
    expect(git(at.dir, 'cat-file', '-p', `:${first}`)).toBe('another');
  });

  it('does not hide what was changed in the second in which the index was written', async () => {
    const at = place();
    git(at.dir, 'config', 'core.trustctime', 'false');
    const then = Math.floor(Date.now() / 1000) - 100;
    const set = (path: string) => utimesSync(join(at.dir, path), then, then);
    set(write(at.dir, 'a', 'first\n'));
    git(at.dir, 'add', 'a');
    set('.git/index');
    set(write(at.dir, 'a', 'other\n'));
    expect(git(at.dir, 'diff', '--name-only')).toBe('a');
    set('.git/index');
    await at.index.add([write(at.dir, RECORD, 'new\n')]);
    expect(at.commands()).not.toContain('update-index');
    expect(git(at.dir, 'diff', '--name-only')).toBe('a');
  });

  it('does not make files look changed that were added in the same second', async () => {
    const at = place();
    for (const path of ['a', 'b', 'c']) write(at.dir, path, `new ${path}\n`);
    git(at.dir, 'add', '--all');
    await at.index.add([write(at.dir, RECORD, 'new\n')]);
    expect(at.commands()).not.toContain('update-index');
    expect(git(at.dir, 'diff-files', '--name-only')).toBe('');
  });

  it('never passes through a filter', async () => {
    const at = place();
    appendFileSync(join(at.dir, '.git/config'), '[filter "spoil"]\n\tclean = tr a-z A-Z\n');
    writeFileSync(join(at.dir, '.git/info/attributes'), '.handoff/** filter=spoil\n');
    await at.index.add([write(at.dir, RECORD, 'signed\n')]);
    expect(git(at.dir, 'cat-file', '-p', `:${RECORD}`)).toBe('signed');
  });
});

describe('git itself puts it there', () => {
  it.each<[string, (dir: string) => void]>([
    ['a configuration of the index', (dir) => git(dir, 'config', 'index.version', '4')],
    ['an index of version 4', (dir) => git(dir, 'update-index', '--index-version', '4')],
    ['a split index', (dir) => git(dir, 'update-index', '--split-index')],
    ['an untracked cache', (dir) => git(dir, 'update-index', '--untracked-cache', '--force-untracked-cache')],
    ['a shared repository', (dir) => git(dir, 'config', 'core.sharedRepository', 'group')],
    ['no difference between small and capital letters', (dir) => git(dir, 'config', 'core.ignoreCase', 'true')],
    ['no index yet', (dir) => rmSync(join(dir, '.git/index'))],
    ['a file where a folder should be', (dir) => stageAt(dir, '.handoff/sessions/ada')],
    ['a folder where a file should be', (dir) => stageAt(dir, `${RECORD}/0001`)],
    [
      'a conflict',
      (dir) =>
        gitInput(
          dir,
          [1, 2, 3].map((stage) => `100644 ${'1'.repeat(40)} ${stage}\t${RECORD}\0`).join(''),
          'update-index',
          '-z',
          '--index-info',
        ),
    ],
    [
      'a mark that it never changes',
      (dir) => {
        stageAt(dir, RECORD);
        git(dir, 'update-index', '--assume-unchanged', RECORD);
      },
    ],
    [
      'a hook that wants to know',
      (dir) => {
        writeFileSync(join(dir, '.git/hooks/post-index-change'), '#!/bin/sh\n');
        chmodSync(join(dir, '.git/hooks/post-index-change'), 0o755);
      },
    ],
  ])('with %s', async (_, arrange) => {
    const at = place();
    arrange(at.dir);
    await openAt(at.dir)
      .index.add([write(at.dir, RECORD, 'new\n')])
      .catch(() => {});
    expect(at.commands()).toContain('update-index');
  });

  it('when it is executable', async () => {
    const at = place();
    write(at.dir, RECORD, 'new\n');
    chmodSync(join(at.dir, RECORD), 0o755);
    await at.index.add([RECORD]);
    expect(git(at.dir, 'ls-files', '--stage', RECORD)).toMatch(/^100755 /);
  });

  it('when it is gone, but marked as not checked out', async () => {
    const at = place();
    stageAt(at.dir, RECORD);
    git(at.dir, 'update-index', '--skip-worktree', RECORD);
    await at.index.add([RECORD]);
    expect(at.commands()).toContain('update-index');
  });
});

describe('a file that is gone', () => {
  it.each(['sha1', 'sha256'])('is taken out as git would do it, without a process, in %s', async (format) => {
    const at = place(format);
    stageAt(at.dir, RECORD, '1'.repeat(format === 'sha1' ? 40 : 64));
    const before = indexOf(at);
    await at.index.add([RECORD]);
    expect(at.commands()).not.toContain('update-index');
    expect(git(at.dir, 'ls-files', RECORD)).toBe('');
    expect(indexOf(at).equals(byGit(at, before, [RECORD]))).toBe(true);
  });

  it('goes while others come and change, whatever else is there', async () => {
    const name = fc.constantFrom('a', 'a.p/1', 'a.p/2', 'a.p/3', 'b', 'b.p/1', 'c/a', 'c/b', 'd');
    const files = fc.uniqueArray(name, { minLength: 1, maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(files, files, fc.boolean(), async (old, now, committed) => {
        const [had, has] = [old, now].map((names) => names.map((each) => `.handoff/${each}`)) as [string[], string[]];
        const at = place('sha1', ['a', 'z', ...had]);
        if (committed) git(at.dir, 'commit', '--quiet', '--message', 'old');
        const before = indexOf(at);
        for (const path of had) rmSync(join(at.dir, path));
        for (const path of has) write(at.dir, path, `new ${path}\n`, 5_000);
        const paths = [...new Set([...had, ...has])];
        await at.index.add(paths);
        expect(at.commands()).not.toContain('update-index');
        expect(indexOf(at).equals(byGit(at, before, paths))).toBe(true);
        expect(git(at.dir, 'diff', '--name-only')).toBe('');
      }),
      { numRuns: 20 },
    );
  });

  it('and was not there leaves the index as it is', async () => {
    const at = place();
    const before = indexOf(at);
    await at.index.add([RECORD], [`${RECORD}2`]);
    expect(at.commands()).not.toContain('update-index');
    expect(indexOf(at).equals(before)).toBe(true);
  });

  it('is taken out of an index of many pieces, and its place is the first or the last', async () => {
    const paths = [
      '.handoff/a.yaml',
      ...Array.from({ length: 12_000 }, (_, at) => `.handoff/b/${at}`),
      '.handoff/zz.yaml',
    ];
    const at = place();
    const lines = paths.map((path) => `100644 ${'1'.repeat(40)}\t${path}\0`);
    gitInput(at.dir, lines.join(''), 'update-index', '-z', '--index-info');
    for (const gone of [paths[0]!, paths.at(-1)!]) {
      const before = indexOf(at);
      await at.index.add([gone, write(at.dir, '.handoff/policy/0001.yaml', `without ${gone}\n`, 5_000)]);
      expect(indexOf(at).equals(byGit(at, before, [gone, '.handoff/policy/0001.yaml']))).toBe(true);
    }
    expect(at.commands()).not.toContain('update-index');
  });
});

describe('the lock of the index', () => {
  it('is respected, and what another git process did meanwhile stays', async () => {
    const at = place();
    const lock = join(at.dir, '.git/index.lock');
    copyFileSync(join(at.dir, '.git/index'), lock);
    write(at.dir, RECORD, 'new\n');
    const adding = at.index.add([RECORD]);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(git(at.dir, 'ls-files', RECORD)).toBe('');
    rmSync(lock);
    write(at.dir, 'b', 'meanwhile\n');
    git(at.dir, 'add', 'b');
    await adding;
    expect(git(at.dir, 'ls-files', 'b', RECORD).split('\n')).toEqual([RECORD, 'b']);
  });

  it.each([
    ['ours', []],
    ['git’s', ['update-index', '--index-version', '4']],
  ])('that nobody gives back is said, by a value, also where the way is %s', async (_, prepare) => {
    const at = place();
    if (prepare.length > 0) git(at.dir, ...prepare);
    const before = indexOf(at);
    writeFileSync(join(at.dir, '.git/index.lock'), '');
    const file = { path: RECORD, bytes: Buffer.from('new\n'), at: join(at.dir, write(at.dir, RECORD, 'new\n')) };
    const answers = await Promise.all([at.index.add([RECORD]), at.index.put([file], () => expect.fail('not locked'))]);
    expect(answers).toEqual(['locked', 'locked']);
    expect(indexOf(at).equals(before)).toBe(true);
    expect(() => assertUnlocked(discoverRepository(at.dir, isolatedEnv), answers[0]!)).toThrow(/index\.lock/);
  });

  it('is taken in vain when the index has changed since it was read: then it is read again', async () => {
    const at = place();
    const store = openNativeStore(gitAt(at.dir));
    const { format, write: writeObject } = (await store.objectWriter())!;
    const others = ['b', 'c'].map((path) => write(at.dir, path, 'meanwhile\n'));
    const objectWriter = async (): Promise<ObjectWriter> => ({
      format,
      write(type, bytes) {
        const other = others.shift();
        if (other) git(at.dir, 'add', other);
        return writeObject(type, bytes);
      },
    });
    const dirs = discoverRepository(at.dir, isolatedEnv);
    const config = () => store.config();
    const writeBlob = (bytes: Uint8Array) => store.writeBlob(bytes);
    const here = { git: gitAt(at.dir), dirs, store: { objectWriter, writeBlob }, config };
    const index = openIndexFile({ ...here, processes: nodeHost, discards: at.discards });
    await index.add([write(at.dir, RECORD, 'new\n')]);
    await store.close();
    expect(git(at.dir, 'ls-files', 'b', 'c', RECORD).split('\n')).toEqual([RECORD, 'b', 'c']);
  });

  it('that somebody takes right after us is theirs', async () => {
    const at = place();
    const lock = join(at.dir, '.git/index.lock');
    const renameSync = fs.renameSync;
    fs.renameSync = (from, to) => {
      renameSync(from, to);
      if (from === lock) writeFileSync(lock, 'theirs');
    };
    syncBuiltinESMExports();
    try {
      await at.index.add([write(at.dir, RECORD, 'new\n')]);
    } finally {
      fs.renameSync = renameSync;
      syncBuiltinESMExports();
    }
    expect(readFileSync(lock, 'utf8')).toBe('theirs');
  });

  it('that a killed process left is cleared away, with its half of an index; anybody else’s is not', async () => {
    const at = place();
    const dead = spawnSync(process.execPath, ['-e', '0']).pid;
    const left = join(at.dir, `.git/index.handoff-${nodeHost.space}-${dead}-0123456789ab`);
    writeFileSync(left, 'half');
    linkSync(left, join(at.dir, '.git/index.lock'));
    await at.index.add([write(at.dir, RECORD, 'new\n')]);
    await at.discards.settled();
    expect(git(at.dir, 'ls-files', RECORD)).toBe(RECORD);
    expect(readdirSync(join(at.dir, '.git')).filter((name) => /^index./.test(name))).toEqual([]);
    const elsewhere = join(at.dir, `.git/index.handoff-00000000-${dead}-0123456789ab`);
    writeFileSync(elsewhere, 'half');
    const running = join(at.dir, `.git/index.handoff-${nodeHost.space}-${process.pid}-0123456789ab`);
    writeFileSync(running, 'half');
    await at.index.add([write(at.dir, `${RECORD}2`, 'new\n')]);
    expect([existsSync(running), existsSync(elsewhere)]).toEqual([true, true]);
  });

  it('of a branch that a killed process left is cleared away as well', async () => {
    const at = place();
    git(at.dir, 'commit', '--quiet', '--message', 'first');
    const dead = spawnSync(process.execPath, ['-e', '0']).pid;
    const left = join(at.dir, `.git/HEAD.handoff-${nodeHost.space}-${dead}-0123456789ab`);
    writeFileSync(left, 'half');
    const branch = git(at.dir, 'symbolic-ref', 'HEAD');
    const locks = ['HEAD', branch].map((name) => join(at.dir, `.git/${name}.lock`));
    for (const lock of locks) linkSync(left, lock);
    await at.index.add([write(at.dir, RECORD, 'new\n')]);
    expect([left, ...locks].filter((path) => existsSync(path))).toEqual([]);
  });

  it('keeps nobody out: fifty that add at once add all', async () => {
    const at = place();
    const paths = Array.from({ length: 50 }, (_, number) => write(at.dir, `${RECORD}${number}`, 'new\n'));
    await Promise.all(paths.map((path) => openAt(at.dir).index.add([path])));
    expect(git(at.dir, 'ls-files', '.handoff/sessions').split('\n')).toHaveLength(50);
  });
});

function stageAt(dir: string, path: string, oid = '1'.repeat(40)): void {
  gitInput(dir, `100644 ${oid}\t${path}\0`, 'update-index', '-z', '--index-info');
}

describe('bytes that are put into the index', () => {
  const [CHECKPOINT, OLD] = ['.handoff/ledger/checkpoint', '.handoff/ledger/tile/0/000.p/1'];

  /** The index and the work tree as they are while the file takes its place, and afterwards. */
  async function put(at: Place) {
    const ready = write(at.dir, '.git/ready', 'new\n', 50);
    const files = [
      { path: CHECKPOINT, bytes: Buffer.from('new\n'), at: join(at.dir, ready) },
      { path: OLD, bytes: null, at: '' },
    ];
    const seen: string[] = [];
    const outcome = await at.index.put(files, () => {
      seen.push(git(at.dir, 'cat-file', '-p', `:${CHECKPOINT}`), String(existsSync(join(at.dir, '.git/index.lock'))));
      renameSync(join(at.dir, ready), join(at.dir, CHECKPOINT));
    });
    return { seen, isInPlace: assertUnlocked(discoverRepository(at.dir, isolatedEnv), outcome) };
  }

  function withLedger(format?: string): Place {
    const at = place(format, [CHECKPOINT, OLD, 'a']);
    write(at.dir, CHECKPOINT, 'something else\n');
    return at;
  }

  it.each([
    ['here', 'sha1', []],
    ['here, in sha256', 'sha256', []],
    ['by git', 'sha1', ['config', 'core.splitIndex', 'true']],
    ['by git, in sha256', 'sha256', ['config', 'index.version', '4']],
  ])('%s are those that were given, and come with the file, under the lock', async (_, format, prepare) => {
    const at = withLedger(format);
    if (prepare.length > 0) git(at.dir, ...prepare);
    const { seen, isInPlace } = await put(at);
    expect(seen).toEqual([`old ${CHECKPOINT}`, 'true']);
    expect(git(at.dir, 'cat-file', '-p', `:${CHECKPOINT}`)).toBe('new');
    expect(git(at.dir, 'ls-files', '.handoff')).toBe(CHECKPOINT);
    expect(git(at.dir, 'status', '--porcelain', '--untracked-files=no').split('\n')).toEqual([
      `A  ${CHECKPOINT}`,
      'A  a',
    ]);
    expect(readdirSync(join(at.dir, '.git')).filter((name) => /\.lock$|handoff-/.test(name))).toEqual([]);
    expect(at.commands().includes('update-index')).toBe(prepare.length > 0);
    git(at.dir, 'fsck', '--strict');
    expect(isInPlace()).toBe(prepare.length === 0); // git status has looked at the file and remembers it
  });

  it('are known to be there until somebody replaces the index, or is about to', async () => {
    const at = withLedger();
    const { isInPlace } = await put(at);
    expect(isInPlace()).toBe(true);
    const lock = join(at.dir, '.git/index.lock');
    writeFileSync(lock, '');
    expect(isInPlace()).toBe(false);
    rmSync(lock);
    expect(isInPlace()).toBe(true);
    git(at.dir, 'read-tree', '--empty');
    expect(isInPlace()).toBe(false);
  });

  it('are not there where the file cannot take its place, and nothing is locked', async () => {
    const at = withLedger();
    const before = indexOf(at);
    const file = { path: CHECKPOINT, bytes: Buffer.from('new\n'), at: join(at.dir, CHECKPOINT) };
    const refuse = () => {
      throw Object.assign(new Error('no room'), { code: 'ENOSPC' });
    };
    await expect(at.index.put([file], refuse)).rejects.toThrow('no room');
    expect(indexOf(at).equals(before)).toBe(true);
    expect(readdirSync(join(at.dir, '.git')).filter((name) => /\.lock$|handoff-/.test(name))).toEqual([]);
  });
});

describe('a folder of the index', () => {
  const LEDGER = '.handoff/ledger';
  const paths = ['checkpoint', 'tile/0/000.p/1', 'tile/0/000', 'tile/0.5/a', 'tile/entries/x001/000'];
  const files = paths.map((path) => `${LEDGER}/${path}`);

  it.each(['sha1', 'sha256'])('has the id that it would be committed with, in %s', async (format) => {
    const many = Array.from({ length: 2_000 }, (_, n) => `.handoff/identities/${n}`);
    const at = place(format, [...many, ...files, 'a', '.handoff/ledger-not', '.handoff/policy']);
    expect(at.index.folder(LEDGER)).toBe(git(at.dir, 'rev-parse', `${git(at.dir, 'write-tree')}:${LEDGER}`));
    expect(at.commands()).toEqual([]);
  });

  it('has none where it is not there, or only git can tell', async () => {
    expect(place().index.folder(LEDGER)).toBeNull();
    const at = place('sha1', files);
    git(at.dir, 'update-index', '--chmod=+x', files[0]!);
    expect(at.index.folder(LEDGER)).toBeNull();
    git(at.dir, 'update-index', '--index-version', '4');
    expect(at.index.folder(LEDGER)).toBeNull();
  });
});
