import { byNewest, insertNewest, type Moment } from './newest.ts';
import { type Decision, type PlacedRecord, type RecordSummary, toDecision, toRecordSummary } from './record-summary.ts';
import { addSummary, type SessionSummary, summariseSession } from './session-summary.ts';
import { addDrain, addSignal, type Signals } from './signals.ts';
import { addTaskRecord, dropOldTasks, type TaskTrails } from './task-state.ts';
import type { VerifiedRecord } from './verify.ts';

export interface Wip extends Moment {
  key: string;
  text: string;
  session_id: string;
  identity: string;
  at: string;
}

/** Work that was closed: an opening that is older, and read later, does not open it again. */
interface ClosedWip extends Moment {
  key: string;
  closed: true;
}

interface Pickup extends Moment {
  session_id: string;
  predecessor_session_id: string;
}

/** What somebody said of a thought record. */
export interface Verdict extends Moment {
  thought: string;
  identity: string;
  verdict: 'approve' | 'reject';
}

/** A commit that a maintainer has excepted. */
interface Waived extends Moment {
  commit: string;
}

/**
 * What the records of a tree add up to: plain data, no larger after a hundred thousand records than after a thousand.
 * Every list has the newest first. The same sessions give the same history in whatever order they are added.
 */
export interface History {
  /** The highest seen anywhere. */
  clock: number;
  sessions: SessionSummary[];
  recent: RecordSummary[];
  decisions: Decision[];
  wip: (Wip | ClosedWip)[];
  signals: Signals;
  tasks: TaskTrails;
  pickups: Pickup[];
  reviews: Verdict[];
  waivers: Waived[];
}

/** Three times what is ever shown. */
const NEWEST_RECORDS = 32;
const NEWEST_DECISIONS = 16;

/** Closed ones count: were they dropped first, work that is read again would be open again. */
const NEWEST_WIP = 1024;

/** Custody is followed from the newest baton on; what older sessions became is in their successors' records. */
const NEWEST_PICKUPS = 512;

/** They are asked about while the change that they are about is on its way. */
const NEWEST_VERDICTS = 512;

export function emptyHistory(): History {
  return {
    clock: 0,
    sessions: [],
    recent: [],
    decisions: [],
    wip: [],
    signals: { sent: [], drains: [] },
    tasks: {},
    pickups: [],
    reviews: [],
    waivers: [],
  };
}

/** Folds a session's whole chain, as far as it holds. A session that has grown is added again. */
export function addSession(history: History, folder: string, records: readonly PlacedRecord[]): void {
  if (records.length === 0) return;
  const session = summariseSession(folder, records);
  history.clock = Math.max(history.clock, session.clock);
  history.sessions = addSummary(history.sessions, session);
  for (const placed of records.slice(-NEWEST_RECORDS)) addRecent(history.recent, placed);
  for (const placed of records) addRecord(history, placed);
  dropOldTasks(history.tasks);
}

/** A summary costs more than a look at the clock. */
function addRecent(recent: RecordSummary[], placed: PlacedRecord): void {
  const oldest = recent[NEWEST_RECORDS - 1];
  const { id, fields } = placed.record;
  if (oldest && byNewest({ clock: fields.clock as number, delta_id: id }, oldest) >= 0) return;
  insertNewest(recent, toRecordSummary(placed), NEWEST_RECORDS);
}

function addRecord(history: History, placed: PlacedRecord): void {
  const { record } = placed;
  if (record.kind === 'decision') insertNewest(history.decisions, toDecision(placed), NEWEST_DECISIONS);
  if (record.kind === 'wip') addWip(history.wip, record);
  if (record.kind === 'signal') addSignal(history.signals, record);
  addTaskRecord(history.tasks, placed);
  if (record.kind === 'review') insertNewest(history.reviews, toVerdict(record), NEWEST_VERDICTS);
  if (record.kind === 'waiver') insertNewest(history.waivers, toWaived(record), NEWEST_VERDICTS);
  if (record.kind !== 'pickup') return;
  addDrain(history.signals, record);
  // a pickup where nobody had been before continues nothing
  if (record.fields.predecessor_session_id !== null) insertNewest(history.pickups, toPickup(record), NEWEST_PICKUPS);
}

function addWip(list: History['wip'], record: VerifiedRecord): void {
  const wip = toWip(record);
  const known = list.findIndex(({ key }) => key === wip.key);
  if (known >= 0 && byNewest(list[known]!, wip) <= 0) return;
  if (known >= 0) list.splice(known, 1);
  insertNewest(list, wip, NEWEST_WIP);
}

function toWip({ id, fields }: VerifiedRecord): Wip | ClosedWip {
  const { key, state, text, session_id, identity, at } = fields as Record<string, string>;
  const clock = fields.clock as number;
  if (state === 'closed') return { key: key!, closed: true, clock, delta_id: id };
  return { key: key!, text: text ?? '', session_id: session_id!, identity: identity!, at: at!, clock, delta_id: id };
}

function toPickup({ id, fields }: VerifiedRecord): Pickup {
  const { session_id, predecessor_session_id } = fields as Record<'session_id' | 'predecessor_session_id', string>;
  return { clock: fields.clock as number, delta_id: id, session_id, predecessor_session_id };
}

function toVerdict({ id, fields }: VerifiedRecord): Verdict {
  const {
    thought = '',
    identity = '',
    verdict,
  } = fields as Partial<Record<'thought' | 'identity' | 'verdict', string>>;
  return { clock: fields.clock as number, delta_id: id, thought, identity, verdict: verdict as Verdict['verdict'] };
}

function toWaived({ id, fields }: VerifiedRecord): Waived {
  return { clock: fields.clock as number, delta_id: id, commit: fields.commit_sha as string };
}

export function isOpen(wip: Wip | ClosedWip): wip is Wip {
  return !('closed' in wip);
}
