import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { PROGRAMS } from '../../src/runtimes/programs.ts';
import { RUNTIME_NAMES } from '../../src/runtimes/runtime.ts';
import { errorOf, run } from '../cli/cli.ts';
import { emptyPlace } from '../handoff.ts';
import { git, isolatedEnv, temporaryDirectory } from '../temporary.ts';

const SKILL = '.agents/skills/git-handoff/SKILL.md';
const AT_HOME = [
  ...[SKILL, SKILL, SKILL, SKILL],
  '.claude.json',
  '.claude/settings.json',
  '.claude/skills/git-handoff/SKILL.md',
  '.codex/config.toml',
  '.codex/hooks.json',
  '.config/opencode/opencode.json',
  '.config/opencode/plugin/git-handoff.js',
  '.copilot/hooks/git-handoff.json',
  '.copilot/mcp-config.json',
  '.gemini/settings.json',
];

/** A repository with settings of the user's own for each program. */
const OWN = {
  '.claude/settings.json':
    '{\n  "hooks": {\n    "Stop": [{ "hooks": [{ "type": "command", "command": "say done", "timeout": 3 }] }]\n  }\n}\n',
  '.codex/config.toml': 'model = "x" # mine\n\n[mcp_servers.other]\ncommand = "y"\n',
  '.gemini/settings.json': '{ "hooks": {}, "mcpServers": { "other": { "command": "y" } } }',
  'opencode.jsonc': '// mine\n{\r\n\t"model": "x",\r\n}\r\n',
  '.mcp.json': '{"mcpServers":{}}',
  'AGENTS.md': '# Mine',
  'CLAUDE.md': 'Be brief.\n\n\n',
};

function ownPlace() {
  const { dir, handoff } = emptyPlace();
  for (const [path, text] of Object.entries(OWN)) put(join(dir, path), text);
  return { dir, handoff };
}

test('all five are connected, again without a change, and taken out again to the byte', () => {
  const { dir } = ownPlace();
  const before = contents(dir);
  const first = answer(dir, 'connect', ...RUNTIME_NAMES);
  expect(first.runtimes.map(({ runtime }) => runtime)).toEqual(RUNTIME_NAMES);
  const connected = contents(dir);
  const again = answer(dir, 'connect', ...RUNTIME_NAMES);
  expect(new Set(again.runtimes.flatMap(({ files }) => files.map(({ change }) => change)))).toEqual(
    new Set(['unchanged']),
  );
  expect(contents(dir)).toEqual(connected);
  answer(dir, 'disconnect');
  expect(contents(dir)).toEqual(before);
  expect(readdirSync(dir).sort()).toEqual([
    '.claude',
    '.codex',
    '.gemini',
    '.git',
    '.mcp.json',
    'AGENTS.md',
    'CLAUDE.md',
    'opencode.jsonc',
  ]);
});

test.each(RUNTIME_NAMES)('%s: what others read as well stays when it leaves', (leaving) => {
  const { dir } = ownPlace();
  answer(dir, 'connect', ...RUNTIME_NAMES);
  const all = contents(dir);
  answer(dir, 'disconnect', leaving);
  answer(dir, 'connect', leaving);
  expect(contents(dir)).toEqual(all);
  answer(dir, 'disconnect', ...RUNTIME_NAMES.filter((name) => name !== leaving));
  answer(dir, 'disconnect', leaving);
  expect(contents(dir)).toEqual(OWN);
});

test('disconnect without a name tells of those that were connected, and of each file once', () => {
  const { dir } = ownPlace();
  answer(dir, 'connect', 'claude');
  const { runtimes } = answer(dir, 'disconnect');
  expect(runtimes.map(({ runtime }) => runtime)).toEqual(['claude']);
  const paths = runtimes.flatMap(({ files }) => files.map(({ path }) => path));
  expect(new Set(paths).size).toBe(paths.length);
});

test('--dry-run tells the same and writes nothing', () => {
  const { dir } = ownPlace();
  const planned = answer(dir, 'connect', ...RUNTIME_NAMES, '--dry-run');
  expect(contents(dir)).toEqual(OWN);
  expect(answer(dir, 'connect', ...RUNTIME_NAMES)).toEqual(planned);
});

test('what a user writes meanwhile stays, and only ours is removed', () => {
  const { dir } = emptyPlace();
  answer(dir, 'connect', 'claude', 'codex');
  const settings = join(dir, '.claude/settings.json');
  writeFileSync(settings, readFileSync(settings, 'utf8').replace('{\n  "hooks"', '{\n  "model": "x",\n  "hooks"'));
  const section = readFileSync(join(dir, 'AGENTS.md'), 'utf8');
  writeFileSync(join(dir, 'AGENTS.md'), `# Mine\n\n${section}\nMore.\n`);
  const toml = join(dir, '.codex/config.toml');
  writeFileSync(toml, `${readFileSync(toml, 'utf8')}\n[a]\nb = 1\n`);
  answer(dir, 'disconnect');
  expect(contents(dir)).toEqual({
    '.claude/settings.json': '{\n  "model": "x"\n}\n',
    '.codex/config.toml': '\n[a]\nb = 1\n',
    'AGENTS.md': '# Mine\n\nMore.\n',
  });
});

test('a skill that a user has edited is left to them', () => {
  const { dir } = emptyPlace();
  answer(dir, 'connect', 'codex');
  const skill = join(dir, '.agents/skills/git-handoff/SKILL.md');
  const edited = `${readFileSync(skill, 'utf8')}\nMine.\n`;
  writeFileSync(skill, edited);
  answer(dir, 'disconnect');
  expect(contents(dir)).toEqual({ '.agents/skills/git-handoff/SKILL.md': edited });
  expect(errorOf(run(['connect', 'codex', '--json'], { cwd: dir })).code).toBe('settings_refused');
});

test('from a subfolder and in a linked worktree it is the top of that work tree', () => {
  const { dir } = emptyPlace();
  git(dir, 'commit', '--quiet', '--allow-empty', '-m', 'one');
  const linked = join(dirname(dir), 'linked');
  git(dir, 'worktree', 'add', '--quiet', linked);
  mkdirSync(join(linked, 'a/b'), { recursive: true });
  answer(join(linked, 'a/b'), 'connect', 'codex');
  expect(existsSync(join(linked, '.codex/hooks.json'))).toBe(true);
  expect(contents(dir)).toEqual({});
});

test('--as names who the hooks act as, and another name takes its place', () => {
  const { dir } = emptyPlace();
  answer(dir, 'connect', 'claude', '--as', 'donna');
  expect(readFileSync(join(dir, '.claude/settings.json'), 'utf8')).toContain('agent-event claude Stop --as donna"');
  answer(dir, 'connect', 'claude', '--as', "o'neill");
  const settings = readFileSync(join(dir, '.claude/settings.json'), 'utf8');
  expect(settings).not.toContain('donna');
  expect(JSON.parse(settings).hooks.Stop[0].hooks[0].command).toMatch(/ --as 'o'\\''neill'$/);
});

test('--user writes to the home, honours where programs keep their settings, and leaves no trace', () => {
  const home = temporaryDirectory();
  const elsewhere = temporaryDirectory();
  const moved = {
    CLAUDE_CONFIG_DIR: join(elsewhere, 'c'),
    CODEX_HOME: join(elsewhere, 'x'),
    GEMINI_CLI_HOME: join(elsewhere, 'g'),
    COPILOT_HOME: join(elsewhere, 'p'),
    XDG_CONFIG_HOME: join(elsewhere, 'o'),
  };
  for (const [env, atHome] of [
    [{ HOME: home }, AT_HOME],
    [{ HOME: home, ...moved }, [SKILL, SKILL, SKILL, SKILL]],
  ] as const) {
    for (const folder of Object.values(moved)) mkdirSync(folder, { recursive: true });
    const call = (...words: string[]) =>
      JSON.parse(run([...words, '--user', '--json'], { cwd: elsewhere, env }).stdout);
    const paths = call('connect', ...RUNTIME_NAMES).runtimes.flatMap(({ files }: { files: { path: string }[] }) =>
      files.map(({ path }) => path),
    );
    expect(paths.every((path: string) => existsSync(path))).toBe(true);
    expect(
      paths
        .filter((path: string) => path.startsWith(home))
        .map((path: string) => path.slice(home.length + 1))
        .sort(),
    ).toEqual(atHome);
    call('disconnect');
    expect(contents(home)).toEqual({});
    expect(contents(elsewhere)).toEqual({});
  }
});

test('without a name every program on the PATH is connected, with the version that it says', () => {
  const { dir } = emptyPlace();
  const bin = temporaryDirectory();
  put(join(bin, 'claude'), '#!/bin/sh\necho "2.1.326 (Claude Code)"\n');
  put(join(bin, 'codex'), '#!/bin/sh\nexit 1\n');
  put(join(bin, 'copilot'), '#!/bin/sh\necho "GitHub Copilot CLI 1.0.102."\n');
  for (const name of ['claude', 'codex', 'copilot']) chmodSync(join(bin, name), 0o755);
  const { runtimes } = answerWith({ PATH: `${bin}:/usr/bin:/bin` }, dir, 'connect');
  expect(runtimes.map(({ runtime, version }) => [runtime, version])).toEqual([
    ['claude', '2.1.326'],
    ['codex', null],
    ['copilot', '1.0.102'],
  ]);
});

test('where none is installed it says which are known, and a named one is connected all the same', () => {
  const { dir } = emptyPlace();
  const env = { PATH: '/usr/bin:/bin' };
  const error = errorOf(run(['connect', '--json'], { cwd: dir, env }));
  expect(error).toMatchObject({
    code: 'usage',
    message: expect.stringContaining('claude, codex, gemini, opencode, copilot'),
  });
  const { runtimes } = answerWith(env, dir, 'connect', 'gemini');
  expect(runtimes[0]).toMatchObject({ runtime: 'gemini', version: null });
  expect(runtimes[0]!.todo.join(' ')).toContain('Gemini CLI is not on your PATH');
});

test('every hook is of an event that the program has, by its own name', () => {
  for (const { name, events, speech } of PROGRAMS)
    expect([name, events.filter((event) => !(event in speech.events))]).toEqual([name, []]);
});

test('a hook of a repository without git-handoff on the PATH ends well and says nothing', () => {
  const { dir } = emptyPlace();
  answer(dir, 'connect', 'claude');
  const command = JSON.parse(readFileSync(join(dir, '.claude/settings.json'), 'utf8')).hooks.Stop[0].hooks[0].command;
  put(join(dir, 'hook.sh'), command);
  const result = spawnSync('/bin/sh', ['-c', command], { env: { PATH: '/nowhere' }, input: '{}', encoding: 'utf8' });
  expect(result).toMatchObject({ status: 0, stdout: '', stderr: '' });
});

interface Answer {
  runtimes: { runtime: string; version: string | null; files: { path: string; change: string }[]; todo: string[] }[];
}

function answer(cwd: string, ...words: string[]): Answer {
  return answerWith({}, cwd, ...words);
}

function answerWith(env: NodeJS.ProcessEnv, cwd: string, ...words: string[]): Answer {
  const { code, stdout } = run([...words, '--json'], { cwd, env: { ...isolatedEnv, ...env } });
  expect([code, stdout]).toEqual([0, expect.anything()]);
  return JSON.parse(stdout);
}

function put(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

function contents(dir: string): Record<string, string> {
  const names = (readdirSync(realpathSync(dir), { recursive: true }) as string[]).filter(
    (name) => !/^\.git(?:\/|$)/.test(name),
  );
  const files = names.filter((name) => statSync(join(dir, name)).isFile());
  return Object.fromEntries(files.sort().map((name) => [name, readFileSync(join(dir, name), 'utf8')]));
}

test('a hook of Claude Code that Copilot CLI runs leaves it to those of Copilot CLI, where there are any', () => {
  const { dir } = emptyPlace();
  const bin = temporaryDirectory();
  put(join(bin, 'git-handoff'), '#!/bin/sh\necho "$@"\n');
  chmodSync(join(bin, 'git-handoff'), 0o755);
  const say = (): string => {
    const { hooks } = JSON.parse(readFileSync(join(dir, '.claude/settings.json'), 'utf8'));
    const env = { PATH: `${bin}:/usr/bin:/bin`, COPILOT_PROJECT_DIR: dir };
    return spawnSync('/bin/sh', ['-c', hooks.Stop[0].hooks[0].command], { env, encoding: 'utf8' }).stdout;
  };
  answer(dir, 'connect', 'claude');
  expect(say()).toBe('agent-event claude Stop\n');
  answer(dir, 'connect', 'copilot');
  expect(say()).toBe('');
});
