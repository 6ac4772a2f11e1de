import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readHold } from '../../src/journal/locks/local-locks.ts';
import { stateDirs } from '../../src/journal/sessions/registry.ts';
import type { Place } from '../handoff.ts';
import { git } from '../temporary.ts';
import { template } from '../threats/forge.ts';
import { changes, open, recordsOf, worktree } from './agents.ts';
import { error } from './tasks.ts';

// A claim without an open session opens one, or leaves nothing behind.

const fresh = template(async ({ handoff }) => {
  await handoff.task.add({ id: 'T1', title: 'First' });
  await handoff.task.add({ id: 'T2', title: 'Second', depends: ['T1'] });
});

const dirsOf = ({ dir }: Place) => stateDirs(join(dir, '.git/handoff'));

function sessionsOf(place: Place): string[] {
  const { sessions } = dirsOf(place);
  return existsSync(sessions) ? readdirSync(sessions) : [];
}

/** Who holds the task, as an open lock says. */
function holderOf(place: Place, task = 'T1'): string | null {
  const hold = readHold(dirsOf(place).locks, `task/${task}`);
  return hold && !hold.released ? hold.holder.identity : null;
}

test('a claim opens a session that is about the task, and says so', async () => {
  const place = fresh();
  const claimed = await place.handoff.claim({ id: 'T1', as: 'donna' });
  const [session_id = ''] = sessionsOf(place);
  expect(claimed).toEqual({
    ...{ task_id: 'T1', token: 1, branch: 'main', worktree: place.dir },
    ...{ session_id, identity: 'donna', started: true },
  });
  expect(recordsOf(place, session_id).map(({ fields }) => [fields.kind, fields.task ?? fields.task_id])).toEqual([
    ['start', 'T1'],
    ['task', 'T1'],
  ]);
  const again = await open(place).handoff.claim({ id: 'T1', as: 'donna' });
  expect([again.started, again.session_id, again.token]).toEqual([undefined, session_id, 1]);
});

test('with --worktree the session is that of the new work tree, and nothing stays behind', async () => {
  const place = fresh();
  const { worktree: dir = '', session_id } = await place.handoff.claim({ id: 'T1', as: 'donna', worktree: true });
  expect(changes(place)).toEqual([]);
  const there = open(place, { dir: dir! });
  expect(recordsOf(there, session_id!).map(({ fields }) => fields.kind)).toEqual(['start', 'task']);
  expect((await there.handoff.note({ text: 'here', as: 'donna' })).path).toContain('0003-note');
  expect((await there.handoff.verify({ staged: true })).findings).toEqual([]);
});

test('after a wrap a claim opens the next session', async () => {
  const place = fresh();
  await place.handoff.start({ as: 'donna' });
  await place.handoff.wrap({ message: 'over', as: 'donna' });
  expect(await open(place).handoff.claim({ id: 'T1', as: 'donna' })).toMatchObject({
    started: true,
    identity: 'donna',
  });
});

test('whoever was taken over is told to stop, and gets no other session by itself', async () => {
  const place = fresh();
  const { session_id } = await place.handoff.start({ as: 'donna' });
  await place.handoff.pickup({ fromSession: session_id, as: 'erin', force: true, reason: 'gone' });
  const before = sessionsOf(place);
  expect(await error(open(place).handoff.claim({ id: 'T1', as: 'donna' }))).toMatchObject({ code: 'session_released' });
  expect(sessionsOf(place)).toEqual(before);
});

describe('what is refused leaves no session, no lock and no file', () => {
  test.each<[string, string, (place: Place) => Promise<unknown> | unknown, object]>([
    ['a task that nobody defined', 'unknown_task', () => {}, { id: 'T9' }],
    ['a task that waits', 'not_unblocked', () => {}, { id: 'T2' }],
    ['force without a reason', 'usage', () => {}, { id: 'T1', force: true }],
    ['an identity that nobody knows', 'unknown_identity', () => {}, { id: 'T1', as: 'nobody' }],
    [
      'an identity without its key',
      'no_key',
      ({ keys, root }) => rmSync(join(keys, root.slice(0, 12), 'donna.pem')),
      { id: 'T1' },
    ],
    ['a session that is not there', 'unknown_session', () => {}, { id: 'T1', session: 'abcdef12' }],
    [
      'a branch that is there',
      'branch_exists',
      ({ dir }) => git(dir, 'branch', 'feature/t1-first'),
      { id: 'T1', worktree: true },
    ],
    [
      'a link in the place of the work tree',
      'foreign_directory',
      ({ dir }) => writeFileSync(join(dir, '.worktrees'), ''),
      { id: 'T1', worktree: true },
    ],
    [
      'somebody else at work on it',
      'task_claimed',
      (place) => open(place).handoff.claim({ id: 'T1', as: 'erin' }),
      { id: 'T1' },
    ],
    [
      'the same identity at work elsewhere',
      'identity_conflict',
      (place) => worktree(place, 'side').handoff.start({ as: 'donna' }),
      { id: 'T1' },
    ],
  ])('%s: %s', async (_, code, prepare, options) => {
    const place = fresh();
    await prepare(place);
    const before = [sessionsOf(place), holderOf(place), changes(place)];
    expect(await error(open(place).handoff.claim({ as: 'donna', id: 'T1', ...options }))).toMatchObject({ code });
    expect([sessionsOf(place), holderOf(place), changes(place)]).toEqual(before);
  });

  test('a race for the task: one has it, and of the others no session is left', async () => {
    for (let round = 0; round < 5; round++) {
      const place = fresh();
      const claims = ['donna', 'erin', 'maintainer'].map((as) => open(place).handoff.claim({ id: 'T1', as }));
      const ends = await Promise.allSettled(claims);
      const won = ends.flatMap((end) => (end.status === 'fulfilled' ? [end.value] : []));
      const lost = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason.code] : []));
      expect([won.map(({ identity }) => identity), lost]).toEqual([
        [holderOf(place)],
        ['task_claimed', 'task_claimed'],
      ]);
      expect(sessionsOf(place)).toEqual([won[0]!.session_id]);
    }
  });
});

test('what goes wrong once the session has a record says that it is open, and gives the task back', async () => {
  const place = fresh();
  writeFileSync(join(place.dir, '.git/hooks/post-checkout'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
  const failed = await error(place.handoff.claim({ id: 'T1', as: 'donna', worktree: true }));
  const [session_id] = sessionsOf(place);
  expect(failed).toMatchObject({ message: expect.stringContaining(session_id!), data: { session_id, started: true } });
  expect(holderOf(place)).toBeNull();
  rmSync(join(place.dir, '.git/hooks/post-checkout'));
  expect(await open(place).handoff.claim({ id: 'T1', as: 'donna', worktree: true })).toMatchObject({ task_id: 'T1' });
});
