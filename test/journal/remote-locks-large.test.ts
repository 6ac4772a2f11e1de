import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openCache } from '../../src/audit/tree/cache.ts';
import { formatLockCommit } from '../../src/journal/locks/lock-commit.ts';
import { lockRef } from '../../src/journal/locks/lock-ref.ts';
import { signLock } from '../../src/journal/locks/lock-signature.ts';
import { type LockRemote, readRemoteHold, takeRemoteHold } from '../../src/journal/locks/remote-locks.ts';
import { commit } from '../git/fixture.ts';
import { git, gitInput, temporaryDirectory } from '../temporary.ts';
import { HOLDER } from './forged-holders.ts';
import { remotes, script } from './remote-fixture.ts';

// Anyone who may push decides how large it is what a ref under a lock's name leads to. Only the commit is looked at: the rest
// neither keeps a verb waiting nor gets into anybody's repository.

const NAME = 'task/P0.1';

interface Pair {
  bare: string;
  a: LockRemote;
  b: LockRemote;
}

async function held(...init: string[]): Promise<Pair> {
  const { bare, clones } = remotes(2, ...init);
  const [a, b] = clones as [LockRemote, LockRemote];
  await takeRemoteHold(a, NAME, null, HOLDER);
  return { bare, a, b };
}

/** A tree with a megabyte that does not get smaller. */
function largeTree(bare: string): string {
  const blob = gitInput(bare, randomBytes(1 << 20), 'hash-object', '-w', '--stdin');
  return gitInput(bare, `100644 blob ${blob}\tfile\n`, 'mktree');
}

/** Noise above the lock, and what it is. */
function putLarge(bare: string, make: (tree: string, bare: string) => string = inCommit): string {
  const oid = make(largeTree(bare), bare);
  git(bare, 'update-ref', lockRef(NAME, 2), oid);
  return oid;
}

const inCommit = (tree: string, bare: string) => gitInput(bare, 'noise', 'commit-tree', tree);

/** The remote, where whoever packs what is fetched does this instead. */
function packing(remote: LockRemote, body: string): LockRemote {
  const hook = script(join(temporaryDirectory(), 'pack'), body);
  const config = join(temporaryDirectory(), 'config');
  writeFileSync(config, `[uploadpack]\n\tpackObjectsHook = ${hook}\n`);
  return { ...remote, git: { ...remote.git, env: { ...remote.git.env, GIT_CONFIG_GLOBAL: config } } };
}

/** It sends the beginning, and then nothing more. */
const NEVER_ENDS = '"$@" | head -c 100000; sleep 20';
const IF_FILTERED = 'case "$*" in *--filter=tree:0*) exec "$@";; esac';

/** What the read finds, and how often it fetched. */
async function read(remote: LockRemote): Promise<{ number: number | undefined; fetches: number }> {
  const trace = join(temporaryDirectory(), 'trace');
  const traced = { ...remote, git: { ...remote.git, env: { ...remote.git.env, GIT_TRACE: trace } } };
  const number = (await readRemoteHold(traced, NAME))?.number;
  return { number, fetches: readFileSync(trace, 'utf8').match(/built-in: git fetch/g)?.length ?? 0 };
}

const objectsOf = ({ git: { dir } }: LockRemote) =>
  git(dir, 'cat-file', '--batch-all-objects', '--batch-check=%(objecttype) %(objectname)').split('\n');

/** Nothing but the lock itself has come, and nothing else has changed. */
function expectClean(remote: LockRemote, bare: string): void {
  expect(objectsOf(remote)).toEqual([`commit ${git(bare, 'rev-parse', lockRef(NAME, 1))}`]);
  const { dir } = remote.git;
  for (const name of ['shallow', 'shallow.lock', 'FETCH_HEAD']) expect(existsSync(join(dir, '.git', name))).toBe(false);
  expect(readdirSync(join(dir, '.git/objects')).filter((name) => name.startsWith('tmp_'))).toEqual([]);
  expect(git(dir, 'config', '--local', '--list')).not.toContain('promisor');
}

describe('noise that leads to a large tree', () => {
  test('without an end: the commits have come before it, and that is enough', async () => {
    const { bare, b } = await held();
    putLarge(bare);
    expect(await read(packing(b, NEVER_ENDS))).toEqual({ number: 1, fetches: 2 });
    expectClean(b, bare);
  });

  test('that a server takes long to pack: it is asked without the tree, where it can do that', async () => {
    const { bare, b } = await held();
    git(bare, 'config', 'uploadpack.allowFilter', 'true');
    putLarge(bare);
    expect(await read(packing(b, `${IF_FILTERED}\nsleep 20`))).toMatchObject({ number: 1 });
    expectClean(b, bare);
  });

  test('and where it cannot, it is waited for', async () => {
    const { bare, b } = await held();
    putLarge(bare);
    expect(await read(packing(b, 'sleep 3; exec "$@"'))).toMatchObject({ number: 1 });
    expectClean(b, bare);
  });

  test('in a repository of SHA-256', async () => {
    const { bare, b } = await held('--object-format=sha256');
    putLarge(bare);
    expect(await read(packing(b, NEVER_ENDS))).toEqual({ number: 1, fetches: 2 });
    expectClean(b, bare);
  });

  test.each<[string, (tree: string, bare: string) => string]>([
    ['a tree', (tree) => tree],
    ['a blob', (tree, bare) => git(bare, 'rev-parse', `${tree}:file`)],
    ['a tag', (tree, bare) => gitInput(bare, tagOf(inCommit(tree, bare)), 'mktag')],
    ['a commit that is too large itself', (tree, bare) => gitInput(bare, 'x'.repeat(1 << 20), 'commit-tree', tree)],
    ['the last of many', (tree, bare) => gitInput(bare, 'x', 'commit-tree', tree, '-p', inCommit(tree, bare))],
  ])('it is %s', async (_, make) => {
    const { bare, a, b } = await held();
    putLarge(bare, make);
    expect(await read(b)).toEqual({ number: 1, fetches: 2 });
    expectClean(b, bare);
    expect(await takeRemoteHold(a, NAME, await readRemoteHold(a, NAME), HOLDER)).toBe('taken');
  });

  const tagOf = (oid: string) => `object ${oid}\ntype commit\ntag x\ntagger x <x@y> 0 +0000\n\nx\n`;
});

describe('what its holder has signed, and is no lock all the same', () => {
  /** The bytes of a lock after the one that is there. */
  async function signed(at: LockRemote, reason: string): Promise<Uint8Array> {
    const { document, signature } = await signLock(at, lockRef(NAME, 2), { ...HOLDER, reason });
    return formatLockCommit('sha1', document, signature);
  }
  const put = (bare: string, type: string, bytes: Uint8Array) =>
    git(bare, 'update-ref', lockRef(NAME, 2), gitInput(bare, bytes, 'hash-object', '-t', type, '-w', '--stdin'));

  test('as a commit it is one', async () => {
    const { bare, a, b } = await held();
    put(bare, 'commit', await signed(a, 'because'));
    expect(await readRemoteHold(b, NAME)).toMatchObject({ number: 2 });
  });

  test('as anything else, or with more than 16,384 bytes, it is none', async () => {
    const { bare, a, b } = await held();
    put(bare, 'blob', await signed(a, 'because'));
    expect(await readRemoteHold(b, NAME)).toMatchObject({ number: 1 });
    put(bare, 'commit', await signed(a, 'x'.repeat(16_384)));
    expect(await readRemoteHold(b, NAME)).toMatchObject({ number: 1 });
  });
});

describe('noise in great numbers', () => {
  const upTo = (last: number) => Array.from({ length: last }, (_, i) => i + 2);

  test('all of it one commit: it is fetched once', async () => {
    const { bare, b } = await held();
    const oid = putLarge(bare);
    gitInput(
      bare,
      upTo(3000)
        .map((n) => `update ${lockRef(NAME, n)} ${oid}\n`)
        .join(''),
      'update-ref',
      '--stdin',
    );
    // the highest, sixteen, 256, and the rest with the lock
    expect(await read(b)).toEqual({ number: 1, fetches: 4 });
  });

  test('all different: some hundred in a conversation', async () => {
    const { bare, b } = await held();
    const make = (n: number) => `commit ${lockRef(NAME, n)}\ncommitter x <x@y> 0 +0000\ndata 4\n${n + 1000}\n\n`;
    gitInput(bare, upTo(1500).map(make).join(''), 'fast-import', '--quiet');
    expect(await read(b)).toEqual({ number: 1, fetches: 6 });
    expectClean(b, bare);
  });

  test('each with a large tree that never ends, and more than git unpacks unasked', async () => {
    const { bare, b } = await held();
    const root = `M 040000 ${largeTree(bare)} ""\n`;
    const make = (n: number) => `commit ${lockRef(NAME, n)}\ncommitter x <x@y> 0 +0000\ndata 4\n${n + 1000}\n${root}\n`;
    gitInput(bare, upTo(199).map(make).join(''), 'fast-import', '--quiet');
    expect(await read(packing(b, NEVER_ENDS))).toEqual({ number: 1, fetches: 3 });
    expectClean(b, bare);
  });
});

describe('what was looked at once', () => {
  test('is not fetched again, be it a lock or noise', async () => {
    const { bare, b } = await held();
    putLarge(bare);
    const path = join(temporaryDirectory(), 'noise.json');
    expect(await read({ ...b, noise: openCache(path) })).toMatchObject({ fetches: 2 });
    expect(await read({ ...b, noise: openCache(path) })).toEqual({ number: 1, fetches: 0 });
    // it is what it holds that is known, not its name
    putLarge(bare);
    expect(await read({ ...b, noise: openCache(path) })).toEqual({ number: 1, fetches: 1 });
  });
});

describe('the way to the remote is the user’s', () => {
  test('relative to the top of the work tree, from wherever it is asked', async () => {
    const { b } = await held();
    git(b.git.dir, 'remote', 'set-url', 'origin', '../origin.git');
    commit(b.git.dir, { 'folder/file': 'text' });
    expect(await read({ ...b, git: { ...b.git, dir: join(b.git.dir, 'folder') } })).toMatchObject({ number: 1 });
  });

  test('from a linked work tree', async () => {
    const { b } = await held();
    commit(b.git.dir, { file: 'text' });
    git(b.git.dir, 'worktree', 'add', '--quiet', '../linked');
    expect(await read({ ...b, git: { ...b.git, dir: join(b.git.dir, '../linked') } })).toMatchObject({ number: 1 });
  });

  test('by settings that are made for a place', async () => {
    const { bare, b } = await held();
    const [global, there] = [join(temporaryDirectory(), 'global'), join(temporaryDirectory(), 'there')];
    writeFileSync(there, `[url "${bare}"]\n\tinsteadOf = short:x\n`);
    writeFileSync(global, `[includeIf "gitdir:${b.git.dir}/"]\n\tpath = ${there}\n`);
    git(b.git.dir, 'remote', 'set-url', 'origin', 'short:x');
    const env = { ...b.git.env, GIT_CONFIG_GLOBAL: global };
    expect(await read({ ...b, git: { ...b.git, env } })).toMatchObject({ number: 1 });
  });
});
