import { describe, expect, test } from 'vitest';
import { addSession, emptyHistory, type History } from '../../src/core/session/history.ts';
import { lastDecisions, openWip, pendingSignals } from '../../src/core/session/history-queries.ts';
import { shortened } from '../../src/core/text/shortened.ts';
import { type Draft, makeSession, pickupOf, type Session, START, signal, task, thought, wip } from './sessions.ts';

// THREATS 48: a history is read with every verb. However long its records are, it is short.

const LONG = 'ä'.repeat(60_000);

function fold(...sessions: Session[]): History {
  const history = emptyHistory();
  for (const { folder, records } of sessions) addSession(history, folder, records);
  return history;
}

const bytesOf = (history: History) => Buffer.byteLength(JSON.stringify(history));
const id = (number: number) => `sha256:${number.toString(16).padStart(64, '0')}`;

test('work in progress and signals are kept as excerpts, with the path of the record that has the rest', async () => {
  const session = await makeSession(1, [
    START,
    { ...wip('key', 'open'), text: LONG },
    { ...signal('erin'), text: LONG },
  ]);
  const history = fold(session);
  const cut = { text: `${'ä'.repeat(499)}…`, cut: true };
  expect(openWip(history)[0]).toMatchObject({ ...cut, path: session.records[1]!.path });
  expect(pendingSignals(history, 'erin')[0]).toMatchObject({ ...cut, path: session.records[2]!.path });
});

test('a cut goes through no character', async () => {
  const text = `${'a'.repeat(498)}${'😀'.repeat(3)}`;
  const history = fold(await makeSession(1, [START, { ...wip('key', 'open'), text }]));
  expect(openWip(history)[0]!.text).toBe(`${'a'.repeat(498)}…`);
});

describe('any kind of record, as long as it may be, adds little', () => {
  const many = (count: number) => Array.from({ length: count }, (_, at) => id(at));
  const LONGEST: Record<string, Draft[]> = {
    start: [{ ...START, intent: LONG }],
    pickup: [pickupOf(7, { signals: [], reason: LONG })],
    note: [START, { kind: 'note', text: LONG }],
    checkpoint: [START, { kind: 'checkpoint', text: LONG }],
    decision: [START, { kind: 'decision', title: 'ä'.repeat(1000), status: 'accepted', supersedes: id(1) }],
    wip: [START, { ...wip('key', 'open'), text: LONG }],
    signal: [START, { ...signal('erin'), text: LONG }],
    thought: [START, { ...thought('T'), summary: LONG }],
    files: [
      START,
      { ...thought('T'), files_changed: Array.from({ length: 900 }, (_, at) => `f${at}`.padEnd(100, 'x')) },
    ],
    related: [START, { ...thought('T'), related_thought_records: many(1500) }],
    task: [START, { ...task('T', 'todo'), notes: LONG }],
    focus: [START, { kind: 'baton', focus: Array.from({ length: 900 }, (_, at) => `T${at}`.padEnd(64, 'x')) }],
    audit: [START, { kind: 'audit', intent: LONG }],
    extra: [START, { kind: 'note', text: 'x', x_more: LONG }],
  };

  test.each(Object.entries(LONGEST))('%s', async (_, drafts) => {
    const session = await makeSession(1, drafts);
    const history = fold(session);
    expect(bytesOf(history)).toBeLessThan(12_000);
    // and what is read of it to make a history is as short, and makes the same one
    const records = session.records.map(shortened);
    expect(
      Buffer.byteLength(JSON.stringify(records.map(({ record: { fields, body } }) => ({ fields, body })))),
    ).toBeLessThan(20_000);
    expect(fold({ ...session, records })).toEqual(history);
  });

  test('but the signals that a pickup names, which are as many as a record can name', async () => {
    const session = await makeSession(1, [pickupOf(7, { signals: many(3000) })]);
    expect(bytesOf(fold(session))).toBeLessThan(400_000);
    const records = session.records.map(shortened);
    expect(fold({ ...session, records })).toEqual(fold(session));
  });
});

test('a decision’s title is short enough for a list', async () => {
  const decision: Draft = { kind: 'decision', title: 't'.repeat(1000), status: 'accepted' };
  expect(lastDecisions(fold(await makeSession(1, [START, decision])))[0]!.title).toHaveLength(500);
});

describe('signals that pickups name', () => {
  test('of one identity never push out what another has received', async () => {
    const sent = await makeSession(1, [START, signal('erin')]);
    const received = await makeSession(2, [pickupOf(1, { signals: [sent.records[1]!.record.id] })], {
      identity: 'erin',
      clock: 10,
    });
    const junk = await Promise.all(
      [3, 4, 5].map((number) =>
        makeSession(
          number,
          [pickupOf(1, { signals: Array.from({ length: 3000 }, (_, at) => id(number * 9000 + at)) })],
          {
            identity: 'mallory',
            clock: 20 * number,
          },
        ),
      ),
    );
    for (const order of [
      [sent, received, ...junk],
      [...junk, received, sent],
      [received, ...junk, sent],
    ])
      expect(pendingSignals(fold(...order), 'erin')).toEqual([]);
  });

  // THREATS 66: pickups × ids × signals
  test('cost what they are long, and not that times the signals there are', async () => {
    const small = await floodOf(250);
    const large = await floodOf(500);
    expect(cost(large) / cost(small)).toBeLessThan(2.2);
  });
});

/** Signals, and pickups of their addressee that name three times as many others. */
async function floodOf(size: number): Promise<Session[]> {
  const sent = await makeSession(1, [START, ...Array.from({ length: size }, () => signal('erin'))], { clock: 5000 });
  const ids = Array.from({ length: size * 3 }, (_, at) => id(at));
  const pickups = Array.from({ length: 32 }, (_, at) =>
    makeSession(2 + at, [pickupOf(1, { signals: ids })], { identity: 'erin', clock: at }),
  );
  return [...(await Promise.all(pickups)), sent];
}

function cost(sessions: Session[]): number {
  const times = Array.from({ length: 9 }, () => {
    const before = process.cpuUsage();
    for (let turn = 0; turn < 4; turn++) pendingSignals(fold(...sessions), 'erin');
    return process.cpuUsage(before).user;
  });
  return Math.min(...times);
}
