import { chmodSync, mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { CLI, run } from '../cli/cli.ts';
import { initialised } from '../handoff.ts';
import { git, temporaryDirectory } from '../temporary.ts';

interface Check {
  name: string;
  ok: boolean;
  detail: string;
  fix: string | null;
}

/** A repository in which all else is well, and a PATH with git-handoff and the programs that are named. */
async function place(...programs: string[]) {
  const made = await initialised();
  git(made.dir, 'config', 'handoff.identity', 'donna');
  const bin = temporaryDirectory();
  const home = temporaryDirectory();
  program(join(bin, 'git-handoff'), `exec "${process.execPath}" "${CLI}" "$@"`);
  for (const name of programs) program(join(bin, name), 'echo 1.2.3');
  const env = { ...made.env, HOME: home, PATH: `${bin}:/usr/bin:/bin` };
  const call = (...words: string[]) => run([...words, '--json'], { cwd: made.dir, env });
  return { ...made, home, bin, call };
}

type Called = Awaited<ReturnType<typeof place>>;

function ask({ call }: Called, name: string): Check & { code: number | null } {
  const { code, stdout } = call('doctor');
  const { checks }: { checks: Check[] } = JSON.parse(stdout);
  return { code, ...checks.find((check) => check.name === name)! };
}

test('a program that is installed and not connected is well, and could be', async () => {
  const here = await place('claude');
  expect(ask(here, 'claude')).toEqual({
    code: 0,
    name: 'claude',
    ok: true,
    detail: '1.2.3; not connected',
    fix: 'git handoff connect claude',
  });
  expect(JSON.parse(here.call('doctor').stdout).checks.map(({ name }: Check) => name)).not.toContain('codex');
});

test('one that is connected and not installed here is well: others work in this repository, too', async () => {
  const here = await place();
  here.call('connect', 'codex');
  expect(ask(here, 'codex')).toMatchObject({
    code: 0,
    ok: true,
    detail: expect.stringContaining('not installed here'),
  });
});

test('nothing has arrived and nobody has trusted it: the step that is missing; an event that arrives is proof', async () => {
  const here = await place('codex');
  here.call('connect', 'codex');
  expect(ask(here, 'codex')).toMatchObject({
    code: 1,
    ok: false,
    fix: expect.stringContaining('Trust all and continue'),
  });
  run(['agent-event', 'codex', 'SessionStart'], { cwd: here.dir, env: here.env });
  expect(ask(here, 'codex')).toMatchObject({
    code: 0,
    ok: true,
    detail: expect.stringMatching(/arrived: session_start \d+ s ago/),
  });
});

test('an event that came before the hooks were written proves nothing', async () => {
  const here = await place('codex');
  run(['agent-event', 'codex', 'SessionStart'], { cwd: here.dir, env: here.env });
  utimesSync(join(here.dir, '.git/handoff/runtimes/codex/session_start'), 1, 1);
  here.call('connect', 'codex');
  expect(ask(here, 'codex')).toMatchObject({ ok: false });
});

test.each([
  [
    'claude',
    '.claude.json',
    (dir: string) => JSON.stringify({ projects: { [dir]: { hasTrustDialogAccepted: true } } }),
  ],
  [
    'codex',
    '.codex/config.toml',
    (dir: string) =>
      `[projects."${dir}"]\ntrust_level = "trusted"\n[hooks.state."${dir}/.codex/hooks.json:stop:0:0"]\ntrusted_hash = "sha256:00"\n`,
  ],
  ['gemini', '.gemini/trustedFolders.json', (dir: string) => JSON.stringify({ [dirname(dir)]: 'TRUST_FOLDER' })],
  ['copilot', '.copilot/config.json', (dir: string) => `// theirs\n${JSON.stringify({ trustedFolders: [dir] })}`],
])('%s: what it wrote of trust is read', async (name, path, text) => {
  const here = await place(name);
  here.call('connect', name);
  expect(ask(here, name)).toMatchObject({ code: 1, ok: false });
  put(join(here.home, path), text(here.dir));
  expect(ask(here, name)).toMatchObject({
    code: 0,
    ok: true,
    detail: expect.stringContaining('no event has arrived yet'),
  });
  put(join(here.home, path), '\0 neither JSON nor TOML');
  expect(ask(here, name)).toMatchObject({ code: 1, ok: false });
});

test.each([
  ['a part is missing', '.mcp.json', () => '{}'],
  [
    'a hook was changed',
    '.claude/settings.json',
    (text: string) => text.replace('agent-event claude Stop', 'agent-event claude SubagentStop'),
  ],
  ['another program wrote nonsense', '.mcp.json', () => '{'],
])('%s: which file, and that connect mends it', async (_, path, change) => {
  const here = await place('opencode', 'claude');
  here.call('connect', 'claude');
  run(['agent-event', 'claude', 'SessionStart'], { cwd: here.dir, env: here.env });
  expect(ask(here, 'claude')).toMatchObject({ ok: true });
  const file = join(here.dir, path);
  writeFileSync(file, change(readFileSync(file, 'utf8')));
  expect(ask(here, 'claude')).toMatchObject({
    code: 1,
    ok: false,
    detail: expect.stringContaining(file),
    fix: 'git handoff connect claude',
  });
});

test.each(['claude', 'codex', 'gemini', 'opencode', 'copilot'])(
  '%s that acts under a name of its own is as connect wrote it',
  async (name) => {
    const here = await place(name);
    here.call('connect', name, '--as', 'donna');
    expect(ask(here, name).detail).not.toContain('was changed');
  },
);

test('git-handoff that hooks cannot find', async () => {
  const here = await place('opencode');
  here.call('connect', 'opencode');
  expect(ask(here, 'opencode')).toMatchObject({ code: 0, ok: true });
  chmodSync(join(here.bin, 'git-handoff'), 0o644);
  expect(ask(here, 'opencode')).toMatchObject({ code: 1, ok: false, detail: expect.stringContaining('PATH') });
});

test('connected twice, for the user and here: every event would be told twice', async () => {
  const here = await place('opencode');
  here.call('connect', 'opencode');
  here.call('connect', 'opencode', '--user');
  expect(ask(here, 'opencode')).toMatchObject({ ok: true, fix: 'git handoff disconnect opencode --user' });
});

function program(file: string, line: string): void {
  put(file, `#!/bin/sh\n${line}\n`);
  chmodSync(file, 0o755);
}

function put(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
