import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { commitAll, type Place } from '../handoff.ts';
import { git, isolatedEnv, temporaryDirectory } from '../temporary.ts';
import { template } from '../threats/forge.ts';
import { open, worktree } from '../verbs/agents.ts';
import { defineTask } from '../verbs/tasks.ts';
import { contextIn, hookInput, type Told, tell, WAYS, type Way } from './event.ts';

// Whatever is wrong, an event ends well and says nothing: a program would hold its agent, or trouble its user, for anything else.

const fresh = template((place) => {
  defineTask(place, 'T1');
  commitAll(place, 'tasks');
});

const SILENT: Told = { code: 0, stdout: '', stderr: '' };
const BOTH = Object.keys(WAYS) as Way[];
const START = ['claude', 'SessionStart'];

function inPlace(dir: string, env: NodeJS.ProcessEnv = {}): Pick<Place, 'dir' | 'env'> {
  return { dir, env };
}

/** As a program that says nothing of what it sends. */
const silentIn = (place: Pick<Place, 'dir' | 'env'>, words = START) =>
  BOTH.map((way) => tell(place, words, hookInput('x', place.dir), way));

describe('where nobody uses git-handoff', () => {
  test('outside a repository, in a bare one, in one without .handoff: nothing is said, and nothing is left', () => {
    const base = temporaryDirectory();
    const [outside, bare, plain] = ['outside', 'bare', 'plain'].map((name) => join(base, name)) as [
      string,
      string,
      string,
    ];
    mkdirSync(outside);
    git('/', 'init', '--quiet', '--bare', bare);
    git('/', 'init', '--quiet', plain);
    for (const dir of [outside, bare, plain]) {
      const before = readdirSync(dir, { recursive: true }).sort();
      expect(silentIn(inPlace(dir, { GIT_CEILING_DIRECTORIES: base }))).toEqual([SILENT, SILENT]);
      expect(readdirSync(dir, { recursive: true }).sort()).toEqual(before);
    }
  });

  test('where .handoff is a file, or .git leads nowhere', () => {
    const dir = temporaryDirectory();
    git('/', 'init', '--quiet', dir);
    writeFileSync(join(dir, '.handoff'), '');
    expect(silentIn(inPlace(dir))).toEqual([SILENT, SILENT]);
    rmSync(join(dir, '.handoff'));
    mkdirSync(join(dir, '.handoff'));
    rmSync(join(dir, '.git'), { recursive: true });
    for (const text of ['gitdir: /gone\n', 'gitdir: ../..\n', 'nonsense', '']) {
      writeFileSync(join(dir, '.git'), text);
      expect(silentIn(inPlace(dir)), text).toEqual([SILENT, SILENT]);
    }
  });

  test('where .handoff says nothing, the log says why', () => {
    const dir = temporaryDirectory();
    git('/', 'init', '--quiet', dir);
    mkdirSync(join(dir, '.handoff'));
    expect(silentIn(inPlace(dir))).toEqual([SILENT, SILENT]);
    expect(readFileSync(join(dir, '.git/handoff/runtimes/log'), 'utf8')).toMatch(
      /^\S+Z claude SessionStart not_initialised /,
    );
  });
});

describe('words that make no sense', () => {
  test.each([
    [],
    ['claude'],
    ['claude', ''],
    ['claude', 'Nothing'],
    ['cursor', 'SessionStart'],
    ['', 'SessionStart'],
    ['__proto__', 'toString'],
    ['claude', 'SessionStart', 'more'],
    ['claude', 'SessionStart', '--as'],
    ['claude', 'SessionStart', '--as', '../../x'],
    ['claude', 'SessionStart', '--as', 'nobody'],
    ['claude', 'Stop', '--as', ''],
    ['claude', 'Stop', '--nonsense'],
    ['claude', '$(touch canary)'],
    ['../../canary', 'Stop'],
  ])('%j %j %j %j', (...words) => {
    const place = fresh();
    expect(silentIn(place, words)).toEqual([SILENT, SILENT]);
    expect([existsSync(join(place.dir, 'canary')), existsSync(join(place.dir, '../canary'))]).toEqual([false, false]);
  });
});

describe('what is sent', () => {
  const deep = '['.repeat(200_000);
  const TEXTS: [string, string | Uint8Array][] = [
    ['nothing', ''],
    ['no JSON', 'undefined'],
    ['half of it', '{"session_id":"x","cwd":"/'],
    ['a list', '[1,2]'],
    ['a text', '"SessionStart"'],
    ['null', 'null'],
    ['what no text is', new Uint8Array([0, 255, 254, 128, 10, 0, 0xed, 0xa0, 0x80])],
    ['half a character', '{"cwd":"\\ud800","prompt":"\\udfff","session_id":"\\u0000"}'],
    ['a key twice', '{"cwd":"/","cwd":7,"__proto__":{"cwd":"/"},"constructor":1}'],
    ['very deep', deep],
    ['10 MB', JSON.stringify({ prompt: 'x'.repeat(10_000_000) })],
    ['10 MB of nothing', ' '.repeat(10_000_000)],
    ['other places', JSON.stringify({ cwd: '/', transcript_path: '../../../etc/passwd' })],
    ['a place that is gone', JSON.stringify({ cwd: '/gone/away' })],
    ['a place in words', JSON.stringify({ cwd: '$(touch canary); `touch canary` | \n' })],
    [
      'naughty words',
      JSON.stringify({ source: '%n{jndi:x}', session_id: "'; DROP TABLE x;--", prompt: '\u202e\u0000<script>' }),
    ],
  ];

  test.each(TEXTS)('%s: every event ends well', async (_, text) => {
    const place = fresh();
    await open(place).handoff.start({ as: 'donna' });
    const [hook, node] = BOTH as [Way, Way];
    const calls: [string[], Way][] = [
      [START, hook],
      [START, node],
      [['gemini', 'PreCompress'], hook],
      [['claude', 'PreToolUse'], hook],
      [['claude', 'StatusLine'], hook],
    ];
    for (const [words, way] of calls) {
      const { code, stdout, stderr } = tell(place, words, text, way);
      expect([code, stderr, stdout.length <= 10_000]).toEqual([0, '', true]);
      if (stdout !== '') expect(JSON.parse(stdout)).toBeTypeOf('object');
    }
    expect(existsSync(join(place.dir, 'canary'))).toBe(false);
  });

  test('an end of the pipe that is never closed: every event ends all the same', async () => {
    const place = fresh();
    await open(place).handoff.start({ as: 'donna' });
    for (const [command, script] of Object.values(WAYS))
      for (const words of [START, ['claude', 'PreToolUse']]) {
        const child = spawn(command, [script, 'agent-event', ...words], {
          cwd: place.dir,
          env: { ...isolatedEnv, ...place.env },
          stdio: ['pipe', 'ignore', 'pipe'],
        });
        child.stdin.on('error', () => {});
        child.stdin.write('{"session_id":"x",');
        expect(await once(child, 'close')).toEqual([0, null]);
        child.stdin.destroy();
      }
  });
});

describe('a machine on which something is wrong', () => {
  test('no key: a compaction leaves no record, and the log says why', async () => {
    const place = fresh();
    const { session_id } = await open(place).handoff.start({ as: 'donna' });
    const env = { ...place.env, HANDOFF_KEYS: join(place.dir, '../none') };
    expect(silentIn({ ...place, env }, ['claude', 'PreCompact'])).toEqual([SILENT, SILENT]);
    expect(readFileSync(join(place.dir, '.git/handoff/runtimes/log'), 'utf8')).toMatch(/ claude PreCompact no_key /);
    expect(readdirSync(join(place.dir, '.git/handoff/sessions', session_id, 'records'))).toEqual(['000001']);
  });

  test('no Node: the shell says nothing', () => {
    const place = fresh();
    const env = { ...place.env, PATH: temporaryDirectory(), HANDOFF_NODE: '/gone/node' };
    const script = WAYS['git-handoff-hook agent-event'][1];
    const { status, stdout } = spawnSync('/bin/sh', [script, 'agent-event', ...START], { cwd: place.dir, env });
    expect([status, stdout.length]).toEqual([0, 0]);
  });

  test('a Node that fails: the shell says nothing, and nobody hears of its exit', () => {
    const place = fresh();
    const node = join(temporaryDirectory(), 'node');
    writeFileSync(node, '#!/bin/sh\necho trouble >&2\nexit 2\n');
    chmodSync(node, 0o755);
    expect(tell({ ...place, env: { ...place.env, HANDOFF_NODE: node } }, START, {})).toEqual(SILENT);
  });

  test('a state directory that is a file: what can be said is said', () => {
    const place = fresh();
    rmSync(join(place.dir, '.git/handoff'), { recursive: true });
    writeFileSync(join(place.dir, '.git/handoff'), '');
    for (const words of [START, ['claude', 'PreToolUse'], ['claude', 'Stop']])
      for (const told of silentIn(place, words)) expect([told.code, told.stderr]).toEqual([0, '']);
  });

  test.each(['relative/path', '/dev/null/x', '/proc/nowhere/x'])('HANDOFF_STATE is %s', (state) => {
    const place = fresh();
    const env = { ...place.env, HANDOFF_STATE: state };
    for (const words of [START, ['claude', 'PreToolUse'], ['claude', 'PreCompact']])
      for (const told of silentIn({ ...place, env }, words)) expect([told.code, told.stderr]).toEqual([0, '']);
  });

  test('a log that grows forgets its older half', async () => {
    const place = fresh();
    await open(place).handoff.start({ as: 'donna' });
    const log = join(place.dir, '.git/handoff/runtimes/log');
    mkdirSync(join(log, '..'), { recursive: true });
    writeFileSync(log, `${'x'.repeat(99)}\n`.repeat(1000));
    const env = { ...place.env, HANDOFF_KEYS: '/gone' };
    tell({ ...place, env }, ['claude', 'PreCompact'], {});
    expect(statSync(log).size).toBeLessThan(40_000);
    expect(readFileSync(log, 'utf8')).toMatch(/^x{99}\nx*[\s\S]* no_key .*\n$/);
  });

  test('ten at once: each is answered, and no lock is left', async () => {
    const place = fresh();
    const { session_id } = await open(place).handoff.start({ as: 'donna' });
    const names = ['SessionStart', 'PreCompact', 'Stop', 'UserPromptSubmit', 'PreToolUse'];
    const all = [...names, ...names].map(async (name) => {
      const child = spawn('sh', [WAYS['git-handoff-hook agent-event'][1], 'agent-event', 'claude', name], {
        cwd: place.dir,
        env: { ...isolatedEnv, ...place.env },
        stdio: ['pipe', 'ignore', 'pipe'],
      });
      child.stdin.on('error', () => {}); // the shell reads nothing, and may have ended
      child.stdin.end('{}');
      return once(child, 'close');
    });
    expect(await Promise.all(all)).toEqual(
      names.flatMap(() => [
        [0, null],
        [0, null],
      ]),
    );
    const left = readdirSync(join(place.dir, '.git'), { recursive: true, encoding: 'utf8' });
    expect(left.filter((path) => path.endsWith('index.lock') || /heartbeat\.\d/.test(path))).toEqual([]);
    expect((await open(place).handoff.verify()).valid).toBe(true);
    expect(existsSync(join(place.dir, '.git/handoff/sessions', session_id, 'heartbeat'))).toBe(true);
  });
});

describe('where an agent works', () => {
  test('is never a git directory that came with a clone, whose settings start programs', async () => {
    const place = fresh();
    const evil = join(place.dir, 'evil');
    for (const folder of ['objects', 'refs']) mkdirSync(join(evil, folder), { recursive: true });
    writeFileSync(join(evil, 'HEAD'), 'ref: refs/heads/main\n');
    writeFileSync(join(evil, 'config'), '[core]\n\tbare = false\n\tworktree = ..\n');
    expect(silentIn({ ...place, dir: evil })).toEqual([SILENT, SILENT]);
    expect(readdirSync(evil).sort()).toEqual(['HEAD', 'config', 'objects', 'refs']);
  });

  test('may have a line break in its path: nothing is left elsewhere', () => {
    const place = fresh();
    const main = join(place.dir, '../a\nb');
    renameSync(place.dir, main);
    const linked = join(main, '../linked');
    git(main, 'worktree', 'add', '--quiet', linked);
    expect(tell({ ...place, dir: linked }, ['claude', 'PreToolUse'], {})).toEqual(SILENT);
    expect(existsSync(join(main, '../a'))).toBe(false);
    expect(existsSync(join(main, '.git/handoff/runtimes/claude/tool'))).toBe(true);
  });

  test('is where its hook is started, in a folder of it too', async () => {
    const place = fresh();
    await open(place).handoff.start({ as: 'donna' });
    mkdirSync(join(place.dir, 'a/b'), { recursive: true });
    const below = { ...place, dir: join(place.dir, 'a/b') };
    for (const way of BOTH) expect(contextIn(tell(below, START, {}, way))).toContain('donna has session');
  });

  test('is where it says, in another work tree of the same repository', async () => {
    const place = fresh();
    const linked = worktree(place, 'side');
    await linked.handoff.start({ as: 'erin' });
    for (const way of BOTH) {
      expect(contextIn(tell(place, START, hookInput('SessionStart', linked.dir), way))).toContain('erin has session');
      expect(contextIn(tell(linked, START, hookInput('SessionStart', '/'), way))).toContain('erin has session');
    }
  });

  test('is never another repository, whatever it says', async () => {
    const [place, other] = [fresh(), fresh()];
    await open(other).handoff.start({ as: 'erin' });
    for (const way of BOTH)
      expect(contextIn(tell(place, START, hookInput('SessionStart', other.dir), way))).toContain('no session is open');
  });
});
