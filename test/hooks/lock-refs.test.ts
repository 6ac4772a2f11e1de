import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { generateKey, toSigner } from '../../src/journal/keys/keys.ts';
import { formatLockCommit, type LockDocument, lockBytes } from '../../src/journal/locks/lock-commit.ts';
import { lockRef, releaseRef } from '../../src/journal/locks/lock-ref.ts';
import { commitAll, type Place, privateKey, writeSession } from '../handoff.ts';
import { HOLDER } from '../journal/forged-holders.ts';
import { git, gitInput } from '../temporary.ts';
import { template } from '../threats/forge.ts';
import { done, handoff, lockRefs, type Machine, machine } from '../verbs/machines.ts';
import { open, tryGit } from './hooked.ts';
import { NOTHING, rawPush } from './raw-push.ts';

// Threat 60, where a push can show it: a server with the hook takes locks, and nothing else, under refs/handoff/locks.

const fresh = template(async ({ handoff }) => handoff.task.add({ id: 'P0.1', title: 'Readers' }));
const TASK = 'task/P0.1';
const DONNA = { ...HOLDER, identity: 'donna' };

let place: Place;
let server: string;

beforeEach(async () => {
  place = fresh();
  server = join(place.dir, '../server.git');
  git('/', 'init', '--quiet', '--bare', '--initial-branch=main', server);
  git(place.dir, 'push', '--quiet', server, 'main');
  git(server, 'config', 'handoff.root', place.root);
  await open(server).hooks.install({ server: true });
});

const push = (refspec: string, ...flags: string[]) => tryGit(place.dir, ['push', ...flags, server, refspec]);
const refs = () => git(server, 'for-each-ref', '--format=%(refname)', 'refs/handoff').split('\n');

/** A lock, made as its holder makes it but for what is given. */
async function makeLock(ref: string, document: Partial<LockDocument> = {}, key = privateKey(place, 'donna')) {
  const lock = { repo: place.root, ref, nonce: Math.random().toString(), holder: DONNA, ...document };
  const signature = await toSigner(key).sign({ kind: 'lock', signedBytes: lockBytes(lock) });
  const commit = formatLockCommit('sha1', lock, signature);
  return gitInput(place.dir, commit, 'hash-object', '-t', 'commit', '-w', '--stdin');
}

/** The same pushed to its ref, or to another. */
async function pushLock(ref: string, document: Partial<LockDocument> = {}, key = privateKey(place, 'donna'), to = ref) {
  return push(`${await makeLock(ref, document, key)}:${to}`, '--force');
}

const refusal = (ref: string) => ({ code: 1, stderr: expect.stringContaining(`${ref}: refused: `) });

describe('what is no lock is refused', () => {
  it.each([
    'refs/handoff/locks',
    'refs/handoff/locks/x',
    'refs/handoff/locks/task/P0.1',
    'refs/handoff/locks/task/P0.1/1',
    'refs/handoff/locks/task/P0.1/00000001/x',
    'refs/handoff/locks/task/P0.1/9007199254740992',
    'refs/handoff/locks/session/x/00000001',
    'refs/handoff/locks/identity/-x/00000001',
    'refs/handoff/locks/other/x/00000001',
  ])('for its name: %s', async (ref) => {
    expect(push(`main:${ref}`)).toMatchObject(refusal(ref));
    expect(await pushLock(ref)).toMatchObject(refusal(ref));
  });

  it('for what it holds', async () => {
    const ref = lockRef(TASK, 1);
    const forged: [Partial<LockDocument>, ReturnType<typeof generateKey>?][] = [
      [{}, generateKey()],
      [{ holder: { ...DONNA, identity: 'mallory' } }],
      [{ holder: { ...DONNA, identity: 'erin' } }],
      [{ holder: { ...DONNA, session_id: '$(touch pwned)' } }],
      [{ repo: 'b'.repeat(64) }],
      [{ ref: lockRef(TASK, 2) }],
    ];
    for (const [document, key] of forged) expect(await pushLock(ref, document, key, ref)).toMatchObject(refusal(ref));
    for (const what of ['main', 'main^{tree}', 'main:.handoff/policy/0001.yaml']) {
      const oid = git(place.dir, 'rev-parse', what);
      expect(push(`${oid}:${ref}`), what).toMatchObject(refusal(ref));
    }
    expect(refs()).toEqual(['']);
  });

  it('for whose it is: the identity of somebody else, or the end of a lock that is somebody else’s', async () => {
    const identity = lockRef('identity/erin', 1);
    expect(await pushLock(identity)).toMatchObject(refusal(identity));
    expect(await pushLock(releaseRef(TASK, 1))).toMatchObject(refusal(releaseRef(TASK, 1)));
    expect(await pushLock(lockRef(TASK, 1))).toMatchObject({ code: 0 });
    const erin = { holder: { ...DONNA, identity: 'erin' } };
    const end = releaseRef(TASK, 1);
    expect(await pushLock(end, erin, privateKey(place, 'erin'))).toMatchObject(refusal(end));
    expect(await pushLock(end)).toMatchObject({ code: 0 });
  });

  it('for its number: one far above the others would leave none', async () => {
    for (const number of [66, 99_999_999])
      expect(await pushLock(lockRef(TASK, number))).toMatchObject(refusal(lockRef(TASK, number)));
    expect(await pushLock(lockRef(TASK, 1))).toMatchObject({ code: 0 });
    expect(await pushLock(lockRef(TASK, 2))).toMatchObject({ code: 0 });
  });
});

describe('a lock stays what it is', () => {
  it('nobody deletes it, or puts another in its place; the next number is free', async () => {
    const ref = lockRef(TASK, 1);
    await pushLock(ref);
    expect(push(`:${ref}`)).toMatchObject(refusal(ref));
    expect(await pushLock(ref)).toMatchObject(refusal(ref));
    const erin = { holder: { ...DONNA, identity: 'erin' } };
    expect(await pushLock(ref, erin, privateKey(place, 'erin'))).toMatchObject(refusal(ref));
    expect(await pushLock(lockRef(TASK, 2), erin, privateKey(place, 'erin'))).toMatchObject({ code: 0 });
  });

  // each by itself would be a lock: git would write one, then the other over it
  it.each([false, true])('no push makes it two things at once (by a symbolic ref: %s)', async (isSymbolic) => {
    const ref = lockRef(TASK, 1);
    const other = isSymbolic ? 'refs/heads/other' : ref;
    if (isSymbolic) git(server, 'symbolic-ref', other, ref);
    const [one, two] = [await makeLock(ref), await makeLock(ref)];
    const both = (first: string, second: string) =>
      rawPush(place.dir, server, [
        { old: NOTHING, now: first, ref },
        { old: NOTHING, now: second, ref: other },
      ]);
    expect(both(one, two).said).toContain('two things at once');
    expect(refs()).toEqual(['']);
    expect(push(`${one}:${ref}`)).toMatchObject({ code: 0 });
  });

  it('noise that was there before may go, or be written over', async () => {
    const main = git(server, 'rev-parse', 'main');
    git(server, 'update-ref', lockRef(TASK, 1), main);
    git(server, 'update-ref', 'refs/handoff/locks/note', main);
    expect(push(':refs/handoff/locks/note')).toMatchObject({ code: 0 });
    expect(await pushLock(lockRef(TASK, 1))).toMatchObject({ code: 0 });
  });
});

describe('what honest people do is let through', () => {
  const at = (name: string): Machine => machine(place, server, name);

  it('two machines: start, claim, wrap, pickup, takeover, release', () => {
    const [left, right] = [at('left'), at('right')];
    done(left, 'start', '--as', 'donna');
    done(left, 'claim', 'P0.1');
    expect(handoff(right, 'start', '--as', 'donna')).toMatchObject({ code: 3 });
    const mine = done(right, 'start', '--as', 'erin');
    expect(handoff(right, 'claim', 'P0.1')).toMatchObject({ code: 3 });
    done(left, 'wrap', '--message', 'yours');
    expect(done(right, 'claim', 'P0.1')).toMatchObject({ token: 2 });
    done(left, 'start', '--as', 'donna');
    done(left, 'claim', 'P0.1', '--force', '--reason', 'it is urgent');
    done(left, 'release', mine.session_id, '--reason', 'it hangs');
    expect(handoff(right, 'note', 'x')).toMatchObject({ json: { error: { code: 'session_released' } } });
    done(right, 'start', '--as', 'erin');
  });

  it('a claim goes past the numbers that records carry, in steps that the server takes', () => {
    const lock = (token: number) => ({ kind: 'start' as const, lock: { task: 'P0.1', token } });
    writeSession(place, [lock(64)], { identity: 'erin' });
    writeSession(place, [lock(128)], { identity: 'maintainer' });
    commitAll(place);
    git(server, 'fetch', '--quiet', place.dir, 'main:main');
    const left = at('left');
    done(left, 'start', '--as', 'donna');
    expect(done(left, 'claim', 'P0.1')).toMatchObject({ token: 129 });
    expect(lockRefs(left, TASK)).toEqual(['00000001', '00000065', '00000129']);
  });

  it('somebody who is not signed in on the protected branch yet is told so', async () => {
    const left = at('left');
    git(left.dir, 'checkout', '--quiet', '-b', 'newcomer');
    done(left, 'identity', 'add', 'nova');
    const refused = handoff(left, 'start', '--as', 'nova');
    expect(refused).toMatchObject({ code: 4, json: { error: { code: 'io' } } });
    git(left.dir, 'push', '--quiet', 'origin', 'newcomer:main');
    done(left, 'start', '--as', 'nova');
  });

  it('a server without a policy judges no locks', async () => {
    const empty = join(place.dir, '../empty.git');
    git('/', 'init', '--quiet', '--bare', '--initial-branch=main', empty);
    await open(empty).hooks.install({ server: true });
    expect(tryGit(place.dir, ['push', empty, 'main:refs/handoff/locks/x'])).toMatchObject({ code: 0 });
  });
});
