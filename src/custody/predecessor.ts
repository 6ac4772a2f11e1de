import { HandoffError } from '../core/error.ts';
import type { Baton } from '../core/record/record-summary.ts';
import { findSessions, heirOf, predecessorOf } from '../core/session/history-queries.ts';
import { isNamed, parseSessionName } from '../core/session/session-name.ts';
import { findOwn, type SessionSummary } from '../core/session/session-summary.ts';
import { quoteWord } from '../core/text/quote.ts';
import type { Locks } from '../journal/locks/open-locks.ts';
import { findRemoteSessions, type RemoteSession } from '../journal/locks/remote-sessions.ts';
import type { LiveSession } from '../journal/sessions/session-state.ts';
import { unknownSession } from '../repository/unknown-session.ts';
import { isPredecessorAtWork } from './at-work.ts';
import type { KnownSessions } from './known-sessions.ts';

/** What is known of a session that is continued; of one that only the remote shows, that is little. */
export type Left = Pick<SessionSummary, 'session_id' | 'identity' | 'last_at' | 'predecessor_session_id' | 'baton'>;

/** What a pickup continues. */
export interface Predecessor {
  session: Left;
  /** Null when it was not opened on this machine. */
  live: LiveSession | null;
  /** Its baton, or the nearest earlier one along the custody chain. */
  baton: Baton | null;
  /** It is at work: here it shows signs of life, elsewhere it holds its lock. */
  active: boolean;
  /** It stopped without a baton and without anybody ending it. */
  abandoned: boolean;
}

/** SPEC §8.5: of the session that was named or chosen. If somebody has picked it up since, whoever holds the work now. */
export async function findPredecessor(
  knownSessions: KnownSessions,
  first: Left | null,
  locks: Locks,
): Promise<Predecessor | null> {
  if (!first) return null;
  const session = liveEnd(knownSessions, first);
  const live = knownSessions.live.find((each) => findOwn([each.session], session)) ?? null;
  const active = await isPredecessorAtWork(locks, session, live);
  const abandoned = session.baton === null && !active && live?.liveness.state !== 'released';
  return { session, live, baton: nearestBaton(knownSessions, session), active, abandoned };
}

/**
 * By id or unique beginning, after its identity where two have the same; one that is long past needs eight characters. Last those
 * that only the remote shows.
 */
export async function requireKnownSession(
  { history }: KnownSessions,
  prefix: string,
  locks: Locks,
  readOld: (prefix: string) => Promise<SessionSummary | null>,
): Promise<Left> {
  const [found, ...others] = findSessions(history, prefix);
  const session = found ?? (prefix === '' ? null : await readOld(prefix));
  if (session && others.length === 0) return session;
  if (found || prefix === '') throw unknownSession(prefix, found ? [found, ...others] : []);
  const { at: last_at, ...elsewhere } = await requireElsewhere(locks, prefix);
  return { ...elsewhere, last_at, predecessor_session_id: null, baton: null };
}

/** A session that this clone knows only by its lock: its machine may be gone for good. */
export async function requireElsewhere({ remote }: Locks, prefix: string): Promise<RemoteSession> {
  const name = parseSessionName(prefix);
  const sessions = remote && name.prefix !== '' ? await findRemoteSessions(remote, name.prefix) : [];
  const [found, ...others] = sessions.filter((session) => isNamed(name, session));
  if (found && others.length === 0) return found;
  throw unknownSession(prefix, found ? [found, ...others] : []);
}

/** The custody chain forwards. A session cannot be picked up by one that came before it, but a forged branch may say so. */
function liveEnd({ history }: KnownSessions, start: Left): Left {
  const seen = new Set<string>();
  let session: Left = start;
  for (;;) {
    const heir = heirOf(history, session.session_id, session.baton?.clock);
    const next = heir && findOwn(history.sessions, heir);
    if (!next || seen.has(next.session_id)) return session;
    seen.add(next.session_id);
    session = next;
  }
}

/** The baton of the session at the end of a custody chain, or of the nearest session before it that left one. */
export function nearestBaton(knownSessions: KnownSessions, end: Left): Baton | null {
  return sinceBaton(knownSessions, end).at(-1)?.baton ?? null;
}

/** The custody chain backwards, up to the session that left a baton. */
export function sinceBaton({ history }: KnownSessions, end: Left): Left[] {
  const chain: Left[] = [];
  const seen = new Set<string>();
  for (let session: Left | null = end; session && !seen.has(session.session_id); ) {
    chain.push(session);
    if (session.baton) break;
    seen.add(session.session_id);
    session = predecessorOf(history, session);
  }
  return chain;
}

export function predecessorActive({ session, live }: Predecessor, heir: string): HandoffError {
  const age = live && Math.round(live.liveness.heartbeat_age ?? 0);
  const sign = age === null ? 'on another machine, or in another clone' : `last sign of life ${age} s ago`;
  return new HandoffError(
    'predecessor_active',
    `${session.identity} is still at work in session ${session.session_id} (${sign}).`,
    {
      hint: `Wait until it wraps, or take it over: git handoff pickup --as ${quoteWord(heir)} --from-session ${quoteWord(session.session_id.slice(0, 8))} --force --reason TEXT`,
      data: { session_id: session.session_id, identity: session.identity, heartbeat_age: age },
    },
  );
}
