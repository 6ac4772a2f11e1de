import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Holder } from '../../src/journal/locks/holder.ts';
import {
  type LockRemote,
  readRemoteHold,
  releaseRemoteHold,
  takeRemoteHold,
} from '../../src/journal/locks/remote-locks.ts';
import { commit } from '../git/fixture.ts';
import { git, temporaryDirectory } from '../temporary.ts';
import { httpBackend, remotes, script, serve } from './remote-fixture.ts';

const NAME = 'task/ada';
const REF = 'refs/handoff/locks/task/ada';
const SHORT = 500;

const holder = (identity: string, more: Partial<Holder> = {}): Holder => ({
  session_id: '7c1f0000-0000-4000-8000-000000000000',
  identity,
  at: '2026-02-20T14:30:25.123Z',
  host: 'a-host',
  ...more,
});

/** As whoever took number 1 knows it. */
const FIRST = { number: 1, holder: holder('ada'), released: null };
const SECOND = { ...FIRST, number: 2 };

function pair(...init: string[]): { bare: string; a: LockRemote; b: LockRemote } {
  const { bare, clones } = remotes(2, ...init);
  return { bare, a: clones[0]!, b: clones[1]! };
}

describe('a hold', () => {
  test('is nobody’s, is taken, seen by another clone, released, and taken with the next number', async () => {
    const { a, b } = pair();
    expect(await readRemoteHold(a, NAME)).toBeNull();
    expect(await takeRemoteHold(a, NAME, null, holder('ada'))).toBe('taken');
    expect(await readRemoteHold(b, NAME)).toEqual({ number: 1, holder: holder('ada'), released: null });
    await releaseRemoteHold(a, NAME, FIRST, holder('ada', { reason: 'wrapped' }));
    const released = holder('ada', { reason: 'wrapped' });
    expect(await readRemoteHold(b, NAME)).toEqual({ number: 1, holder: holder('ada'), released });
    expect(await takeRemoteHold(b, NAME, FIRST, holder('donna'))).toBe('taken');
    expect(await readRemoteHold(a, NAME)).toEqual({ number: 2, holder: holder('donna'), released: null });
  });

  test('cannot be taken twice, not even by its holder, and stays what it was', async () => {
    const { a, b } = pair();
    await takeRemoteHold(a, NAME, null, holder('ada'));
    expect(await takeRemoteHold(b, NAME, null, holder('donna'))).toBe('lost');
    expect(await takeRemoteHold(a, NAME, null, holder('ada'))).toBe('lost');
    expect(await readRemoteHold(b, NAME)).toMatchObject({ number: 1, holder: { identity: 'ada' } });
  });

  test('is superseded by a higher number, and then a lower one is lost', async () => {
    const { a, b } = pair();
    await takeRemoteHold(a, NAME, null, holder('ada'));
    await takeRemoteHold(b, NAME, SECOND, holder('donna'));
    expect(await takeRemoteHold(a, NAME, FIRST, holder('ada'))).toBe('lost');
    expect(await readRemoteHold(a, NAME)).toMatchObject({ number: 3, holder: { identity: 'donna' } });
  });

  test('is released as often as you like, and the first release counts', async () => {
    const { bare, a, b } = pair();
    await takeRemoteHold(a, NAME, null, holder('ada'));
    await releaseRemoteHold(a, NAME, FIRST, holder('ada', { reason: 'first' }));
    const before = git(bare, 'for-each-ref');
    await releaseRemoteHold(b, NAME, FIRST, holder('ada', { reason: 'second' }));
    expect(git(bare, 'for-each-ref')).toBe(before);
  });

  test('whose number is the highest there is has none after it', async () => {
    const last = { ...FIRST, number: 99_999_999 };
    await expect(takeRemoteHold(pair().a, NAME, last, holder('ada'))).rejects.toMatchObject({ code: 'io' });
  });

  test('of each name is its own', async () => {
    const { a } = pair();
    const session = '7c1f0000-0000-4000-8000-000000000001';
    const names = ['identity/x', `session/${session}`, 'task/x', 'task/x.lock', 'task/X.LOCK', 'task/x.lock.lock'];
    for (const [i, name] of [...names, 'identity/x.1'].entries()) {
      const who = name.startsWith('identity/') ? name.slice(9) : `who-${i}`;
      expect(await takeRemoteHold(a, name, null, holder(who)), name).toBe('taken');
      expect(await readRemoteHold(a, name)).toMatchObject({ number: 1, holder: { identity: who } });
    }
  });

  test.each([
    '',
    'ada',
    'identity',
    'identity/',
    'identity/a/b',
    'identity/..',
    'other/x',
    'task/a=b',
    'task/*',
    '-x/y',
  ])('has no name %j', async (name) => {
    await expect(readRemoteHold(pair().a, name)).rejects.toMatchObject({ code: 'usage' });
  });
});

describe('repositories', () => {
  test('of SHA-256', async () => {
    const { a, b } = pair('--object-format=sha256');
    expect(await takeRemoteHold(a, NAME, null, holder('ada'))).toBe('taken');
    expect(await takeRemoteHold(b, NAME, null, holder('donna'))).toBe('lost');
    expect(await readRemoteHold(b, NAME)).toMatchObject({ holder: { identity: 'ada' } });
  });

  test('without a git identity', async () => {
    const { a } = pair();
    const env = Object.fromEntries(Object.entries(a.git.env).filter(([key]) => !/^GIT_(AUTHOR|COMMITTER)/.test(key)));
    const nobody = { ...a, git: { ...a.git, env: { ...env, HOME: temporaryDirectory() } } };
    git(a.git.dir, 'config', 'user.useConfigOnly', 'true');
    expect(await takeRemoteHold(nobody, NAME, null, holder('ada'))).toBe('taken');
  });

  test('that are partial clones', async () => {
    const { bare, a, b } = pair();
    git(bare, 'config', 'uploadpack.allowFilter', 'true');
    commit(a.git.dir, { file: 'text' });
    git(a.git.dir, 'push', '--quiet', 'origin', 'main');
    await takeRemoteHold(a, NAME, null, holder('ada'));
    const dir = join(temporaryDirectory(), 'partial');
    git('/', 'clone', '--quiet', '--filter=blob:none', `file://${bare}`, dir);
    expect(await readRemoteHold({ ...b, git: { ...b.git, dir } }, NAME)).toMatchObject({ number: 1 });
  });

  test('are as they were: no ref, no FETCH_HEAD, no file but objects', async () => {
    const { a, b } = pair();
    for (const { git: at } of [a, b]) git(at.dir, 'config', 'remote.origin.fetch', '+refs/heads/*:refs/heads/*');
    for (const key of ['fetch.prune', 'fetch.pruneTags', 'fetch.writeCommitGraph'])
      git(b.git.dir, 'config', key, 'true');
    git(b.git.dir, 'config', '--add', 'remote.origin.fetch', '+refs/*:refs/*');
    commit(b.git.dir, { file: 'text' });
    git(b.git.dir, 'tag', 'mine');
    const state = () => [git(b.git.dir, 'for-each-ref'), readdirSync(join(b.git.dir, '.git')).sort()];
    const before = state();
    await takeRemoteHold(a, NAME, null, holder('ada'));
    await readRemoteHold(b, NAME);
    expect(state()).toEqual(before);
  });
});

describe('transports', () => {
  test('over HTTP', async () => {
    const { bare, a, b } = pair();
    const name = `${await serve(httpBackend(bare))}/origin.git`;
    await roundTrip({ ...a, name }, { ...b, name });
  });

  test('over SSH', async () => {
    const { bare, a, b } = pair();
    const ssh = script(join(temporaryDirectory(), 'ssh'), 'for command; do :; done; exec sh -c "$command"');
    const over = ({ git, ...remote }: LockRemote) => ({
      ...remote,
      git: { ...git, env: { ...git.env, GIT_SSH_COMMAND: ssh } },
      name: `ssh://host${bare}`,
    });
    await roundTrip(over(a), over(b));
  });

  async function roundTrip(a: LockRemote, b: LockRemote): Promise<void> {
    expect(await takeRemoteHold(a, NAME, null, holder('ada'))).toBe('taken');
    expect(await takeRemoteHold(b, NAME, null, holder('donna'))).toBe('lost');
    await releaseRemoteHold(a, NAME, FIRST, holder('ada'));
    expect(await readRemoteHold(b, NAME)).toMatchObject({ number: 1, holder: { identity: 'ada' }, released: {} });
  }
});

describe('processes', () => {
  test('three to take, two to read, two more to fetch', async () => {
    const { a, b } = pair();
    expect(await count(a, (remote) => takeRemoteHold(remote, NAME, null, holder('ada')))).toBe(3);
    expect(await count(a, (remote) => readRemoteHold(remote, NAME))).toBe(2);
    expect(await count(b, (remote) => readRemoteHold(remote, NAME))).toBe(4);
    expect(await count(b, (remote) => readRemoteHold(remote, NAME))).toBe(2);
  });

  async function count(remote: LockRemote, run: (remote: LockRemote) => Promise<unknown>): Promise<number> {
    const dir = temporaryDirectory();
    const log = temporaryDirectory();
    const real = execFileSync('sh', ['-c', 'command -v git']).toString().trim();
    // git starts itself too: only the first one has no mark.
    script(join(dir, 'git'), `[ -n "$MARK" ] || : > ${log}/$$; MARK=1 exec ${real} "$@"`);
    await run({ ...remote, git: { ...remote.git, env: { ...remote.git.env, PATH: `${dir}:${process.env.PATH}` } } });
    return readdirSync(log).length;
  }
});

describe('a configuration that adds to pushes', () => {
  test('adds nothing', async () => {
    const { bare, a } = pair();
    const { dir } = a.git;
    commit(dir, { file: 'text' });
    git(dir, 'tag', '--annotate', '--message', 'a tag', 'v1');
    const settings = {
      'push.followTags': 'true',
      'push.recurseSubmodules': 'on-demand',
      'push.gpgSign': 'true',
      'push.pushOption': 'ci.skip',
      'push.negotiate': 'true',
      'push.useForceIfIncludes': 'true',
      'push.default': 'matching',
      'remote.origin.push': 'refs/heads/*:refs/heads/*',
    };
    for (const [key, value] of Object.entries(settings)) git(dir, 'config', key, value);
    expect(await takeRemoteHold(a, NAME, null, holder('ada'))).toBe('taken');
    expect(git(bare, 'for-each-ref', '--format=%(refname)')).toBe(`${REF}/00000001`);
  });

  test('that pushes elsewhere than it reads takes nothing', async () => {
    const { a } = pair();
    const elsewhere = pair().bare;
    git(a.git.dir, 'config', 'remote.origin.pushurl', elsewhere);
    await expect(takeRemoteHold(a, NAME, null, holder('ada'))).rejects.toMatchObject({
      code: 'io',
      message: expect.stringContaining(`does not have ${REF}/00000001`),
    });
  });
});

describe('nothing of the user’s runs', () => {
  test('no hook of the repository', async () => {
    const { a, b } = pair();
    const canary = join(temporaryDirectory(), 'canary');
    for (const { git: at } of [a, b]) {
      mkdirSync(join(at.dir, '.git/hooks'), { recursive: true });
      for (const hook of ['pre-push', 'reference-transaction', 'post-checkout', 'pre-auto-gc'])
        script(join(at.dir, '.git/hooks', hook), `echo ${hook} >> ${canary}; exit 1`);
    }
    expect(await takeRemoteHold(a, NAME, null, holder('ada'))).toBe('taken');
    await readRemoteHold(b, NAME);
    await releaseRemoteHold(b, NAME, FIRST, holder('ada'));
    expect(existsSync(canary)).toBe(false);
  });

  test('no ext transport, however it is allowed', async () => {
    const { a } = pair();
    const canary = join(temporaryDirectory(), 'canary');
    git(a.git.dir, 'config', 'protocol.ext.allow', 'always');
    const env = { ...a.git.env, GIT_ALLOW_PROTOCOL: 'ext:file', GIT_PROTOCOL_FROM_USER: '1' };
    const url = `ext::sh -c "touch% ${canary}"`;
    git(a.git.dir, 'config', 'remote.bad.url', url);
    for (const name of [url, 'bad']) {
      const remote = { ...a, git: { ...a.git, env }, name };
      await expect(readRemoteHold(remote, NAME)).rejects.toMatchObject({ code: 'io' });
      await expect(takeRemoteHold(remote, NAME, null, holder('ada'))).rejects.toMatchObject({ code: 'io' });
    }
    expect(existsSync(canary)).toBe(false);
  });

  test.each(['', '-x', '--upload-pack=touch x', ' origin', 'a\nb', 'a\0b'])('no remote is called %j', async (name) => {
    const { a } = pair();
    const remote = { ...a, name };
    await expect(readRemoteHold(remote, NAME)).rejects.toMatchObject({ code: 'usage' });
    await expect(takeRemoteHold(remote, NAME, null, holder('ada'))).rejects.toMatchObject({ code: 'usage' });
    await expect(releaseRemoteHold(remote, NAME, FIRST, holder('ada'))).rejects.toMatchObject({ code: 'usage' });
  });

  test('no program that asks for a password', async () => {
    const { a } = pair();
    const canary = join(temporaryDirectory(), 'canary');
    const askpass = script(join(temporaryDirectory(), 'askpass'), `touch ${canary}; echo secret`);
    git(a.git.dir, 'config', 'core.askPass', askpass);
    const url = await serve((_, response) => response.writeHead(401, { 'www-authenticate': 'Basic realm="x"' }).end());
    const env = { ...a.git.env, GIT_ASKPASS: askpass, SSH_ASKPASS: askpass, DISPLAY: ':0' };
    const remote = { ...a, git: { ...a.git, env }, name: `${url}/x.git` };
    await expect(readRemoteHold(remote, NAME)).rejects.toMatchObject({ code: 'io' });
    expect(existsSync(canary)).toBe(false);
  });
});

describe('a remote that does not answer', () => {
  const closed = 'http://127.0.0.1:1/x.git';
  test.each(['nowhere', '/does/not/exist', closed, 'git://127.0.0.1:1/x', 'file:///dev/null'])('%s', async (name) => {
    const remote = { ...pair().a, name };
    const failure = { code: 'io', hint: expect.stringContaining('--local') };
    await expect(readRemoteHold(remote, NAME)).rejects.toMatchObject(failure);
    await expect(takeRemoteHold(remote, NAME, null, holder('ada'))).rejects.toMatchObject(failure);
    await expect(releaseRemoteHold(remote, NAME, FIRST, holder('ada'))).rejects.toMatchObject(failure);
  });

  test('is waited for, but not for ever', async () => {
    const silent = createServer();
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void silent.close());
    silent.on('connection', (socket) => onTestFinished(() => void socket.destroy()));
    const { port } = silent.address() as { port: number };
    for (const scheme of ['http', 'git']) {
      const remote = { ...pair().a, name: `${scheme}://127.0.0.1:${port}/x.git`, timeout: SHORT };
      const message = expect.stringContaining(`did not end within ${SHORT / 1000} s`);
      await expect(readRemoteHold(remote, NAME)).rejects.toMatchObject({ code: 'io', message });
    }
  });

  test('keeps its password to itself', async () => {
    const remote = { ...pair().a, name: 'http://user:secret@127.0.0.1:1/x.git' };
    const error = await readRemoteHold(remote, NAME).catch((error: unknown) => error);
    expect(JSON.stringify([error, (error as Error).message])).not.toContain('secret');
  });

  test('refuses the ref: an error with its reason, not a loss', async () => {
    const { bare, a } = pair();
    script(join(bare, 'hooks/pre-receive'), 'echo no locks here; exit 1');
    await expect(takeRemoteHold(a, NAME, null, holder('ada'))).rejects.toMatchObject({
      code: 'io',
      message: expect.stringContaining('pre-receive hook declined'),
    });
  });

  test('refuses the release', async () => {
    const { bare, a } = pair();
    await takeRemoteHold(a, NAME, null, holder('ada'));
    script(join(bare, 'hooks/update'), 'exit 1');
    await expect(releaseRemoteHold(a, NAME, FIRST, holder('ada'))).rejects.toMatchObject({ code: 'io' });
  });
});
