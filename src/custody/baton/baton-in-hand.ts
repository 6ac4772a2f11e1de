import type { Baton } from '../../core/record/record-summary.ts';
import { predecessorOf } from '../../core/session/history-queries.ts';
import { findOwn } from '../../core/session/session-summary.ts';
import type { Session } from '../../journal/sessions/registry.ts';
import type { KnownSessions } from '../known-sessions.ts';
import { nearestBaton } from '../predecessor.ts';

/** What a session left, once it is wrapped; else what it was handed. */
export function batonInHand(knownSessions: KnownSessions, session: Session): Baton | null {
  const { sessions } = knownSessions.history;
  const summary = findOwn(sessions, session);
  if (summary?.baton) return summary.baton;
  const before = summary
    ? predecessorOf(knownSessions.history, summary)
    : sessions.find(({ session_id }) => session_id === session.inherited_from);
  return before ? nearestBaton(knownSessions, before) : null;
}
