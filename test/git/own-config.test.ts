import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type GitConfig, readConfig } from '../../src/git/config.ts';
import { discoverRepository } from '../../src/git/discover.ts';
import { openNativeStore } from '../../src/git/objects/native-store.ts';
import { readOwnConfig } from '../../src/git/own-config.ts';
import { parsePlainConfig } from '../../src/git/plain-config.ts';
import { isTold } from '../../src/git/trace-config.ts';
import { nodeHost } from '../../src/host.ts';
import { git, isolatedEnv, temporaryDirectory } from '../temporary.ts';

// What we read of git's configuration is what git reads of it, or nothing.

/** As git lists a file; null where it refuses it. */
function gitList(text: string): [string, string][] | null {
  const { status, stdout } = spawnSync('git', ['config', '--file', '-', '--list', '-z'], { input: text });
  if (status !== 0) return null;
  const entries = stdout.toString('utf8').split('\0').slice(0, -1);
  return entries.map((entry) => {
    const end = entry.indexOf('\n');
    return end < 0 ? [entry, ''] : [entry.slice(0, end), entry.slice(end + 1)];
  });
}

const READ = [
  '',
  '[user]\n\tname = A Person\n\temail = a@example.org\n',
  '# a comment\n; another \\\n[user]\nname=x',
  '[User]\n  Name   =   two   words   \n',
  '[remote "Origin.a"]\n\turl = https://example.org/a.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n',
  '[remote "a b"] # with a comment\n\tfetch = one\n\tfetch = two\n',
  '[alias]\n\tl = "log -n 1" ; short\n\ts = !"f() { echo \\"x\\"; }; f"\n\tt = a\\tb\\\\c\\n\n',
  '[a]\n\tb = "x # y"z # w\n\tc = " kept " \n\td = x"  "\n',
  '[a]\n\tb = \u00fcber \u4e16\u754c\n',
  '[a] \n\n\n[b]\n\tc-d = 1\n[a]\n\tb = 2\n',
  '[a]\n\tb = x\t \n',
];

const LEFT = [
  '[a]\n\tb\n',
  '[a]\n\tb =\n',
  '[a]\n\tb = ""\n',
  '[a]\n\tb = one \\\n two\n',
  '[a]\n\tb = one\r\n',
  '[a]\n\tb = one\ttwo\n',
  '[a]\n\tb = "one\n',
  '[a]\n\tb = one\\q\n',
  '[a]\n\tb = one\\\n',
  '[a]\n\tb = \\b\n',
  '[a.b]\n\tc = 1\n',
  '[a "b\\"c"]\n\td = 1\n',
  '[a] b = 1\n',
  '[ a ]\n\tb = 1\n',
  'b = 1\n',
  '[include]\n\tpath = other\n',
  '[a]\nb=1\n \t[InclUdeIf "gitdir:x"]\n\tpath = other\n',
  '\ufeff[a]\n\tb = 1\n',
  '[a]\n\t1b = 1\n',
  '[a]\n\tb_c = 1\n',
];

describe('a file of configuration', () => {
  it.each(READ)('%j is read as git reads it', (text) => {
    expect(parsePlainConfig(text)).toEqual(gitList(text));
  });

  it.each(LEFT)('%j is left to git', (text) => {
    expect(parsePlainConfig(text)).toBe(null);
  });

  it('of any form is read as git reads it, or left to it', () => {
    const pieces = [
      '[',
      ']',
      '"',
      '\\',
      '=',
      '#',
      ';',
      ' ',
      '\t',
      '\n',
      'a',
      'B',
      '1',
      '-',
      '.',
      '\u00fc',
      '[s]\n',
      '[s "t"]\n',
    ];
    const text = fc.array(fc.constantFrom(...pieces, 'k = v\n', '\tname = ', 'include'), { maxLength: 12 });
    const isRight = (parts: string[]) => {
      const read = parsePlainConfig(parts.join(''));
      if (read !== null) expect(read).toEqual(gitList(parts.join('')));
    };
    fc.assert(fc.property(text, isRight), { numRuns: 300 });
  });
});

function place(local = '', env: NodeJS.ProcessEnv = {}) {
  const dir = temporaryDirectory();
  git(dir, 'init', '--quiet');
  if (local) writeFileSync(join(dir, '.git/config'), local, { flag: 'a' });
  const home = temporaryDirectory();
  const at = { dir, env: { ...isolatedEnv, HOME: home, ...env } };
  const read = (system: string | null = null, owner = nodeHost.owner) =>
    readOwnConfig(at, discoverRepository(dir, at.env), owner, system);
  return { dir, home, at, read };
}

function listed(config: GitConfig | null): unknown {
  return (
    config
      ?.keys()
      .filter(isTold)
      .map((key) => [key, config.all(key)]) ?? null
  );
}

async function told(at: { dir: string; env: NodeJS.ProcessEnv }): Promise<unknown> {
  const store = openNativeStore(at);
  const config = await store.config();
  await store.close();
  expect(listed(config)).toEqual(listed(await readConfig(at)));
  return listed(config);
}

describe.runIf(process.platform === 'linux')('the configuration of a repository', () => {
  it('is what git tells: of the system, the user and the repository, in this order', async () => {
    const system = join(temporaryDirectory(), 'system');
    const { home, at, read } = place('[user]\n\tname = local\n[handoff]\n\tidentity = ada\n[core]\n\teditor = none\n', {
      GIT_CONFIG_GLOBAL: undefined,
      GIT_CONFIG_NOSYSTEM: undefined,
      GIT_CONFIG_SYSTEM: system,
    });
    mkdirSync(join(home, '.config/git'), { recursive: true });
    writeFileSync(system, '[user]\n\tname = system\n[remote "o"]\n\tfetch = 1\n');
    writeFileSync(join(home, '.config/git/config'), '[user]\n\tname = xdg\n[core]\n\thooksPath = ~/x\n');
    writeFileSync(join(home, '.gitconfig'), '[user]\n\tname = home\n\temail = a@b\n[branch "a/b"]\n\tremote = o\n');
    expect(listed(read(system))).toEqual(await told(at));
    expect(read(system)?.all('user.name')).toEqual(['system', 'xdg', 'home', 'local']);
  });

  it('is what git tells where XDG_CONFIG_HOME and GIT_CONFIG_GLOBAL name files', async () => {
    const elsewhere = temporaryDirectory();
    mkdirSync(join(elsewhere, 'git'));
    writeFileSync(join(elsewhere, 'git/config'), '[user]\n\tname = xdg\n');
    writeFileSync(join(elsewhere, 'global'), '[user]\n\tname = global\n');
    for (const env of [
      { GIT_CONFIG_GLOBAL: undefined, XDG_CONFIG_HOME: elsewhere },
      { GIT_CONFIG_GLOBAL: join(elsewhere, 'global') },
      { GIT_CONFIG_GLOBAL: join(elsewhere, 'none') },
    ]) {
      const { at, read } = place('', env);
      expect(listed(read())).toEqual(await told(at));
    }
  });

  it.each([
    ['an extension', '[extensions]\n\tworktreeConfig = true\n'],
    ['a newer format', '[core]\n\trepositoryFormatVersion = 1\n'],
    ['its work tree elsewhere', '[core]\n\tworktree = ../..\n'],
    ['an include', '[include]\n\tpath = more\n'],
  ])('is left to git where the repository has %s', (_, local) => {
    const { dir, at } = place();
    const dirs = discoverRepository(dir, at.env);
    writeFileSync(join(dir, '.git/config'), local);
    expect(readOwnConfig(at, dirs, nodeHost.owner, null)).toBe(null);
  });

  it.each<[string, NodeJS.ProcessEnv]>([
    ['no home', { GIT_CONFIG_GLOBAL: undefined, HOME: undefined }],
    ['a relative name', { GIT_CONFIG_GLOBAL: 'config' }],
    ['an empty name', { GIT_CONFIG_GLOBAL: '' }],
    ['an empty XDG_CONFIG_HOME', { GIT_CONFIG_GLOBAL: undefined, XDG_CONFIG_HOME: '' }],
  ])('is left to git where the environment has %s', (_, env) => {
    expect(place('', env).read()).toBe(null);
  });

  it('is left to git where a file of it is no file, or cannot be read, or the repository is not ours', () => {
    const { home, read } = place('', { GIT_CONFIG_GLOBAL: undefined });
    expect(read()).not.toBe(null);
    expect(read(null, nodeHost.owner! + 1)).toBe(null);
    expect(read(null, null)).toBe(null);
    mkdirSync(join(home, '.gitconfig'));
    expect(read()).toBe(null);
  });

  it('is left to git in a bare repository', () => {
    const dir = temporaryDirectory();
    execFileSync('git', ['init', '--quiet', '--bare', dir]);
    const at = { dir, env: isolatedEnv };
    expect(readOwnConfig(at, discoverRepository(dir, isolatedEnv), nodeHost.owner, null)).toBe(null);
    chmodSync(dir, 0o700);
  });
});
