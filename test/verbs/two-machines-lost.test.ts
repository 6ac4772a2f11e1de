import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { git } from '../temporary.ts';
import { template } from '../threats/forge.ts';
import { beginHandoff, done, handoff, isSpent, lockRefs, type Machine, machines, once, typeHint } from './machines.ts';

// Threat 72: a lost answer, a dropped connection, a process that is killed between the two halves of a lock. Afterwards
// nobody is locked out: not on the machine where it happened, and not on another one.

const fresh = template(async ({ handoff }) => handoff.task.add({ id: 'P0.1', title: 'Readers' }));

const pair = (): [Machine, Machine] => machines(fresh(), 'left', 'right') as [Machine, Machine];

/** The server of git dies after it has changed the refs, and before it says so. */
const AFTER = ['reference-transaction', '[ "$1" = committed ]', 'kill -9 $PPID'] as const;
/** It dies before it has changed anything. */
const BEFORE = ['pre-receive', 'true', 'kill -9 $PPID'] as const;

const START = ['start', '--as', 'donna'];

describe('an answer that is lost', () => {
  it('start looks, and has what it took', () => {
    const [left, right] = pair();
    once(left, ...AFTER);
    const { session_id } = done(left, ...START);
    expect(isSpent(left)).toBe(true);
    expect(handoff(right, ...START)).toMatchObject({ code: 3, json: { error: { data: { session_id } } } });
    done(left, 'note', 'mine');
  });

  it('claim, unclaim and wrap too', () => {
    const [left, right] = pair();
    done(left, ...START);
    once(left, ...AFTER);
    expect(done(left, 'claim', 'P0.1')).toMatchObject({ token: 1 });
    once(left, ...AFTER);
    done(left, 'unclaim', 'P0.1');
    once(left, ...AFTER);
    done(left, 'wrap', '--message', 'the end');
    expect(isSpent(left)).toBe(true);
    done(right, ...START);
    expect(done(right, 'claim', 'P0.1')).toMatchObject({ token: 2 });
  });

  it('pickup and claim by force too, and release', () => {
    const [left, right] = pair();
    const { session_id } = done(left, ...START, '--commit');
    done(left, 'claim', 'P0.1');
    git(left.dir, 'push', '--quiet', 'origin', 'HEAD:main');
    git(right.dir, 'pull', '--quiet', 'origin', 'main');
    once(left, ...AFTER);
    const heir = done(right, 'pickup', '--from-session', session_id, '--as', 'erin', '--force', '--reason', 'asleep');
    expect(isSpent(left)).toBe(true);
    once(left, ...AFTER);
    done(right, 'claim', 'P0.1', '--force', '--reason', 'asleep');
    expect(isSpent(left)).toBe(true);
    once(left, ...AFTER);
    done(left, 'release', heir.session_id, '--reason', 'it hangs', '--as', 'maintainer');
    expect(isSpent(left)).toBe(true);
    expect(handoff(right, 'note', 'x')).toMatchObject({ json: { error: { code: 'session_released' } } });
    done(left, ...START);
    done(right, 'start', '--as', 'erin');
  });

  it.each(['identity', 'session'])('with the whole server, after the %s is taken: nobody is locked out', (kind) => {
    const [left, right] = pair();
    const gone = `${left.bare}.gone`;
    const isKind = `[ "$1" = committed ] && case $input in *refs/handoff/locks/${kind}/*) ;; *) false ;; esac`;
    once(left, 'reference-transaction', isKind, `mv '${left.bare}' '${gone}'; kill -9 $PPID`);
    expect(handoff(left, ...START)).toMatchObject({ code: 4, json: { error: { code: 'io' } } });
    renameSync(gone, left.bare);
    const refused = handoff(right, ...START);
    expect(refused).toMatchObject({ code: 3, json: { error: { code: 'identity_conflict' } } });
    expect(typeHint(right, refused, 'git handoff pickup')).toMatchObject({ code: 0 });
    done(right, 'wrap', '--message', 'yours');
    done(left, ...START);
  });

  it('with the whole server: the same machine goes on at once', () => {
    const [left] = pair();
    const gone = `${left.bare}.gone`;
    once(left, 'reference-transaction', '[ "$1" = committed ]', `mv '${left.bare}' '${gone}'; kill -9 $PPID`);
    expect(handoff(left, ...START)).toMatchObject({ code: 4 });
    renameSync(gone, left.bare);
    done(left, ...START);
    done(left, 'note', 'mine');
  });
});

describe('a connection that drops before anything is taken', () => {
  it('start says so, holds nothing, and works again', () => {
    const [left, right] = pair();
    once(left, ...BEFORE);
    expect(handoff(left, ...START)).toMatchObject({
      code: 4,
      json: { error: { hint: expect.stringContaining('--local') } },
    });
    expect(lockRefs(left, 'identity/donna')).toEqual([]);
    done(right, ...START);
    done(right, 'wrap', '--message', 'yours');
    done(left, ...START);
  });

  it('start that has its identity, and not its session, gives that back to whoever comes next', () => {
    const [left, right] = pair();
    const [hook, , then] = BEFORE;
    once(left, hook, 'case $input in *refs/handoff/locks/session/*) ;; *) false ;; esac', then);
    expect(handoff(left, ...START)).toMatchObject({ code: 4 });
    expect(isSpent(left)).toBe(true);
    done(right, ...START);
  });

  it('a claim that fails is no claim, and works again', () => {
    const [left] = pair();
    done(left, ...START);
    once(left, ...BEFORE);
    expect(handoff(left, 'claim', 'P0.1')).toMatchObject({ code: 4 });
    expect(done(left, 'claim', 'P0.1')).toMatchObject({ token: 1 });
  });

  it('a claim that fails leaves the task to others, on the same machine and on another', () => {
    const [left, right] = pair();
    for (const name of ['donna', 'erin']) done(left, 'start', '--as', name);
    once(left, ...BEFORE);
    expect(handoff(left, 'claim', 'P0.1', '--as', 'donna')).toMatchObject({ code: 4 });
    expect(done(left, 'claim', 'P0.1', '--as', 'erin')).toMatchObject({ token: 1 });
    done(left, 'unclaim', 'P0.1', '--as', 'erin');
    once(left, ...BEFORE);
    expect(handoff(left, 'claim', 'P0.1', '--as', 'donna')).toMatchObject({ code: 4 });
    done(right, 'start', '--as', 'maintainer');
    expect(done(right, 'claim', 'P0.1')).toMatchObject({ token: 2 });
  });

  it('a wrap whose release fails is finished by the same command', () => {
    const [left, right] = pair();
    done(left, ...START);
    once(left, ...BEFORE);
    expect(handoff(left, 'wrap', '--message', 'the end')).toMatchObject({ code: 4 });
    done(left, 'wrap', '--message', 'the end');
    done(right, ...START);
  });
});

describe('a process that is killed', () => {
  /** Kills the verb itself while the server is at this push, which is refused if it can be. */
  async function killed(machine: Machine, hook: string, isNow: string, ...args: string[]): Promise<void> {
    once(machine, hook, `[ -e victim ] && ${isNow}`, 'kill -9 $(cat victim); exit 1');
    const { child, ended } = beginHandoff(machine, ...args);
    writeFileSync(join(machine.bare, 'victim'), String(child.pid));
    expect((await ended).code).toBeNull();
    expect(isSpent(machine)).toBe(true);
    rmSync(join(machine.bare, 'hooks', hook));
  }

  const isAt = (part: string) => `case $input in *refs/handoff/locks/${part}*) ;; *) false ;; esac`;

  it.each([
    ['between the local half of the identity and the remote one', 'pre-receive', isAt('identity/')],
    ['after the identity', 'reference-transaction', `[ "$1" = committed ] && ${isAt('identity/')}`],
    ['between the halves of its own lock', 'pre-receive', isAt('session/')],
    ['after its own lock', 'reference-transaction', `[ "$1" = committed ] && ${isAt('session/')}`],
  ])('start, %s: the same machine goes on', async (_, hook, isNow) => {
    const [left] = pair();
    await killed(left, hook, isNow, ...START);
    done(left, ...START);
    done(left, 'note', 'mine');
    done(left, 'wrap', '--message', 'yours');
  });

  it('start, and another one that came between: its push landed when the next start had looked already', async () => {
    const [left] = pair();
    await killed(left, 'reference-transaction', `[ "$1" = committed ] && ${isAt('identity/')}`, ...START);
    const folder = join(left.dir, '.git/handoff/locks/identity/donna');
    const text = readFileSync(join(folder, '00000001.lock'), 'utf8');
    const other = text.replace(/"session_id":"[^"]*"/, '"session_id":"7c1f0000-0000-4000-8000-000000000000"');
    for (const name of ['00000002.lock', '00000002.released']) writeFileSync(join(folder, name), other);
    done(left, ...START);
    done(left, 'note', 'mine');
  });

  it.each([
    ['after the identity', `[ "$1" = committed ] && ${isAt('identity/')}`],
    ['after its own lock', `[ "$1" = committed ] && ${isAt('session/')}`],
  ])('start, %s: on another machine the hint works, and so does release', async (_, isNow) => {
    const [left, right] = pair();
    await killed(left, 'reference-transaction', isNow, ...START);
    const refused = handoff(right, ...START);
    expect(refused).toMatchObject({ code: 3, json: { error: { code: 'identity_conflict' } } });
    const { session_id } = refused.json.error.data;
    done(right, 'release', session_id.slice(0, 8), '--reason', 'it was killed', '--as', 'erin');
    done(right, ...START);
  });

  it.each([
    ['the identity', 'identity/', 'start --as donna'],
    ['the task', 'task/', 'claim P0.1'],
  ])('wrap, between the halves of the release of %s: the same command ends both', async (_, part, next) => {
    const [left, right] = pair();
    done(left, ...START);
    done(left, 'claim', 'P0.1');
    await killed(left, 'pre-receive', isAt(part), 'wrap', '--message', 'the end');
    done(left, 'wrap', '--message', 'the end');
    if (part === 'task/') done(right, 'start', '--as', 'erin');
    done(right, ...next.split(' '));
  });

  it('wrap, between the halves: where nobody repeats it, the next session of the identity takes its place', async () => {
    const [left] = pair();
    done(left, ...START);
    await killed(left, 'pre-receive', isAt('identity/'), 'wrap', '--message', 'the end');
    done(left, ...START);
    done(left, 'note', 'on we go');
  });
});

describe('a half that is missing on the remote', () => {
  it('is taken by the next verb: what was opened with --local is seen from then on', () => {
    const [left, right] = pair();
    done(left, ...START, '--local');
    expect(lockRefs(left, 'identity/donna')).toEqual([]);
    done(left, 'note', 'here again');
    expect(lockRefs(left, 'identity/donna')).toEqual(['00000001']);
    expect(handoff(right, ...START)).toMatchObject({ code: 3 });
  });

  it('because somebody deleted the refs: nobody is evicted by that', () => {
    const [left, right] = pair();
    done(left, ...START);
    done(left, 'claim', 'P0.1');
    for (const ref of git(left.bare, 'for-each-ref', '--format=%(refname)', 'refs/handoff').split('\n'))
      git(left.dir, 'push', '--quiet', 'origin', '--delete', ref);
    done(left, 'task', 'update', 'P0.1', '--progress', '10');
    expect(handoff(right, ...START)).toMatchObject({ code: 3 });
    done(right, 'start', '--as', 'erin');
    expect(handoff(right, 'claim', 'P0.1')).toMatchObject({ code: 3, json: { error: { code: 'task_claimed' } } });
  });

  it('because handoff.remote names another remote now', () => {
    const [left, right] = pair();
    done(left, ...START);
    const other = `${left.bare}.other`;
    git('/', 'clone', '--quiet', '--bare', left.bare, other);
    for (const ref of git(other, 'for-each-ref', '--format=%(refname)', 'refs/handoff').split('\n').filter(Boolean))
      git(other, 'update-ref', '-d', ref);
    for (const { dir } of [left, right]) {
      git(dir, 'remote', 'add', 'other', other);
      git(dir, 'config', 'handoff.remote', 'other');
    }
    done(left, 'note', 'moved');
    expect(handoff(right, ...START)).toMatchObject({ code: 3 });
  });

  it('offline: a clear error, and --local goes on', () => {
    const [left] = pair();
    done(left, ...START);
    git(left.dir, 'remote', 'set-url', 'origin', '/nonexistent');
    expect(handoff(left, 'note', 'x')).toMatchObject({
      code: 4,
      json: { error: { hint: expect.stringContaining('--local') } },
    });
    done(left, 'note', 'x', '--local');
    done(left, 'wrap', '--message', 'the end', '--local');
  });

  it('a remote that one may only read: a clear error, and --local goes on', () => {
    const [left] = pair();
    once(left, 'pre-receive', 'true', 'touch armed; exit 1');
    expect(handoff(left, ...START)).toMatchObject({
      code: 4,
      json: { error: { hint: expect.stringContaining('--local') } },
    });
    done(left, ...START, '--local');
  });
});
