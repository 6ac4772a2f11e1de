import type { Baton, Decision, RecordSummary } from '../record/record-summary.ts';
import { stateOf, type TaskState, type TaskStatus, type TaskTrail } from '../task/state.ts';
import { type History, isOpen, type Pickup, type Wip } from './history.ts';
import { byNewest } from './newest.ts';
import { isNamed, parseSessionName } from './session-name.ts';
import { findOwn, type SessionSummary } from './session-summary.ts';
import { pendingOf, type Signal } from './signals.ts';

const MOST_RECENT = 10;
const LAST_DECISIONS = 5;

/** The newest records, none of them from before `since`, a time as records have it. Times choose what is shown, no more. */
export function recentDeltas({ recent }: History, since: string): RecordSummary[] {
  return recent.filter(({ at }) => at >= since).slice(0, MOST_RECENT);
}

/** One that a later one supersedes shows as superseded, whatever it said when it was taken. */
export function lastDecisions({ decisions }: History): Decision[] {
  return asTheyStand(decisions).slice(0, LAST_DECISIONS);
}

export function asTheyStand<T extends Decision>(decisions: readonly T[]): T[] {
  return decisions.map((decision) => {
    const isSuperseded = decisions.some(
      (later) => later.supersedes === decision.delta_id && byNewest(later, decision) < 0,
    );
    return isSuperseded ? { ...decision, status: 'superseded' } : decision;
  });
}

export function openWip({ wip }: History): Wip[] {
  return wip.filter(isOpen);
}

/** What was sent to an identity and no pickup of that identity has drained. */
export function pendingSignals({ signals }: History, identity: string): Signal[] {
  return pendingOf(signals, identity);
}

/** Null for a task that no record names. Ids are chosen by others: one may be called `constructor`. */
export function taskTrail({ tasks }: History, id: string): TaskTrail | null {
  return Object.hasOwn(tasks, id) ? tasks[id]! : null;
}

/** Null for a task that no record has changed. */
export function taskStatus(history: History, id: string): TaskState | null {
  const trail = taskTrail(history, id);
  return trail && stateOf(trail);
}

/** A task that no record has changed is to be done. SPEC §9.1 */
export function statusIn(history: History, id: string): TaskStatus {
  return taskStatus(history, id)?.status ?? 'todo';
}

/** Tasks that were done and are to do again, by their id. */
export function reinstatedTasks({ tasks }: History): string[] {
  const isBack = ([, { changes }]: [string, TaskTrail]) =>
    changes[0]?.status === 'todo' && changes[1]?.status === 'done';
  return Object.entries(tasks)
    .filter(isBack)
    .map(([id]) => id)
    .sort();
}

export function newestBaton({ sessions }: History): Baton | null {
  const batons = sessions.map(({ baton }) => baton).filter((baton) => baton !== null);
  return batons.sort(byNewest)[0] ?? null;
}

/** Null when no session, or more than one, is named so. */
export function findSession(history: History, name: string): SessionSummary | null {
  const found = findSessions(history, name);
  return found.length === 1 ? found[0]! : null;
}

type Heir = Pick<SessionSummary, 'session_id' | 'identity' | 'predecessor_session_id'>;

export function findSessions({ sessions }: History, name: string): SessionSummary[] {
  const parsed = parseSessionName(name);
  return sessions.filter((session) => isNamed(parsed, session));
}

/** The session that this one goes on from. Where two identities have one of that id, the one whose baton was picked up. */
export function predecessorOf({ sessions, pickups }: History, session: Heir): SessionSummary | null {
  const found = sessions.filter(({ session_id }) => session_id === session.predecessor_session_id);
  if (found.length < 2) return found[0] ?? null;
  const { baton = null } = findOwn(pickups, session) ?? {};
  return found.find((each) => each.baton?.delta_id === baton) ?? found[0]!;
}

/**
 * The session that picked this one up, the newest if several did; its id alone where the session is long past. Whoever
 * picked it up before its baton was written (`after` is the baton's clock) does not hold that baton.
 */
export function successorOf(history: History, sessionId: string, after = 0): string | null {
  return heirOf(history, sessionId, after)?.session_id ?? null;
}

export function heirOf({ pickups }: History, sessionId: string, after = 0): Pickup | null {
  return pickups.find((pickup) => pickup.predecessor_session_id === sessionId && pickup.clock > after) ?? null;
}
