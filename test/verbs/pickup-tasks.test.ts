import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readHold } from '../../src/journal/locks/local-locks.ts';
import { stateDirs } from '../../src/journal/sessions/registry.ts';
import { commitAll, type Place } from '../handoff.ts';
import { git } from '../temporary.ts';
import { findings, template } from '../threats/forge.ts';
import { later, open, recordsOf, worktree } from './agents.ts';
import { done, handoff, lockRefs, machines } from './machines.ts';
import { error, work } from './tasks.ts';

// Whoever picks up the work has its tasks: their locks, and a record that says so.

const fresh = template(async ({ handoff }) => {
  await handoff.task.add({ id: 'T1', title: 'First' });
  await handoff.task.add({ id: 'T2', title: 'Second' });
  await handoff.identity.add({ name: 'lola' });
});

const lockOf = ({ dir }: Place, task = 'T1') => readHold(stateDirs(join(dir, '.git/handoff')).locks, `task/${task}`);

/** donna claims T1, and stops with a baton. */
async function left(place: Place, ...ids: string[]): Promise<string> {
  for (const id of ids) await open(place).handoff.claim({ id, as: 'donna' });
  const { session_id } = await open(place).handoff.wrap({ message: 'half of it', as: 'donna' });
  return session_id;
}

function says({ warnings }: { warnings: { kind: string; message: string }[] }): string[] {
  return warnings.filter(({ kind }) => kind === 'task_not_taken').map(({ message }) => message);
}

test('the heir holds the task under the next number, says so in one record, and finishes it before a gate', async () => {
  const place = fresh();
  const base = git(place.dir, 'rev-parse', 'HEAD');
  await open(place).handoff.claim({ id: 'T1', as: 'donna' });
  work(place, { 'a.txt': 'a' });
  await open(place).handoff.thought({ id: 'T1', summary: 'half of it', as: 'donna' });
  await open(place).handoff.task.update({ id: 'T1', progress: 40, as: 'donna' });
  await open(place).handoff.wrap({ message: 'half of it', as: 'donna' });
  const lola = open(place, { env: { HANDOFF_IDENTITY: 'lola' } });
  const picked = await lola.handoff.pickup();
  expect(picked.tasks).toEqual([{ task_id: 'T1', title: 'First', status: 'in_progress', token: 2 }]);
  expect(says(picked)).toEqual([]);
  const [opening, task] = recordsOf(place, picked.session_id).map(({ fields }) => fields);
  expect([opening!.kind, opening!.lock]).toEqual(['pickup', { task: 'T1', token: 2 }]);
  expect(task).toMatchObject({
    ...{ kind: 'task', task_id: 'T1', status: 'in_progress', progress: 40 },
    lock: { task: 'T1', token: 2 },
  });
  expect((await lola.handoff.status()).claimed).toEqual(['T1']);
  work(place, { 'b.txt': 'b' });
  await lola.handoff.done({ id: 'T1', summary: 'the other half' });
  await lola.handoff.wrap({ message: 'all of it' });
  expect(await findings(place)).toEqual([]);
  const { pass, findings: found } = await open(place).handoff.gate({ base, head: 'HEAD' });
  expect([pass, found.filter(({ severity }) => severity === 'error')]).toEqual([true, []]);
});

test('whoever had it before can neither claim it nor write about it any more', async () => {
  const place = fresh();
  await open(place).handoff.claim({ id: 'T1', as: 'donna' });
  const taken = await open(place).handoff.pickup({ as: 'lola', force: true, reason: 'it hangs' });
  expect(taken.tasks).toMatchObject([{ task_id: 'T1', token: 2 }]);
  const donna = worktree(place, 'side', { env: { HANDOFF_IDENTITY: 'donna' } });
  expect(await error(open(place).handoff.task.update({ id: 'T1', progress: 90, as: 'donna' }))).toMatchObject({
    code: 'session_released',
  });
  expect(await error(donna.handoff.claim({ id: 'T1' }))).toMatchObject({
    code: 'task_claimed',
    data: { holder: { identity: 'lola' } },
  });
});

test('blocked stays blocked, and what was finished or given back does not come along', async () => {
  const place = fresh();
  for (const id of ['T3', 'T4']) await place.handoff.task.add({ id, title: id });
  const donna = open(place, { env: { HANDOFF_IDENTITY: 'donna' } });
  for (const id of ['T1', 'T2', 'T3', 'T4']) await donna.handoff.claim({ id });
  await donna.handoff.task.update({ id: 'T1', status: 'blocked' });
  await donna.handoff.done({ id: 'T2', summary: 'nothing to write', code: false });
  await donna.handoff.unclaim({ id: 'T3' });
  await donna.handoff.task.update({ id: 'T4', status: 'cancelled' });
  await donna.handoff.wrap({ message: 'half of it' });
  const picked = await open(place).handoff.pickup({ as: 'lola' });
  expect(picked.tasks).toEqual([{ task_id: 'T1', title: 'First', status: 'blocked', token: 2 }]);
  expect(says(picked)).toEqual([]);
});

describe('what cannot be had stays where it is, and that is said', () => {
  test.each<[string, (place: Place) => Promise<unknown> | unknown, RegExp]>([
    [
      'somebody is at work on it',
      (place) => worktree(place, 'side').handoff.claim({ id: 'T1', as: 'erin' }),
      /^T1 did not come along: erin has changed it since, and it is in_progress\.$/,
    ],
    [
      'somebody did it',
      async (place) => {
        const erin = worktree(place, 'side', { env: { HANDOFF_IDENTITY: 'erin' } });
        await erin.handoff.claim({ id: 'T1' });
        await erin.handoff.done({ id: 'T1', summary: 'no code', code: false });
        await erin.handoff.wrap({ message: 'done' });
      },
      /^T1 did not come along: erin has changed it since, and it is done\.$/,
    ],
    [
      'it is gone',
      (place) => {
        git(place.dir, 'rm', '--quiet', '.handoff/tasks/T1.yaml');
        git(place.dir, 'commit', '--quiet', '--message', 'no such task', '--', '.handoff/tasks');
      },
      /^T1 did not come along: nobody defines it any more\.$/,
    ],
  ])('%s', async (_, happens, said) => {
    const place = fresh();
    const fromSession = await left(place, 'T1', 'T2');
    await happens(place);
    const picked = await open(place).handoff.pickup({ as: 'lola', fromSession });
    expect(picked.tasks.map(({ task_id }) => task_id)).toEqual(['T2']);
    expect(says(picked)).toEqual([expect.stringMatching(said)]);
    commitAll(place);
    expect(await findings(place)).toEqual([]);
  });
});

test('a lock that cannot be read is said, and the work is picked up all the same', async () => {
  const place = fresh();
  await left(place, 'T1', 'T2');
  const { locks } = stateDirs(join(place.dir, '.git/handoff'));
  rmSync(join(locks, 'task/T1'), { recursive: true });
  writeFileSync(join(locks, 'task/T1'), 'not a folder');
  const picked = await open(place).handoff.pickup({ as: 'lola' });
  expect(picked.tasks.map(({ task_id }) => task_id)).toEqual(['T2']);
  expect(says(picked)).toEqual([expect.stringMatching(/^T1 did not come along: /)]);
});

test('tasks go along a whole chain of sessions that left no baton', async () => {
  const place = fresh();
  await left(place, 'T1');
  await open(place).handoff.pickup({ as: 'erin' });
  const picked = await open(place, { host: later(10_000) }).handoff.pickup({ as: 'lola' });
  expect(picked.tasks).toMatchObject([{ task_id: 'T1', token: 3 }]);
  expect(lockOf(place)).toMatchObject({ number: 3, holder: { identity: 'lola' } });
});

test('a claim that was cut off before its record comes along too', async () => {
  const place = fresh();
  const { session_id = '' } = await open(place).handoff.claim({ id: 'T1', as: 'donna' });
  const last = recordsOf(place, session_id).at(-1)!;
  rmSync(join(place.dir, last.path));
  rmSync(join(place.dir, '.git/handoff/sessions', session_id, 'records/000002'));
  const picked = await open(place, { host: later(10_000) }).handoff.pickup({ as: 'lola' });
  expect(picked.tasks).toEqual([{ task_id: 'T1', title: 'First', status: 'in_progress', token: 2 }]);
});

test('of very many twenty come along, and the others are named', async () => {
  const place = fresh();
  const ids = Array.from({ length: 22 }, (_, at) => `N${at + 10}`);
  for (const id of ids) await place.handoff.task.add({ id, title: id });
  await left(place, ...ids);
  const picked = await open(place).handoff.pickup({ as: 'lola' });
  expect(picked.tasks).toHaveLength(20);
  expect(says(picked)).toEqual(['N30, N31 did not come along: they are too many; claim them one by one.']);
});

describe('two machines with a server', () => {
  test('the lock on the server is the heir’s, and whoever had it is refused there', async () => {
    const place = fresh();
    const [left, right] = machines(place, 'left', 'right') as [
      ReturnType<typeof machines>[0],
      ReturnType<typeof machines>[0],
    ];
    done(left, 'claim', 'T1', '--as', 'donna');
    done(left, 'wrap', '--as', 'donna', '--message', 'half of it');
    git(left.dir, 'push', '--quiet', 'origin', 'main');
    git(right.dir, 'pull', '--quiet');
    const picked = done(right, 'pickup', '--as', 'lola');
    expect(picked.tasks).toEqual([{ task_id: 'T1', title: 'First', status: 'in_progress', token: 2 }]);
    expect(lockRefs(left, 'task/T1')).toEqual(['00000001', '00000001.released', '00000002']);
    expect(handoff(left, 'claim', 'T1', '--as', 'erin')).toMatchObject({
      code: 3,
      json: { error: { code: 'task_claimed', data: { holder: { identity: 'lola' } } } },
    });
  });

  test('what somebody has claimed there meanwhile is not taken', async () => {
    const place = fresh();
    const [left, right] = machines(place, 'left', 'right') as [
      ReturnType<typeof machines>[0],
      ReturnType<typeof machines>[0],
    ];
    done(left, 'claim', 'T1', '--as', 'donna');
    done(left, 'wrap', '--as', 'donna', '--message', 'half of it');
    git(left.dir, 'push', '--quiet', 'origin', 'main');
    git(right.dir, 'pull', '--quiet');
    done(left, 'claim', 'T1', '--as', 'erin');
    const picked = done(right, 'pickup', '--as', 'lola');
    expect(picked.tasks).toEqual([]);
    expect(says(picked)).toEqual(['T1 did not come along: erin is at work on it.']);
  });
});
