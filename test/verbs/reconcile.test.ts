import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Handoff } from '../../src/index.ts';
import { commitAll, type Place, writeSession } from '../handoff.ts';
import { git } from '../temporary.ts';
import { reopen, template } from '../threats/forge.ts';
import { open, recordsOf } from './agents.ts';
import { changeTask, defineTask, error, statusOf, work } from './tasks.ts';

const LINES = Array.from({ length: 40 }, (_, n) => `line ${n}\n`);
const edit = (at: number, text: string): string => LINES.map((line, n) => (n === at ? text : line)).join('');

const fresh = template(async (place) => {
  defineTask(place, 'P0.1');
  defineTask(place, 'P0.2');
  commitAll(place, 'tasks');
  work(place, { 'a.txt': LINES.join('') });
});

/** Two commits for a task on a branch, written back, said to be done and committed with the session. */
async function finished(place: Place, files = ['one.txt', 'two.txt'], task = 'P0.1'): Promise<string> {
  git(place.dir, 'switch', '--quiet', '--create', `feature-${task}`);
  const { handoff } = open(place);
  await handoff.start({ as: 'donna' });
  let sha = '';
  for (const file of files) sha = work(place, { [file]: `${file}\n` }, `add ${file}`);
  await done(place, handoff, task);
  await handoff.wrap({ as: 'donna', message: 'done' });
  git(place.dir, 'switch', '--quiet', 'main');
  return sha;
}

async function done(place: Place, handoff: Handoff, task: string): Promise<void> {
  await changeTask(place, task, 'in_progress');
  await handoff.thought({ id: task, summary: 's', as: 'donna' });
  await changeTask(place, task, 'done');
}

const merge = ({ dir }: Place, branch = 'feature-P0.1') => git(dir, 'merge', '--quiet', '--no-ff', '--no-edit', branch);

/** Takes back code, never records. */
function revert({ dir }: Place, rev: string, ...flags: string[]): string {
  git(dir, 'revert', '--no-commit', ...flags, rev);
  git(dir, 'checkout', '--quiet', 'HEAD', '--', '.handoff');
  git(dir, 'commit', '--quiet', '--message', 'take it back, in words of our own');
  return git(dir, 'rev-parse', 'HEAD');
}

async function reverted(place: Place): Promise<string[]> {
  const result = await reopen(place).handoff.reconcile({ dryRun: true });
  expect(result.reinstated).toEqual([]);
  return result.reverted.map(({ task_id, reverted_by }) => `${task_id} ${reverted_by}`);
}

describe('Failure Mode 3: Agent B picks a task with a reverted PR', () => {
  test('the task is to do again, the record says why, and the next agent is told', async () => {
    const place = fresh();
    const sha = await finished(place);
    merge(place);
    expect(await statusOf(place, 'P0.1')).toBe('done');
    const by = revert(place, 'HEAD', '-m', '1');
    const { handoff } = open(place);
    const { session_id } = await handoff.start({ as: 'erin' });
    expect(await handoff.reconcile()).toEqual({
      ...{ identity: 'erin', session_id },
      branch: 'refs/heads/main',
      reverted: [{ task_id: 'P0.1', commit_sha: sha, reverted_by: by }],
      reinstated: ['P0.1'],
    });
    expect(await statusOf(place, 'P0.1')).toBe('todo');
    const { fields } = recordsOf(place, session_id).at(-1)!;
    expect(fields).toMatchObject({ kind: 'task', task_id: 'P0.1', status: 'todo' });
    expect(fields.reason).toContain(by.slice(0, 12));
    // a second time there is nothing left to do
    expect(await reopen(place).handoff.reconcile({ as: 'erin' })).toMatchObject({ reverted: [], reinstated: [] });
    await handoff.wrap({ as: 'erin', message: 'reinstated' });
    const bundle = await reopen(place).handoff.pickup({ as: 'donna' });
    expect(bundle.rules_reminders.join()).toContain('P0.1');
    expect(bundle.recent_deltas.map(({ summary }) => summary).join()).toContain('was reverted on main');
  });
});

describe('a change counts as taken back', () => {
  test('by what git revert says, where lines nearby have changed since; not where it came again', async () => {
    const place = fresh();
    git(place.dir, 'switch', '--quiet', '--create', 'feature-P0.1');
    const { handoff } = open(place);
    await handoff.start({ as: 'donna' });
    const sha = work(place, { 'a.txt': edit(20, 'changed\n') });
    await done(place, handoff, 'P0.1');
    await handoff.wrap({ as: 'donna', message: 'done' });
    git(place.dir, 'switch', '--quiet', 'main');
    merge(place);
    work(place, { 'a.txt': edit(20, 'changed\n').replace('line 23\n', 'another\n') });
    git(place.dir, 'revert', '--no-edit', sha);
    const by = git(place.dir, 'rev-parse', 'HEAD');
    expect(await reverted(place)).toEqual([`P0.1 ${by}`]);
    git(place.dir, 'revert', '--no-edit', by);
    expect(await reverted(place)).toEqual([]);
  });

  test('by a revert of its merge, even where the protected branch has moved around it', async () => {
    const place = fresh();
    git(place.dir, 'switch', '--quiet', '--create', 'feature-P0.1');
    const { handoff } = open(place);
    await handoff.start({ as: 'donna' });
    work(place, { 'a.txt': edit(20, 'changed\n') });
    work(place, { 'b.txt': 'b\n' });
    await done(place, handoff, 'P0.1');
    await handoff.wrap({ as: 'donna', message: 'done' });
    git(place.dir, 'switch', '--quiet', 'main');
    work(place, { 'a.txt': edit(22, 'near\n') });
    expect(() => merge(place)).not.toThrow();
    const by = revert(place, 'HEAD', '-m', '1');
    expect(await reverted(place)).toEqual([`P0.1 ${by}`]);
  });

  test('by a revert of its squash, also where the branch is gone', async () => {
    const place = fresh();
    await finished(place);
    git(place.dir, 'merge', '--quiet', '--squash', 'feature-P0.1');
    git(place.dir, 'commit', '--quiet', '--message', 'squashed');
    expect(await reverted(place)).toEqual([]);
    const by = revert(place, 'HEAD');
    expect(await reverted(place)).toEqual([`P0.1 ${by}`]);
    git(place.dir, 'branch', '-D', 'feature-P0.1');
    git(place.dir, 'reflog', 'expire', '--expire=now', '--all');
    git(place.dir, 'gc', '--quiet', '--prune=now');
    expect(await reverted(place)).toEqual([`P0.1 ${by}`]);
  });

  test('commit by commit, once the last of them is', async () => {
    const place = fresh();
    const sha = await finished(place);
    merge(place);
    revert(place, `${sha}~1`);
    expect(await reverted(place)).toEqual([]);
    const by = revert(place, sha);
    expect(await reverted(place)).toEqual([`P0.1 ${by}`]);
  });

  test('after a fast-forward and after a rebase', async () => {
    const place = fresh();
    await finished(place);
    work(place, { 'meanwhile.txt': 'm\n' });
    git(place.dir, 'rebase', '--quiet', 'main', 'feature-P0.1');
    git(place.dir, 'switch', '--quiet', 'main');
    git(place.dir, 'merge', '--quiet', '--ff-only', 'feature-P0.1');
    expect(await reverted(place)).toEqual([]);
    const commits = git(place.dir, 'log', '--format=%H', '--grep=^add ').split('\n');
    const [, last] = commits.map((oid) => revert(place, oid));
    expect(await reverted(place)).toEqual([`P0.1 ${last}`]);
  });

  test('on a branch whose revert was merged itself', async () => {
    const place = fresh();
    await finished(place, ['one.txt']);
    merge(place);
    git(place.dir, 'switch', '--quiet', '--create', 'back');
    const by = revert(place, 'HEAD', '-m', '1');
    git(place.dir, 'switch', '--quiet', 'main');
    work(place, { 'x.txt': 'x\n' });
    expect(await reverted(place)).toEqual([]);
    merge(place, 'back');
    expect(await reverted(place)).toEqual([`P0.1 ${by}`]);
  });

  test('not when it was applied again, however it was', async () => {
    const place = fresh();
    const sha = await finished(place);
    merge(place);
    const by = revert(place, 'HEAD', '-m', '1');
    const again = revert(place, by);
    expect(await reverted(place)).toEqual([]);
    const last = revert(place, again);
    expect(await reverted(place)).toEqual([`P0.1 ${last}`]);
    git(place.dir, 'cherry-pick', `${sha}~1`, sha);
    expect(await reverted(place)).toEqual([]);
  });

  test('not when the oldest change of all was applied again', async () => {
    const place = fresh();
    await finished(place, ['one.txt']);
    git(place.dir, 'merge', '--quiet', '--ff-only', 'feature-P0.1');
    const by = revert(place, 'HEAD~1');
    expect(await reverted(place)).toEqual([`P0.1 ${by}`]);
    revert(place, by);
    expect(await reverted(place)).toEqual([]);
  });

  test('not when it was applied again, and its session began only after the last commit of it', async () => {
    const place = fresh();
    git(place.dir, 'remote', 'add', 'origin', join(place.dir, '..', 'nowhere'));
    git(place.dir, 'update-ref', 'refs/remotes/origin/main', 'HEAD');
    const sha = work(place, { 'one.txt': '1\n' });
    const { handoff } = open(place);
    await handoff.start({ as: 'donna' });
    await done(place, handoff, 'P0.1');
    await handoff.wrap({ as: 'donna', message: 'done' });
    const by = revert(place, sha);
    git(place.dir, 'update-ref', 'refs/remotes/origin/main', 'HEAD');
    expect(await reverted(place)).toEqual([`P0.1 ${by}`]);
    revert(place, by);
    git(place.dir, 'update-ref', 'refs/remotes/origin/main', 'HEAD');
    expect(await reverted(place)).toEqual([]);
  });

  test('of two tasks in one branch only the one that was, or both with the merge', async () => {
    const place = fresh();
    git(place.dir, 'switch', '--quiet', '--create', 'both');
    const { handoff } = open(place);
    await handoff.start({ as: 'donna' });
    const one = work(place, { 'one.txt': '1\n' });
    await done(place, handoff, 'P0.1');
    work(place, { 'two.txt': '2\n' });
    await done(place, handoff, 'P0.2');
    await handoff.wrap({ as: 'donna', message: 'both' });
    git(place.dir, 'switch', '--quiet', 'main');
    merge(place, 'both');
    const merged = git(place.dir, 'rev-parse', 'HEAD');
    const first = revert(place, one);
    // the second builds on the first, and not all of it is gone
    expect(await reverted(place)).toEqual([`P0.1 ${first}`]);
    revert(place, first);
    const whole = revert(place, merged, '-m', '1');
    expect(await reverted(place)).toEqual([`P0.1 ${whole}`, `P0.2 ${whole}`]);
  });

  test('not when only something else was', async () => {
    const place = fresh();
    await finished(place);
    merge(place);
    const other = work(place, { 'other.txt': 'o\n' });
    revert(place, other);
    expect(await reverted(place)).toEqual([]);
  });

  test('not by the change that it took out itself, which was there before', async () => {
    const place = fresh();
    const added = await finished(place, ['one.txt']);
    merge(place);
    const { handoff } = open(place);
    await handoff.start({ as: 'donna' });
    const removed = revert(place, added);
    await done(place, handoff, 'P0.2');
    await handoff.wrap({ as: 'donna', message: 'taken out, as P0.2 asks for' });
    expect(await reverted(place)).toEqual([`P0.1 ${removed}`]);
    // and once it comes back, it is the other way round
    const again = revert(place, removed);
    expect(await reverted(place)).toEqual([`P0.2 ${again}`]);
  });

  test('also when the revert was written back for the same task, after it was done', async () => {
    const place = fresh();
    const sha = await finished(place);
    git(place.dir, 'merge', '--quiet', '--squash', 'feature-P0.1');
    git(place.dir, 'commit', '--quiet', '--message', 'squashed');
    const { handoff } = open(place);
    await handoff.start({ as: 'donna' });
    const by = revert(place, 'HEAD');
    await handoff.thought({ id: 'P0.1', summary: 'taken back', as: 'donna' });
    await handoff.wrap({ as: 'donna', message: 'taken back' });
    const result = await reopen(place).handoff.reconcile({ dryRun: true });
    expect(result.reverted).toEqual([{ task_id: 'P0.1', commit_sha: sha, reverted_by: by }]);
    revert(place, by);
    expect(await reverted(place)).toEqual([]);
  });

  test('not when a later thought of a task that is done tells of more', async () => {
    const place = fresh();
    git(place.dir, 'switch', '--quiet', '--create', 'feature-P0.1');
    const { handoff } = open(place);
    await handoff.start({ as: 'donna' });
    const first = work(place, { 'one.txt': '1\n' });
    await done(place, handoff, 'P0.1');
    revert(place, first);
    work(place, { 'two.txt': '2\n' });
    await handoff.thought({ id: 'P0.1', summary: 'in another way', as: 'donna' });
    await handoff.wrap({ as: 'donna', message: 'done' });
    git(place.dir, 'switch', '--quiet', 'main');
    merge(place);
    expect(await reverted(place)).toEqual([]);
  });

  test('not when the task was begun again since', async () => {
    const place = fresh();
    await finished(place);
    merge(place);
    revert(place, 'HEAD', '-m', '1');
    const { handoff } = open(place);
    await handoff.start({ as: 'donna' });
    await changeTask(place, 'P0.1', 'in_progress');
    expect(await reverted(place)).toEqual([]);
  });
});

describe('where it is looked for', () => {
  test('what the remote has of the protected branch goes before what is here', async () => {
    const place = fresh();
    await finished(place);
    merge(place);
    git(place.dir, 'remote', 'add', 'origin', join(place.dir, '..', 'nowhere'));
    git(place.dir, 'update-ref', 'refs/remotes/origin/main', 'HEAD');
    const by = revert(place, 'HEAD', '-m', '1');
    expect(await reverted(place)).toEqual([]);
    git(place.dir, 'update-ref', 'refs/remotes/origin/main', 'HEAD');
    expect(await reverted(place)).toEqual([`P0.1 ${by}`]);
  });

  test('a shallow clone is refused: it does not show what was applied', async () => {
    const place = fresh();
    await finished(place);
    merge(place);
    const shallow = join(place.dir, '..', 'shallow');
    git('/', 'clone', '--quiet', '--depth=1', `file://${place.dir}`, shallow);
    expect(await error(reopen(place, shallow).handoff.reconcile({ dryRun: true }))).toMatchObject({
      code: 'unsupported',
      hint: expect.stringContaining('--unshallow'),
    });
  });

  test('with nothing done there is nothing to look for', async () => {
    expect(await reverted(fresh())).toEqual([]);
  });
});

describe('a record without patch ids', () => {
  /** As another implementation might write it. */
  async function foreign(place: Place): Promise<string> {
    git(place.dir, 'switch', '--quiet', '--create', 'feature-P0.1');
    const commit_sha = work(place, { 'one.txt': '1\n' });
    writeSession(place, [
      { kind: 'start', head: null },
      { kind: 'task', task_id: 'P0.1', status: 'in_progress' },
      {
        kind: 'thought',
        ...{ task_id: 'P0.1', branch: 'feature-P0.1', commit_sha, tests_run: [], summary: 's', blockers: [] },
        ...{ files_changed: ['one.txt'], related_thought_records: [] },
      },
      { kind: 'task', task_id: 'P0.1', status: 'done' },
      { kind: 'baton', summary: 'b', body: 'b\n' },
    ]);
    commitAll(place);
    git(place.dir, 'switch', '--quiet', 'main');
    merge(place);
    return commit_sha;
  }

  const says = ({ dir }: Place, what: string): string => {
    git(dir, 'commit', '--quiet', '--allow-empty', '--message', `Revert\n\nThis reverts commit ${what}.`);
    return git(dir, 'rev-parse', 'HEAD');
  };

  test('is found by what the messages say, unless that was taken back too', async () => {
    const place = fresh();
    const sha = await foreign(place);
    const by = says(place, sha);
    expect(await reverted(place)).toEqual([`P0.1 ${by}`]);
    says(place, by);
    expect(await reverted(place)).toEqual([]);
  });

  test('is found when its merge is named', async () => {
    const place = fresh();
    await foreign(place);
    const by = says(place, git(place.dir, 'rev-parse', 'HEAD'));
    expect(await reverted(place)).toEqual([`P0.1 ${by}`]);
  });
});

test('a second run asks git for no comparison, and without the cache the answer is the same', async () => {
  const place = fresh();
  await finished(place);
  merge(place);
  const by = revert(place, 'HEAD', '-m', '1');
  const trace = join(place.dir, '..', 'trace');
  const look = async (): Promise<[string[], string[]]> => {
    rmSync(trace, { force: true });
    const { handoff } = reopen(place, place.dir, { ...place.env, GIT_TRACE: trace }, 'some-build');
    const { reverted: found } = await handoff.reconcile({ dryRun: true });
    await handoff.close();
    const { readFileSync } = await import('node:fs');
    const lines = readFileSync(trace, 'utf8');
    return [
      found.map((each) => each.reverted_by),
      [...lines.matchAll(/built-in: git (\S+)/g)].map(([, name]) => name!),
    ];
  };
  const first = await look();
  const second = await look();
  expect(first).toEqual([[by], ['cat-file', 'merge-base', 'rev-list', 'diff-tree']]);
  expect(second).toEqual([[by], ['cat-file', 'merge-base', 'rev-list']]);
  rmSync(join(place.dir, '.git/handoff/cache'), { recursive: true });
  expect(await look()).toEqual(first);
});

test('it needs a session only to write', async () => {
  const place = fresh();
  await finished(place);
  merge(place);
  expect(await reopen(place).handoff.reconcile()).toMatchObject({ reverted: [] });
  revert(place, 'HEAD', '-m', '1');
  expect(await error(reopen(place).handoff.reconcile({ as: 'erin' }))).toMatchObject({ code: 'no_session' });
  expect(await statusOf(place, 'P0.1')).toBe('done');
});
