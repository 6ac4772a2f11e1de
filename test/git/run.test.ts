import { chownSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readConfig, writeConfig } from '../../src/git/config.ts';
import { parseConfigFile } from '../../src/git/config-file.ts';
import { gitEnv, readGit, runGit } from '../../src/git/run.ts';
import { git, temporaryDirectory } from '../temporary.ts';
import { commit, gitAt, history } from './fixture.ts';

const repository = () => history(join(temporaryDirectory(), 'r'));

describe('the environment of git', () => {
  test('drops what could redirect git and keeps who the user is', () => {
    const env = gitEnv({
      PATH: '/bin',
      GIT_DIR: '/x',
      GIT_INDEX_FILE: '/x',
      GIT_CONFIG_COUNT: '1',
      GIT_EXTERNAL_DIFF: 'touch x',
      git_work_tree: '/x',
      GIT_AUTHOR_NAME: 'Ada',
      GIT_SSH_COMMAND: 'ssh -i k',
    });
    expect(Object.keys(env)).toEqual(expect.arrayContaining(['PATH', 'GIT_AUTHOR_NAME', 'GIT_SSH_COMMAND', 'LC_ALL']));
    for (const name of ['GIT_DIR', 'GIT_INDEX_FILE', 'GIT_CONFIG_COUNT', 'GIT_EXTERNAL_DIFF', 'git_work_tree'])
      expect(env).not.toHaveProperty(name);
    expect(gitEnv(env)).toEqual(env);
  });

  test('an inherited repository, index or object store is not used', async () => {
    const other = history(join(temporaryDirectory(), 'other'));
    const dir = repository();
    const env = { GIT_DIR: join(other, '.git'), GIT_INDEX_FILE: '/nowhere', GIT_OBJECT_DIRECTORY: '/nowhere' };
    expect((await readGit(gitAt(dir, env), ['rev-parse', '--show-toplevel'])).toString().trim()).toBe(dir);
    expect((await readGit(gitAt(dir, env), ['status', '--porcelain'])).toString()).toBe('');
  });

  test('a variable set on purpose is used', async () => {
    const set = { GIT_INDEX_FILE: join(temporaryDirectory(), 'index') };
    expect((await readGit({ ...gitAt(repository()), set }, ['ls-files'])).toString()).toBe('');
  });

  test('prints no advice about grafts', async () => {
    expect((await runGit(gitAt(repository()), ['log', '--oneline'])).stderr).toBe('');
  });
});

describe('hostile configuration', () => {
  test('the fsmonitor program never runs', async () => {
    const dir = repository();
    const canary = join(temporaryDirectory(), 'canary');
    git(dir, 'config', 'core.fsmonitor', `touch ${canary}; true`);
    await readGit(gitAt(dir), ['status', '--porcelain']);
    expect(existsSync(canary)).toBe(false);
    git(dir, 'status');
    expect(existsSync(canary)).toBe(true);
  });

  test('the ext transport is refused', async () => {
    const dir = repository();
    const canary = join(dir, 'canary');
    git(dir, 'config', 'protocol.ext.allow', 'always');
    const result = await runGit(gitAt(dir), ['ls-remote', `ext::touch ${canary}`]);
    expect(result.code).not.toBe(0);
    expect(existsSync(canary)).toBe(false);
  });

  test('an external diff breaks neither diff-tree nor the runner', async () => {
    const dir = repository();
    const canary = join(temporaryDirectory(), 'canary');
    git(dir, 'config', 'diff.external', `touch ${canary}`);
    await readGit(gitAt(dir), ['diff-tree', '-p', 'HEAD']);
    expect(existsSync(canary)).toBe(false);
  });
});

describe('failures', () => {
  test('no git on the PATH', async () => {
    const run = runGit({ dir: '/', env: { PATH: temporaryDirectory() } }, ['version']);
    await expect(run).rejects.toMatchObject({ code: 'io', message: 'git was not found on the PATH' });
  });

  test('not a repository', async () => {
    const run = readGit(gitAt(temporaryDirectory(), { GIT_CEILING_DIRECTORIES: '/' }), ['status']);
    await expect(run).rejects.toMatchObject({ code: 'not_a_repository', hint: expect.stringContaining('git init') });
  });

  test.runIf(process.getuid?.() === 0)("another user's repository", async () => {
    const dir = repository();
    chownSync(dir, 12345, 12345);
    chownSync(join(dir, '.git'), 12345, 12345);
    const run = readGit(gitAt(dir), ['status']);
    const hint = expect.stringContaining('git config --global --add safe.directory');
    await expect(run).rejects.toMatchObject({ code: 'not_a_repository', hint });
  });

  test('another git holds the index', async () => {
    const dir = repository();
    writeFileSync(join(dir, '.git/index.lock'), '');
    writeFileSync(join(dir, 'new'), '');
    const run = readGit(gitAt(dir), ['add', 'new']);
    await expect(run).rejects.toMatchObject({ code: 'io', hint: expect.stringContaining('Another git process') });
  });

  test('the message names the subcommand and the reason', async () => {
    const run = readGit(gitAt(repository()), ['cat-file', '-p', 'nope']);
    await expect(run).rejects.toThrow('git cat-file failed with exit code 128: fatal: Not a valid object name nope');
  });

  test('git that does not read its input', async () => {
    const result = await runGit(gitAt(repository()), ['version'], { input: Buffer.alloc(4 << 20) });
    expect(result.code).toBe(0);
  });
});

describe('configuration', () => {
  test('the last value wins, names ignore case, subsections do not', async () => {
    const dir = repository();
    git(dir, 'config', 'remote.A.url', 'upper');
    git(dir, 'config', 'remote.a.url', 'lower');
    git(dir, 'config', '--add', 'remote.a.url', 'two\nlines');
    writeFileSync(join(dir, '.git/config'), '[handoff]\n\tenabled\n', { flag: 'a' });
    const config = await readConfig(gitAt(dir));
    expect(config.all('remote.a.URL')).toEqual(['lower', 'two\nlines']);
    expect(config.get('Remote.A.url')).toBe('upper');
    expect(config.get('handoff.enabled')).toBe('true');
    expect(config.get('handoff.absent')).toBeUndefined();
  });

  test('what is written in a linked worktree is read in the main one, even if it looks like an option', async () => {
    const dir = repository();
    git(dir, 'worktree', 'add', '--quiet', '--detach', '../linked');
    await writeConfig(gitAt(join(dir, '../linked')), 'handoff.identity', '--get');
    expect((await readConfig(gitAt(dir))).get('handoff.identity')).toBe('--get');
  });

  test('a key that looks like an option changes nothing', async () => {
    const dir = repository();
    await expect(writeConfig(gitAt(dir), '--unset', 'core.bare')).rejects.toMatchObject({ code: 'io' });
    expect((await readConfig(gitAt(dir))).get('core.bare')).toBe('false');
  });

  test('the file reader agrees with git', () => {
    const dir = repository();
    commit(dir, {});
    const text =
      '[a] x = 1 # note\n[A "S\\"ub"]\n y = "a ; b" c ;d\n flag\n z = one \\\n two\\ttab\\\\ \n[b.C]d=e\n[e]\nempty =\n';
    writeFileSync(join(dir, 'config'), text);
    const listed = git(dir, 'config', '--file', 'config', '--list', '-z').split('\0').filter(Boolean);
    const expected = listed.map((line) => (line.includes('\n') ? line.split(/\n(.*)/s).slice(0, 2) : [line, 'true']));
    expect([...parseConfigFile(text)]).toEqual(expected);
  });
});
