import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';
import { AnswerParser } from '../../src/git/objects/cat-file-answer.ts';
import { openNativeStore } from '../../src/git/objects/native-store.ts';
import { git, gitInput, isolatedEnv, temporaryDirectory } from '../temporary.ts';
import { gitAt, history } from './fixture.ts';

const repository = () => history(join(temporaryDirectory(), 'r'));
const blobs = (dir: string, count: number, size = 20) =>
  Array.from({ length: count }, (_, i) => gitInput(dir, `${i}`.padEnd(size), 'hash-object', '-w', '--stdin'));

describe('many requests at once', () => {
  test('each gets its own answer, in any mix', async () => {
    const dir = repository();
    const store = openNativeStore(gitAt(dir));
    const oids = blobs(dir, 40, 9000);
    const reads = oids.flatMap((oid, i) => [
      store.readBlob(oid).then((bytes) => expect(bytes.toString()).toBe(`${i}`.padEnd(9000))),
      expect(store.readBlob('1'.repeat(40))).rejects.toMatchObject({ code: 'io' }),
      store.resolve('HEAD').then((head) => expect(head).toBe(git(dir, 'rev-parse', 'HEAD'))),
    ]);
    await Promise.all(reads);
    await store.close();
  });

  test('requests made before close are answered, later ones refused', async () => {
    const dir = repository();
    const store = openNativeStore(gitAt(dir));
    const head = store.resolve('HEAD');
    await store.close();
    expect(await head).toBe(git(dir, 'rev-parse', 'HEAD'));
    await expect(store.resolve('HEAD')).rejects.toMatchObject({ code: 'io', message: 'The git store is closed' });
    await store.close();
  });
});

describe('size bombs', () => {
  test('64 MiB are refused without reading them, and the others still answered', async () => {
    const dir = repository();
    const bomb = gitInput(dir, Buffer.alloc(64 << 20), 'hash-object', '-w', '--stdin');
    const small = blobs(dir, 3);
    const store = openNativeStore(gitAt(dir));
    const reads = [small[0]!, bomb, small[1]!, bomb, bomb, small[2]!].map((oid) => store.readBlob(oid, 262_144));
    const results = await Promise.allSettled(reads);
    expect(results.map((r) => r.status === 'fulfilled' || r.reason.code)).toEqual([
      true,
      'too_large',
      true,
      'too_large',
      'too_large',
      true,
    ]);
    await expect(store.readBlob(bomb, 262_144)).rejects.toMatchObject({ code: 'too_large' });
    expect((await store.readBlob(bomb)).length).toBe(64 << 20);
    await store.close();
  });

  test('a thousand of them cost one restart', async () => {
    const dir = repository();
    const [oid] = blobs(dir, 1, 5000);
    const log = countingGit();
    const store = openNativeStore(gitAt(dir, { PATH: log.path }));
    await Promise.allSettled(Array.from({ length: 1000 }, () => store.readBlob(oid!, 10)));
    await store.close();
    expect(log.count()).toBe(2);
  });
});

describe('the process', () => {
  test('is one for everything read', async () => {
    const dir = repository();
    const log = countingGit();
    const store = openNativeStore(gitAt(dir, { PATH: log.path }));
    const tree = await store.readTree('HEAD');
    await store.readCommit('refs/tags/v1');
    await store.resolve('main');
    await store.isShallow();
    await store.readBlob(tree!.entries.find((entry) => entry.name === 'note.md')!.oid, 100);
    await store.close();
    expect(log.count()).toBe(1);
  });

  test('is asked once for a tree; a commit whose tree was read is still no tree', async () => {
    const dir = repository();
    const store = openNativeStore(gitAt(dir));
    const head = git(dir, 'rev-parse', 'HEAD');
    const tree = await store.readTree(head);
    expect(await store.readTree(tree!.oid)).toEqual(tree);
    await expect(store.compareTrees(head, tree!.oid)).rejects.toMatchObject({ code: 'mode_invalid' });
    await store.readTree(tree!.oid);
    await store.close();
    expect(await store.readTree(head)).toEqual(tree);
    expect(await store.readTree(tree!.oid)).toEqual(tree);
    await expect(store.readTree('HEAD')).rejects.toMatchObject({ message: 'The git store is closed' });
  });

  test('finds a damaged object: an error, and no wrong answer for the others', async () => {
    const dir = repository();
    const oid = git(dir, 'rev-parse', 'HEAD:note.md');
    const object = join(dir, '.git/objects', oid.slice(0, 2), oid.slice(2));
    chmodSync(object, 0o644);
    writeFileSync(object, 'not zlib');
    const store = openNativeStore(gitAt(dir));
    const results = await Promise.allSettled([store.readBlob(oid), store.resolve('HEAD'), store.resolve('HEAD')]);
    expect(results[0]).toMatchObject({ status: 'rejected', reason: { code: 'io' } });
    for (const result of results.slice(1)) {
      if (result.status === 'fulfilled') expect(result.value).toBe(git(dir, 'rev-parse', 'HEAD'));
      else expect(result.reason).toMatchObject({ code: 'io' });
    }
    await store.close();
  });

  test('dies, which is an error for all who wait and all who come later', async () => {
    const store = openNativeStore(gitAt(repository(), { PATH: fakeGit('kill -9 $$') }));
    const results = await Promise.allSettled([store.resolve('HEAD'), store.readBlob('1'.repeat(40))]);
    for (const result of results) expect(result).toMatchObject({ status: 'rejected', reason: { code: 'io' } });
    await expect(store.resolve('HEAD')).rejects.toMatchObject({ code: 'io' });
    await store.close();
  });

  test('is missing, too old, or outside a repository', async () => {
    const ask = (dir: string, env = {}) => openNativeStore(gitAt(dir, env)).resolve('HEAD');
    await expect(ask(repository(), { PATH: temporaryDirectory() })).rejects.toThrow('git was not found');
    const old = fakeGit('echo "error: unknown option \'batch-command\'" >&2; exit 129');
    await expect(ask(repository(), { PATH: old })).rejects.toMatchObject({ code: 'unsupported' });
    await expect(ask(temporaryDirectory())).rejects.toMatchObject({ code: 'not_a_repository' });
  });

  test('does not keep Node alive while nothing is waiting, and does while something is', () => {
    const dir = repository();
    const script = `
      import { openNativeStore } from ${JSON.stringify(pathToFileURL(bundle()).href)};
      const store = openNativeStore({ dir: ${JSON.stringify(dir)}, env: process.env });
      await store.resolve('HEAD');
      console.log(await store.resolve('HEAD'));`;
    const run = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
      env: isolatedEnv,
      timeout: 20_000,
    });
    expect(run.status).toBe(0);
    expect(run.stdout.toString().trim()).toBe(git(dir, 'rev-parse', 'HEAD'));
  });
});

test('hostile configuration and inherited variables do not reach the store', async () => {
  const dir = repository();
  const canary = join(temporaryDirectory(), 'canary');
  git(dir, 'config', 'core.fsmonitor', `touch ${canary}`);
  git(dir, 'config', 'core.pager', `touch ${canary}`);
  const other = repository();
  git(other, 'commit', '--quiet', '--allow-empty', '--message', 'other');
  const env = { GIT_DIR: join(other, '.git'), GIT_OBJECT_DIRECTORY: '/nowhere', GIT_INDEX_FILE: '/nowhere' };
  const store = openNativeStore(gitAt(dir, env));
  expect(await store.resolve('HEAD')).toBe(git(dir, 'rev-parse', 'HEAD'));
  expect(await store.refs('refs/heads/')).toHaveLength(2);
  await store.writeBlob(Buffer.from('x'));
  await store.close();
  expect(existsSync(canary)).toBe(false);
});

test('writing a blob applies no filter', async () => {
  const dir = repository();
  git(dir, 'config', 'core.autocrlf', 'input');
  writeFileSync(join(dir, '.gitattributes'), '* text eol=lf ident\n');
  const store = openNativeStore(gitAt(dir));
  const oid = await store.writeBlob(Buffer.from('a\r\n$Id$\r\n'));
  expect(Buffer.from(await store.readBlob(oid)).toString()).toBe('a\r\n$Id$\r\n');
  await store.close();
});

test('answers are cut alike however the stream is split', () => {
  const bodies = ['', 'a', 'line\nline\n', 'x'.repeat(50)];
  const stream = Buffer.from(`${bodies.map((body) => `${body.length} blob\n${body}\n`).join('')}gone missing\n`);
  for (let size = 1; size <= stream.length; size++) {
    const seen: string[] = [];
    const parser = new AnswerParser({
      header: (line) => {
        if (line.endsWith('blob')) return Number(line.split(' ')[0]);
        seen.push(line);
        return 'nothing';
      },
      body: (parts) => seen.push(Buffer.concat(parts).toString()),
    });
    for (let at = 0; at < stream.length; at += size) parser.push(stream.subarray(at, at + size));
    expect(seen).toEqual([...bodies, 'gone missing']);
  }
});

/** A folder whose tree comes through the pipe in several parts, as git has it. */
function largeTree(dir: string, names: readonly string[], oid: string): string {
  return gitInput(dir, names.map((name) => `100644 blob ${oid}\t${name}\n`).join(''), 'mktree');
}

test('large trees are compared in the parts they come in, wherever they differ, and then edited', async () => {
  const dir = repository();
  const store = openNativeStore(gitAt(dir));
  const blob = await store.writeBlob(Buffer.from('a'));
  const names = Array.from({ length: 5_000 }, (_, number) => `file-${String(number).padStart(6, '0')}`);
  const before = largeTree(dir, names, blob);
  const atEnd = largeTree(dir, [...names, 'new-1', 'new-2'], blob);
  const inMiddle = largeTree(dir, [...names, 'file-000100x'].sort(), blob);
  const grown = await Promise.all([atEnd, inMiddle, before].map((now) => store.compareTrees(before, now)));
  expect(grown[0]).toEqual([[], ['new-1', 'new-2'].map((name) => ({ mode: '100644', name, oid: blob }))]);
  const [old, now] = grown[1]!;
  expect([old.length, now.length, now[0]!.name]).toEqual([4_899, 4_900, 'file-000100x']);
  expect(grown[2]).toEqual([[], []]);
  const shrunk = await store.compareTrees(atEnd, before);
  expect(shrunk.map((entries) => entries.map(({ name }) => name))).toEqual([['new-1', 'new-2'], []]);
  const edited = await store.editTree(before, new Map([['new-3', Buffer.from('a')]]));
  expect(edited).toBe(largeTree(dir, [...names, 'new-3'], blob));
  await store.close();
});

test('what is asked for ahead changes no answer and costs no process', async () => {
  const dir = repository();
  const { path, count } = countingGit();
  const store = openNativeStore(gitAt(dir, { PATH: `${path}:${process.env.PATH}` }));
  const names = Array.from({ length: 1_000 }, (_, number) => `file-${number}`).sort();
  const blob = git(dir, 'hash-object', '-w', '--stdin');
  const wide = largeTree(dir, names, blob);
  store.askAhead(['HEAD', blob, wide, 'HEAD:no/such/folder/', 'no-such-branch']);
  expect((await store.readTree(wide))!.entries).toHaveLength(1_000);
  await expect(store.readTree(blob)).rejects.toMatchObject({ message: expect.stringContaining('tree') });
  expect(await store.readTree('HEAD')).toEqual(await store.readTree('HEAD^{tree}'));
  expect(count()).toBe(1);
  await store.close();
});

function fakeGit(script: string): string {
  const dir = temporaryDirectory();
  writeFileSync(join(dir, 'git'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return dir;
}

function countingGit(): { path: string; count: () => number } {
  const log = temporaryDirectory();
  const real = execFileSync('sh', ['-c', 'command -v git']).toString().trim();
  return { path: fakeGit(`: > ${log}/$$; exec ${real} "$@"`), count: () => readdirSync(log).length };
}

function bundle(): string {
  const out = join(temporaryDirectory(), 'store.mjs');
  const entry = new URL('../../src/git/objects/native-store.ts', import.meta.url).pathname;
  const esbuild = new URL('../../node_modules/.bin/esbuild', import.meta.url).pathname;
  execFileSync(esbuild, [
    entry,
    '--bundle',
    '--platform=node',
    '--format=esm',
    `--outfile=${out}`,
    '--log-level=error',
  ]);
  return out;
}

test('a line asks for no more than a little of what is behind its end', async () => {
  const dir = repository();
  for (let n = 0; n < 8; n++) git(dir, 'commit', '--quiet', '--allow-empty', '--message', `${n}`);
  const bin = temporaryDirectory();
  const [path, asked] = [join(bin, 'git'), join(bin, 'asked')];
  const tee = `case "$*" in *cat-file*) tee -a '${asked}' | git "$@";; *) exec git "$@";; esac`;
  writeFileSync(path, `#!/bin/sh\nPATH=\${PATH#*:}\n${tee}\n`, { mode: 0o755 });
  const [head, parent, before] = git(dir, 'rev-list', '-3', 'HEAD').split('\n');
  const store = openNativeStore({ dir, env: { ...isolatedEnv, PATH: `${bin}:${process.env.PATH}` } });
  expect((await store.readLine(head!, parent!)).map(({ oid }) => oid)).toEqual([head]);
  expect(readFileSync(asked, 'utf8').match(/~/g)).toHaveLength(1);
  expect((await store.readLine(head!, before!)).map(({ oid }) => oid)).toEqual([head, parent]);
  expect(readFileSync(asked, 'utf8').match(/~/g)).toHaveLength(5);
  expect(await store.readLine(head!, '1'.repeat(40))).toHaveLength(git(dir, 'rev-list', 'HEAD').split('\n').length);
  await store.close();
});
