import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { commitAll, type Place, writeBytes, writeSession } from '../handoff.ts';
import { disposableDirectory, git, isolatedEnv } from '../temporary.ts';
import { template } from '../threats/forge.ts';
import { defineTask, work } from '../verbs/tasks.ts';
import { errorOf, run } from './cli.ts';

// The agent handoff protocol (seed 004), as the people of it would go through it: processes, two clones, a server that judges.

const PROMPT = 'docs/task-prompts/p0.1.md';

interface Team {
  /** Agent A's clone, and agent B's. */
  a: string;
  b: string;
  server: string;
  env: NodeJS.ProcessEnv;
}

/** One answer of the program, which must end with the exit code. */
function handoff<T extends object>(team: Team, dir: string, args: string[], exit = 0): T {
  const answer = run(['--json', ...args], { cwd: dir, env: team.env });
  expect({ args, code: answer.code, said: answer.code === exit ? '' : answer.stdout + answer.stderr }).toEqual({
    args,
    code: exit,
    said: '',
  });
  return JSON.parse(answer.stdout);
}

function tryGit(dir: string, ...args: string[]): { status: number | null; stderr: string } {
  const { status, stderr } = spawnSync('git', ['-C', dir, ...args], { env: isolatedEnv, encoding: 'utf8' });
  return { status, stderr };
}

describe.sequential('The 4-Stage Handoff', () => {
  const { path, remove } = disposableDirectory();
  const [a, b, server] = ['a', 'b', 'server.git'].map((name) => join(path, name)) as [string, string, string];
  const team: Team = { a, b, server, env: { HANDOFF_KEYS: join(path, 'keys') } };
  const tree = join(a, '.worktrees/donna/p0-1-1-package-setup');
  const BRANCH = 'feature/p0-1-1-package-setup';
  let commit = '';

  beforeAll(() => {
    git('/', 'init', '--quiet', '--bare', '--initial-branch=main', server);
    git('/', 'clone', '--quiet', server, a);
    const { root } = handoff<{ root: string }>(team, a, ['init']);
    for (const name of ['donna', 'erin', 'lola']) handoff(team, a, ['identity', 'add', name]);
    handoff(team, a, [
      'task',
      'add',
      'P0.1.1',
      '--title',
      'Package setup',
      '--accept',
      'npm test passes',
      '--prompt',
      PROMPT,
    ]);
    handoff(team, a, ['task', 'add', 'P0.1.2', '--title', 'Linter', '--depends', 'P0.1.1', '--prompt', PROMPT]);
    git(server, 'config', 'handoff.root', root);
    handoff(team, server, ['hooks', 'install', '--server']);
    git(a, 'push', '--quiet', 'origin', 'main');
    git('/', 'clone', '--quiet', server, b);
  });
  afterAll(remove);

  it('Stage 1 — Completing Agent Finishes Work', () => {
    handoff(team, a, ['start', '--as', 'donna']);
    expect(handoff(team, a, ['claim', 'P0.1.1', '--worktree', '--as', 'donna'])).toMatchObject({
      worktree: tree,
      branch: BRANCH,
    });
    writeBytes(tree, 'package.json', '{"scripts": {"test": "node --version"}}\n');
    git(tree, 'add', 'package.json');
    git(tree, 'commit', '--quiet', '--message', 'task: P0.1.1 — Package setup');
    commit = git(tree, 'rev-parse', 'HEAD');
    git(tree, 'push', '--quiet', 'origin', BRANCH); // a branch that nobody protects takes it as it is
  });

  it('Stage 3 — PR Review & Merge: if writeback is missing, the merge is rejected', () => {
    git(b, 'fetch', '--quiet');
    git(b, 'merge', '--quiet', '--no-ff', '--message', 'merge', `origin/${BRANCH}`);
    const { status, stderr } = tryGit(b, 'push', '--no-verify', 'origin', 'main');
    expect(status).toBe(1);
    expect(stderr).toMatch(/writeback_missing[\s\S]*package\.json/);
    git(b, 'reset', '--quiet', '--hard', 'origin/main');
    const { tasks } = handoff(team, tree, ['task', 'list']) as { tasks: { task_id: string; status: string }[] };
    expect(tasks.find(({ task_id }) => task_id === 'P0.1.1')?.status).toBe('in_progress');
  });

  it('Stage 2 — Completing Agent Writes Back', () => {
    const words = 'Initialised package.json. The tests pass.';
    const { record } = handoff(team, tree, [
      'thought',
      'P0.1.1',
      words,
      '--as',
      'donna',
      '--run',
      '--',
      'npm',
      'test',
    ]) as {
      record: Record<string, unknown>;
    };
    expect(record).toMatchObject({
      task_id: 'P0.1.1',
      branch: BRANCH,
      commit_sha: commit,
      tests_run: ['npm test'],
      summary: words,
      blockers: [],
      files_changed: ['package.json'],
      related_thought_records: [],
      evidence: [{ command: ['npm', 'test'], exit_code: 0 }],
    });
    const done = [
      'task',
      'update',
      'P0.1.1',
      '--status',
      'done',
      '--progress',
      '100',
      '--notes',
      'It works.',
      '--as',
      'donna',
    ];
    expect(handoff(team, tree, done)).toMatchObject({ task_id: 'P0.1.1', status: 'done' });
    handoff(team, tree, ['wrap', '--message', '# Next steps\n\nThe linter.\n', '--as', 'donna']);
    git(tree, 'push', '--quiet', 'origin', BRANCH);
  });

  it('Stage 3 — PR Review & Merge: the reviewer confirms the record, checks the list and merges', () => {
    git(b, 'fetch', '--quiet');
    git(b, 'checkout', '--quiet', BRANCH);
    const { records } = handoff<{ records: object[] }>(team, b, ['log', '--task', 'P0.1.1', '--kind', 'thought']);
    expect(records).toMatchObject([{ valid: true, identity: 'donna' }]);
    handoff(team, b, ['start', '--as', 'erin']);
    handoff(team, b, ['review', 'P0.1.1', '--verdict', 'approve', '--checked', 'npm test passes', '--as', 'erin']);
    handoff(team, b, ['wrap', '--message', 'reviewed', '--as', 'erin']);
    const verdict = handoff(team, b, ['gate', '--base', 'origin/main', '--head', BRANCH]);
    expect(verdict).toMatchObject({ pass: true, findings: [], reviews: [{ identity: 'erin', verdict: 'approve' }] });
    git(b, 'checkout', '--quiet', 'main');
    git(b, 'merge', '--quiet', '--no-ff', '--message', 'merge P0.1.1', BRANCH);
    expect(tryGit(b, 'push', '--quiet', 'origin', 'main')).toMatchObject({
      status: 0,
      stderr: expect.stringContaining('accepted'),
    });
  });

  it('Stage 4 — Next Agent Starts', () => {
    const { actions } = handoff<{ actions: object[] }>(team, b, ['next']);
    expect(actions).toMatchObject([{ task_id: 'P0.1.2', prompt: PROMPT }]);
    const bundle = handoff<{ recent_deltas: { kind: string }[] }>(team, b, ['pickup', '--as', 'lola']);
    expect(bundle.recent_deltas.map(({ kind }) => kind)).toContain('thought');
    expect(handoff(team, b, ['claim', 'P0.1.2', '--worktree', '--as', 'lola'])).toMatchObject({
      branch: 'feature/p0-1-2-linter',
      worktree: join(b, '.worktrees/lola/p0-1-2-linter'),
    });
  });
});

const place = template((here) => {
  defineTask(here, 'P0.1.1');
  commitAll(here, 'tasks');
});

async function atWork(): Promise<{ here: Place; team: Team; sha: string }> {
  const here = place();
  await here.handoff.start({ as: 'donna' });
  git(here.dir, 'switch', '--quiet', '--create', 'feature/p0-1-1-package-setup');
  const sha = work(here, { 'package.json': '{}\n', 'tsconfig.json': '{}\n' });
  return { here, sha, team: { a: here.dir, b: '', server: '', env: { HANDOFF_KEYS: here.keys } } };
}

describe('The Handoff Packet', () => {
  it('task_update fields', async () => {
    const { here, team } = await atWork();
    const args = ['task', 'update', 'P0.1.1', '--status', 'in_progress', '--progress', '40', '--notes', 'Half of it.'];
    const { delta_id } = handoff<{ delta_id: string }>(team, here.dir, args);
    const { record } = handoff<{ record: object }>(team, here.dir, ['show', delta_id]);
    expect(record).toMatchObject({ task_id: 'P0.1.1', status: 'in_progress', progress: 40, notes: 'Half of it.' });
  });

  it('thought_record fields, and the complete example', async () => {
    const { here, team, sha } = await atWork();
    const example = {
      task_id: 'P0.1.1',
      branch: 'feature/p0-1-1-package-setup',
      commit_sha: sha,
      tests_run: ['smoke.test.ts', 'eslint', 'tsc --noEmit'],
      summary: 'package.json and tsconfig.json are there, and the tools find them.',
      blockers: [{ type: 'peer-dep', package: 'zod', issue: 'too old', resolution: 'pinned' }],
      files_changed: ['package.json', 'tsconfig.json'],
      related_thought_records: [],
    };
    const file = join(here.keys, 'thought.json');
    writeFileSync(file, JSON.stringify(example));
    const { record } = handoff<{ record: object }>(team, here.dir, ['thought', 'P0.1.1', '--file', file]);
    expect(record).toMatchObject(example);
  });
});

describe('Writeback Enforcement', () => {
  it('YES: a thought record exists, and the task is done', async () => {
    const { here, team } = await atWork();
    handoff(team, here.dir, ['thought', 'P0.1.1', 'It is there.']);
    expect(handoff(team, here.dir, ['task', 'update', 'P0.1.1', '--status', 'done'])).toMatchObject({ status: 'done' });
  });

  it('NO: the change is rejected, the task stays in_progress, and the agent is told', async () => {
    const { here, team } = await atWork();
    handoff(team, here.dir, ['task', 'update', 'P0.1.1', '--status', 'in_progress']);
    const answer = run(['task', 'update', 'P0.1.1', '--status', 'done', '--json'], { cwd: here.dir, env: team.env });
    expect(answer.code).toBe(1);
    expect(errorOf(answer)).toMatchObject({
      code: 'writeback_required',
      message: 'Writeback required: thought_record must be recorded before task completion.',
    });
    expect(handoff(team, here.dir, ['task', 'list'])).toMatchObject({ tasks: [{ status: 'in_progress' }] });
  });

  it('No exceptions: a record that says done by itself counts for nothing', async () => {
    const { here, team } = await atWork();
    const start = { kind: 'start' as const, head: null };
    writeSession(here, [start, { kind: 'task', task_id: 'P0.1.1', status: 'done', progress: 100 }], { clock: 900 });
    commitAll(here);
    expect(handoff(team, here.dir, ['task', 'list'])).toMatchObject({ tasks: [{ status: 'in_progress' }] });
    const verdict = handoff(team, here.dir, ['gate', '--base', 'HEAD~1', '--head', 'HEAD'], 1);
    expect(verdict).toMatchObject({ pass: false });
    expect(JSON.stringify(verdict)).toContain('done_without_thought');
  });
});
