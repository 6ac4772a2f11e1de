import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { formatLog } from '../../src/cli/commands/reading/log-text.ts';
import { formatFailure, toFailure } from '../../src/cli/failure.ts';
import { toJson } from '../../src/cli/json.ts';
import { HandoffError } from '../../src/core/error.ts';
import { commitAll, emptyPlace, initialised, STORY, writeBytes, writeSession } from '../handoff.ts';
import { git, temporaryDirectory } from '../temporary.ts';
import { bash, errorOf, run, UNSAFE } from './cli.ts';

const plain = Object.assign((_: string, text: string) => text, { columns: null });

describe('verify', () => {
  it('says what holds and exits with 0', async () => {
    const place = await initialised();
    writeSession(place, STORY);
    commitAll(place);
    const { code, stdout, stderr } = run(['verify'], { cwd: place.dir, env: place.env });
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^✓ 9 records and documents hold \(policy 1, root [0-9a-f]{12}\)\n$/);
  });

  it('shows each finding with its place, expectation, what was found and a hint, and exits with 1', async () => {
    const place = await initialised();
    writeBytes(place.dir, '.handoff/notes.txt', 'x');
    commitAll(place);
    const { code, stdout } = run(['verify'], { cwd: place.dir, env: place.env });
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /^\.handoff\/notes\.txt: error path_mismatch\n {2}expected {2}\S.*\n {2}found {5}\S.*\n {2}hint {6}\S/,
    );
    expect(stdout).toMatch(/\n✗ 1 problem in 5 records and documents\n$/);
    const json = run(['verify', '--json'], { cwd: place.dir, env: place.env });
    expect([json.code, json.stderr, JSON.parse(json.stdout)]).toMatchObject([1, '', { valid: false, findings: [{}] }]);
  });
});

describe('log, show and lists', () => {
  it('log prints one aligned line for each record, newest first, below the names of the columns', async () => {
    const place = await initialised();
    const written = writeSession(place, STORY);
    commitAll(place);
    const { stdout } = run(['log', '-n', '3'], { cwd: place.dir, env: place.env });
    const [head, ...lines] = stdout.trimEnd().split('\n');
    expect(head).toMatch(/^RECORD +KIND +IDENTITY +SEQ +WRITTEN +SUMMARY$/);
    expect(lines.map((line) => line.slice(0, 12))).toEqual(
      written
        .map(({ id }) => id.slice(7, 19))
        .reverse()
        .slice(0, 3),
    );
    expect(new Set(lines.map((line) => line.indexOf('donna'))).size).toBe(1);
    expect(lines[0]).toMatch(/baton +donna {5}4 {4}2026-02-20 14:30 {2}half way$/);
  });

  it('a log longer than a call may have arguments is printed', () => {
    const entry = {
      id: `sha256:${'a'.repeat(64)}`,
      kind: 'note',
      session_id: '',
      identity: 'donna',
      clock: 1,
      path: '',
    };
    const records = Array.from({ length: 200_000 }, (_, seq) => ({ ...entry, seq, at: '', valid: true, summary: 'x' }));
    expect(formatLog({ records }, plain).split('\n')).toHaveLength(200_002);
  });

  it('show prints who signed, the fields and the text', async () => {
    const place = await initialised();
    const baton = writeSession(place, STORY).at(-1)!;
    commitAll(place);
    const { code, stdout } = run(['show', baton.id.slice(7, 15)], { cwd: place.dir, env: place.env });
    expect(code).toBe(0);
    expect(stdout).toMatch(/^✓ signed by donna SHA256:/);
    expect(stdout).toMatch(/\nsummary +half way\n/);
    expect(stdout).toMatch(/\n----- BEGIN (\w{32}) -----\n# Current work\n\nHalf way there\.\n----- END \1 -----\n$/);
  });

  it('identity export is a file that ssh-keygen reads, and nothing else', async () => {
    const { dir, env } = await initialised();
    const { stdout } = run(['identity', 'export'], { cwd: dir, env });
    for (const line of stdout.trimEnd().split('\n')) expect(line).toMatch(/^\S+ namespaces="\S+" ssh-ed25519 \S+$/);
  });

  it('init prints the root, which trust then shows', () => {
    const { dir, env } = emptyPlace();
    const { stdout } = run(['init'], { cwd: dir, env });
    const root = /^root +([0-9a-f]{64})$/m.exec(stdout)?.[1];
    expect(root).toBeDefined();
    expect(run(['trust'], { cwd: dir, env }).stdout).toContain(root);
  });
});

describe('hostile text never reaches the terminal', () => {
  const HOSTILE = '\x1b]0;owned\x07\x1b[2J\u202e\u200b\u009b31m\u{e0041}';

  it('in the body of a record', async () => {
    const place = await initialised();
    const [, baton] = writeSession(place, [{ kind: 'start' }, { kind: 'baton', body: `# Baton\n\n${HOSTILE}\n` }]);
    commitAll(place);
    for (const args of [['show', baton!.path], ['show', baton!.path, '--json'], ['log']]) {
      const { code, stdout, stderr } = run(args, { cwd: place.dir, env: place.env });
      expect([code, UNSAFE.test(stdout + stderr)]).toEqual([0, false]);
    }
    const json = JSON.parse(run(['show', baton!.path, '--json'], { cwd: place.dir, env: place.env }).stdout);
    expect(json.body).toBe(`# Baton\n\n${HOSTILE}\n`);
  });

  it('in the name of a file, where a line break cannot pose as a verdict either', async () => {
    const place = await initialised();
    writeFileSync(join(place.dir, '.handoff', `${HOSTILE}\n✓ 9 records and documents hold`), 'x');
    commitAll(place);
    for (const flags of [[], ['--json'], ['--staged']]) {
      const { code, stdout, stderr } = run(['verify', ...flags], { cwd: place.dir, env: place.env });
      expect([code, UNSAFE.test(stdout + stderr)]).toEqual([1, false]);
      expect(stdout).not.toMatch(/^✓/m);
    }
  });

  it.each([
    [['verify', HOSTILE]],
    [[HOSTILE]],
    [['verify', `--${HOSTILE}`]],
    [['show', HOSTILE]],
    [['-C', `/${HOSTILE}`, 'verify']],
  ])('in an argument: %#', async (args) => {
    const { dir, env } = await initialised();
    for (const flags of [[], ['--json']]) {
      const { code, stdout, stderr } = run([...args, ...flags], { cwd: dir, env });
      expect(code).toBeGreaterThan(1);
      expect(UNSAFE.test(stdout + stderr)).toBe(false);
    }
  });

  it('in JSON, while the value stays the same', () => {
    expect(UNSAFE.test(toJson({ [HOSTILE]: HOSTILE }))).toBe(false);
    expect(JSON.parse(toJson({ [HOSTILE]: HOSTILE }))).toEqual({ [HOSTILE]: HOSTILE });
  });
});

describe('colours', () => {
  it.each([
    [{}, false],
    [{ FORCE_COLOR: '1' }, true],
    [{ FORCE_COLOR: '0' }, false],
    [{ FORCE_COLOR: '1', NO_COLOR: '1' }, false],
    [{ NO_COLOR: '' }, false],
  ])('%j, through a pipe: %s', (env, coloured) => {
    expect(run(['nonsense'], { env }).stderr.includes('\x1b[')).toBe(coloured);
  });

  it('never in JSON', async () => {
    const { dir, env } = await initialised();
    expect(run(['verify', '--json'], { cwd: dir, env: { ...env, FORCE_COLOR: '1' } }).stdout).not.toContain('\x1b');
  });
});

describe('warnings', () => {
  it('go to stderr, with --json too', async () => {
    const { dir, env } = await initialised();
    const clone = temporaryDirectory();
    git(clone, 'clone', '--quiet', dir, '.');
    const { stdout, stderr } = run(['verify', '--json'], { cwd: clone, env });
    expect(stderr).toMatch(/^warning: Pinned root/);
    expect(JSON.parse(stdout).root).toMatch(/^[0-9a-f]{64}$/);
  });
});

describe('streams', () => {
  it('a reader that goes away is no failure', () => {
    const script = `"$@" completion fish 2>&1 >/dev/full | cat; sleep 0.3 | "$@" completion fish | true; echo "\${PIPESTATUS[1]}"`;
    const { stdout, stderr } = bash(script);
    expect(stderr).toBe('');
    expect(stdout).toMatch(/^error: .*ENOSPC[^\n]*\nhint: [^\n]*\n0\n$/);
  });

  it('a full disk is 4', () => {
    expect(bash('"$@" -h > /dev/full').code).toBe(4);
  });
});

describe('our own bugs', () => {
  it('say so, with the stack, and are 4', () => {
    const failure = toFailure(new TypeError('x is not a function'));
    expect(failure).toMatchObject({ code: 'internal', exitCode: 4 });
    expect(formatFailure(failure, plain)).toMatch(
      /^error: This is a bug in git-handoff: x is not[^\n]*\nhint: [^\n]+\n\nTypeError[^\n]*\n +at /,
    );
  });

  it('are not what the operating system refuses', () => {
    const error = Object.assign(new Error('EACCES: permission denied'), {
      code: 'EACCES',
      errno: -13,
      syscall: 'open',
    });
    expect(toFailure(error)).toMatchObject({ code: 'io', exitCode: 4 });
    expect(toFailure(error).stack).toBeUndefined();
  });

  it('are not what we refuse', () => {
    const failure = toFailure(new HandoffError('bad_name', 'No.', { hint: 'Yes.' }));
    expect(formatFailure(failure, plain)).toBe('error: No.\nhint:  Yes.\n');
    expect(failure.exitCode).toBe(2);
  });

  it('verbs refuse a bad revision without a stack', async () => {
    const { dir, env } = await initialised();
    const result = run(['verify', 'no-such-branch', '--json'], { cwd: dir, env });
    expect([result.code, errorOf(result).code]).toEqual([2, 'usage']);
  });
});
