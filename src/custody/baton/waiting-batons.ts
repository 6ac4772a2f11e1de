import type { Baton } from '../../core/record/record-summary.ts';
import type { History, LeftBaton } from '../../core/session/history.ts';
import { heirOf, statusIn } from '../../core/session/history-queries.ts';
import { byNewest } from '../../core/session/newest.ts';
import { findOwn, type SessionSummary } from '../../core/session/session-summary.ts';
import { isOpen } from '../../core/task/order.ts';
import { stateOf } from '../../core/task/state.ts';
import { isActive } from '../../journal/sessions/liveness.ts';
import { shortRef } from '../../repository/everywhere/left-out-lines.ts';
import type { KnownSessions } from '../known-sessions.ts';
import { type Left, nearestBaton } from '../predecessor.ts';

/** A baton that can be picked up, and the session that holds it. */
export interface Waiting {
  session: Left & Pick<SessionSummary, 'task'>;
  baton: Baton;
}

/** Those that nobody has picked up, on whatever branch; the newest first. */
export function waitingBatons(history: History): Waiting[] {
  const taken = new Set(history.pickups.map(({ baton }) => baton));
  const isWaiting = ({ delta_id, session_id, clock }: LeftBaton): boolean =>
    !taken.has(delta_id) && !heirOf(history, session_id, clock);
  return history.batons.filter(isWaiting).map((baton) => ({ session: sessionOf(baton), baton }));
}

/** Its session, though it may be so long past that the history has no more of it. */
function sessionOf(baton: LeftBaton): Waiting['session'] {
  const { session_id, identity, at: last_at, task, predecessor_session_id } = baton;
  return { session_id, identity, last_at, task, predecessor_session_id, baton };
}

/** What a pickup that names no session continues. */
export interface Choice {
  /** Null where nothing is left for this identity. */
  session: Left | null;
  /** Batons that wait for others, where those are all there are. */
  forOthers: Waiting[];
}

/**
 * SPEC §8.5: the newest baton that is meant for this identity, else the newest that is meant for nobody in particular; one that is meant
 * for somebody else only by force. Where none waits: who holds the work of the newest one now, else the newest session.
 */
export function chooseSession(knownSessions: KnownSessions, identity: string, isForced: boolean): Choice {
  const { history } = knownSessions;
  const left = [...waitingBatons(history), ...abandonedHere(knownSessions)].sort((a, b) => byNewest(a.baton, b.baton));
  const chosen =
    left.find(({ baton }) => baton.next_agent === identity) ??
    left.find(({ baton }) => baton.next_agent === null) ??
    (isForced ? left[0] : undefined);
  if (chosen) return { session: chosen.session, forOthers: [] };
  const newest = history.sessions.filter(({ baton }) => baton).sort((a, b) => byNewest(a.baton!, b.baton!))[0];
  if (newest && left.some(({ session }) => findOwn([newest], session))) return { session: null, forOthers: left };
  return { session: newest ?? history.sessions.reduce(newer, null), forOthers: [] };
}

/** Sessions of this machine that took a baton and stopped without one of their own: their work waits like that of a baton. */
function abandonedHere(knownSessions: KnownSessions): Waiting[] {
  const { history, live } = knownSessions;
  const waiting: Waiting[] = [];
  for (const { session: own, liveness } of live) {
    const session = findOwn(history.sessions, own);
    if (!session || session.baton || isActive(liveness) || heirOf(history, session.session_id)) continue;
    const baton = nearestBaton(knownSessions, session);
    if (baton) waiting.push({ session, baton });
  }
  return waiting;
}

function newer(a: SessionSummary | null, b: SessionSummary): SessionSummary {
  return a && (a.clock > b.clock || (a.clock === b.clock && a.last_id > b.last_id)) ? a : b;
}

/** A waiting baton, as verbs show it. */
export interface WaitingBaton {
  delta_id: string;
  session_id: string;
  identity: string;
  next_agent: string | null;
  /** The open tasks among those in its focus, its session's own task, and those that the session left in progress. */
  task_ids: string[];
  /** Where it was wrapped. */
  branch: string | null;
  /** The branch on which it was found; null for the one that is checked out. */
  found_on: string | null;
  at: string;
  summary: string;
  /** Seconds. */
  age: number;
}

export function describeWaiting(knownSessions: KnownSessions, waiting: readonly Waiting[], now: Date): WaitingBaton[] {
  const begun = begunBySession(knownSessions.history);
  return waiting.map(({ session, baton }) => {
    const ref = knownSessions.refOf(baton.path);
    const tasks = [...baton.focus, ...(session.task ? [session.task] : []), ...(begun.get(session.session_id) ?? [])];
    return {
      delta_id: baton.delta_id,
      session_id: session.session_id,
      identity: session.identity,
      next_agent: baton.next_agent,
      task_ids: [...new Set(tasks)].filter((id) => isOpen(statusIn(knownSessions.history, id))),
      branch: baton.branch,
      found_on: ref && shortRef(ref),
      at: baton.at,
      summary: baton.summary,
      age: Math.max(0, Math.round((now.getTime() - Date.parse(baton.at)) / 1000)),
    };
  });
}

/** The open tasks that a session was the last to change. */
function begunBySession({ tasks }: History): Map<string, string[]> {
  const begun = new Map<string, string[]>();
  for (const [id, trail] of Object.entries(tasks)) {
    const state = trail.by && stateOf(trail);
    if (!state || !isOpen(state.status) || state.status === 'todo') continue;
    begun.set(state.session_id, [...(begun.get(state.session_id) ?? []), id]);
  }
  return begun;
}
