import { isOfKind, type RecordKind, type SharedFields } from '../record/kinds.ts';
import { type Baton, type PlacedRecord, toBaton } from '../record/record-summary.ts';
import { byNewest, type StoryMoment } from './newest.ts';

/** One session as its records tell it; whether anybody is still at work in it they cannot tell. */
export interface SessionSummary extends Progress {
  session_id: string;
  identity: string;
  /** The path of its folder. */
  folder: string;
  opened: 'start' | 'pickup';
  started_at: string;
  predecessor_session_id: string | null;
  task: string | null;
  branch: string | null;
  head: string | null;
}

/** What changes when it grows. */
interface Progress {
  last_id: string;
  last_seq: number;
  last_at: string;
  clock: number;
  baton: Baton | null;
  /** Records of work since the last thought, or since it opened. */
  since_thought: number;
}

/** `records` are those of a chain that count; where the opening was signed by a key that was revoked since, the first of the others tells. */
export function summariseSession(folder: string, records: readonly PlacedRecord[]): SessionSummary {
  const opening = records[0]!.record;
  const last = records.at(-1)!.record;
  const baton = records.find(isOfKind('baton'));
  return {
    ...summariseOpening(opening.kind, opening.fields),
    folder,
    last_id: last.id,
    last_seq: last.fields.seq,
    last_at: last.fields.at,
    clock: last.fields.clock,
    baton: baton ? toBaton(baton) : null,
    since_thought: countSinceThought(records),
  };
}

function summariseOpening(kind: RecordKind, opening: SharedFields): Omit<SessionSummary, keyof Progress | 'folder'> {
  const { session_id, identity, at, inherited_from = null, task = null, branch = null, head = null } = opening;
  return {
    session_id,
    identity,
    opened: kind === 'pickup' || inherited_from ? 'pickup' : 'start',
    started_at: at,
    predecessor_session_id: inherited_from,
    task,
    branch,
    head,
  };
}

/** What a thought is owed for. */
const IS_WORK: Readonly<Record<RecordKind, boolean>> = {
  start: false,
  pickup: false,
  note: true,
  checkpoint: true,
  decision: true,
  wip: true,
  signal: false,
  thought: false,
  task: false,
  baton: false,
  review: false,
  waiver: false,
  audit: false,
  seal: false,
  release: false,
};

function countSinceThought(records: readonly PlacedRecord[]): number {
  const kinds = records.map(({ record }) => record.kind);
  return kinds.slice(kinds.lastIndexOf('thought') + 1).filter((kind) => IS_WORK[kind]).length;
}

/** The session pickup looks for first is among the ended ones; `sessions` shows those that did something last. */
const NEWEST_SESSIONS = 128;
const NEWEST_ENDED = 64;

/**
 * Adds a session to a list, or replaces what was known when it was shorter. Sessions without an end have no share of their
 * own: one that ends would leave a gap there, and which session fills it would depend on the order of reading.
 */
export function addSummary(sessions: readonly SessionSummary[], session: SessionSummary): SessionSummary[] {
  const before = findOwn(sessions, session);
  if (before && before.last_seq >= session.last_seq) return [...sessions];
  const all = [...sessions.filter((other) => other !== before), session].sort((a, b) => byNewest(last(a), last(b)));
  const ended = all.filter(({ baton }) => baton).sort((a, b) => byNewest(a.baton!, b.baton!));
  const kept = new Set([...all.slice(0, NEWEST_SESSIONS), ...ended.slice(0, NEWEST_ENDED)]);
  return all.filter((candidate) => kept.has(candidate));
}

/** SPEC §6.6: a session is its identity's. Somebody else's of the same id is another one. */
export function findOwn<T extends Pick<SessionSummary, 'session_id' | 'identity'>>(
  sessions: readonly T[],
  { session_id, identity }: Pick<SessionSummary, 'session_id' | 'identity'>,
): T | null {
  return sessions.find((each) => each.session_id === session_id && each.identity === identity) ?? null;
}

function last({ clock, last_id }: SessionSummary): StoryMoment {
  return { clock, delta_id: last_id };
}
