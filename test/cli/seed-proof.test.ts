import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { commitAll, type Place } from '../handoff.ts';
import { git } from '../temporary.ts';
import { findings, template } from '../threats/forge.ts';
import { changes, recordsOf } from '../verbs/agents.ts';
import { defineTask, work } from '../verbs/tasks.ts';
import { type Begun, begin, errorOf, type Run, run } from './cli.ts';

// The proof-grade chain of the agent handoff protocol (seed 004), and its failure mode 4, as processes.

const MESSAGE = 'Merkle finalization in progress. Retry in 5s.';

const place = template((here) => {
  defineTask(here, 'P0.2.2', { proof: 'seal' });
  commitAll(here, 'tasks');
});

interface Sealed {
  session_id: string;
  tree_size: number;
  root: string;
  delta_id: string;
  already_sealed: boolean;
}

function envOf({ keys }: Place, more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  return { HANDOFF_KEYS: keys, ...more };
}

/** One answer of the program, which must end with the exit code. */
function handoff<T extends object>(here: Place, args: string[], exit = 0): T {
  const answer = run([...args, '--json'], { cwd: here.dir, env: envOf(here) });
  expect({ args, code: answer.code, said: answer.code === exit ? '' : answer.stdout + answer.stderr }).toEqual({
    args,
    code: exit,
    said: '',
  });
  return JSON.parse(answer.stdout);
}

/** donna's session with something in it. */
function opened(here: Place): string {
  handoff(here, ['start', '--as', 'donna']);
  handoff(here, ['note', 'ready']);
  return handoff<{ session: { session_id: string } }>(here, ['status']).session.session_id;
}

function kinds(here: Place, session: string): unknown[] {
  return recordsOf(here, session).map(({ fields }) => fields.kind);
}

describe('for proof-grade work, the full chain', () => {
  it('audit start, work, audit verify, thought, seal, root', async () => {
    const here = place();
    git(here.dir, 'switch', '--quiet', '--create', 'feature/p0-2-2');
    const intent = ['--intent', 'cut the package in two', '--task', 'P0.2.2'];
    const { session_id, delta_id } = handoff<{ session_id: string; delta_id: string }>(here, [
      ...['audit', 'start', ...intent, '--as', 'donna'],
    ]);
    expect(delta_id).toMatch(/^sha256:[0-9a-f]{64}$/);
    const commit = work(here, { 'src/half.ts': 'one\n' });
    const verified = { valid: true, record_count: 2, broken_count: 0, first_broken_at: null };
    expect(handoff(here, ['audit', 'verify'])).toMatchObject(verified);

    // do not finalize before the final thought
    const { error } = handoff<{ error: object }>(here, ['seal'], 1);
    expect(error).toMatchObject({ code: 'seal_too_early', data: { session_id, commit } });
    expect(handoff(here, ['root'], 2)).toMatchObject({ error: { code: 'nothing_sealed' } });
    expect(handoff(here, ['audit', 'verify'])).toMatchObject(verified);

    handoff(here, ['thought', 'P0.2.2', '--summary', 'it is in two', '--tests', 'npm test']);
    const sealed = handoff<Sealed>(here, ['seal']);
    expect(sealed).toMatchObject({ session_id, tree_size: 3, already_sealed: false });
    expect(sealed.root).toMatch(/^[0-9a-f]{64}$/);
    expect(sealed.delta_id).toMatch(/^sha256:[0-9a-f]{64}$/);
    const { tree_size, root } = sealed;
    for (const args of [['root'], ['root', session_id.slice(0, 8)], ['root', '--session', session_id]])
      expect(handoff(here, args)).toEqual({ session_id, tree_size, root });
    expect(run(['root'], { cwd: here.dir, env: envOf(here) }).stdout.trim()).toMatch(new RegExp(`^${root} `));
    expect(handoff(here, ['audit', 'verify', session_id])).toMatchObject({ valid: true, record_count: 4 });

    // nothing new, same root
    for (const args of [['seal'], ['seal', session_id], ['seal', '--session', session_id.slice(0, 8)]])
      expect(handoff(here, args)).toEqual({ ...sealed, already_sealed: true, commit: null });
    expect(changes(here)).toEqual([]);
    expect(await findings(here)).toEqual([]);

    // the same root where nothing but the commits arrived
    const clone = join(here.dir, '..', 'clone');
    git('/', 'clone', '--quiet', '--branch', 'feature/p0-2-2', here.dir, clone);
    expect(handoff({ ...here, dir: clone }, ['root', session_id])).toEqual({ session_id, tree_size, root });
  });

  it('a task that asks for proof is not let through without the seal, and is with it', () => {
    const here = place();
    const gate = ['gate', '--base', 'main', '--head', 'HEAD'];
    git(here.dir, 'switch', '--quiet', '--create', 'feature/p0-2-2');
    handoff(here, ['audit', 'start', '--intent', 'cut it', '--task', 'P0.2.2', '--as', 'donna']);
    handoff(here, ['task', 'update', 'P0.2.2', '--status', 'in_progress']);
    work(here, { 'src/half.ts': 'one\n' });
    expect(handoff(here, ['wrap', '--message', 'too early', '--seal'], 1)).toMatchObject({
      error: { code: 'seal_too_early' },
    });
    expect(handoff(here, ['sessions'])).toMatchObject({ sessions: [{ state: 'active' }] });
    handoff(here, ['thought', 'P0.2.2', '--summary', 'it is in two']);
    handoff(here, ['task', 'update', 'P0.2.2', '--status', 'done', '--commit']);
    const codes = (verdict: object) => (verdict as { findings: { code: string }[] }).findings.map(({ code }) => code);
    expect(codes(handoff(here, gate, 1))).toContain('seal_missing');

    const wrapped = handoff<{ seal: Sealed }>(here, ['wrap', '--message', '# Next steps\n\nNone.\n', '--seal']);
    expect(wrapped.seal).toMatchObject({ tree_size: 6, root: expect.stringMatching(/^[0-9a-f]{64}$/) });
    expect(handoff(here, gate)).toMatchObject({ pass: true, findings: [] });
    expect(handoff(here, ['root', '--as', 'donna'])).toMatchObject({ tree_size: 6, root: wrapped.seal.root });
    expect(handoff(here, ['task', 'list'])).toMatchObject({ tasks: [{ task_id: 'P0.2.2', status: 'done' }] });
    expect(changes(here)).toEqual([]);
  });
});

/** What a process that seals may say: done, or come back. */
function assertAnswer({ code, stdout, stderr }: Run): Sealed | null {
  if (code === 0) return JSON.parse(stdout);
  expect({ code, stderr, error: JSON.parse(stdout).error }).toMatchObject({
    code: 3,
    stderr: '',
    error: { code: 'seal_in_progress', message: MESSAGE },
  });
  return null;
}

/** A `git` that stands still before it moves the branch, until it is told whether to go on. No sleeps: it waits at pipes. */
function pausedGit(here: Place): {
  env: NodeJS.ProcessEnv;
  reached(): Promise<unknown>;
  say(word: string): Promise<void>;
} {
  const bin = join(here.dir, '..', 'bin');
  const [at, go] = ['at', 'go'].map((name) => join(here.dir, '..', name)) as [string, string];
  mkdirSync(bin);
  for (const pipe of [at, go]) execFileSync('mkfifo', [pipe]);
  const script = `#!/bin/sh
PATH="\${PATH#*:}"
case "$*" in *update-ref*) echo here > '${at}'; read -r word < '${go}'; [ "$word" = go ] || exit 1 ;; esac
exec git "$@"
`;
  writeFileSync(join(bin, 'git'), script);
  // somebody else's: only git runs it, so git moves the branch
  const hook = join(here.dir, '.git/hooks/reference-transaction');
  writeFileSync(hook, '#!/bin/sh\n');
  for (const file of [join(bin, 'git'), hook]) chmodSync(file, 0o755);
  const env = envOf(here, { PATH: `${bin}:${process.env.PATH}` });
  return { env, reached: () => readFile(at), say: (word) => writeFile(go, `${word}\n`) };
}

/** A process that is in the middle of its seal. */
async function sealing(here: Place, args = ['seal']): Promise<Begun & { say(word: string): Promise<void> }> {
  const { env, reached, say } = pausedGit(here);
  const begun = begin([...args, '--json'], { cwd: here.dir, env });
  await reached();
  return { ...begun, say };
}

describe('Failure Mode 4: two agents finalize Merkle simultaneously', () => {
  it('at the exact same time: one record; who is late is told, and its retry is a no-op with the same root', async () => {
    const here = place();
    const session = opened(here);
    const asks: [string[], NodeJS.ProcessEnv][] = [
      [['seal'], {}],
      [['seal', session, '--as', 'erin'], {}],
      [['seal', session.slice(0, 8)], { HANDOFF_IDENTITY: 'erin' }],
    ];
    for (const [round, [args, env]] of asks.entries()) {
      const both = [
        begin(['seal', '--json'], { cwd: here.dir, env: envOf(here) }),
        begin([...args, '--json'], { cwd: here.dir, env: envOf(here, env) }),
      ];
      const answers = (await Promise.all(both.map(({ ended }) => ended))).map(assertAnswer);
      const done = answers.filter((answer) => answer !== null);
      expect(done.filter(({ already_sealed }) => !already_sealed)).toHaveLength(1);
      const again = run([...args, '--json'], { cwd: here.dir, env: envOf(here, env) });
      const { root } = done[0]!;
      expect(assertAnswer(again)).toMatchObject({ session_id: session, root, already_sealed: true, commit: null });
      expect(new Set(done.map((each) => each.root))).toEqual(new Set([root]));
      expect(kinds(here, session).filter((kind) => kind === 'seal')).toHaveLength(round + 1);
      handoff(here, ['note', `after round ${round}`]);
    }
    handoff(here, ['wrap', '--message', 'done', '--seal']);
    expect(changes(here)).toEqual([]);
    expect(await findings(here)).toEqual([]);
  });

  it.each(['at work', 'stopped'])('while the first is %s the second gets the message and exit 3', async (state) => {
    const here = place();
    const session = opened(here);
    const first = await sealing(here);
    if (state === 'stopped') first.child.kill('SIGSTOP');
    const before = git(here.dir, 'rev-parse', 'HEAD');
    const erin = envOf(here, { HANDOFF_IDENTITY: 'erin' });
    for (const [args, env] of [
      [['seal'], envOf(here)],
      [['seal', session, '--as', 'erin'], envOf(here)],
      [['seal', session], erin],
    ] as const) {
      const json = run([...args, '--json'], { cwd: here.dir, env });
      expect([json.code, json.stderr]).toEqual([3, '']);
      expect(errorOf(json)).toMatchObject({
        code: 'seal_in_progress',
        message: MESSAGE,
        hint: expect.stringContaining('Run the same command again'),
        data: { session_id: session, retry_after: 5 },
      });
      const text = run(args, { cwd: here.dir, env });
      expect([text.code, text.stdout, text.stderr.split('\n')[0]]).toEqual([3, '', expect.stringContaining(MESSAGE)]);
    }
    expect(git(here.dir, 'rev-parse', 'HEAD')).toBe(before);
    first.child.kill('SIGCONT');
    await first.say('go');
    const won = assertAnswer(await first.ended)!;
    expect(won).toMatchObject({ session_id: session, already_sealed: false, tree_size: 2 });
    const again = run(['seal', session, '--json'], { cwd: here.dir, env: erin });
    expect(assertAnswer(again)).toEqual({ ...won, already_sealed: true, commit: null });
    expect(kinds(here, session)).toEqual(['start', 'note', 'seal']);
    expect(changes(here)).toEqual([]);
    expect(await findings(here)).toEqual([]);
  });

  it.each([
    [['seal'], ['start', 'note', 'seal']],
    [
      ['wrap', '--message', 'done', '--seal'],
      ['start', 'note', 'baton', 'seal'],
    ],
  ])('%s that was killed is in nobody’s way, and what it wrote is the seal', async (args, expected) => {
    const here = place();
    const session = opened(here);
    const first = await sealing(here, args);
    first.child.kill('SIGKILL');
    await once(first.child, 'exit');
    await first.say('stop');
    const again = handoff<Sealed>(here, ['seal', session]);
    expect(again).toMatchObject({ already_sealed: true, commit: git(here.dir, 'rev-parse', 'HEAD') });
    expect(kinds(here, session)).toEqual(expected);
    expect(handoff(here, ['root', session])).toMatchObject({ root: again.root, tree_size: again.tree_size });
    expect(changes(here)).toEqual([]);
    expect(await findings(here)).toEqual([]);
  });

  it('a process that died before it had written anything is in nobody’s way', async () => {
    const here = place();
    const session = opened(here);
    const file = join(here.dir, '.git/handoff/sessions', session, 'sealing');
    const lock = JSON.parse(readLock(here, file));
    const { child, ended } = begin(['--version']);
    await ended;
    handoff(here, ['note', 'more']);
    writeFileSync(file, JSON.stringify({ ...lock, pid: child.pid }));
    expect(handoff(here, ['seal'])).toMatchObject({ already_sealed: false, tree_size: 4 });
    writeFileSync(file, JSON.stringify({ ...lock, pid: process.pid }));
    expect(handoff(here, ['seal'], 3)).toMatchObject({ error: { message: MESSAGE } });
  });
});

/** The lock as a process of this machine writes it. */
function readLock(here: Place, file: string): string {
  const hook = join(here.dir, '.git/hooks/commit-msg');
  writeFileSync(hook, `#!/bin/sh\ncp '${file}' '${file}.copy'\n`);
  chmodSync(hook, 0o755);
  handoff(here, ['seal']);
  writeFileSync(hook, '#!/bin/sh\n');
  return readFileSync(`${file}.copy`, 'utf8');
}
