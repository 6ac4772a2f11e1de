import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { addSession, emptyHistory, type History } from '../../src/core/session/history.ts';
import {
  findSession,
  lastDecisions,
  newestBaton,
  openWip,
  pendingSignals,
  recentDeltas,
  successorOf,
  taskStatus,
} from '../../src/core/session/history-queries.ts';
import {
  AT,
  BATON,
  type Draft,
  makeSession,
  NOTE,
  pickupOf,
  type Session,
  START,
  sessionId,
  signal,
  task,
  thought,
  wip,
} from './sessions.ts';

function fold(...sessions: Session[]): History {
  const history = emptyHistory();
  for (const { folder, records } of sessions) addSession(history, folder, records);
  return history;
}

async function foldDrafts(...drafts: Draft[]): Promise<History> {
  return fold(await makeSession(1, [START, ...drafts]));
}

describe('a session', () => {
  test('is known by how it opened, where it stands and its baton', async () => {
    const head = 'b'.repeat(40);
    const opening = pickupOf(1, { task: 'P0.1', branch: 'topic', head });
    const session = await makeSession(2, [opening, NOTE, { ...BATON, next_agent: 'erin', focus: ['P0.2'] }], {
      clock: 40,
    });
    const last = session.records[2]!;
    const { sessions, clock } = fold(session);
    expect(clock).toBe(43);
    expect(sessions).toEqual([
      {
        ...{ session_id: session.id, identity: 'donna', folder: session.folder, opened: 'pickup', started_at: AT },
        ...{ predecessor_session_id: sessionId(1), task: 'P0.1', branch: 'topic', head },
        ...{ last_id: last.record.id, last_seq: 3, last_at: AT, clock: 43, since_thought: 1 },
        baton: {
          ...{ delta_id: last.record.id, kind: 'baton', session_id: session.id, identity: 'donna', at: AT, clock: 43 },
          ...{ summary: 'half way', path: last.path, next_agent: 'erin', branch: null, focus: ['P0.2'] },
        },
      },
    ]);
  });

  test('counts its work since the last thought', async () => {
    const work = [NOTE, wip('a', 'open'), signal('erin'), task('P0.1', 'in_progress'), { kind: 'checkpoint' } as const];
    expect((await foldDrafts(...work)).sessions[0]!.since_thought).toBe(3);
    expect((await foldDrafts(...work, thought('P0.1'))).sessions[0]!.since_thought).toBe(0);
    expect((await foldDrafts(thought('P0.1'), NOTE)).sessions[0]!.since_thought).toBe(1);
  });

  test('without a record that holds is none', () => {
    const history = emptyHistory();
    addSession(history, '.handoff/sessions/donna/20260220T143025-00000001', []);
    expect(history).toEqual(emptyHistory());
  });

  test('is found by its id or the beginning of it, if no other begins so', async () => {
    const history = fold(await makeSession(1, [START]), await makeSession(12, [START]));
    expect(findSession(history, sessionId(12))?.session_id).toBe(sessionId(12));
    expect(findSession(history, '00000012')?.session_id).toBe(sessionId(12));
    expect(findSession(history, '0000001')?.session_id).toBe(sessionId(12));
    expect(findSession(history, '000000')).toBeNull();
    expect(findSession(history, 'f')).toBeNull();
  });

  test('is followed to the newest that picked it up', async () => {
    const first = await makeSession(2, [pickupOf(1)], { clock: 10 });
    const second = await makeSession(3, [pickupOf(1)], { clock: 20 });
    expect(successorOf(fold(second, first), sessionId(1))).toBe(second.id);
    expect(successorOf(fold(first), first.id)).toBeNull();
  });
});

test('the newest baton is that of the highest clock, although a seal or other work came later elsewhere', async () => {
  const seal: Draft = { kind: 'seal', tree_size: 2, root: '0'.repeat(64), clock: 90 };
  const sealed = await makeSession(1, [START, BATON, seal], { clock: 10 });
  const later = await makeSession(2, [START, BATON], { clock: 20 });
  const open = await makeSession(3, [START], { clock: 50 });
  expect(newestBaton(fold(sealed, later, open))?.session_id).toBe(later.id);
  expect(newestBaton(fold(open))).toBeNull();
});

test('recent deltas are ten at most, the newest first, none too old', async () => {
  const old = await makeSession(1, [START, NOTE], { clock: 100, at: '2026-02-19T14:30:25.122Z' });
  const young = await makeSession(2, [START, ...Array(14).fill(NOTE)]);
  const found = recentDeltas(fold(old, young), '2026-02-19T14:30:25.123Z');
  expect(found.map(({ clock }) => clock)).toEqual([15, 14, 13, 12, 11, 10, 9, 8, 7, 6]);
});

describe('decisions', () => {
  const decide = (title: string, fields: object = {}): Draft => ({
    kind: 'decision',
    title,
    status: 'accepted',
    ...fields,
  });

  test('are the last five', async () => {
    const history = await foldDrafts(...['a', 'b', 'c', 'd', 'e', 'f'].map((title) => decide(title)));
    expect(lastDecisions(history).map(({ title }) => title)).toEqual(['f', 'e', 'd', 'c', 'b']);
  });

  test('show as superseded by a later one, never by an earlier one', async () => {
    const first = await makeSession(1, [START, decide('YAML')], { clock: 10 });
    const supersedes = first.records[1]!.record.id;
    const second = await makeSession(2, [START, decide('JSON', { supersedes })], { clock: 20 });
    const statuses = (history: History) => lastDecisions(history).map(({ title, status }) => `${title} ${status}`);
    expect(statuses(fold(second, first))).toEqual(['JSON accepted', 'YAML superseded']);
    const before = await makeSession(3, [START, decide('TOML', { supersedes })]);
    expect(statuses(fold(first, before))).toEqual(['YAML accepted', 'TOML accepted']);
  });
});

describe('work in progress', () => {
  test('is open until it is closed, and open again when it is opened again', async () => {
    const keys = async (...drafts: Draft[]) =>
      openWip(await foldDrafts(...drafts)).map(({ key, text }) => `${key}: ${text}`);
    expect(await keys(wip('a', 'open'), wip('b', 'open'))).toEqual(['b: work on b', 'a: work on a']);
    expect(await keys(wip('a', 'open'), wip('a', 'closed'))).toEqual([]);
    expect(await keys(wip('a', 'open'), wip('a', 'closed'), wip('a', 'open'))).toEqual(['a: work on a']);
  });

  test('stays closed when the opening is merged later', async () => {
    const opened = await makeSession(1, [START, wip('constructor', 'open')]);
    const closed = await makeSession(2, [START, wip('constructor', 'closed')], { clock: 10 });
    expect(openWip(fold(closed, opened))).toEqual([]);
    expect(openWip(fold(opened, closed))).toEqual([]);
  });
});

describe('signals', () => {
  test('are pending for whom they were sent to until a pickup of that identity drains them', async () => {
    const sent = await makeSession(1, [START, signal('erin'), { ...signal('erin'), type: 'warning' }, signal('bot')]);
    const [, one, two, three] = sent.records.map(({ record }) => record.id);
    const pending = (history: History) => pendingSignals(history, 'erin').map(({ delta_id }) => delta_id);
    expect(pendingSignals(fold(sent), 'erin')[0]).toEqual({
      ...{ delta_id: two, from: 'donna', to: 'erin', type: 'warning', text: 'to erin', at: AT, clock: 3 },
      session_id: sent.id,
      path: sent.records[2]!.path,
    });
    const drain = await makeSession(2, [pickupOf(1, { signals: [one, three] })], { identity: 'erin', clock: 10 });
    expect(pending(fold(sent, drain))).toEqual([two]);
    expect(pending(fold(drain, sent))).toEqual([two]);
    expect(pendingSignals(fold(sent, drain), 'bot').map(({ delta_id }) => delta_id)).toEqual([three]);
    const stolen = await makeSession(3, [pickupOf(1, { signals: [one, two] })], { identity: 'bot', clock: 10 });
    expect(pending(fold(stolen, sent, stolen))).toEqual([two, one]);
  });
});

describe('a task', () => {
  const status = async (...drafts: Draft[]) => taskStatus(await foldDrafts(...drafts), 'T')?.status;
  const entered = task('T', 'in_progress');
  const again = (times: number): Draft[] => Array.from({ length: times }, () => entered);

  test('that nobody touched has no state', async () => {
    expect(await status(NOTE, thought('T'), task('T2', 'done'))).toBeUndefined();
    expect(taskStatus(emptyHistory(), 'constructor')).toBeNull();
  });

  test('has the state of its newest record, and who gave it', async () => {
    const session = await makeSession(1, [START, task('T', 'blocked'), task('T', 'in_progress', { progress: 40 })]);
    expect(taskStatus(fold(session), 'T')).toEqual({
      ...{ status: 'in_progress', progress: 40, session_id: session.id, identity: 'donna', clock: 3 },
      delta_id: session.records[2]!.record.id,
    });
    expect(await status(entered, task('T', 'cancelled'))).toBe('cancelled');
  });

  test.each<[string, string, Draft[]]>([
    ['done', 'with a thought before', [entered, thought('T'), task('T', 'done')]],
    ['done', 'that was never in progress', [thought('T'), task('T', 'done')]],
    ['done', 'when progress was noted after the thought', [entered, thought('T'), entered, task('T', 'done')]],
    ['done', 'said twice', [entered, thought('T'), task('T', 'done'), task('T', 'done')]],
    [
      'done',
      'as the last of 16 changes, of which one precedes the thought',
      [entered, thought('T'), ...again(14), task('T', 'done')],
    ],
    [
      'in_progress',
      'as the last of 16 changes that all follow the thought',
      [entered, thought('T'), ...again(15), task('T', 'done')],
    ],
    ['in_progress', 'without a thought', [entered, task('T', 'done')]],
    ['in_progress', 'with the thought of another task', [entered, thought('T2'), task('T', 'done')]],
    ['in_progress', 'with a thought after', [entered, task('T', 'done'), thought('T')]],
    ['in_progress', 'entered again since', [entered, thought('T'), task('T', 'blocked'), entered, task('T', 'done')]],
  ])('is %s %s', async (expected, _, drafts) => {
    expect(await status(...drafts)).toBe(expected);
  });
});

/** Few names, so that sessions meddle with each other. */
const name = fc.constantFrom('a', 'b', 'constructor');
const draft: fc.Arbitrary<Draft> = fc.oneof(
  fc.constant(NOTE),
  fc.tuple(name, fc.constantFrom('open', 'closed')).map(([key, state]) => wip(key, state)),
  fc.tuple(name, fc.constantFrom('todo', 'in_progress', 'done')).map(([id, state]) => task(id, state)),
  name.map(thought),
  name.map(signal),
  fc.constant<Draft>({ kind: 'decision', title: 'Use YAML', status: 'accepted' }),
);
const plan = fc.record({
  identity: name,
  clock: fc.nat(12),
  predecessor: fc.option(fc.nat(5)),
  drafts: fc.array(draft, { maxLength: 6 }),
  ended: fc.boolean(),
});
type Plan = typeof plan extends fc.Arbitrary<infer T> ? T : never;

/** Pickups drain whatever was sent so far, their own signals or not. */
async function makeSessions(plans: readonly Plan[]): Promise<Session[]> {
  const sessions: Session[] = [];
  const signals: string[] = [];
  for (const [number, { identity, clock, predecessor, drafts, ended }] of plans.entries()) {
    const opening = predecessor === null ? START : pickupOf(predecessor, { signals: signals.slice(0, 3) });
    const session = await makeSession(number, [opening, ...drafts, ...(ended ? [BATON] : [])], { identity, clock });
    signals.push(...session.records.filter(({ record }) => record.kind === 'signal').map(({ record }) => record.id));
    sessions.push(session);
  }
  return sessions;
}

describe('however sessions arrive, the history is the same', () => {
  const plans = fc.array(plan, { minLength: 2, maxLength: 6 });

  test('in any order, and more than once', async () => {
    const property = fc.asyncProperty(plans, fc.infiniteStream(fc.nat()), async (drawn, numbers) => {
      const sessions = await makeSessions(drawn);
      const order = new Map(sessions.map((session) => [session, numbers.next().value!]));
      const shuffled = [...sessions].sort((a, b) => order.get(a)! - order.get(b)!);
      expect(fold(...shuffled, shuffled[0]!)).toEqual(fold(...sessions));
    });
    await fc.assert(property, { numRuns: 60 });
  });

  test('whole or in growing steps, or a shorter one last', async () => {
    const property = fc.asyncProperty(plans, fc.infiniteStream(fc.nat()), async (drawn, numbers) => {
      const sessions = await makeSessions(drawn);
      const steps = sessions.flatMap((session) =>
        session.records.map((_, at) => ({ ...session, records: session.records.slice(0, at + 1) })),
      );
      const order = new Map(steps.map((step) => [step, numbers.next().value!]));
      steps.sort((a, b) => order.get(a)! - order.get(b)!);
      expect(fold(...steps)).toEqual(fold(...sessions));
    });
    await fc.assert(property, { numRuns: 60 });
  });
});
