import { describe, expect, test } from 'vitest';
import { addSession, emptyHistory, type History } from '../../src/core/session/history.ts';
import { newestBaton, openWip, pendingSignals, successorOf } from '../../src/core/session/history-queries.ts';
import { dropOldTasks, type TaskTrail } from '../../src/core/task/state.ts';
import {
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
  wip,
} from './sessions.ts';

// A history stays small however long the story is, and what it keeps does not depend on the order of reading.

function fold(sessions: readonly Session[]): History {
  const history = emptyHistory();
  for (const { folder, records } of sessions) addSession(history, folder, records);
  return history;
}

/** One session after another, each with a clock above all before. */
function makeSessions(count: number, drafts: (number: number) => Draft[]): Promise<Session[]> {
  return Promise.all(Array.from({ length: count }, (_, at) => makeSession(at, drafts(at), { clock: at * 10 })));
}

function foldBothWays(sessions: Session[]): History {
  const history = fold(sessions);
  expect(fold([...sessions].reverse())).toEqual(history);
  return history;
}

test('128 sessions, 32 records, 16 decisions and 512 pickups: the newest', async () => {
  const decision: Draft = { kind: 'decision', title: 'Use YAML', status: 'accepted' };
  const sessions = await makeSessions(600, (number) => [pickupOf(number + 1), NOTE, decision]);
  const history = foldBothWays(sessions);
  expect(history.clock).toBe(5993);
  expect(history.sessions.map(({ session_id }) => session_id)).toEqual(
    sessions
      .slice(-128)
      .reverse()
      .map(({ id }) => id),
  );
  expect(history.recent.map(({ clock }) => clock).slice(0, 4)).toEqual([5993, 5992, 5991, 5983]);
  expect([history.recent, history.decisions, history.pickups].map(({ length }) => length)).toEqual([32, 16, 512]);
  expect(successorOf(history, sessionId(600))).toBe(sessionId(599));
  expect(successorOf(history, sessionId(89))).toBe(sessionId(88));
  expect(successorOf(history, sessionId(88))).toBeNull();
});

test('the newest 64 batons outlive any number of sessions without one', async () => {
  const sessions = await makeSessions(300, (number) => (number < 100 ? [START, BATON] : [START]));
  const history = foldBothWays(sessions);
  expect(history.sessions).toHaveLength(128 + 64);
  expect(newestBaton(history)?.session_id).toBe(sessionId(99));
  expect(history.sessions.at(-1)!.session_id).toBe(sessionId(36));
});

test('512 batons, whoever ended a session since', async () => {
  const history = foldBothWays(await makeSessions(600, () => [START, BATON]));
  expect(history.batons).toHaveLength(512);
  expect(history.batons.at(-1)!.session_id).toBe(sessionId(88));
});

describe('512 keys of work in progress, open or closed', () => {
  test('the newest', async () => {
    const sessions = await makeSessions(110, (number) => [
      START,
      ...Array.from({ length: 8 }, (_, at) => wip(`key-${number}-${at}`, at % 2 ? 'closed' : 'open')),
    ]);
    const more = await makeSession(999, [START, ...Array.from({ length: 300 }, (_, at) => wip(`more-${at}`, 'open'))], {
      clock: 5,
    });
    const history = foldBothWays([...sessions, more]);
    expect(history.wip).toHaveLength(512);
    expect(openWip(history)[0]!.key).toBe('key-109-6');
  });

  test('work whose closing was forgotten does not open again', async () => {
    const opened = await makeSession(1, [START, wip('old', 'open'), { ...NOTE, clock: 9000 }]);
    const closed = await makeSession(2, [START, wip('old', 'closed')], { clock: 10 });
    const later = await makeSession(3, [START, ...Array.from({ length: 512 }, (_, at) => wip(`k${at}`, 'closed'))], {
      clock: 20,
    });
    expect(openWip(fold([opened, closed, later, opened]))).toEqual([]);
  });
});

test('512 signals, received or not: the newest; one that was received does not come back', async () => {
  const sent = await makeSession(1, [START, ...Array.from({ length: 1100 }, () => signal('erin'))]);
  const ids = sent.records.slice(1).map(({ record }) => record.id);
  const drain = await makeSession(2, [pickupOf(1, { signals: ids.slice(0, 1090) })], { identity: 'erin', clock: 2000 });
  const history = foldBothWays([sent, drain]);
  expect(history.signals.sent).toHaveLength(512);
  expect(pendingSignals(history, 'erin')).toHaveLength(10);
  addSession(history, sent.folder, sent.records);
  expect(pendingSignals(history, 'erin')).toHaveLength(10);
});

test('32,768 tasks: those that are defined, then the newest', () => {
  const at = (clock: number): TaskTrail => {
    const change = { clock, delta_id: `sha256:${clock}`, status: 'in_progress' as const };
    return { by: null, changes: [change], thoughts: [], tokens: [] };
  };
  const tasks = Object.fromEntries(Array.from({ length: 32_772 }, (_, clock) => [`T${clock}`, at(clock)]));
  dropOldTasks(tasks, (id) => id === 'T1');
  expect(Object.keys(tasks)).toHaveLength(32_768);
  expect(tasks.T1).toBeDefined(); // the only one that somebody has defined
  expect([tasks.T0, tasks.T4].map((trail) => trail === undefined)).toEqual([true, true]);
  expect(tasks.T5).toBeDefined();
});

test('any number of steps of one task: the newest 16', async () => {
  const steps = Array.from({ length: 100 }, () => task('T', 'in_progress'));
  const sessions = await makeSessions(10, () => [START, ...steps.slice(0, 9)]);
  expect(foldBothWays(sessions).tasks.T!.changes).toHaveLength(16);
});
