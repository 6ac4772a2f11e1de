import { HandoffError } from '../core/error.ts';
import { findSession, newestBaton, successorOf } from '../core/history-queries.ts';
import type { Baton } from '../core/record-summary.ts';
import type { SessionSummary } from '../core/session-summary.ts';
import { type Holds, isElsewhere } from './holds.ts';
import type { Known } from './known.ts';
import { type LiveSession, unknownSession } from './session.ts';

/** What a pickup continues. */
export interface Predecessor {
  session: SessionSummary;
  /** Null when it was not opened on this machine. */
  live: LiveSession | null;
  /** Its baton, or the nearest earlier one along the custody chain. */
  baton: Baton | null;
  /** It is at work: here it shows signs of life, elsewhere it holds its lock. */
  active: boolean;
  /** It stopped without a baton and without anybody ending it. */
  abandoned: boolean;
}

/**
 * SPEC §8.5: the session that was named; else that of the newest baton; else the newest without one. If somebody has
 * picked it up since, whoever holds the work now.
 */
export async function findPredecessor(
  known: Known,
  named: SessionSummary | null,
  holds: Holds,
): Promise<Predecessor | null> {
  const first = named ?? newestSession(known);
  if (!first) return null;
  const session = liveEnd(known, first);
  const live = known.live.find((each) => each.session.session_id === session.session_id) ?? null;
  const active = live
    ? live.liveness.state === 'active'
    : session.baton === null && (await isOpenElsewhere(holds, session.session_id));
  const abandoned = session.baton === null && !active && live?.liveness.state !== 'released';
  return { session, live, baton: nearestBaton(known, session), active, abandoned };
}

/** Whether it holds its own lock on the remote. */
export async function isOpenElsewhere(holds: Holds, session_id: string): Promise<boolean> {
  const held = await holds.read(`session/${session_id}`);
  return held !== null && held.holder.session_id === session_id && isElsewhere(held);
}

function newestSession({ history }: Known): SessionSummary | null {
  const baton = newestBaton(history);
  const held = baton && history.sessions.find(({ session_id }) => session_id === baton.session_id);
  return held ?? history.sessions.reduce(newer, null);
}

function newer(a: SessionSummary | null, b: SessionSummary): SessionSummary {
  return a && (a.clock > b.clock || (a.clock === b.clock && a.last_id > b.last_id)) ? a : b;
}

/** By id or unique beginning; one that is long past needs eight characters. */
export async function requireKnown(
  { history }: Known,
  prefix: string,
  readOld: (prefix: string) => Promise<SessionSummary | null>,
): Promise<SessionSummary> {
  const matches = history.sessions.filter(({ session_id }) => session_id.startsWith(prefix)).length;
  const found = findSession(history, prefix) ?? (matches === 0 ? await readOld(prefix) : null);
  if (found && prefix !== '') return found;
  throw unknownSession(prefix, matches);
}

/** The custody chain forwards. A session cannot be picked up by one that came before it, but a forged branch may say so. */
function liveEnd({ history }: Known, start: SessionSummary): SessionSummary {
  const seen = new Set<string>();
  let session = start;
  for (;;) {
    const id = successorOf(history, session.session_id, session.baton?.clock);
    const next = history.sessions.find(({ session_id }) => session_id === id);
    if (!next || seen.has(next.session_id)) return session;
    seen.add(next.session_id);
    session = next;
  }
}

/** The custody chain backwards, to the first baton. */
export function nearestBaton({ history }: Known, end: SessionSummary): Baton | null {
  const seen = new Set<string>();
  let session: SessionSummary | null = end;
  while (session && !seen.has(session.session_id)) {
    if (session.baton) return session.baton;
    seen.add(session.session_id);
    const before: string | null = session.predecessor_session_id;
    session = before === null ? null : (history.sessions.find(({ session_id }) => session_id === before) ?? null);
  }
  return null;
}

export function predecessorActive({ session, live }: Predecessor): HandoffError {
  const age = live && Math.round(live.liveness.heartbeat_age ?? 0);
  const sign = age === null ? 'on another machine, or in another clone' : `last sign of life ${age} s ago`;
  return new HandoffError(
    'predecessor_active',
    `${session.identity} is still at work in session ${session.session_id} (${sign}).`,
    {
      hint: 'Wait until it wraps, or take it over: the same command with --force --reason TEXT',
      data: { session_id: session.session_id, identity: session.identity, heartbeat_age: age },
    },
  );
}
