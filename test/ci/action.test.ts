import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { writeBytes } from '../handoff.ts';
import { temporaryDirectory } from '../temporary.ts';
import { type ApiOptions, type Comment, serveComments, someoneElse } from './comments-api.ts';
import { action, evaluate, PROGRAM, ROOT, readYaml, runStep, type Step } from './steps.ts';

interface Workflow {
  permissions: Record<string, string>;
  on: Record<string, unknown>;
  jobs: Record<string, { steps: Step[] }>;
}

const workflow = readYaml<Workflow>('examples/github/handoff.yml');
const ledger = readYaml<Workflow>('examples/github/ledger.yml');
const MARKER = '<!-- git-handoff gate -->';
const stepNamed = (name: string) => action.runs.steps.find((step) => step.id === name || step.name === name)!;

describe('what the files say', () => {
  it('no expression is pasted into a script, where a branch name would be code', () => {
    const jobs = [workflow, ledger].flatMap(({ jobs }) => Object.values(jobs));
    const steps = [...action.runs.steps, ...jobs.flatMap((job) => job.steps)];
    const scripts = steps.flatMap(({ run }) => run ?? []);
    expect(scripts.length).toBeGreaterThan(3);
    for (const script of scripts) expect(script).not.toContain('${{');
  });

  it('every input is explained, and used', () => {
    const text = JSON.stringify(action.runs);
    for (const [name, { description }] of Object.entries(action.inputs)) {
      expect(description.length).toBeGreaterThan(30);
      expect(text).toContain(`inputs.${name}`);
    }
  });

  it('the verdict comes last, after the comment, and whatever went before', () => {
    expect(action.runs.steps.map(({ id, name }) => id ?? name)).toEqual([
      'program',
      'check',
      'Comment on the pull request',
      'Verdict',
    ]);
    expect(action.runs.steps.at(-1)!.if).toBe('always()');
  });

  it('the program is never run by npx, nor installed where the pull request is', () => {
    const examples = ['examples/github/ledger.yml', 'examples/gitlab/gitlab-ci.yml'];
    const scripts = ['ci/install.sh', 'ci/check.sh', 'ci/comment.mjs', 'action.yml', ...examples];
    for (const path of scripts) expect(readFileSync(join(ROOT, path), 'utf8'), path).not.toMatch(/\bnpx\b|npm exec/);
  });

  it('the example asks for few rights and the whole history, and gives only inputs that there are', () => {
    expect(workflow.permissions).toEqual({ contents: 'read', 'pull-requests': 'write' });
    expect(Object.keys(workflow.on)).toEqual(['pull_request', 'merge_group']);
    const [{ steps }] = Object.values(workflow.jobs) as [{ steps: Step[] }];
    expect(steps.find(({ uses }) => uses?.startsWith('actions/checkout@'))!.with).toMatchObject({ 'fetch-depth': 0 });
    const own = steps.find(({ uses }) => uses?.includes('/git-handoff@'))!;
    expect(Object.keys(action.inputs)).toEqual(expect.arrayContaining(Object.keys(own.with!)));
  });

  it.each([
    ["github.event_name == 'pull_request' && inputs.token != ''", false],
    ["always() && github.event_name != 'push'", true],
    ["inputs.base || github.event.merge_group.base_sha || 'x'", 'x'],
  ])('expressions are read as the runner reads them: %s', (expression, value) => {
    expect(evaluate(expression, { github: { event_name: 'pull_request' }, inputs: {} })).toBe(value);
  });
});

describe('set up', () => {
  const install = (workspace: string, inputs: Record<string, string>, env: NodeJS.ProcessEnv = {}) =>
    runStep(stepNamed('program'), { workspace, env, context: { inputs, github: {} } });

  /** A tree that would run something, if anything of it were run or read. */
  function trap(): { workspace: string; canary: string } {
    const base = temporaryDirectory();
    const workspace = join(base, 'work');
    const canary = join(base, 'canary');
    const script = `#!/bin/sh\ntouch '${canary}'\n`;
    for (const name of ['node_modules/.bin/git-handoff', 'git-handoff', 'npm']) {
      writeBytes(workspace, name, script);
      chmodSync(join(workspace, name), 0o755);
    }
    writeBytes(workspace, '.npmrc', `node-options=--require=${workspace}/evil.cjs\n`);
    writeBytes(workspace, 'evil.cjs', `require('node:fs').writeFileSync(${JSON.stringify(canary)}, '')\n`);
    writeBytes(workspace, 'package.json', JSON.stringify({ scripts: { preinstall: `touch '${canary}'` } }));
    return { workspace, canary };
  }

  /** An npm that says where it was called and how, and installs a program. */
  function npm(): { env: NodeJS.ProcessEnv; calls: () => string } {
    const bin = temporaryDirectory();
    const log = join(bin, 'log');
    const script = `#!/bin/sh\n{ pwd; echo "$@"; } >>'${log}'\nmkdir -p node_modules/.bin\necho ok >node_modules/.bin/git-handoff\n`;
    writeFileSync(join(bin, 'npm'), script, { mode: 0o755 });
    const env = { PATH: `${bin}${delimiter}${process.env.PATH}` };
    return { env, calls: () => (existsSync(log) ? readFileSync(log, 'utf8') : '') };
  }

  it('THREATS 34: installs outside of the tree, without scripts, the version that the action comes with', async () => {
    const { workspace, canary } = trap();
    const { env, calls } = npm();
    const { code, outputs } = await install(workspace, { command: '', version: '' }, env);
    expect(code).toBe(0);
    const [where = '', how = ''] = calls().split('\n');
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    expect(where.startsWith(workspace)).toBe(false);
    expect(how.split(' ')).toEqual(expect.arrayContaining(['install', '--ignore-scripts', `git-handoff@${version}`]));
    expect(outputs.program).toBe(join(where, 'node_modules/.bin/git-handoff'));
    expect(existsSync(canary)).toBe(false);
  });

  it('takes another version, and nothing that is none', async () => {
    const { workspace } = trap();
    const { env, calls } = npm();
    expect((await install(workspace, { command: '', version: '1.2.3-rc.1' }, env)).code).toBe(0);
    expect(calls()).toContain('git-handoff@1.2.3-rc.1\n');
    for (const version of ['file:.', 'npm:evil', '$(touch x)', 'https://example.org/x.tgz', '1 2']) {
      const { code, output } = await install(workspace, { command: '', version }, env);
      expect([code, output]).toEqual([1, '::error title=git-handoff::The input version is no version.\n']);
    }
    expect(calls().split('\n')).toHaveLength(3);
  });

  it('takes a program that is installed, by name or path', async () => {
    const bin = temporaryDirectory();
    writeFileSync(join(bin, 'my-handoff'), '#!/bin/sh\n', { mode: 0o755 });
    const workspace = temporaryDirectory();
    const env = { PATH: `${bin}${delimiter}${process.env.PATH}` };
    expect((await install(workspace, { command: PROGRAM })).outputs).toEqual({ program: PROGRAM });
    expect((await install(workspace, { command: 'my-handoff' }, env)).outputs.program).toBe(join(bin, 'my-handoff'));
    const missing = await install(workspace, { command: 'no-such-program' });
    expect([missing.code, missing.outputs]).toEqual([1, {}]);
    expect(missing.output).toContain('names no program');
  });

  it.each(['./git-handoff', 'node_modules/.bin/git-handoff'])(
    'THREATS 34: refuses a program in the tree: %s',
    async (command) => {
      const { workspace, canary } = trap();
      const { code, output, outputs } = await install(workspace, { command });
      expect([code, outputs, existsSync(canary)]).toEqual([1, {}, false]);
      expect(output).toContain('in the checked-out tree');
    },
  );
});

describe('a link', () => {
  const install = (workspace: string, command: string) =>
    runStep(stepNamed('program'), { workspace, context: { inputs: { command, version: '' }, github: {} } });

  it.each([
    ['in the tree that leads out of it', './link'],
    ['to a folder, in the tree, that leads out of it', 'folder/echo'],
    ['elsewhere that leads through the tree', '../elsewhere'],
  ])('THREATS 34: is refused as a program: one %s', async (_, command) => {
    const workspace = join(temporaryDirectory(), 'work');
    mkdirSync(workspace);
    symlinkSync('/bin/echo', join(workspace, 'link'));
    symlinkSync('/bin', join(workspace, 'folder'));
    symlinkSync('work/link', join(workspace, '../elsewhere'));
    const { code, output, outputs } = await install(workspace, command);
    expect([code, outputs]).toEqual([1, {}]);
    expect(output).toContain('in the checked-out tree');
  });

  it('that has nothing to do with the tree is followed', async () => {
    const base = temporaryDirectory();
    mkdirSync(join(base, 'work'));
    symlinkSync(PROGRAM, join(base, 'mine'));
    expect((await install(join(base, 'work'), '../mine')).outputs).toEqual({ program: PROGRAM });
  });
});

describe('the comment', () => {
  const context = { event: { pull_request: { number: 12 } } };
  const env = { GITHUB_REPOSITORY: 'ada/project' };

  async function comment(text: string, comments: Comment[], options: ApiOptions = {}, token = 'secret-token') {
    const api = await serveComments(comments, options);
    const temp = temporaryDirectory();
    const report = join(temp, 'report.md');
    writeFileSync(report, text);
    const run = await runStep(stepNamed('Comment on the pull request'), {
      workspace: temp,
      env: { ...env, GITHUB_API_URL: api.url },
      context: { github: context, inputs: { token }, steps: { check: { outputs: { report } } } },
    });
    return { ...run, api };
  }

  it('is posted once, and updated by the next run', async () => {
    const comments: Comment[] = [someoneElse(1, 'nice')];
    const first = await comment(`${MARKER}\nrefused`, comments);
    expect([first.code, first.output]).toEqual([0, 'The comment was posted.\n']);
    const second = await comment(`${MARKER}\npass`, comments);
    expect([second.code, second.output]).toEqual([0, 'The comment was updated.\n']);
    expect(comments.map(({ body }) => body)).toEqual(['nice', `${MARKER}\npass`]);
    expect(first.api.requests.at(-1)).toBe('POST /repos/ada/project/issues/12/comments');
    expect(second.api.requests.at(-1)).toBe('PATCH /repos/ada/project/issues/comments/2');
  });

  it('is found on the third page', async () => {
    const comments = Array.from({ length: 250 }, (_, at) => someoneElse(at + 1, `no ${at}`));
    await comment(`${MARKER}\none`, comments);
    const { api } = await comment(`${MARKER}\ntwo`, comments);
    expect(comments).toHaveLength(251);
    expect(comments.at(-1)!.body).toBe(`${MARKER}\ntwo`);
    expect(api.requests.filter((line) => line.includes('page='))).toHaveLength(3);
  });

  it.each([
    ['a workflow', null],
    ['a person', { login: 'ada', type: 'User', id: 7 }],
  ])('of somebody else who begins alike is left alone, with the token of %s', async (_, user) => {
    const comments = [someoneElse(1, `${MARKER}\n## pass`)];
    await comment(`${MARKER}\nrefused`, comments, { user });
    await comment(`${MARKER}\nrefused again`, comments, { user });
    expect(comments.map(({ body }) => body)).toEqual([`${MARKER}\n## pass`, `${MARKER}\nrefused again`]);
  });

  it.each([
    ['a token that may only read, as that of a fork', { writes: 403 }, 'secret-token', 'may not write comments'],
    ['a token that is none', {}, 'wrong', 'may not write comments'],
    ['a service that is down', { writes: 502 }, 'secret-token', 'the API answered 502'],
  ])('that cannot be posted is a warning: %s', async (_, options, token, reason) => {
    const { code, output, api } = await comment(`${MARKER}\npass`, [], options, token);
    expect(code).toBe(0);
    expect(output).toMatch(/^::warning title=git-handoff::No comment: .*\n$/);
    expect(output).toContain(reason);
    expect(output).not.toContain(token);
    expect(api.comments).toEqual([]);
  });

  it('is a warning when nobody answers', async () => {
    const temp = temporaryDirectory();
    writeFileSync(join(temp, 'report.md'), MARKER);
    const { code, output } = await runStep(stepNamed('Comment on the pull request'), {
      workspace: temp,
      env: { ...env, GITHUB_API_URL: 'http://127.0.0.1:1' },
      context: {
        github: context,
        inputs: { token: 'x' },
        steps: { check: { outputs: { report: join(temp, 'report.md') } } },
      },
    });
    expect([code, output]).toEqual([0, expect.stringContaining('could not be reached')]);
  });
});
