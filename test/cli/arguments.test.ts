import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { initialised } from '../handoff.ts';
import { git, temporaryDirectory } from '../temporary.ts';
import { bash, errorOf, run } from './cli.ts';

describe('the version', () => {
  it.each(['--version', '-V'])('%s prints it and nothing else', (flag) => {
    expect(run([flag])).toEqual({ code: 0, stdout: `${packageJson.version}\n`, stderr: '' });
  });

  it('is an object with --json', () => {
    expect(JSON.parse(run(['--version', '--json']).stdout)).toMatchObject({ version: packageJson.version });
  });
});

describe('wrong usage', () => {
  it.each([
    ['an unknown option', ['verify', '--nonsense']],
    ['a missing argument', ['identity', 'add']],
    ['too many arguments', ['verify', 'a', 'b']],
    ['a missing value', ['verify', '--root']],
    ['a missing verb of a family', ['identity']],
    ['a flag and no verb', ['-C', '/']],
    ['an unknown verb', ['nonsense']],
    ['an unknown shell', ['completion', 'tcsh']],
    ['a role that is none', ['identity', 'add', 'x', '--role', 'king']],
    ['a kind that is none', ['log', '--kind', 'gossip']],
    ['a limit in words', ['log', '-n', 'ten']],
    ['a limit below zero', ['log', '-n', '-1']],
    ['a limit with a fraction', ['log', '-n', '1.5']],
    ['a limit beyond integers', ['log', '-n', '99999999999999999999']],
    ['a threshold of zero', ['init', '--threshold', '0']],
    ['two sessions where there is one', ['seal', '7c1f09aa', '--session', '8d2e10bb']],
  ])('%s is refused with 2, in words and in JSON', (_, args) => {
    const text = run(args);
    expect(text).toMatchObject({ code: 2, stdout: '' });
    expect(text.stderr).toMatch(/^error: .+\nhint: {2}.+\n$/);
    const json = run([...args, '--json']);
    expect(json).toMatchObject({ code: 2, stderr: '' });
    expect(errorOf(json)).toMatchObject({ code: 'usage', message: expect.any(String), hint: expect.any(String) });
    expect(Object.keys(errorOf(json))).toEqual(['code', 'message', 'hint', 'data']);
  });

  it.each([
    [['verfiy'], 'Did you mean verify?'],
    [['identity', 'lst'], 'Did you mean list?'],
    [['verify', '--stagd'], 'Did you mean --staged?'],
    [['log', '--limit', 'x'], 'See git handoff log -h'],
    [['identity', 'add'], 'See git handoff identity add -h'],
  ])('%j: %s', (args, hint) => {
    expect(errorOf(run([...args, '--json'])).hint).toBe(hint);
  });
});

describe('-C and --json', () => {
  it('work before and after the verb', async () => {
    const { dir, env } = await initialised();
    for (const args of [
      ['-C', dir, '--json', 'verify'],
      ['verify', '-C', dir, '--json'],
      ['--json', 'verify', '-C', dir],
      ['identity', '--json', 'list', '-C', dir],
    ]) {
      const { code, stdout } = run(args, { env });
      expect(code).toBe(0);
      expect(Object.keys(JSON.parse(stdout)).length).toBeGreaterThan(0);
    }
  });

  it('-C also moves relative paths', async () => {
    const { dir, env } = await initialised();
    const keygen = JSON.parse(run(['identity', 'keygen', 'zed', '--json'], { env }).stdout);
    writeFileSync(join(dir, 'zed.pub'), `${keygen.public_key}\n`);
    const { code, stdout } = run(['-C', dir, 'identity', 'add', 'zed', '--key', 'zed.pub', '--json'], { env });
    expect([code, JSON.parse(stdout).fingerprint]).toEqual([0, keygen.fingerprint]);
  });

  it('--json after -- is a word like any other', async () => {
    const { dir, env } = await initialised();
    const { code, stderr } = run(['-C', dir, 'verify', '--', '--json'], { env });
    expect([code, stderr]).toEqual([2, expect.stringContaining('error: ')]);
  });

  it('--as works before the verb', () => {
    const dir = temporaryDirectory();
    git(dir, 'init', '--quiet', '--initial-branch=main', 'work');
    const env = { HANDOFF_KEYS: join(dir, 'keys') };
    const { code, stdout } = run(['--as', 'ada', 'init', '--no-hooks', '--json'], { cwd: join(dir, 'work'), env });
    expect([code, JSON.parse(stdout).identity]).toEqual([0, 'ada']);
  });

  it('--stage stages without a commit, --no-commit and --no-stage only write', () => {
    const env = { HANDOFF_KEYS: temporaryDirectory() };
    const states = [['--no-commit', '--stage'], ['--no-commit'], ['--no-stage']].map((flags) => {
      const cwd = temporaryDirectory();
      git(cwd, 'init', '--quiet');
      expect(run(['init', ...flags], { cwd, env }).code).toBe(0);
      return git(cwd, 'status', '--porcelain', '.handoff').slice(0, 2);
    });
    expect(states).toEqual(['A ', '??', '??']);
  });
});

describe('the environment', () => {
  it('no repository is 4, without a stack trace', () => {
    const cwd = temporaryDirectory();
    const { code, stdout, stderr } = run(['verify'], { cwd });
    expect([code, stdout]).toEqual([4, '']);
    expect(stderr).not.toMatch(/^\s+at /m);
    expect(errorOf(run(['verify', '--json'], { cwd }))).toMatchObject({ code: 'not_a_repository' });
  });

  it('no policy is 4', () => {
    const cwd = temporaryDirectory();
    git(cwd, 'init', '--quiet');
    git(cwd, 'commit', '--quiet', '--allow-empty', '--message', 'first');
    expect(errorOf(run(['verify', '--json'], { cwd }))).toMatchObject({ code: 'not_initialised' });
    expect(run(['verify'], { cwd }).code).toBe(4);
  });

  it('works through git itself', async () => {
    const { dir, env } = await initialised();
    const bin = temporaryDirectory();
    mkdirSync(bin, { recursive: true });
    const script = `ln -s "$2" ${bin}/git-handoff && PATH=${bin}:$PATH git handoff verify`;
    expect(bash(script, { cwd: dir, env })).toMatchObject({ code: 0, stdout: expect.stringContaining('✓') });
  });
});
