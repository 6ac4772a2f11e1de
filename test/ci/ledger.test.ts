import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { run } from '../cli/cli.ts';
import type { Place } from '../handoff.ts';
import { commitSealed } from '../ledger/sealed.ts';
import { git, temporaryDirectory } from '../temporary.ts';
import { reopen, template } from '../threats/forge.ts';
import { PROGRAM, readYaml, runStep, type Step, shell } from './steps.ts';

// The jobs that append after a merge, with the real program, against a server that judges what they push.

interface Workflow {
  on: Record<string, unknown>;
  permissions: Record<string, string>;
  concurrency: Record<string, unknown>;
  jobs: { ledger: { environment: string; steps: Step[] } };
}
interface Job {
  rules: { if: string }[];
  resource_group: string;
  variables: Record<string, string | number>;
  before_script: string[];
  script: string[];
}

const workflow = readYaml<Workflow>('examples/github/ledger.yml');
const { 'handoff-ledger': job } = readYaml<{ 'handoff-ledger': Job }>('examples/gitlab/gitlab-ci.yml');
const { steps } = workflow.jobs.ledger;
const stepNamed = (name: string) => steps.find((step) => step.name === name)!;

const fresh = template((place) => place.handoff.identity.add({ name: 'ledger', role: 'maintainer' }));

interface Server {
  place: Place;
  bare: string;
}

function serve(place: Place): Server {
  const bare = join(temporaryDirectory(), 'origin.git');
  git('/', 'clone', '--quiet', '--bare', place.dir, bare);
  git(bare, 'config', 'handoff.root', place.root);
  expect(run(['-C', bare, 'hooks', 'install', '--server'])).toMatchObject({ code: 0 });
  git(place.dir, 'remote', 'add', 'origin', bare);
  git(place.dir, 'fetch', '--quiet');
  return { place, bare };
}

/** Sessions with seals, merged. */
function arrives({ place }: Server, count = 1): void {
  commitSealed(place, count);
  git(place.dir, 'push', '--quiet', 'origin', 'main');
}

const tip = ({ bare }: Server) => git(bare, 'rev-parse', 'main');

/** What a new clone says of what the server has. */
function ledgerOf({ place, bare }: Server) {
  const dir = join(temporaryDirectory(), 'judge');
  git('/', 'clone', '--quiet', bare, dir);
  return reopen(place, dir).handoff.ledger.verify();
}

interface Given {
  root?: string;
  key?: string;
  program?: string;
}

const keyOf = ({ keys, root }: Place, name: string) =>
  readFileSync(join(keys, root.slice(0, 12), `${name}.pem`)).toString('base64');

interface Ended {
  code: number | null;
  output: string;
  /** Left behind by the job. */
  temp: string;
  workspace: string;
}

/** What a service checks out when a job begins; `meanwhile` is what happens before it appends. */
type Run = (server: Server, given?: Given, meanwhile?: () => void) => Promise<Ended>;

const onGitHub: Run = async ({ place, bare }, given = {}, meanwhile = () => {}) => {
  const temp = temporaryDirectory();
  const workspace = join(temporaryDirectory(), 'workspace');
  git('/', 'clone', '--quiet', '--no-local', '--branch', 'main', bare, workspace);
  const program = join(temp, 'git-handoff/node_modules/.bin/git-handoff');
  mkdirSync(dirname(program), { recursive: true });
  symlinkSync(given.program ?? PROGRAM, program);
  meanwhile();
  const context = {
    github: {},
    vars: { HANDOFF_ROOT: given.root ?? place.root },
    secrets: { HANDOFF_LEDGER_KEY: given.key ?? keyOf(place, 'ledger') },
  };
  return { ...(await runStep(stepNamed('Append to the ledger'), { workspace, context }, temp)), temp, workspace };
};

const onGitLab =
  (sh: string): Run =>
  async ({ place, bare }, given = {}, meanwhile = () => {}) => {
    const temp = temporaryDirectory();
    const workspace = join(temporaryDirectory(), 'workspace');
    git('/', 'clone', '--quiet', '--no-local', '--branch', 'main', bare, workspace);
    git(workspace, 'checkout', '--quiet', '--detach');
    git(workspace, 'branch', '--quiet', '-D', 'main');
    meanwhile();
    const variables = Object.entries(job.variables).map(([name, value]) => [name, String(value)]);
    const script = ['set -e', ...job.before_script, ...job.script].join('\n');
    const ended = await shell([sh, '-c', script], {
      cwd: workspace,
      env: {
        ...Object.fromEntries(variables),
        TMPDIR: temp,
        CI_COMMIT_BRANCH: 'main',
        HANDOFF_COMMAND: given.program ?? PROGRAM,
        HANDOFF_ROOT: given.root ?? place.root,
        HANDOFF_LEDGER_KEY: given.key ?? keyOf(place, 'ledger'),
      },
    });
    return { ...ended, temp, workspace };
  };

const SERVICES: [string, Run][] = [
  ['GitHub', onGitHub],
  ['GitLab, in bash', onGitLab('bash')],
  ['GitLab, in sh', onGitLab('sh')],
];

describe.each(SERVICES)('after a merge on %s', (_, append) => {
  it('what was sealed is appended, signed by that maintainer and pushed, and the server agrees', async () => {
    const server = serve(fresh());
    arrives(server, 2);
    const { code, output, temp } = await append(server);
    expect(code, output).toBe(0);
    expect(git(server.bare, 'log', '-1', '--format=%s', 'main')).toBe('handoff: ledger appends 2 to the ledger');
    expect(await ledgerOf(server)).toMatchObject({ size: 2, pending: 0 });
    expect(readdirSync(temp, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.pem'))).toEqual(
      [],
    );
  });

  it('its own push appends nothing and pushes nothing: it does not go round in circles', async () => {
    const server = serve(fresh());
    arrives(server);
    await append(server);
    const after = tip(server);
    const { code, output } = await append(server);
    expect([code, output], output).toEqual([0, expect.stringContaining('"appended":0')]);
    expect(tip(server)).toBe(after);
  });

  it('where nothing was ever sealed, nothing happens', async () => {
    const server = serve(fresh());
    const before = tip(server);
    const { code, output } = await append(server);
    expect(code, output).toBe(0);
    expect(tip(server)).toBe(before);
  });

  it('what was merged since it began is appended too, on top of what another has appended', async () => {
    const server = serve(fresh());
    arrives(server);
    const { code, output } = await append(server, {}, () => {
      arrives(server);
      expect(run(['-C', server.place.dir, 'ledger', 'append', '--push'], { env: server.place.env })).toMatchObject({
        code: 0,
      });
      arrives(server);
    });
    expect(code, output).toBe(0);
    expect(await ledgerOf(server)).toMatchObject({ size: 3, pending: 0 });
  });

  it.each([
    ['another root', { root: '0'.repeat(64) }],
    ['no root', { root: '' }],
    ['no key', { key: '' }],
    ['a key that is none', { key: 'bm8ga2V5' }],
  ])('with %s nothing is appended', async (__, given) => {
    const server = serve(fresh());
    arrives(server);
    const before = tip(server);
    const { code } = await append(server, given);
    expect(code).not.toBe(0);
    expect(tip(server)).toBe(before);
  });

  it('with the key of somebody who is no maintainer nothing is appended', async () => {
    const server = serve(fresh());
    arrives(server);
    const before = tip(server);
    const { code, output } = await append(server, { key: keyOf(server.place, 'donna') });
    expect([code, output], output).toEqual([expect.any(Number), expect.stringContaining('no_key')]);
    expect(code).not.toBe(0);
    expect(tip(server)).toBe(before);
  });

  it('the key is a file that nobody else reads, no program has it in its environment, and it goes', async () => {
    const server = serve(fresh());
    arrives(server);
    const key = keyOf(server.place, 'ledger');
    const log = join(temporaryDirectory(), 'log');
    const spy = join(temporaryDirectory(), 'spy');
    const look = `find "$HANDOFF_KEYS" -type f -printf '%m %P\\n'; find "$HANDOFF_KEYS" -type d -printf '%m\\n'; env`;
    writeFileSync(spy, `#!/bin/sh\n{ ${look}; echo "in $HANDOFF_KEYS"; } >>'${log}'\nexec '${PROGRAM}' "$@"\n`, {
      mode: 0o755,
    });
    const { code, output, workspace } = await append(server, { program: spy });
    expect(code, output).toBe(0);
    const seen = readFileSync(log, 'utf8');
    expect(seen).toContain(`600 ${server.place.root.slice(0, 12)}/ledger.pem\n`);
    expect(new Set(seen.match(/^7\d\d$/gm))).toEqual(new Set(['700']));
    expect(seen).not.toContain(key);
    const [, folder = ''] = /^in (.*)$/m.exec(seen)!;
    expect(folder.startsWith(workspace)).toBe(false);
    expect(existsSync(folder)).toBe(false);
  });
});

describe('what the jobs say', () => {
  it('on GitHub: for pushes to the protected branch, with one right, one at a time', () => {
    expect(workflow.on).toEqual({ push: { branches: ['main'] } });
    expect(workflow.permissions).toEqual({ contents: 'write' });
    expect(workflow.concurrency).toEqual({ group: 'handoff-ledger', 'cancel-in-progress': false });
    expect(workflow.jobs.ledger.environment).toBe('handoff-ledger');
    expect(steps[0]).toMatchObject({ uses: 'actions/checkout@v4', with: { 'fetch-depth': 0 } });
  });

  it('on GitHub: the program is installed outside of the checkout, without scripts', async () => {
    const temp = temporaryDirectory();
    const bin = temporaryDirectory();
    writeFileSync(join(bin, 'npm'), '#!/bin/sh\npwd\necho "$@"\n', { mode: 0o755 });
    const runner = {
      workspace: temporaryDirectory(),
      env: { PATH: `${bin}:${process.env.PATH}` },
      context: { github: {} },
    };
    const { code, output } = await runStep(stepNamed('Install git-handoff'), runner, temp);
    const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
    expect(code, output).toBe(0);
    expect(output.split('\n')).toEqual([
      join(temp, 'git-handoff'),
      expect.stringMatching(new RegExp(`^install .*--ignore-scripts.* git-handoff@${version.replaceAll('.', '\\.')}$`)),
      '',
    ]);
  });

  it('on GitLab: for pushes to the default branch, in a clone with its history, one at a time', () => {
    expect(job.rules).toEqual([{ if: '$CI_PIPELINE_SOURCE == "push" && $CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH' }]);
    expect(job.variables.GIT_DEPTH).toBe(0);
    expect(job.resource_group).toBe('handoff-ledger');
    expect(job.before_script.join('\n')).toMatch(/cd "\$HANDOFF_PLACE" &&[\s\S]*npm install [^\n]*--ignore-scripts/);
  });

  it('on GitLab: a token that may push is used, and does not stay in the clone', async () => {
    const server = serve(fresh());
    const workspace = join(temporaryDirectory(), 'workspace');
    git('/', 'clone', '--quiet', server.bare, workspace);
    const spy = join(temporaryDirectory(), 'spy');
    writeFileSync(spy, '#!/bin/sh\ngit config remote.origin.pushurl\n', { mode: 0o755 });
    const script = ['set -e', ...job.before_script, ...job.script].join('\n');
    const { code, output } = await shell(['sh', '-c', script], {
      cwd: workspace,
      env: {
        TMPDIR: temporaryDirectory(),
        CI_COMMIT_BRANCH: 'main',
        CI_PROJECT_URL: 'https://gitlab.example/ada/project',
        HANDOFF_COMMAND: spy,
        HANDOFF_MAINTAINER: 'ledger',
        HANDOFF_ROOT: server.place.root,
        HANDOFF_LEDGER_KEY: keyOf(server.place, 'ledger'),
        HANDOFF_PUSH_TOKEN: 'secret-token',
      },
    });
    const { username, password, host, pathname } = new URL(output.split('\n')[0]!);
    expect([code, username, password]).toEqual([0, 'handoff', 'secret-token']);
    expect(host + pathname).toBe('gitlab.example/ada/project.git');
    expect(readFileSync(join(workspace, '.git/config'), 'utf8')).not.toContain('secret-token');
  });
});
