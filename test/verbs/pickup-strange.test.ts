import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { commitAll, newKey, type Place, writeSession } from '../handoff.ts';
import { git, gitInput } from '../temporary.ts';
import { reopen, template } from '../threats/forge.ts';
import { open } from './agents.ts';
import { cloneOf, fetchAll, serverOf } from './clones.ts';
import { done, handoff, type Machine, machines } from './machines.ts';
import { error } from './tasks.ts';

// What a pickup finds that nobody meant: it is clear, and nothing is lost.

const fresh = template(async ({ handoff }) => {
  await handoff.identity.add({ name: 'lola' });
  await handoff.task.add({ id: 'T1', title: 'First' });
});

function twoMachines(): { place: Place; lola: Place } {
  const place = fresh();
  return { place, lola: cloneOf(place, serverOf(place), 'lola') };
}

/** donna's task and baton are on the branch `work` of the server. */
async function leftOnServer(place: Place): Promise<void> {
  git(place.dir, 'switch', '--quiet', '-c', 'work');
  await open(place).handoff.claim({ id: 'T1', as: 'donna' });
  await open(place).handoff.wrap({ message: 'Go on.', as: 'donna' });
  git(place.dir, 'push', '--quiet', 'origin', 'work');
}

const NOWHERE = 'ab'.repeat(20);

describe('a fetch that was cut off', () => {
  test('left a branch without its commits: the other batons are found, and that one once it is whole', async () => {
    const { place, lola } = twoMachines();
    await leftOnServer(place);
    fetchAll(lola);
    const whole = git(lola.dir, 'rev-parse', 'refs/remotes/origin/work');
    writeFileSync(join(lola.dir, '.git/refs/remotes/origin/half'), `${NOWHERE}\n`);
    writeFileSync(join(lola.dir, '.git/refs/remotes/origin/work.lock'), '');
    writeFileSync(join(lola.dir, '.git/objects/pack/tmp_pack_x1y2z3'), 'PACK');
    const picked = await reopen(lola).handoff.pickup({ as: 'lola', worktree: true });
    expect(picked).toMatchObject({ work: { branch: 'work' }, tasks: [{ task_id: 'T1', token: 2 }] });
    expect(git(picked.work!.worktree!, 'rev-parse', 'HEAD~1')).toBe(whole);
  });

  test('the very branch of the baton is not whole: nothing is taken, and the same command works after a fetch', async () => {
    const { place, lola } = twoMachines();
    await leftOnServer(place);
    const path = join(lola.dir, '.git/refs/remotes/origin/work');
    writeFileSync(path, `${NOWHERE}\n`);
    const none = await reopen(lola).handoff.batons();
    expect(none.batons).toEqual([]);
    git(lola.dir, 'update-ref', '-d', 'refs/remotes/origin/work');
    fetchAll(lola);
    expect((await reopen(lola).handoff.pickup({ as: 'lola', worktree: true })).tasks).toHaveLength(1);
  });
});

test('of 2,000 refs of three remotes the branch is that of its own remote', async () => {
  const { place, lola } = twoMachines();
  await leftOnServer(place);
  fetchAll(lola);
  const head = git(lola.dir, 'rev-parse', 'origin/main');
  for (const remote of ['aaa', 'zzz']) {
    git(lola.dir, 'remote', 'add', remote, join(place.dir, '..', 'origin.git'));
    const refs = Array.from({ length: 1000 }, (_, at) => `create refs/remotes/${remote}/b${at}/work ${head}\n`);
    gitInput(lola.dir, refs.join(''), 'update-ref', '--stdin');
  }
  const { work } = await reopen(lola).handoff.pickup({ as: 'lola', worktree: true });
  expect(work).toMatchObject({ branch: 'work', remote: 'origin/work' });
  expect(git(work!.worktree!, 'rev-parse', '--abbrev-ref', '@{upstream}')).toBe('origin/work');
});

test('a baton that two branches have leads to the one that it was wrapped on', async () => {
  const { place, lola } = twoMachines();
  await leftOnServer(place);
  git(place.dir, 'push', '--quiet', 'origin', 'work:a-copy', 'work:main');
  git(lola.dir, 'pull', '--quiet');
  fetchAll(lola);
  const { work, waiting } = await reopen(lola).handoff.pickup({ as: 'lola', worktree: true });
  expect([work!.branch, waiting]).toEqual(['work', []]);
});

test('for somebody who does not exist: it is refused when it is written, and taken by force if it is there', async () => {
  const { place, lola } = twoMachines();
  await open(place).handoff.start({ as: 'donna' });
  expect(await error(open(place).handoff.wrap({ message: 'x', as: 'donna', nextAgent: 'zoe' }))).toMatchObject({
    code: 'unknown_identity',
  });
  writeSession(lola, [{ kind: 'start' }, { kind: 'baton', summary: 'x', next_agent: 'zoe', body: 'x\n' }]);
  commitAll(lola);
  const not = await reopen(lola).handoff.pickup({ as: 'lola' });
  expect([not.baton, not.warnings.map(({ message }) => message).join()]).toEqual([
    null,
    expect.stringContaining('waits for zoe'),
  ]);
  await reopen(lola).handoff.wrap({ message: 'nothing', as: 'lola' });
  const { baton } = await reopen(lola).handoff.pickup({ as: 'lola', force: true, fromSession: waitingFor(lola) });
  expect(baton?.next_agent).toBe('zoe');

  function waitingFor({ dir }: Place): string {
    return git(dir, 'ls-files', '.handoff/sessions/donna').match(/-([0-9a-f]{8})\//)![1]!;
  }
});

test('forged records about a task on another branch take it from nobody, and the branch is named', async () => {
  const { place, lola } = twoMachines();
  await leftOnServer(place);
  git(place.dir, 'switch', '--quiet', '-c', 'evil', 'main');
  const lock = { task: 'T1', token: 40 };
  const drafts = [{ kind: 'start' as const }, { kind: 'task' as const, task_id: 'T1', status: 'done', lock }];
  writeSession(place, drafts, { identity: 'erin', key: newKey(), clock: 1000 });
  commitAll(place);
  git(place.dir, 'push', '--quiet', 'origin', 'evil');
  fetchAll(lola);
  const machine = reopen(lola);
  expect((await machine.handoff.pickup({ as: 'lola' })).tasks).toMatchObject([{ task_id: 'T1', token: 2 }]);
  const left = machine.warnings.filter((warning) => !warning.startsWith('Pinned root'));
  expect(left).toEqual([expect.stringContaining('origin/evil')]);
});

describe('a remote that lies about locks', () => {
  const left = (): [Machine, Machine] => machines(fresh(), 'left', 'right') as [Machine, Machine];

  function wrapped([one, two]: [Machine, Machine]): void {
    done(one, 'claim', 'T1', '--as', 'donna');
    done(one, 'wrap', '--as', 'donna', '--message', 'Go on.');
    git(one.dir, 'push', '--quiet', 'origin', 'main');
    git(two.dir, 'pull', '--quiet');
  }

  test('what is no lock of anybody keeps neither the baton nor the task from whoever picks up', () => {
    const both = left();
    wrapped(both);
    const [one, two] = both;
    const held = git(one.bare, 'rev-parse', 'refs/handoff/locks/task/T1/00000001');
    git(one.bare, 'update-ref', 'refs/handoff/locks/task/T1/00000002', held); // a copy of donna's
    git(one.bare, 'update-ref', 'refs/handoff/locks/task/T1/00000003', 'refs/heads/main');
    const { tasks } = done(two, 'pickup', '--as', 'lola');
    expect(tasks).toMatchObject([{ task_id: 'T1', token: 2 }]);
  });

  test('a server that has lost what a lock leads to takes none at all: that is said, and the baton still waits', () => {
    const both = left();
    wrapped(both);
    const [one, two] = both;
    const lost = join(one.bare, 'refs/handoff/locks/task/T1/00000009');
    writeFileSync(lost, `${NOWHERE}\n`);
    expect(handoff(two, 'pickup', '--as', 'lola')).toMatchObject({ code: 4, json: { error: { code: 'io' } } });
    expect(done(two, 'batons').batons).toHaveLength(1);
    rmSync(lost);
    expect(done(two, 'pickup', '--as', 'lola').tasks).toMatchObject([{ task_id: 'T1', token: 2 }]);
  });

  test('a server that refuses the lock of the task alone: the work is picked up without it, and that is said', () => {
    const both = left();
    wrapped(both);
    const [one, two] = both;
    const hook = join(one.bare, 'hooks/update');
    mkdirSync(dirname(hook), { recursive: true });
    writeFileSync(hook, '#!/bin/sh\ncase "$1" in refs/handoff/locks/task/*) echo not today >&2; exit 1 ;; esac\n');
    chmodSync(hook, 0o755);
    const { baton, tasks, warnings } = done(two, 'pickup', '--as', 'lola');
    expect([baton.body, tasks]).toEqual(['Go on.', []]);
    expect(warnings).toMatchObject([
      { kind: 'task_not_taken', message: expect.stringMatching(/^T1 did not come along: .*hook declined/) },
    ]);
    rmSync(hook);
    expect(done(two, 'claim', 'T1', '--as', 'lola').token).toBe(2);
  });
});
