import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { commitAll, type Place } from '../handoff.ts';
import { git } from '../temporary.ts';
import { template } from '../threats/forge.ts';
import { recordsOf } from '../verbs/agents.ts';
import { defineTask, work } from '../verbs/tasks.ts';
import { bash, errorOf, type Run, run, UNSAFE } from './cli.ts';

const CLI = fileURLToPath(new URL('../../dist/cli.cjs', import.meta.url));

const fresh = template((place) => {
  defineTask(place, 'P0.1', { acceptance: ['it reads'] });
  commitAll(place, 'tasks');
});

const at = (place: Place, ...args: string[]): Run => run(args, { cwd: place.dir, env: place.env });

async function atWork(): Promise<Place & { session: string; sha: string }> {
  const place = fresh();
  const { session_id } = await place.handoff.start({ as: 'donna' });
  return { ...place, session: session_id, sha: work(place, { 'src/a.ts': 'one\n' }) };
}

const RECORD = {
  session_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
  identity: 'donna',
  delta_id: expect.stringMatching(/^sha256:/),
  path: expect.stringMatching(/^\.handoff/),
};

describe('--json has the keys of the contract', () => {
  it('for every verb of the writeback', async () => {
    const place = await atWork();
    const json = (...args: string[]) => JSON.parse(at(place, ...args, '--json').stdout);
    const thought = json('thought', 'P0.1', 'read', 'and', 'written', '--tests', 'a, b', '--blocker', '{"type":"x"}');
    expect(thought).toMatchObject({ ...RECORD, record: { summary: 'read and written', tests_run: ['a', 'b'] } });
    expect(thought.record.blockers).toEqual([{ type: 'x' }]);
    expect(Object.keys(thought)).toEqual(['identity', 'session_id', 'delta_id', 'path', 'record']);
    const reviewed = json('review', 'P0.1', '--verdict', 'approve', '--checked', '1', 'good', '--as', 'donna');
    expect(reviewed).toEqual({
      ...RECORD,
      thought: { delta_id: RECORD.delta_id, identity: 'donna', commit_sha: expect.any(String) },
    });
    expect(json('escalate', 'P0.1')).toMatchObject({
      task_id: 'P0.1',
      branch: 'main',
      commit_sha: place.sha,
      thought_record: { task_id: 'P0.1' },
    });
    expect(json('reconcile', '--dry-run')).toMatchObject({ reverted: [], reinstated: [] });
    expect(json('waiver', 'HEAD', '--reason', 'x').error.code).toBe('not_entitled');
    expect(json('start', '--as', 'maintainer').session_id).toBeDefined();
    expect(json('waiver', place.sha.slice(0, 9), '--reason', 'x').error.code).toBe('ambiguous_session');
    const waived = json('waiver', place.sha.slice(0, 9), '--reason', 'x', '--as', 'maintainer');
    expect(waived).toEqual({ ...RECORD, identity: 'maintainer', commit_sha: place.sha });
  });

  it.each([
    ['a verdict that is none', ['review', 'P0.1', '--verdict', 'maybe']],
    ['no verdict', ['review', 'P0.1']],
    ['no reason', ['waiver', 'HEAD']],
    ['no summary', ['thought', 'P0.1']],
    ['two summaries', ['thought', 'P0.1', 'a', '--summary', 'b']],
    ['nothing to run', ['thought', 'P0.1', 'a', '--run']],
    ['nothing behind --', ['thought', 'P0.1', 'a', '--run', '--']],
    ['a blocker that is no object', ['thought', 'P0.1', 'a', '--blocker', '[1]']],
    ['a blocker of numbers', ['thought', 'P0.1', 'a', '--blocker', '{"a": 1}']],
  ])('%s is wrong usage', async (_, args) => {
    const { code, stdout } = at(await atWork(), '--json', ...args);
    expect([code, JSON.parse(stdout).error.code]).toEqual([2, 'usage']);
  });
});

describe('thought --run', () => {
  it('takes everything behind -- as it is, --json and --help too', async () => {
    const place = await atWork();
    const script = 'console.log("out"); console.error(process.argv.slice(1).join(" "))';
    const words = [process.execPath, '-e', script, '--', '--json', '--help', '-C', '/nowhere', '*'];
    const { code, stdout, stderr } = at(place, 'thought', 'P0.1', 'done', '--run', '--', ...words);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^✓ \w+: P0\.1 [\s\S]*run +.*: passed after/);
    expect(stderr).toMatch(/out\n/);
    expect(stderr).toMatch(/--json --help -C \/nowhere \*\n/);
    expect(recordsOf(place, place.session).at(-1)!.fields.evidence).toMatchObject([{ command: words, exit_code: 0 }]);
  });

  it('leaves stdout to the one object of --json, and exits with 0 although the command failed', async () => {
    const place = await atWork();
    const { code, stdout, stderr } = at(
      place,
      'thought',
      '--json',
      'P0.1',
      's',
      '--run',
      '--',
      'sh',
      '-c',
      'echo no; exit 3',
    );
    expect([code, JSON.parse(stdout).record.evidence[0].exit_code]).toEqual([0, 3]);
    expect(stderr).toMatch(/no\n.*FAILED: sh -c echo no; exit 3 ended with exit code 3/s);
  });

  it('runs where the user stands', async () => {
    const place = await atWork();
    const out = run(['thought', 'P0.1', 's', '--run', '--', 'pwd'], { cwd: join(place.dir, 'src'), env: place.env });
    expect(out.stderr).toBe(`${join(place.dir, 'src')}\n`);
  });

  it('interrupted by the user, writes nothing at all', async () => {
    const place = await atWork();
    const ready = join(place.dir, '.git', 'ready');
    const script = `require("fs").writeFileSync(${JSON.stringify(ready)}, ""); console.log("ready"); setInterval(() => {}, 1000)`;
    const args = [CLI, 'thought', 'P0.1', 's', '--run', '--', process.execPath, '-e', script];
    const child = spawn(process.execPath, args, { cwd: place.dir, env: place.env, detached: true });
    const closed = once(child, 'close');
    await once(child.stderr, 'data');
    process.kill(-child.pid!, 'SIGINT');
    const [, signal] = await closed;
    expect([signal, existsSync(ready)]).toEqual(['SIGINT', true]);
    expect(recordsOf(place, place.session)).toHaveLength(1);
    expect(git(place.dir, 'status', '--porcelain', '--', ':!.handoff')).toBe('');
    expect(at(place, 'thought', 'P0.1', 's').code).toBe(0);
  });
});

describe('Failure Mode 1: Agent A finishes, writeback fails', () => {
  it('on a disk that takes nothing more: the record is in the answer', async () => {
    const place = await atWork();
    const script = `trap "" XFSZ; ulimit -f 0; "$@" thought P0.1 "all done" --json`;
    const failed = bash(script, { cwd: place.dir, env: place.env });
    expect(failed.code).toBe(4);
    expect(errorOf(failed)).toMatchObject({
      code: 'writeback_failed',
      message: expect.stringMatching(/^Writeback failed: unable to insert thought_record\. /),
      hint: expect.stringContaining('git handoff escalate P0.1'),
      data: { thought_record: { summary: 'all done', commit_sha: place.sha, files_changed: ['src/a.ts'] } },
    });
    expect(recordsOf(place, place.session)).toHaveLength(1);
    expect(at(place, 'thought', 'P0.1', 'all done').code).toBe(0);
  });

  it('a person pastes what escalate prints, and it is written as it was', async () => {
    const place = await atWork();
    const lock = join(place.dir, '.git/handoff/locks/identity/donna/00000001.lock');
    const text = readFileSync(lock);
    writeFileSync(lock, 'spoilt');
    const failed = at(place, 'thought', 'P0.1', 'two\nlines: \u001b[31m red', '--tests', 'tsc');
    expect([failed.code, failed.stderr]).toEqual([4, expect.stringMatching(/^error: Writeback failed: /)]);
    writeFileSync(lock, text);
    const { stdout } = at(place, 'escalate', 'P0.1');
    expect(stdout).not.toMatch(UNSAFE);
    expect(stdout).toContain(`commit  ${place.sha}`);
    const [, yaml] = /```yaml\n([\s\S]*?)\n```/.exec(stdout)!;
    writeFileSync(join(place.dir, '..', 'thought.yaml'), yaml!);
    at(place, 'start', '--as', 'maintainer');
    const written = at(place, 'thought', 'P0.1', '--file', '../thought.yaml', '--as', 'maintainer', '--json');
    expect(JSON.parse(written.stdout).record).toMatchObject({
      identity: 'maintainer',
      summary: 'two\nlines: \u001b[31m red',
      tests_run: ['tsc'],
      commit_sha: place.sha,
      files_changed: ['src/a.ts'],
    });
  });
});

it('reconcile says in a table what was reverted', async () => {
  const place = await atWork();
  const { changeTask } = await import('../verbs/tasks.ts');
  await changeTask(place, 'P0.1', 'in_progress');
  await place.handoff.thought({ id: 'P0.1', summary: 's' });
  await changeTask(place, 'P0.1', 'done');
  git(place.dir, 'add', '.handoff');
  git(place.dir, 'commit', '--quiet', '--message', 'records');
  expect(at(place, 'reconcile').stdout).toBe('Nothing that is done was reverted on refs/heads/main.\n');
  git(place.dir, 'revert', '--no-edit', place.sha);
  expect(at(place, 'reconcile', '--dry-run').stdout).toMatch(/^TASK +COMMIT +REVERTED BY +NOW\nP0\.1 .* still done\n/);
  expect(at(place, 'reconcile').stdout).toMatch(/P0\.1 .* todo again\nWritten by .*\.\n$/);
  expect(at(place, 'log', '--task', 'P0.1').stdout).toMatch(/reinstated: its change up to/);
});
