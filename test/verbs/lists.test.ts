import { describe, expect, test } from 'vitest';
import { commitAll } from '../handoff.ts';
import { git } from '../temporary.ts';
import { template } from '../threats/forge.ts';
import { open, recordsOf } from './agents.ts';
import { defineTask, error, work } from './tasks.ts';

// What is asked for in one word: open work, decisions, a session, who did a task, whether somebody wrote.

const fresh = template((place) => {
  defineTask(place, 'T1');
  commitAll(place, 'tasks');
});

test('wip list has what nobody has closed, of whichever session', async () => {
  const place = fresh();
  const { handoff } = place;
  expect(await handoff.wip.list()).toEqual({ wip: [] });
  await handoff.start({ as: 'donna' });
  await handoff.wip.open({ key: 'migration', text: 'columns added', as: 'donna' });
  await handoff.wip.open({ key: 'other', text: 'x', as: 'donna' });
  await handoff.start({ as: 'erin' });
  await handoff.wip.close({ key: 'other', as: 'erin' });
  expect((await open(place).handoff.wip.list()).wip).toMatchObject([
    { key: 'migration', text: 'columns added', identity: 'donna' },
  ]);
});

test('decisions are all there, the newest first, as they stand', async () => {
  const place = fresh();
  const { handoff } = place;
  expect(await handoff.decisions()).toEqual({ decisions: [] });
  await handoff.start({ as: 'donna' });
  const first = await handoff.decide({ title: 'one', text: 'because' });
  for (let n = 0; n < 17; n++) await handoff.decide({ title: `${n}`, text: 'because' });
  const last = await handoff.decide({ title: 'two', text: 'better', supersedes: first.delta_id });
  const { decisions } = await open(place).handoff.decisions();
  expect([decisions.length, decisions[0]!.delta_id, decisions.at(-1)!.delta_id]).toEqual([
    19,
    last.delta_id,
    first.delta_id,
  ]);
  expect(decisions.at(-1)).toMatchObject({ title: 'one', status: 'superseded', identity: 'donna' });
  expect((await open(place).handoff.decisions({ limit: 1 })).decisions).toMatchObject([
    { title: 'two', status: 'accepted' },
  ]);
});

describe('show', () => {
  test('of what names a session and no record lists its records', async () => {
    const place = fresh();
    const { session_id } = await place.handoff.start({ as: 'donna' });
    await place.handoff.note({ text: 'x' });
    const ids = recordsOf(place, session_id).map(({ id }) => id);
    for (const name of [session_id, session_id.slice(0, 8), `donna/${session_id.slice(0, 8)}`]) {
      const shown = await open(place).handoff.showNamed({ record: name });
      expect(shown).toMatchObject({ session_id, identity: 'donna', records: [{ id: ids[1] }, { id: ids[0] }] });
    }
  });

  test('of what names nothing says so as before', async () => {
    const { handoff } = fresh();
    expect(await error(handoff.showNamed({ record: 'abcdef12' }))).toMatchObject({ code: 'unknown_record' });
    expect(await error(handoff.showNamed({ record: 'no such thing' }))).toMatchObject({ code: 'usage' });
  });
});

test('task list shows who did a task that is done', async () => {
  const place = fresh();
  const { handoff } = place;
  await handoff.start({ as: 'donna' });
  git(place.dir, 'switch', '--quiet', '--create', 'feature');
  work(place, { 'a.txt': 'a\n' });
  expect((await handoff.task.list()).tasks).toMatchObject([{ task_id: 'T1', done_by: null }]);
  await handoff.done({ id: 'T1', summary: 's' });
  expect((await open(place).handoff.task.list()).tasks).toMatchObject([
    { task_id: 'T1', done_by: 'donna', claimed_by: null },
  ]);
});

test('start mentions messages that wait, and hands none over', async () => {
  const place = fresh();
  await place.handoff.start({ as: 'donna' });
  for (const text of ['one', 'two']) await place.handoff.signal.send({ name: 'erin', text, as: 'donna' });
  const started = await open(place).handoff.start({ as: 'erin' });
  expect(started.warnings).toMatchObject([
    { kind: 'messages_waiting', message: '2 messages wait for erin: git handoff signal pending --as erin' },
  ]);
  expect('pending_signals' in started).toBe(false);
  expect((await open(place).handoff.signal.pending({ as: 'erin' })).pending_signals).toHaveLength(2);
});
