import { addClock, type Clocks } from '../record/clocks.ts';
import {
  type Baton,
  type Decision,
  type PlacedRecord,
  type RecordSummary,
  toDecision,
  toRecordSummary,
} from '../record/record-summary.ts';
import type { VerifiedRecord } from '../record/verify.ts';
import { addTaskRecord, type TaskTrails } from '../task/state.ts';
import { type Excerpt, excerptOf } from '../text/excerpt.ts';
import { byNewest, insertNewest, type StoryMoment } from './newest.ts';
import { addSummary, type SessionSummary, summariseSession } from './session-summary.ts';
import { addDrain, addSignal, type Signals } from './signals.ts';

/** `path` leads to the whole text. */
export interface Wip extends StoryMoment, Excerpt {
  key: string;
  path: string;
  session_id: string;
  identity: string;
  at: string;
}

/** Work that was closed: an opening that is older, and read later, does not open it again. */
interface ClosedWip extends StoryMoment {
  key: string;
  closed: true;
}

export interface Pickup extends StoryMoment {
  session_id: string;
  identity: string;
  predecessor_session_id: string;
  /** The id of the baton that was handed over. */
  baton: string | null;
}

/** A baton, and what is known of its session when that is known no more. */
export interface LeftBaton extends Baton {
  task: string | null;
  predecessor_session_id: string | null;
}

/**
 * What the records of a tree add up to: plain data, no larger after a hundred thousand records than after a thousand, however
 * long each of them is.
 * Every list has the newest first. The same sessions give the same history in whatever order they are added.
 */
export interface History extends Clocks {
  sessions: SessionSummary[];
  recent: RecordSummary[];
  decisions: Decision[];
  wip: (Wip | ClosedWip)[];
  signals: Signals;
  tasks: TaskTrails;
  pickups: Pickup[];
  /** Picked up or not. */
  batons: LeftBaton[];
}

/** Three times what is ever shown. */
const NEWEST_RECORDS = 32;
const NEWEST_DECISIONS = 16;

/** Closed ones count: were they dropped first, work that is read again would be open again. */
const NEWEST_WIP = 512;

/** Custody is followed from the newest baton on; what older sessions became is in their successors' records. */
const NEWEST_PICKUPS = 512;

/** As many: a pickup is newer than its baton, so what was picked up is known of all of them. */
const NEWEST_BATONS = 512;

/** Many batons are kept, and each may name many tasks. */
const MOST_IN_FOCUS = 16;

export function emptyHistory(): History {
  return {
    clock: 0,
    highest: 0,
    beyond: [],
    sessions: [],
    recent: [],
    decisions: [],
    wip: [],
    signals: { sent: [], drained: [] },
    tasks: {},
    pickups: [],
    batons: [],
  };
}

/** Folds a session's whole chain, as far as it holds. A session that has grown is added again. */
export function addSession(history: History, folder: string, records: readonly PlacedRecord[]): void {
  if (records.length === 0) return;
  const session = summariseSession(folder, records);
  addClock(history, session.clock);
  history.sessions = addSummary(history.sessions, session);
  if (session.baton) insertNewest(history.batons, toLeftBaton(session, session.baton), NEWEST_BATONS);
  for (const placed of records.slice(-NEWEST_RECORDS)) addRecent(history.recent, placed);
  for (const placed of records) addRecord(history, placed);
}

function toLeftBaton({ task, predecessor_session_id }: SessionSummary, baton: Baton): LeftBaton {
  return { ...baton, focus: baton.focus.slice(0, MOST_IN_FOCUS), task, predecessor_session_id };
}

/** A summary costs more than a look at the clock. */
function addRecent(recent: RecordSummary[], placed: PlacedRecord): void {
  const oldest = recent[NEWEST_RECORDS - 1];
  const { id, fields } = placed.record;
  if (oldest && byNewest({ clock: fields.clock, delta_id: id }, oldest) >= 0) return;
  insertNewest(recent, toRecordSummary(placed), NEWEST_RECORDS);
}

/** Each kind answers here: a history keeps something of it, or only shows it while it is among the newest. */
function addRecord(history: History, placed: PlacedRecord): void {
  const { path, record } = placed;
  addTaskRecord(history.tasks, placed);
  switch (record.kind) {
    case 'decision':
      insertNewest(history.decisions, toDecision({ path, record }), NEWEST_DECISIONS);
      return;
    case 'wip':
      addWip(history.wip, toWip({ path, record }));
      return;
    case 'signal':
      addSignal(history.signals, { path, record });
      return;
    case 'pickup':
      addPickup(history, record);
      return;
    case 'start':
    case 'note':
    case 'checkpoint':
    case 'thought':
    case 'task':
    case 'baton':
    case 'review':
    case 'waiver':
    case 'audit':
    case 'seal':
    case 'release':
      return;
    default:
      record satisfies never;
  }
}

function addPickup({ signals, pickups }: History, record: VerifiedRecord<'pickup'>): void {
  addDrain(signals, record);
  const { session_id, identity, predecessor_session_id, baton, clock } = record.fields;
  if (predecessor_session_id === null) return; // where nobody had been before, it continues nothing
  const pickup = { clock, delta_id: record.id, session_id, identity, predecessor_session_id, baton };
  insertNewest(pickups, pickup, NEWEST_PICKUPS);
}

function addWip(list: History['wip'], wip: Wip | ClosedWip): void {
  const at = list.findIndex(({ key }) => key === wip.key);
  if (at >= 0 && byNewest(list[at]!, wip) <= 0) return;
  if (at >= 0) list.splice(at, 1);
  insertNewest(list, wip, NEWEST_WIP);
}

function toWip({ path, record: { id, fields } }: PlacedRecord<'wip'>): Wip | ClosedWip {
  const { key, state, text = '', session_id, identity, at, clock } = fields;
  if (state === 'closed') return { key, closed: true, clock, delta_id: id };
  return { key, ...excerptOf(text), path, session_id, identity, at, clock, delta_id: id };
}

export function isOpen(wip: Wip | ClosedWip): wip is Wip {
  return !('closed' in wip);
}
