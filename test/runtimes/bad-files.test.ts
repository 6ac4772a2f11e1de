import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { PROGRAMS } from '../../src/runtimes/programs.ts';
import type { RuntimeName } from '../../src/runtimes/runtime.ts';
import { connect } from '../../src/verbs/agents/connect.ts';
import { disconnect } from '../../src/verbs/agents/disconnect.ts';
import { emptyPlace, type Place } from '../handoff.ts';
import { isolatedEnv, temporaryDirectory } from '../temporary.ts';

/** Every file that connect writes for a program in a repository. */
const FILES: [RuntimeName, string][] = PROGRAMS.flatMap((program) =>
  program.project({ digest: () => '' }).map(({ paths }): [RuntimeName, string] => [program.name, paths[0]!]),
);

describe.each(FILES)('%s: %s', (runtime, path) => {
  test('is refused as a directory', () => refused(runtime, path, (file) => mkdirSync(file), 'is a directory'));
  test('is refused as a pipe, which nobody waits for', () =>
    refused(runtime, path, (file) => execFileSync('mkfifo', [file]), 'is a pipe'));
  test('is refused as a link that leads nowhere', () =>
    refused(runtime, path, (file) => symlinkSync('nowhere', file), 'leads nowhere'));
  test('is refused as a link to itself', () =>
    refused(runtime, path, (file) => symlinkSync(file, file), 'leads nowhere'));
  test('is refused read-only', () =>
    refused(runtime, path, (file) => writeFileSync(file, '', { mode: 0o444 }), 'is read-only'));
  test('is refused where it is not UTF-8', () =>
    refused(runtime, path, (file) => writeFileSync(file, Buffer.from([0x7b, 0xff, 0xfe, 0x7d])), 'is not UTF-8'));
  test('is refused as a link out of the work tree', () => {
    const outside = join(temporaryDirectory(), 'theirs');
    writeFileSync(outside, '');
    return refused(runtime, path, (file) => symlinkSync(outside, file), 'outside this work tree');
  });
});

test('a folder that is a link out of the work tree is refused', () => {
  const outside = temporaryDirectory();
  return refused('claude', '.claude', (file) => symlinkSync(outside, file), 'outside this work tree');
});

test('a file in the place of a folder is refused', () =>
  refused('claude', '.claude', (file) => writeFileSync(file, ''), 'is no directory'));

test('a link within the work tree is followed, and stays', async () => {
  const { dir, handoff } = emptyPlace();
  writeFileSync(join(dir, 'CLAUDE.md'), 'Mine.\n');
  symlinkSync('CLAUDE.md', join(dir, 'AGENTS.md'));
  await handoff.connect({ runtime: ['codex'] });
  expect(readlinkSync(join(dir, 'AGENTS.md'))).toBe('CLAUDE.md');
  expect(readFileSync(join(dir, 'CLAUDE.md'), 'utf8')).toMatch(/^Mine\.\n\n<!-- git-handoff: begin -->/);
  await handoff.disconnect();
  expect(readFileSync(join(dir, 'CLAUDE.md'), 'utf8')).toBe('Mine.\n');
  expect(readlinkSync(join(dir, 'AGENTS.md'))).toBe('CLAUDE.md');
});

test('CLAUDE.md that is a link to AGENTS.md does not import itself', async () => {
  const { dir, handoff } = emptyPlace();
  writeFileSync(join(dir, 'AGENTS.md'), 'Mine.\n');
  symlinkSync('AGENTS.md', join(dir, 'CLAUDE.md'));
  await handoff.connect({ runtime: ['claude'] });
  expect(readFileSync(join(dir, 'AGENTS.md'), 'utf8')).not.toContain('@AGENTS.md');
  await handoff.disconnect();
  expect(readFileSync(join(dir, 'AGENTS.md'), 'utf8')).toBe('Mine.\n');
});

test('mode and owner of a file stay', async () => {
  const { dir, handoff } = emptyPlace();
  const file = put(dir, '.claude/settings.json', '{}\n');
  chmodSync(file, 0o600);
  await handoff.connect({ runtime: ['claude'] });
  expect(statSync(file).mode & 0o777).toBe(0o600);
  await handoff.disconnect();
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test('a dotfile that is a link within the home is followed, and stays', async () => {
  const home = temporaryDirectory();
  put(home, 'dotfiles/settings.json', '{"model": "x"}\n');
  mkdirSync(join(home, '.claude'));
  symlinkSync('../dotfiles/settings.json', join(home, '.claude/settings.json'));
  const stand = { repository: null, env: { ...isolatedEnv, HOME: home } };
  await connect(stand, { runtime: ['claude'], user: true });
  expect(readFileSync(join(home, 'dotfiles/settings.json'), 'utf8')).toContain('agent-event claude');
  await disconnect(stand, { user: true });
  expect(readFileSync(join(home, 'dotfiles/settings.json'), 'utf8')).toBe('{"model": "x"}\n');
  expect(lstatSync(join(home, '.claude/settings.json')).isSymbolicLink()).toBe(true);
});

/** Nothing at all is written, neither in that file nor in those of other programs. */
async function refused(
  runtime: RuntimeName,
  path: string,
  make: (file: string) => void,
  reason: string,
): Promise<void> {
  const { dir, handoff }: Place = emptyPlace();
  const file = join(dir, path);
  mkdirSync(dirname(file), { recursive: true });
  make(file);
  const before = names(dir);
  const others = PROGRAMS.map(({ name }) => name).filter((name) => name !== runtime);
  const error: unknown = await handoff.connect({ runtime: [...others, runtime] }).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: 'settings_refused' });
  expect((error as Error).message).toContain(reason);
  expect(names(dir)).toEqual(before);
}

function names(dir: string): string[] {
  return (readdirSync(dir, { recursive: true }) as string[]).filter((name) => !/^\.git(?:\/|$)/.test(name)).sort();
}

function put(dir: string, path: string, text: string): string {
  const file = join(dir, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  expect(existsSync(file)).toBe(true);
  return file;
}
