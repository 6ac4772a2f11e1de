import type { SessionSummary } from '../../core/session/session-summary.ts';
import { type KnownSessions, readKnownSessions } from '../../custody/known-sessions.ts';
import type { SessionState } from '../../journal/sessions/liveness.ts';
import type { LiveSession } from '../../journal/sessions/session-state.ts';
import type { Repository } from '../../repository/repository.ts';
import { requireTrust } from '../../repository/trusted-now.ts';

export interface SessionEntry {
  session_id: string;
  identity: string;
  state: SessionState;
  started_at: string;
  /** Seconds; null when it was not opened on this machine. */
  heartbeat_age: number | null;
  predecessor_session_id: string | null;
}

/** The newest sessions, in the tree and on this machine, with what they are doing. */
export async function sessions(repository: Repository): Promise<{ sessions: SessionEntry[] }> {
  const knownSessions = await readKnownSessions(repository, await requireTrust(repository));
  const live = new Map(knownSessions.live.map((each) => [each.session.session_id, each]));
  const listed = knownSessions.history.sessions.map((summary) => toEntry(summary, live.get(summary.session_id)));
  return { sessions: [...listed, ...opening(knownSessions)].sort((a, b) => (a.started_at < b.started_at ? 1 : -1)) };
}

function toEntry(summary: SessionSummary, live: LiveSession | undefined): SessionEntry {
  const { session_id, identity, started_at, predecessor_session_id, baton } = summary;
  const state = live?.liveness.state ?? (baton ? 'wrapped' : 'stale');
  const heartbeat_age = live?.liveness.heartbeat_age ?? null;
  return { session_id, identity, state, started_at, heartbeat_age, predecessor_session_id };
}

/** Registered, but without a record yet. */
function opening({ history, live }: KnownSessions): SessionEntry[] {
  const written = new Set(history.sessions.map(({ session_id }) => session_id));
  return live
    .filter(({ session }) => !written.has(session.session_id))
    .map(({ session, liveness }) => ({
      session_id: session.session_id,
      identity: session.identity,
      state: liveness.state,
      started_at: session.opened_at,
      heartbeat_age: liveness.heartbeat_age,
      predecessor_session_id: session.inherited_from,
    }));
}
