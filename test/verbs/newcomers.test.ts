import { spawnSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { commitAll, type Place } from '../handoff.ts';
import { git, isolatedEnv } from '../temporary.ts';
import { reopen, template } from '../threats/forge.ts';
import { open, recordsOf } from './agents.ts';
import { cloneOf, serverOf } from './clones.ts';
import { defineTask, error, work } from './tasks.ts';

// What people ran into who used it for the first time.

const fresh = template((place) => {
  for (const id of ['T1', 'T2']) defineTask(place, id);
  commitAll(place, 'tasks');
});

/** As a hint prints it. */
function type({ dir, env }: Place, command: string): number | null {
  return spawnSync('sh', ['-c', command], { cwd: dir, env: { ...isolatedEnv, ...env } }).status;
}

describe('an identity that is known on origin/main only', () => {
  test.each(['main', 'feature'])('on %s the hint is the command that brings it here', async (branch) => {
    const place = fresh();
    const there = cloneOf(place, serverOf(place), 'there');
    if (branch !== 'main') git(there.dir, 'switch', '--quiet', '--create', branch);
    await place.handoff.identity.add({ name: 'lola' });
    git(place.dir, 'push', '--quiet', 'origin', 'main');
    git(there.dir, 'fetch', '--quiet');
    const refused = await error(reopen(there, there.dir, there.env).handoff.pickup({ as: 'lola' }));
    expect(refused).toMatchObject({ code: 'unknown_identity', message: expect.stringContaining('on origin/main') });
    expect(type(there, refused.hint.split(',')[0])).toBe(0);
    expect(await reopen(there, there.dir, there.env).handoff.pickup({ as: 'lola' })).toMatchObject({
      identity: 'lola',
    });
  });

  test('one that nobody knows is signed in', async () => {
    expect(await error(fresh().handoff.start({ as: 'nobody' }))).toMatchObject({
      code: 'unknown_identity',
      hint: expect.stringContaining('git handoff identity add NAME'),
    });
  });
});

describe('a commit from before the task was claimed', () => {
  test('counts for it, as the code has to be accounted for; and that is said', async () => {
    const place = fresh();
    await place.handoff.start({ as: 'donna' });
    const env = { GIT_COMMITTER_DATE: '2026-01-01T00:00:00Z' };
    writeFileSync(join(place.dir, 'a.ts'), 'a\n');
    git(place.dir, 'add', 'a.ts');
    spawnSync('git', ['-C', place.dir, 'commit', '--quiet', '-m', 'early', '--', 'a.ts'], {
      env: { ...isolatedEnv, ...env },
    });
    await place.handoff.claim({ id: 'T1' });
    expect(await place.handoff.done({ id: 'T1', summary: 's' })).toMatchObject({ status: 'done' });
    expect(place.warnings.at(-1)).toMatch(/^Everything that it is about was committed before T1 was claimed/);
  });

  test('a commit since says nothing', async () => {
    const place = fresh();
    await place.handoff.claim({ id: 'T1', as: 'donna' });
    const now = new Date(Date.now() + 2000).toISOString();
    writeFileSync(join(place.dir, 'a.ts'), 'a\n');
    git(place.dir, 'add', 'a.ts');
    spawnSync('git', ['-C', place.dir, 'commit', '--quiet', '-m', 'now', '--', 'a.ts'], {
      env: { ...isolatedEnv, GIT_COMMITTER_DATE: now },
    });
    await place.handoff.done({ id: 'T1', summary: 's' });
    expect(place.warnings).toEqual([]);
  });
});

test('a file that is not committed is named where the policy asks for runs on what is', async () => {
  const place = fresh();
  await place.handoff.policy.set({ key: 'writeback.evidence', value: 'passed' });
  await place.handoff.start({ as: 'donna' });
  work(place, { 'a.ts': 'a\n' });
  writeFileSync(join(place.dir, 'scratch.txt'), 'x\n');
  const run = { command: [process.execPath, '-e', ''] };
  const refused = await error(place.handoff.done({ id: 'T1', summary: 's', run }));
  expect(refused).toMatchObject({ code: 'evidence_missing', message: expect.stringContaining('scratch.txt') });
  expect(refused.data).toMatchObject({ uncommitted: ['scratch.txt'] });
});

test('a task that is done is no task of the baton', async () => {
  const place = fresh();
  await place.handoff.start({ as: 'donna', task: 'T1' });
  work(place, { 'a.ts': 'a\n' });
  await place.handoff.done({ id: 'T1', summary: 's' });
  await place.handoff.wrap({ message: 'x', focus: ['T2'] });
  expect((await place.handoff.batons()).batons[0]!.task_ids).toEqual(['T2']);
});

describe('wrap', () => {
  test('in a rebase that has stopped says where the baton is', async () => {
    const place = fresh();
    await place.handoff.start({ as: 'donna' });
    git(place.dir, 'switch', '--quiet', '--create', 'other');
    work(place, { 'a.ts': 'one\n' });
    git(place.dir, 'switch', '--quiet', 'main');
    work(place, { 'a.ts': 'two\n' });
    expect(spawnSync('git', ['-C', place.dir, 'rebase', 'other'], { env: isolatedEnv }).status).toBe(1);
    const { warnings } = await open(place).handoff.wrap({ message: 'x' });
    expect(warnings.slice(0, 1)).toMatchObject([
      { kind: 'in_rebase', message: expect.stringContaining('git rebase --continue') },
    ]);
  });

  test('names the command that pushes what it saved', async () => {
    const place = fresh();
    serverOf(place);
    const { session_id } = await place.handoff.start({ as: 'donna' });
    writeFileSync(join(place.dir, 'half.ts'), 'half\n');
    const { warnings } = await open(place).handoff.wrap({ message: 'x' });
    const command = `git push origin refs/handoff/saved/${session_id.slice(0, 8)}`;
    expect(warnings).toMatchObject([{ kind: 'saved_here', message: expect.stringContaining(command) }]);
    expect(type(place, command)).toBe(0);
  });

  test('without a remote there is nowhere to push it', async () => {
    const place = fresh();
    await place.handoff.start({ as: 'donna' });
    writeFileSync(join(place.dir, 'half.ts'), 'half\n');
    expect((await place.handoff.wrap({ message: 'x' })).warnings).toEqual([]);
  });

  test('counts the commits of the session that have no thought', async () => {
    const place = fresh();
    await place.handoff.start({ as: 'donna' });
    work(place, { 'a.ts': 'a\n' });
    await place.handoff.thought({ id: 'T1', summary: 's' });
    const first = work(place, { 'b.ts': 'b\n' });
    work(place, { 'c.ts': 'c\n' });
    const { warnings } = await place.handoff.wrap({ message: 'x' });
    expect(warnings).toMatchObject([
      { kind: 'no_thought', message: expect.stringMatching(/^2 commits have no thought/) },
    ]);
    expect(warnings[0]!.message).toContain(first.slice(0, 12));
  });

  test('says nothing of commits that have one, of records, and of what others have committed', async () => {
    const place = fresh();
    await place.handoff.start({ as: 'donna' });
    work(place, { 'a.ts': 'a\n' });
    await place.handoff.thought({ id: 'T1', summary: 's' });
    await place.handoff.note({ text: 'x', commit: true });
    expect((await open(place).handoff.wrap({ message: 'x' })).warnings).toEqual([]);
    await place.handoff.start({ as: 'donna' });
    serverOf(place);
    work(place, { 'b.ts': 'b\n' });
    git(place.dir, 'push', '--quiet', 'origin', 'main'); // on the protected branch: it was let in
    expect((await open(place).handoff.wrap({ message: 'x' })).warnings).toEqual([]);
  });
});

test('after a pickup nobody is reminded of what somebody else has recorded', async () => {
  const place = fresh();
  await place.handoff.start({ as: 'donna' });
  await place.handoff.note({ text: 'one' });
  await place.handoff.wrap({ message: 'x' });
  const { rules_reminders } = await reopen(place).handoff.pickup({ as: 'erin' });
  expect(rules_reminders.join()).not.toContain('since the last thought');
});

test('after done nothing is left to write back', async () => {
  const place = fresh();
  await place.handoff.claim({ id: 'T1', as: 'donna' });
  work(place, { 'a.ts': 'a\n' });
  await place.handoff.done({ id: 'T1', summary: 's' });
  const { rules_reminders } = await reopen(place).handoff.start({ as: 'donna' });
  expect(rules_reminders.join()).not.toContain('since the last thought');
});

test('wip close of what is not open is refused, and nothing is signed', async () => {
  const place = fresh();
  const { session_id } = await place.handoff.start({ as: 'donna' });
  expect(await error(place.handoff.wip.close({ key: 'tabs' }))).toMatchObject({
    code: 'unknown_wip',
    exitCode: 2,
    hint: expect.stringContaining('git handoff wip list'),
  });
  await place.handoff.wip.open({ key: 'tabs', text: 'half' });
  await open(place).handoff.wip.close({ key: 'tabs' });
  expect(await error(open(place).handoff.wip.close({ key: 'tabs' }))).toMatchObject({ code: 'unknown_wip' });
  expect(recordsOf(place, session_id).map(({ fields }) => fields.kind)).toEqual(['start', 'wip', 'wip']);
});

test('restore says of a session by a revoked key what pickup says', async () => {
  const place = fresh();
  const { session_id } = await place.handoff.start({ as: 'donna' });
  await place.handoff.wrap({ message: 'x' });
  await reopen(place).handoff.identity.revoke({ name: 'donna' });
  rmSync(join(place.dir, '.git/handoff'), { recursive: true });
  const [picked, restored] = [
    await error(reopen(place).handoff.pickup({ as: 'erin', fromSession: session_id.slice(0, 8) })),
    await error(reopen(place).handoff.restore({ as: 'erin', target: session_id.slice(0, 8) })),
  ];
  expect([picked.code, restored.code]).toEqual(['key_revoked', 'key_revoked']);
});
