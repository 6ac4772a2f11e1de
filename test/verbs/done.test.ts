import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { commitAll, type Place } from '../handoff.ts';
import { git } from '../temporary.ts';
import { template } from '../threats/forge.ts';
import { open, recordsOf } from './agents.ts';
import { changeTask, defineTask, error, statusOf, work } from './tasks.ts';

const fresh = template(async (place) => {
  for (const id of ['T1', 'T2']) defineTask(place, id);
  commitAll(place, 'tasks');
});

type AtWork = Place & { session: string };

/** donna is in a session and has committed something. */
async function atWork(policy: Record<string, string> = {}): Promise<AtWork> {
  const place = fresh();
  for (const [key, value] of Object.entries(policy)) await place.handoff.policy.set({ key, value });
  const { session_id } = await place.handoff.start({ as: 'donna' });
  git(place.dir, 'switch', '--quiet', '--create', 'feature/t1');
  work(place, { 'src/a.ts': 'one\n' });
  return { ...place, session: session_id };
}

/** A command that says in a file that it ran, and ends with this exit code. */
function command(place: Place, exit: number): { command: string[] } {
  const log = JSON.stringify(join(place.dir, '../ran'));
  return { command: [process.execPath, '-e', `require('fs').appendFileSync(${log}, 'x'); process.exit(${exit})`] };
}

function timesRun(place: Place): number {
  try {
    return readFileSync(join(place.dir, '../ran'), 'utf8').length;
  } catch {
    return 0;
  }
}

const kinds = (place: AtWork): unknown[] => recordsOf(place, place.session).map(({ fields }) => fields.kind);

describe('done', () => {
  test('is the thought and the status in one', async () => {
    const place = await atWork();
    const { handoff } = place;
    const result = await handoff.done({ id: 'T1', summary: 'made it', run: command(place, 0) });
    const [, thought, status] = recordsOf(place, place.session);
    expect(result).toMatchObject({
      task_id: 'T1',
      status: 'done',
      thought: { delta_id: thought!.id, path: thought!.path },
      delta_id: status!.id,
    });
    expect(thought!.fields).toMatchObject({
      summary: 'made it',
      files_changed: ['src/a.ts'],
      evidence: [{ exit_code: 0 }],
    });
    expect(status!.fields).toMatchObject({ task_id: 'T1', status: 'done', progress: 100 });
    expect(await statusOf(place, 'T1')).toBe('done');
  });

  test('with a run that fails records the run, and the task is not done', async () => {
    const place = await atWork();
    const { code, exitCode, data } = await error(
      place.handoff.done({ id: 'T1', summary: 's', run: command(place, 3) }),
    );
    expect([code, exitCode]).toEqual(['run_failed', 1]);
    const [, thought] = recordsOf(place, place.session);
    expect(thought!.fields).toMatchObject({ evidence: [{ exit_code: 3 }] });
    expect(data).toMatchObject({
      task_id: 'T1',
      exit_code: 3,
      thought: { delta_id: thought!.id, path: thought!.path },
    });
    expect(kinds(place)).toEqual(['start', 'thought']);
  });

  test('names the command that is to be run again, as a shell takes it', async () => {
    const place = await atWork();
    const run = { command: ['sh', '-c', "test -f 'no such file'"] };
    const hint = expect.stringMatching(/ -- sh -c 'test -f '\\''no such file'\\'''$/);
    expect(await error(place.handoff.done({ id: 'T1', summary: 's', run }))).toMatchObject({ hint });
    expect(await error(place.handoff.done({ id: 'T1', summary: 'again' }))).toMatchObject({ hint });
  });

  test('a command that is not there, or may not be run, was not started', async () => {
    const place = await atWork();
    for (const name of ['no-such-command', place.dir])
      await error(place.handoff.done({ id: 'T1', summary: 's', run: { command: [name] } }));
    expect(place.warnings).toEqual([
      'FAILED: no-such-command was not started: there is no such command, and that is recorded.',
      `FAILED: ${place.dir} was not started: it cannot be run (EACCES), and that is recorded.`,
    ]);
  });

  test('is refused where an earlier run on this code failed, and nothing is written', async () => {
    const place = await atWork();
    await place.handoff.thought({ id: 'T1', summary: 's', run: command(place, 1) });
    expect(await error(place.handoff.done({ id: 'T1', summary: 'done all the same' }))).toMatchObject({
      code: 'run_failed',
    });
    expect(await error(place.handoff.done({ id: 'T1' }))).toMatchObject({ code: 'run_failed' });
    expect(kinds(place)).toEqual(['start', 'thought']);
    await place.handoff.done({ id: 'T1', summary: 's', run: command(place, 0) });
    expect(kinds(place)).toEqual(['start', 'thought', 'thought', 'task']);
  });

  test('a commit of records, and unclaim and claim, do not hide that the run failed', async () => {
    const place = await atWork();
    await place.handoff.claim({ id: 'T1' });
    await place.handoff.thought({ id: 'T1', summary: 's', run: command(place, 1) });
    commitAll(place, 'records');
    const { handoff } = open(place);
    await handoff.unclaim({ id: 'T1' });
    await handoff.claim({ id: 'T1' });
    expect(await error(handoff.done({ id: 'T1', summary: 's' }))).toMatchObject({ code: 'run_failed' });
  });

  test('what failed on other code, or for another task, does not count', async () => {
    const place = await atWork();
    const { handoff } = place;
    await handoff.thought({ id: 'T1', summary: 's', run: command(place, 1) });
    await handoff.thought({ id: 'T2', summary: 's', run: command(place, 0) });
    work(place, { 'src/a.ts': 'mended\n' });
    await handoff.thought({ id: 'T2', summary: 's', run: command(place, 1) });
    expect(await handoff.done({ id: 'T1', summary: 'mended' })).toMatchObject({ status: 'done' });
    expect(await error(handoff.done({ id: 'T2', summary: 's' }))).toMatchObject({ code: 'run_failed' });
  });

  test('a run that fails on what is not committed is no less a failure', async () => {
    const place = await atWork();
    writeFileSync(join(place.dir, 'src/a.ts'), 'not committed\n');
    expect(await error(place.handoff.done({ id: 'T1', summary: 's', run: command(place, 1) }))).toMatchObject({
      code: 'run_failed',
    });
    expect(await error(place.handoff.done({ id: 'T1', summary: 's' }))).toMatchObject({ code: 'run_failed' });
  });

  test('with a thought about nothing is refused, but where it says that there is no code', async () => {
    const place = fresh();
    const { handoff } = place;
    const { session_id } = await handoff.start({ as: 'donna' });
    writeFileSync(join(place.dir, 'mine.txt'), 'not committed\n');
    const refused = await error(handoff.done({ id: 'T1', summary: 's', run: command(place, 0) }));
    expect([refused.code, refused.exitCode]).toEqual(['nothing_done', 1]);
    expect([refused.message, refused.hint]).toEqual([
      expect.stringContaining('commit first'),
      expect.stringContaining('--no-code'),
    ]);
    expect([timesRun(place), kinds({ ...place, session: session_id })]).toEqual([0, ['start']]);
    const { record } = await handoff.done({ id: 'T1', summary: 'agreed', code: false });
    expect(record).toMatchObject({ no_code: true, files_changed: [] });
    expect(await statusOf(place, 'T1')).toBe('done');
  });

  test('--no-code beside commits for another task covers none of them', async () => {
    const place = await atWork();
    const { record } = await place.handoff.done({ id: 'T1', summary: 'a meeting', code: false });
    expect(record).toMatchObject({ no_code: true, files_changed: [] });
    expect([record.patch_id, record.commit_patch_ids]).toEqual([undefined, undefined]);
    expect((await open(place).handoff.verify({ staged: true })).findings).toEqual([]);
  });

  test.each([
    ['no such task', 'unknown_task', { id: 'NONE', summary: 's' }],
    ['no summary', 'usage', { id: 'T1' }],
    ['no such commit', 'unknown_commit', { id: 'T1', summary: 's', commit: 'f'.repeat(40) }],
    ['--base beside --no-code', 'usage', { id: 'T1', summary: 's', code: false, base: 'HEAD' }],
    ['a secret', 'secret_found', { id: 'T1', summary: `AKIA${'ABCDEFGHIJKLMNOP'}` }],
  ])('says so before the command runs: %s', async (_, code, options) => {
    const place = await atWork();
    expect(await error(place.handoff.done({ ...options, run: command(place, 0) }))).toMatchObject({ code });
    expect([timesRun(place), kinds(place)]).toEqual([0, ['start']]);
  });

  test('somebody else who is at work on it is named before the command runs', async () => {
    const place = await atWork();
    await place.handoff.start({ as: 'erin' });
    await place.handoff.claim({ id: 'T1', as: 'erin' });
    const refused = await error(place.handoff.done({ id: 'T1', summary: 's', as: 'donna', run: command(place, 0) }));
    expect([refused.code, timesRun(place)]).toEqual(['task_claimed', 0]);
  });
});

describe('the same command again', () => {
  test('finishes what was cut off behind the thought, without a second thought', async () => {
    const place = await atWork();
    const { delta_id } = await place.handoff.thought({ id: 'T1', summary: 's', run: command(place, 0) });
    const result = await open(place).handoff.done({ id: 'T1', summary: 's' });
    expect(result.thought.delta_id).toBe(delta_id);
    expect([timesRun(place), kinds(place)]).toEqual([1, ['start', 'thought', 'task']]);
  });

  test('with --run runs, also behind a thought that says the same, and needs no words for it', async () => {
    const place = await atWork();
    const run = command(place, 0);
    const { delta_id } = await place.handoff.thought({ id: 'T1', summary: 's', run });
    const result = await open(place).handoff.done({ id: 'T1', run });
    expect(result.record).toMatchObject({ summary: 's', evidence: [{ exit_code: 0 }] });
    expect(result.thought.delta_id).not.toBe(delta_id);
    expect([timesRun(place), kinds(place)]).toEqual([2, ['start', 'thought', 'thought', 'task']]);
  });

  test.each([
    ['at once', async () => {}],
    ['after the task was put back', (place: AtWork) => changeTask(place, 'T1', 'todo')],
    ['with a mistake that is not committed', (place: AtWork) => writeFileSync(join(place.dir, 'src/a.ts'), '(')],
  ])('with --run is refused once the command fails: %s', async (_, meanwhile) => {
    const place = await atWork();
    const exit = join(place.dir, '../exit');
    const run = { command: [process.execPath, '-e', `process.exit(+require('fs').readFileSync('${exit}', 'utf8'))`] };
    writeFileSync(exit, '0');
    await place.handoff.done({ id: 'T1', summary: 's', run });
    await meanwhile(place);
    writeFileSync(exit, '1');
    const again = open(place);
    expect(await error(again.handoff.done({ id: 'T1', summary: 's', run }))).toMatchObject({ code: 'run_failed' });
    const last = recordsOf(place, place.session).at(-1);
    expect(last!.fields).toMatchObject({ kind: 'thought', evidence: [{ exit_code: 1 }] });
  });

  test('a done task whose command fails now is still listed as done, and that is said', async () => {
    const place = await atWork();
    await place.handoff.done({ id: 'T1', summary: 's', run: command(place, 0) });
    const again = open(place);
    await error(again.handoff.done({ id: 'T1', summary: 's', run: command(place, 1) }));
    expect(await statusOf(place, 'T1')).toBe('done');
    expect(again.warnings.at(-1)).toContain('git handoff task update T1 --status in_progress');
  });

  test('changes nothing where all is said', async () => {
    const place = await atWork();
    const first = await place.handoff.done({ id: 'T1', summary: 's' });
    expect(await open(place).handoff.done({ id: 'T1', summary: 's' })).toEqual(first);
    expect(kinds(place)).toEqual(['start', 'thought', 'task']);
  });

  test('in other words, on other code, or for a task that was begun again is a new one', async () => {
    const place = await atWork();
    await place.handoff.done({ id: 'T1', summary: 's' });
    await place.handoff.done({ id: 'T1', summary: 'better words' });
    work(place, { 'src/a.ts': 'two\n' });
    await place.handoff.done({ id: 'T1', summary: 'better words' });
    await changeTask(place, 'T1', 'in_progress');
    await place.handoff.done({ id: 'T1', summary: 'better words' });
    expect(kinds(place).filter((kind) => kind === 'thought')).toHaveLength(4);
    expect(await statusOf(place, 'T1')).toBe('done');
  });

  test('without words finishes what a thought has told, also when its record was committed since', async () => {
    const place = await atWork();
    const { delta_id } = await place.handoff.thought({ id: 'T1', summary: 's' });
    commitAll(place, 'records');
    expect((await open(place).handoff.done({ id: 'T1' })).thought.delta_id).toBe(delta_id);
  });
});

describe('where the policy asks for evidence', () => {
  test('of a run, done is refused without one, and claimed tests are none', async () => {
    const place = await atWork({ 'writeback.evidence': 'run' });
    const refused = await error(place.handoff.done({ id: 'T1', summary: 's', tests: ['npm test'] }));
    expect([refused.code, refused.exitCode, kinds(place)]).toEqual(['evidence_missing', 1, ['start']]);
    expect(await place.handoff.done({ id: 'T1', summary: 's', run: command(place, 0) })).toMatchObject({
      status: 'done',
    });
  });

  test('that passed, it is refused before the command runs on what is not committed', async () => {
    const place = await atWork({ 'writeback.evidence': 'passed' });
    writeFileSync(join(place.dir, 'src/b.ts'), 'not committed\n');
    const refused = await error(place.handoff.done({ id: 'T1', summary: 's', run: command(place, 0) }));
    expect([refused.code, timesRun(place), kinds(place)]).toEqual(['evidence_missing', 0, ['start']]);
  });

  test('task update asks for the same, and of a failed run warns where the policy does', async () => {
    const place = await atWork();
    await place.handoff.thought({ id: 'T1', summary: 's', run: command(place, 1) });
    await place.handoff.task.update({ id: 'T1', status: 'done' });
    expect(place.warnings.at(-1)).toContain('failed, and T1 is said to be done');
    const strict = await atWork({ 'writeback.runs': 'error' });
    await strict.handoff.thought({ id: 'T1', summary: 's', run: command(strict, 1) });
    expect(await error(strict.handoff.task.update({ id: 'T1', status: 'done' }))).toMatchObject({ code: 'run_failed' });
  });

  test('task update warns of a thought about nothing, and of none that says so itself', async () => {
    const place = fresh();
    const { handoff } = place;
    await handoff.start({ as: 'donna' });
    await handoff.thought({ id: 'T1', summary: 'nothing' });
    await handoff.thought({ id: 'T2', summary: 'a meeting', code: false });
    place.warnings.length = 0;
    await handoff.task.update({ id: 'T1', status: 'done' });
    expect(place.warnings).toEqual([expect.stringMatching(/about nothing.*git handoff done T1 TEXT --no-code/)]);
    await handoff.task.update({ id: 'T2', status: 'done' });
    expect([place.warnings.length, await statusOf(place, 'T1')]).toEqual([1, 'done']);
  });

  test('the error says what the policy asks for, whatever is missing', async () => {
    const place = await atWork({ 'writeback.evidence': 'passed' });
    const refused = await error(place.handoff.done({ id: 'T1', summary: 's' }));
    expect(refused).toMatchObject({ code: 'evidence_missing', data: { asked: 'passed' } });
  });

  test('and only advises, nothing is refused for want of it', async () => {
    const rules = { 'writeback.evidence': 'passed', 'writeback.runs': 'error', 'writeback.advisory': 'true' };
    const place = await atWork(rules);
    expect(await place.handoff.done({ id: 'T1', summary: 's' })).toMatchObject({ status: 'done' });
    const failing = await atWork(rules);
    await failing.handoff.thought({ id: 'T1', summary: 's', run: command(failing, 1) });
    await failing.handoff.task.update({ id: 'T1', status: 'done' });
    expect(failing.warnings.at(-1)).toContain('failed, and T1 is said to be done');
  });
});
