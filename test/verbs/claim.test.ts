import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { nodeHost } from '../../src/host.ts';
import { readClaims, writeClaim } from '../../src/journal/locks/claims.ts';
import { readHold } from '../../src/journal/locks/local-locks.ts';
import { readSession, replaceSession, stateDirs } from '../../src/journal/sessions/registry.ts';
import { slugOf } from '../../src/tasks/worktree.ts';
import { commitAll, type Place, writeSession } from '../handoff.ts';
import { git } from '../temporary.ts';
import { findings, template } from '../threats/forge.ts';
import { changes, later, open, recordsOf } from './agents.ts';

const fresh = template(async ({ handoff }) => {
  await handoff.task.add({ id: 'P0.1.1', title: 'Package setup' });
  await handoff.task.add({ id: 'P0.1.2', title: 'Linter', depends: ['P0.1.1'] });
  await handoff.task.add({ id: 'P0.1.3', title: 'Licence' });
});

const stateOf = ({ dir }: Place) => stateDirs(join(dir, '.git', 'handoff'));
const lockOf = (place: Place, task = 'P0.1.1') => readHold(stateOf(place).locks, `task/${task}`);
const BRANCH = 'feature/p0-1-1-package-setup';
const treeOf = ({ dir }: Place, identity = 'donna') => join(dir, '.worktrees', identity, 'p0-1-1-package-setup');

async function started(place: Place, as: string): Promise<{ place: Place; session_id: string }> {
  const opened = open(place, { env: { HANDOFF_IDENTITY: as } });
  const { session_id } = await opened.handoff.start();
  return { place: opened, session_id };
}

const donna = (session_id: string) => ({ identity: 'donna', session_id });

describe('claim', () => {
  it('takes the lock, says so, and from then on every record carries its number', async () => {
    const { place, session_id } = await started(fresh(), 'donna');
    await place.handoff.note({ text: 'before' });
    const claimed = await place.handoff.claim({ id: 'P0.1.1' });
    expect(claimed).toEqual({ task_id: 'P0.1.1', token: 1, branch: 'main', worktree: place.dir, ...donna(session_id) });
    await open(place).handoff.note({ text: 'after' });
    const records = recordsOf(place, session_id);
    expect(records.map(({ fields }) => fields.lock)).toEqual([
      undefined,
      undefined,
      { task: 'P0.1.1', token: 1 },
      { task: 'P0.1.1', token: 1 },
    ]);
    expect(records[2]!.fields).toMatchObject({ kind: 'task', task_id: 'P0.1.1', status: 'in_progress' });
    expect(Object.keys(records[3]!.fields).slice(8, 11)).toEqual(['at', 'lock', 'text']);
    commitAll(place);
    expect(await findings(place)).toEqual([]);
  });

  it('of several the one that a record is about is named, else the newest', async () => {
    const { place, session_id } = await started(fresh(), 'donna');
    let second = 0;
    const now = () => new Date(Date.UTC(2026, 0, 1, 0, 0, second++));
    const { handoff } = open(place, { now });
    await handoff.claim({ id: 'P0.1.3' });
    await handoff.claim({ id: 'P0.1.1' });
    await handoff.note({ text: 'which?' });
    await handoff.task.update({ id: 'P0.1.3', progress: 5 });
    const tasks = recordsOf(place, session_id).map(({ fields }) => (fields.lock as { task: string } | undefined)?.task);
    expect(tasks).toEqual([undefined, 'P0.1.3', 'P0.1.1', 'P0.1.1', 'P0.1.3']);
  });

  it('again, it is the same number and no second record', async () => {
    const { place, session_id } = await started(fresh(), 'donna');
    await place.handoff.claim({ id: 'P0.1.1' });
    expect(await open(place).handoff.claim({ id: 'P0.1.1' })).toMatchObject({ token: 1 });
    expect(recordsOf(place, session_id)).toHaveLength(2);
    expect(lockOf(place)).toMatchObject({ number: 1, released: false });
  });

  it('needs a task, and what the task depends on', async () => {
    const place = fresh();
    const { handoff } = (await started(place, 'donna')).place;
    await expect(handoff.claim({ id: 'P9' })).rejects.toMatchObject({ code: 'unknown_task' });
    await expect(handoff.claim({ id: 'P0.1.2' })).rejects.toMatchObject({
      code: 'not_unblocked',
      exitCode: 3,
      data: { blocked_by: ['P0.1.1'], next: ['P0.1.1', 'P0.1.3'] },
    });
    expect(lockOf(place, 'P0.1.2')).toBeNull();
  });

  it('a second claimer is told who has it and what else is free', async () => {
    const place = fresh();
    const first = await started(place, 'donna');
    await first.place.handoff.claim({ id: 'P0.1.1' });
    const second = await started(place, 'erin');
    await expect(second.place.handoff.claim({ id: 'P0.1.1' })).rejects.toMatchObject({
      code: 'task_claimed',
      exitCode: 3,
      message: expect.stringContaining('donna holds P0.1.1 since'),
      hint: expect.stringContaining('git handoff claim P0.1.3'),
      data: { holder: { identity: 'donna', session_id: first.session_id }, next: ['P0.1.3'] },
    });
    expect(recordsOf(place, second.session_id)).toHaveLength(1);
    expect((await open(place).handoff.task.list()).tasks[0]).toMatchObject({ claimed_by: 'donna' });
  });

  it('of two processes that want it at once, one gets it', async () => {
    const place = fresh();
    for (const as of ['donna', 'erin']) await started(place, as);
    const answers = await race(place, ['donna', 'erin'], 'P0.1.1');
    expect(answers.map(({ code }) => code).sort()).toEqual([0, 3]);
    expect(JSON.parse(answers.find(({ code }) => code === 0)!.out)).toMatchObject({ token: 1 });
    expect(JSON.parse(answers.find(({ code }) => code === 3)!.out).error).toMatchObject({ code: 'task_claimed' });
  });

  it('a number that records of another clone carry is not used again', async () => {
    const place = fresh();
    const lock = { task: 'P0.1.1', token: 4 };
    writeSession(place, [{ kind: 'start', lock }], { identity: 'erin' });
    commitAll(place);
    const { place: here } = await started(place, 'donna');
    expect(await here.handoff.claim({ id: 'P0.1.1' })).toMatchObject({ token: 5 });
    commitAll(place);
    expect(await findings(place)).toEqual([]);
  });

  it('SPEC M62: a number far beyond all locks freezes nothing', async () => {
    const place = fresh();
    const lock = (token: number) => ({ kind: 'start' as const, lock: { task: 'P0.1.1', token } });
    writeSession(place, [lock(1_000_000)], { identity: 'erin' });
    writeSession(place, [lock(2)], { identity: 'maintainer' });
    commitAll(place);
    const { place: here } = await started(place, 'donna');
    expect(await here.handoff.claim({ id: 'P0.1.1' })).toMatchObject({ token: 3 });
    commitAll(place);
    expect(await findings(place)).toEqual([]);
  });

  it('SPEC M62: numbers of others, each in reach of the one before, are all passed', async () => {
    const place = fresh();
    const lock = (token: number) => ({ kind: 'start' as const, lock: { task: 'P0.1.1', token } });
    writeSession(place, [lock(64)], { identity: 'erin' });
    writeSession(place, [lock(128)], { identity: 'maintainer' });
    commitAll(place);
    const { place: here } = await started(place, 'donna');
    expect(await here.handoff.claim({ id: 'P0.1.1' })).toMatchObject({ token: 129 });
  });

  it('SPEC M62: numbers without end, of one identity, keep nobody from the task', async () => {
    const place = fresh();
    const note = (token: number) => ({ kind: 'note' as const, text: 'x', lock: { task: 'P0.1.1', token } });
    const ladder = Array.from({ length: 40 }, (_, i) => note(64 * (i + 1)));
    writeSession(place, [{ kind: 'start' }, ...ladder], { identity: 'erin' });
    commitAll(place);
    const { place: here } = await started(place, 'donna');
    expect(await here.handoff.claim({ id: 'P0.1.1' })).toMatchObject({ token: 1 });
  });
});

describe('a claim ends', () => {
  it('by unclaim: the task is todo again, and records no longer carry it', async () => {
    const { place, session_id } = await started(fresh(), 'donna');
    await place.handoff.claim({ id: 'P0.1.1' });
    expect(await open(place).handoff.unclaim({ id: 'P0.1.1' })).toEqual({
      task_id: 'P0.1.1',
      token: 1,
      branch: null,
      worktree: null,
      ...donna(session_id),
    });
    await open(place).handoff.note({ text: 'free' });
    expect(recordsOf(place, session_id).map(({ fields }) => [fields.status, fields.lock !== undefined])).toEqual([
      [undefined, false],
      ['in_progress', true],
      ['todo', true],
      [undefined, false],
    ]);
    const other = await started(place, 'erin');
    expect(await other.place.handoff.claim({ id: 'P0.1.1' })).toMatchObject({ token: 2 });
    await expect(open(place).handoff.unclaim({ id: 'P0.1.1', as: 'donna' })).rejects.toMatchObject({
      code: 'task_claimed',
    });
    await expect(open(place).handoff.unclaim({ id: 'P0.1.3', as: 'donna' })).rejects.toMatchObject({ code: 'usage' });
  });

  it('by wrap', async () => {
    const { place, session_id } = await started(fresh(), 'donna');
    await place.handoff.claim({ id: 'P0.1.1' });
    await open(place).handoff.wrap({ message: 'enough' });
    expect(lockOf(place)).toMatchObject({ number: 1, released: true });
    expect(readClaims(stateOf(place), session_id)).toEqual([]);
    const other = await started(place, 'erin');
    expect(await other.place.handoff.claim({ id: 'P0.1.1' })).toMatchObject({ token: 2 });
    commitAll(place);
    expect(await findings(place)).toEqual([]);
  });

  it('when its session shows no sign of life; back again, it writes nothing about the task, and the words are kept', async () => {
    const { place, session_id } = await started(fresh(), 'donna');
    await place.handoff.claim({ id: 'P0.1.1' });
    const much = open(place, { host: later(3600), env: { HANDOFF_IDENTITY: 'erin' } });
    await much.handoff.start();
    expect(await much.handoff.claim({ id: 'P0.1.1' })).toMatchObject({ token: 2 });
    const back = open(place);
    const late = back.handoff.task.update({ id: 'P0.1.1', notes: 'nearly there', as: 'donna' });
    await expect(late).rejects.toMatchObject({ code: 'task_claimed', data: { holder: { identity: 'erin' } } });
    await back.handoff.note({ text: 'what now?', as: 'donna' });
    expect(back.warnings.join()).toContain('P0.1.1 is no longer yours: erin has it');
    expect(recordsOf(place, session_id).map(({ fields }) => fields.lock !== undefined)).toEqual([false, true, false]);
    expect(readClaims(stateOf(place), session_id)).toEqual([]);
  });

  it('in the moment between looking and writing too: the record is refused and its words are a draft', async () => {
    const { place, session_id } = await started(fresh(), 'donna');
    await place.handoff.claim({ id: 'P0.1.1' });
    // erin's session is stale by the time donna looks, and so is no rival; but the lock is erin's
    const other = open(place, { host: later(3600), env: { HANDOFF_IDENTITY: 'erin' } });
    await other.handoff.start();
    await other.handoff.claim({ id: 'P0.1.1' });
    const much = open(place, { host: later(7200) });
    const error = await much.handoff.task.update({ id: 'P0.1.1', notes: 'nearly there', as: 'donna' }).catch((e) => e);
    expect(error).toMatchObject({ code: 'task_claimed', data: { draft: expect.any(String) } });
    expect(readFileSync(error.data.draft, 'utf8')).toBe('nearly there');
    expect(recordsOf(place, session_id)).toHaveLength(2);
  });

  it('when its session is taken over by force', async () => {
    const place = fresh();
    const first = await started(place, 'donna');
    await first.place.handoff.claim({ id: 'P0.1.1' });
    const heir = open(place, { env: { HANDOFF_IDENTITY: 'erin' } });
    await heir.handoff.pickup({ force: true, reason: 'it hangs' });
    expect(await heir.handoff.claim({ id: 'P0.1.1' })).toMatchObject({ token: 2 });
    await expect(
      open(place).handoff.task.update({ id: 'P0.1.1', status: 'blocked', as: 'donna' }),
    ).rejects.toMatchObject({ exitCode: 3 });
  });
});

describe('across machines that share a remote', () => {
  function machines(): [Place, Place] {
    const place = fresh();
    const bare = join(place.dir, '..', 'origin.git');
    git('/', 'clone', '--quiet', '--bare', place.dir, bare);
    const at = (name: string): Place => {
      const dir = join(place.dir, '..', name);
      git('/', 'clone', '--quiet', bare, dir);
      git(dir, 'config', 'handoff.remote', 'origin');
      return open(place, { dir, host: { ...nodeHost, name, bootId: () => `boot of ${name}` } });
    };
    return [at('left'), at('right')];
  }

  it('one claims, the other is told; a wrap frees it there too, and the numbers go on', async () => {
    const [left, right] = machines();
    await left.handoff.start({ as: 'donna' });
    expect(await left.handoff.claim({ id: 'P0.1.1' })).toMatchObject({ token: 1 });
    await right.handoff.start({ as: 'erin' });
    await expect(right.handoff.claim({ id: 'P0.1.1' })).rejects.toMatchObject({
      code: 'task_claimed',
      data: { holder: { identity: 'donna' } },
    });
    await left.handoff.wrap({ message: 'yours' });
    expect(await right.handoff.claim({ id: 'P0.1.1' })).toMatchObject({ token: 2 });
  });

  it('whoever took over the session that holds it may claim it', async () => {
    const [left, right] = machines();
    const { session_id } = await left.handoff.start({ as: 'donna' });
    await left.handoff.claim({ id: 'P0.1.1' });
    git(left.dir, 'add', '.handoff');
    git(left.dir, 'commit', '--quiet', '-m', 'so far');
    git(left.dir, 'push', '--quiet', 'origin', 'HEAD:main');
    git(right.dir, 'pull', '--quiet', 'origin', 'main');
    await right.handoff.pickup({ as: 'erin', fromSession: session_id, force: true });
    expect(await right.handoff.claim({ id: 'P0.1.1' })).toMatchObject({ token: 2 });
  });
});

describe('claim --worktree', () => {
  it('makes a branch and a work tree, and the session goes on there', async () => {
    const { place, session_id } = await started(fresh(), 'donna');
    await place.handoff.note({ text: 'in the first work tree' });
    const claimed = await place.handoff.claim({ id: 'P0.1.1', worktree: true });
    expect(claimed).toEqual({
      ...{ task_id: 'P0.1.1', token: 1, branch: BRANCH, worktree: treeOf(place) },
      cd: `cd ${treeOf(place)}`,
      ...donna(session_id),
    });
    expect([place.warnings, changes(place)]).toEqual([[], []]);
    expect(recordsOf(place, session_id)).toEqual([]);
    const there = open(place, { dir: treeOf(place) });
    expect(changes(there).map((line) => line.slice(0, 2))).toEqual(['??', '??', '??']);
    await there.handoff.note({ text: 'in the new one', commit: true });
    await there.handoff.wrap({ message: 'ready' });
    expect(recordsOf(there, session_id).map(({ name }) => name)).toEqual([
      '0001-start.yaml',
      '0002-note.yaml',
      '0003-task.yaml',
      '0004-note.yaml',
      '0005-baton.md',
    ]);
    expect(git(there.dir, 'log', '-1', '--format=%D')).toContain(BRANCH);
    expect([await findings(there), changes(there), there.warnings]).toEqual([[], [], []]);
    await expect(open(place).handoff.note({ text: 'nobody is here' })).rejects.toMatchObject({ code: 'no_session' });
  });

  it('unclaim says where the work stays', async () => {
    const { place } = await started(fresh(), 'donna');
    await place.handoff.claim({ id: 'P0.1.1', worktree: true });
    const unclaimed = await open(place, { dir: treeOf(place) }).handoff.unclaim({ id: 'P0.1.1' });
    expect(unclaimed).toMatchObject({ branch: BRANCH, worktree: treeOf(place) });
  });

  it('what was committed before stays where it is', async () => {
    const { place, session_id } = await started(fresh(), 'donna');
    await place.handoff.note({ text: 'one', commit: true });
    await open(place).handoff.note({ text: 'two' });
    await open(place).handoff.claim({ id: 'P0.1.1', worktree: true });
    expect(recordsOf(place, session_id)).toHaveLength(2);
    expect(changes(place)).toEqual([]);
    expect(recordsOf(open(place, { dir: treeOf(place) }), session_id)).toHaveLength(4);
  });

  it('work trees that are made from work trees stand beside each other', async () => {
    const { place } = await started(fresh(), 'donna');
    await place.handoff.claim({ id: 'P0.1.1', worktree: true });
    const { handoff } = open(place, { dir: treeOf(place) });
    const second = await handoff.claim({ id: 'P0.1.3', worktree: true });
    expect(second.worktree).toBe(join(place.dir, '.worktrees', 'donna', 'p0-1-3-licence'));
    expect(readFileSync(join(place.dir, '.git/info/exclude'), 'utf8').match(/^\.worktrees\/$/gm)).toHaveLength(1);
  });

  it('a branch that exists is told before anything is changed', async () => {
    const { place, session_id } = await started(fresh(), 'donna');
    git(place.dir, 'branch', BRANCH);
    await expect(place.handoff.claim({ id: 'P0.1.1', worktree: true })).rejects.toMatchObject({
      code: 'branch_exists',
      exitCode: 3,
      data: { branch: BRANCH },
    });
    expect([lockOf(place), existsSync(join(place.dir, '.worktrees'))]).toEqual([null, false]);
    expect(recordsOf(place, session_id)).toHaveLength(1);
  });

  it.each([
    ['.worktrees', 'a symbolic link'],
    ['.worktrees/donna', 'a symbolic link'],
    ['.worktrees/donna/p0-1-1-package-setup', 'a symbolic link'],
    ['.worktrees', 'a file'],
  ])('where %s is %s, nothing is taken or written', async (name, what) => {
    const { place, session_id } = await started(fresh(), 'donna');
    const elsewhere = join(place.dir, '../elsewhere');
    mkdirSync(elsewhere);
    mkdirSync(dirname(join(place.dir, name)), { recursive: true });
    if (what === 'a file') writeFileSync(join(place.dir, name), '');
    else symlinkSync(elsewhere, join(place.dir, name));
    await expect(place.handoff.claim({ id: 'P0.1.1', worktree: true })).rejects.toMatchObject({
      code: 'foreign_directory',
      message: expect.stringContaining(`${name} is ${what}`),
    });
    expect([lockOf(place), readdirSync(elsewhere)]).toEqual([null, []]);
    expect(git(place.dir, 'branch', '--list', 'feature/*')).toBe('');
    expect(recordsOf(place, session_id)).toHaveLength(1);
  });

  it('when git cannot make it, everything is given back', async () => {
    const { place, session_id } = await started(fresh(), 'donna');
    mkdirSync(treeOf(place), { recursive: true });
    writeFileSync(join(treeOf(place), 'file'), 'in the way');
    await expect(place.handoff.claim({ id: 'P0.1.1', worktree: true })).rejects.toMatchObject({ code: 'io' });
    expect(lockOf(place)).toMatchObject({ released: true });
    expect(readClaims(stateOf(place), session_id)).toEqual([]);
    expect(git(place.dir, 'branch', '--list', 'feature/*')).toBe('');
    rmSync(join(place.dir, '.worktrees'), { recursive: true });
    expect(await open(place).handoff.claim({ id: 'P0.1.1', worktree: true })).toMatchObject({ token: 2 });
  });

  it.each(['lock', 'claim', 'branch', 'work tree', 'session moved'])(
    'cut off after the step: %s, the same command finishes it',
    async (step) => {
      const { place, session_id } = await started(fresh(), 'donna');
      const steps = ['lock', 'claim', 'branch', 'work tree', 'session moved'];
      const reached = (name: string) => steps.indexOf(step) >= steps.indexOf(name);
      const dirs = stateOf(place);
      const at = '2026-01-01T00:00:00.000Z';
      const lock = { session_id, identity: 'donna', at, host: nodeHost.name };
      const { takeHold } = await import('../../src/journal/locks/local-locks.ts');
      takeHold(dirs.locks, 'task/P0.1.1', 1, lock);
      const claim = { task: 'P0.1.1', token: 1, at, branch: BRANCH, worktree: treeOf(place) };
      if (reached('claim')) writeClaim(dirs, session_id, claim);
      if (step === 'branch') git(place.dir, 'branch', BRANCH);
      if (reached('work tree')) git(place.dir, 'worktree', 'add', '--quiet', '-b', BRANCH, treeOf(place));
      if (reached('session moved')) {
        const [name] = readdirSync(join(place.dir, '.git/worktrees'));
        replaceSession(dirs, { ...readSession(dirs, session_id)!, worktree: `worktrees/${name}` });
      }
      const again = open(place);
      expect(await again.handoff.claim({ id: 'P0.1.1', worktree: true })).toMatchObject({ token: 1, branch: BRANCH });
      const there = open(place, { dir: treeOf(place) });
      await there.handoff.note({ text: 'here' });
      const names = recordsOf(there, session_id).map(({ name }) => name);
      expect(names).toEqual(['0001-start.yaml', '0002-task.yaml', '0003-note.yaml']);
      await expect(open(place).handoff.note({ text: 'left' })).rejects.toMatchObject({ code: 'no_session' });
      commitAll(there);
      expect(await findings(there)).toEqual([]);
    },
  );

  it('cut off when git had not checked out everything, it is made anew', async () => {
    const { place, session_id } = await started(fresh(), 'donna');
    await place.handoff.claim({ id: 'P0.1.1', worktree: true });
    const [name] = readdirSync(join(place.dir, '.git/worktrees'));
    writeFileSync(join(place.dir, '.git/worktrees', name!, 'locked'), 'initializing\n');
    rmSync(join(treeOf(place), '.handoff'), { recursive: true });
    await open(place).handoff.claim({ id: 'P0.1.1', worktree: true, session: session_id });
    expect(existsSync(join(treeOf(place), '.handoff/policy/0001.yaml'))).toBe(true);
  });

  it.each([
    ['P0.1.1', 'Package setup', 'p0-1-1-package-setup'],
    ['A', 'Ünïcode / & "quotes"', 'a-unicode-quotes'],
    ['X', '漢字', 'x'],
    ['T-1', `${'long '.repeat(40)}`, 't-1-long-long-long-long-long-long-long-long-long-long-long'],
  ])('%s, %s → %s', (task_id, title, slug) => {
    expect(slugOf({ task_id, title })).toBe(slug);
    expect(slug.length).toBeLessThanOrEqual(60);
  });
});

describe('seed 004, failure mode 2', () => {
  it('agent B picks a task A was working on: told so, it looks again and picks another; after A merges it is done', async () => {
    const place = fresh();
    const a = await started(place, 'donna');
    await a.place.handoff.claim({ id: 'P0.1.1', worktree: true });
    const b = await started(place, 'erin');
    await expect(b.place.handoff.claim({ id: 'P0.1.1', worktree: true })).rejects.toMatchObject({
      code: 'task_claimed',
      data: { holder: { identity: 'donna' }, next: ['P0.1.3'] },
    });
    // even whoever goes around the lock meets the branch
    expect(() => git(place.dir, 'worktree', 'add', '-b', BRANCH, treeOf(place, 'erin'))).toThrow(/already exists/);
    const { actions } = await b.place.handoff.next();
    expect(actions.map(({ task_id }) => task_id)).toEqual(['P0.1.3']);
    expect(await b.place.handoff.claim({ id: actions[0]!.task_id, worktree: true })).toMatchObject({
      branch: 'feature/p0-1-3-licence',
      worktree: join(place.dir, '.worktrees', 'erin', 'p0-1-3-licence'),
    });
    const inA = open(place, { dir: treeOf(place), env: { HANDOFF_IDENTITY: 'donna' } });
    await inA.handoff.wrap({ message: 'ready' });
    git(place.dir, 'merge', '--quiet', '--no-edit', BRANCH);
    git(place.dir, 'worktree', 'remove', treeOf(place));
    git(place.dir, 'branch', '-d', BRANCH);
    const c = await started(place, 'donna');
    expect(await c.place.handoff.claim({ id: 'P0.1.1', worktree: true })).toMatchObject({ token: 2, branch: BRANCH });
  });
});

const CLI = fileURLToPath(new URL('../../dist/cli.cjs', import.meta.url));

/** Each as a process of its own, all started before any is waited for. */
function race(place: Place, who: string[], task: string): Promise<{ code: number; out: string }[]> {
  return Promise.all(
    who.map(async (as) => {
      const child = spawn(process.execPath, [CLI, '-C', place.dir, 'claim', task, '--as', as, '--json'], {
        env: place.env,
      });
      let out = '';
      child.stdout.on('data', (chunk: Buffer) => {
        out += chunk;
      });
      const [code] = await once(child, 'close');
      return { code, out };
    }),
  );
}
