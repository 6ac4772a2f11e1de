import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { formatTasks } from '../../src/cli/commands/task/tasks-text.ts';
import type { Place } from '../handoff.ts';
import { template } from '../threats/forge.ts';
import { errorOf, type Run, run, UNSAFE } from './cli.ts';

const fresh = template(async (place) => {
  await place.handoff.task.add({ id: 'P0.1', title: 'Package setup' });
  await place.handoff.task.add({ id: 'P0.10', title: 'Linter', depends: ['P0.2'], tags: ['lint'] });
  await place.handoff.task.add({ id: 'P0.2', title: 'Reader', depends: ['P0.1'], prompt: 'docs/reader.md' });
});

function handoff({ dir, env }: Place, ...args: string[]): Run {
  return run(['-C', dir, ...args], { env: { HANDOFF_KEYS: env.HANDOFF_KEYS } });
}

const STATUSES = ['todo', 'in_progress', 'blocked', 'done', 'cancelled'] as const;
const terminal = (columns: number) => Object.assign((_: string, text: string) => text, { columns });

const json = (result: Run) => JSON.parse(result.stdout);

describe('task', () => {
  it('add takes lists with commas and again and again', () => {
    const place = fresh();
    const flags = ['--depends', 'P0.1,P0.2', '--depends', 'P0.10', '--tag', 'a', '--tag', 'b,c', '--priority', '4'];
    const accept = ['--accept', 'one, with a comma', '--accept', 'two', '--prompt', 'docs/x.md', '--proof', 'seal'];
    const added = json(handoff(place, 'task', 'add', 'X', '--title', 'All of it', ...flags, ...accept, '--json'));
    expect(added).toMatchObject({ task_id: 'X', path: '.handoff/tasks/X.yaml', commit: expect.any(String) });
    expect(json(handoff(place, 'task', 'show', 'X', '--json'))).toMatchObject({
      title: 'All of it',
      depends_on: [{ task_id: 'P0.1' }, { task_id: 'P0.2' }, { task_id: 'P0.10' }],
      tags: ['a', 'b', 'c'],
      priority: 4,
      acceptance: ['one, with a comma', 'two'],
      prompt: 'docs/x.md',
      proof: 'seal',
    });
    expect(handoff(place, 'task', 'edit', 'X', '--depends', '').code).toBe(0);
    expect(json(handoff(place, 'task', 'show', 'X', '--json')).depends_on).toEqual([]);
  });

  it.each([
    [2, 'task_exists', ['add', 'P0.1', '--title', 'again']],
    [2, 'task_cycle', ['edit', 'P0.1', '--depends', 'P0.10']],
    [2, 'usage', ['add', 'X']],
    [2, 'usage', ['list', '--status', 'ready']],
    [2, 'unknown_task', ['show', 'X']],
    [2, 'no_session', ['update', 'P0.1', '--status', 'todo']],
  ])('fails with %i %s: task %j', (code, name, args) => {
    const result = handoff(fresh(), 'task', ...args, '--json');
    expect([result.code, errorOf(result).code]).toEqual([code, name]);
  });

  it('list is a table in natural order, and counts', () => {
    const { stdout } = handoff(fresh(), 'task', 'list');
    expect(stdout.split('\n')).toEqual([
      'TASK   STATUS  DONE  BY  TITLE',
      'P0.1   todo    -     -   Package setup',
      'P0.2   todo    -     -   Reader (after P0.1)',
      'P0.10  todo    -     -   Linter (after P0.2)',
      '3 tasks: 3 todo',
      '',
    ]);
  });

  it('list reads well with 500 tasks: aligned, and titles cut to the terminal', () => {
    const tasks = Array.from({ length: 500 }, (_, at) => ({
      task_id: `T${at}`,
      title: `Task ${at} ${'with a long title '.repeat(at % 9)}end`,
      status: STATUSES[at % 5]!,
      progress: at % 3 === 0 ? 50 : null,
      claimed_by: at % 7 === 0 ? 'donna' : null,
      done_by: null,
      blocked_by: at % 4 === 0 ? ['T1', 'T2'] : [],
      priority: 0,
      tags: [],
    }));
    const lines = formatTasks({ tasks }, terminal(80)).split('\n');
    expect(lines).toHaveLength(503);
    expect(Math.max(...lines.map((line) => [...line].length))).toBe(80);
    const column = lines[0]!.indexOf('TITLE');
    for (const line of lines.slice(1, 501)) expect(line.slice(column - 2, column + 4)).toBe('  Task');
    expect(lines[501]).toBe('500 tasks: 100 todo, 100 in_progress, 100 blocked, 100 done, 100 cancelled');
    const styled = formatTasks(
      { tasks },
      Object.assign((style: string) => `<${style}>`, { columns: null }),
    );
    for (const style of ['green', 'yellow', 'red', 'dim']) expect(styled).toContain(`<${style}>`);
  });

  it('graph is a tree, or Mermaid', () => {
    const place = fresh();
    expect(handoff(place, 'task', 'graph').stdout).toBe(
      '○ P0.1  Package setup\n  ○ P0.2  Reader\n    ○ P0.10  Linter\n○ todo  ◐ in_progress  ■ blocked  ✓ done  – cancelled\n',
    );
    const mermaid = handoff(place, 'task', 'graph', '--format', 'mermaid').stdout;
    expect(mermaid.split('\n').slice(0, 6)).toEqual([
      'graph TD',
      '  t0["P0.1 Package setup"]:::todo',
      '  t1["P0.2 Reader"]:::todo',
      '  t2["P0.10 Linter"]:::todo',
      '  t0 --> t1',
      '  t1 --> t2',
    ]);
    expect(json(handoff(place, 'task', 'graph', '--json'))).toMatchObject({
      mermaid,
      nodes: [{ task_id: 'P0.1', depth: 0 }, { depth: 1 }, { depth: 2 }],
      edges: [{ task_id: 'P0.2', depends_on: 'P0.1' }, { task_id: 'P0.10' }],
    });
  });

  it('a title with anything in it does nothing to a terminal', () => {
    const place = fresh();
    handoff(place, 'task', 'add', 'EVIL', '--title', 'red \u001b[31m and \u202e back', '--accept', '\u001b]0;x\u0007');
    for (const args of [['list'], ['show', 'EVIL'], ['graph'], ['graph', '--format', 'mermaid']])
      expect(handoff(place, 'task', ...args).stdout).not.toMatch(UNSAFE);
    expect(handoff(place, 'next').stdout).not.toMatch(UNSAFE);
  });
});

describe('next, claim, unclaim', () => {
  it('go from the first to the next', () => {
    const place = fresh();
    expect(handoff(place, 'next').stdout).toBe(
      'TASK  PATH  UNBLOCKS  PRIORITY  TITLE\nP0.1  3     2         0         Package setup\nTake one: git handoff claim P0.1\n',
    );
    const { session_id } = json(handoff(place, 'start', '--as', 'donna', '--json')) as { session_id: string };
    const donna = { identity: 'donna', session_id };
    const claimed = handoff(place, 'claim', 'P0.1', '--as', 'donna', '--json');
    expect(json(claimed)).toEqual({ task_id: 'P0.1', token: 1, branch: 'main', worktree: place.dir, ...donna });
    expect(handoff(place, 'next').stdout).toContain('Nothing new can be begun now.');
    expect(json(handoff(place, 'next', '-n', '1', '--json'))).toEqual({ actions: [], put_down: [] });
    expect(handoff(place, 'task', 'list', '--status', 'in_progress').stdout).toMatch(/^P0\.1 +in_progress +- +donna/m);
    handoff(place, 'start', '--as', 'erin');
    const second = handoff(place, 'claim', 'P0.1', '--as', 'erin');
    expect([second.code, second.stderr]).toEqual([3, expect.stringContaining('donna holds P0.1 since')]);
    const back = handoff(place, 'unclaim', 'P0.1', '--as', 'donna', '--json');
    expect(json(back)).toEqual({ task_id: 'P0.1', token: 1, branch: null, worktree: null, ...donna });
  });

  it('claim --worktree prints where to go on', () => {
    const place = fresh();
    handoff(place, 'start', '--as', 'donna');
    const { code, stdout, stderr } = handoff(place, 'claim', 'P0.1', '--as', 'donna', '--worktree');
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toContain('feature/p0-1-package-setup');
    const dir = join(place.dir, '.worktrees/donna/p0-1-package-setup');
    expect(stdout).toContain(dir);
    writeFileSync(join(dir, 'package.json'), '{}');
    expect(handoff({ ...place, dir }, 'note', 'here', '--as', 'donna').code).toBe(0);
  });

  it('done without a thought: exit 1 and the words of the contract', () => {
    const place = fresh();
    handoff(place, 'start', '--as', 'donna');
    const result = handoff(place, 'task', 'update', 'P0.1', '--status', 'done', '--as', 'donna', '--json');
    expect(result.code).toBe(1);
    expect(errorOf(result)).toMatchObject({
      code: 'writeback_required',
      message: 'Writeback required: thought_record must be recorded before task completion.',
    });
  });
});
