import { findOwn } from '../core/session/session-summary.ts';
import { isSameSession, type SessionKey } from '../core/task/state.ts';
import type { Trust } from '../core/trust/trust.ts';
import { isElsewhere, type LockState, type Locks } from '../journal/locks/open-locks.ts';
import { endElsewhere, recordEnd } from '../journal/locks/superseded.ts';
import { isActive } from '../journal/sessions/liveness.ts';
import { readSession, type Session } from '../journal/sessions/registry.ts';
import { dirsOf, type LiveSession, withLiveness } from '../journal/sessions/session-state.ts';
import type { Directories, StateDirectory, TimeAndHost } from '../repository/parts.ts';
import type { KnownSessions } from './known-sessions.ts';

/** A lock, the session that holds it, and whether that is at work. */
export interface HolderState {
  /** Null when nobody ever had the lock. */
  held: LockState | null;
  /** Null when it is not of this machine. */
  live: LiveSession | null;
  active: boolean;
}

/**
 * SPEC §8.2: here it shows signs of life. One that only the remote shows cannot be asked for any: it is at work until its
 * baton is known, or somebody has taken its place.
 */
export async function readHolderState(
  repository: StateDirectory & TimeAndHost,
  trust: Trust,
  { history }: KnownSessions,
  locks: Locks,
  held: LockState | null,
): Promise<HolderState> {
  if (!held || held.released) return { held, live: null, active: false };
  const session = sessionHere(repository, held.holder);
  if (session) return { held, ...(await stateHere(repository, trust, locks, session)) };
  const isWrapped = (findOwn(history.sessions, held.holder)?.baton ?? null) !== null;
  const active = isElsewhere(held) && !isWrapped && (await isAtWorkElsewhere(locks, held.holder));
  return { held, live: null, active };
}

/** As far as this machine can tell by itself, without asking the remote: a session of another machine is not at work here. */
export function isAtWorkHere(repository: StateDirectory & TimeAndHost, trust: Trust, holder: SessionKey): boolean {
  const session = sessionHere(repository, holder);
  return session !== null && isActive(withLiveness(repository, trust, session).liveness);
}

/**
 * Whether the holder of a lock, who is on another machine and has left no baton here, is still at work: nobody has taken its own
 * lock. If nobody ever had that, the lock it holds speaks for it.
 */
export async function isAtWorkElsewhere(locks: Locks, holder: SessionKey): Promise<boolean> {
  return (await hasOwnLock(locks, holder)) ?? true;
}

/** Whether a session that is to be continued is still at work. If it holds no lock of its own elsewhere, nothing says that it is. */
export async function isPredecessorAtWork(
  locks: Locks,
  session: SessionKey & { baton: object | null },
  live: LiveSession | null,
): Promise<boolean> {
  if (live) return isActive(live.liveness);
  return session.baton === null && ((await hasOwnLock(locks, session)) ?? false);
}

/** Whether a session of another machine holds the lock that every session takes on itself; null if nobody ever took that one. */
async function hasOwnLock(locks: Locks, session: SessionKey): Promise<boolean | null> {
  const held = await locks.read(`session/${session.session_id}`);
  return held && isSameSession(held.holder, session) && isElsewhere(held);
}

/** By its identity too: a lock can be written with somebody else's session in it. */
function sessionHere(repository: StateDirectory, holder: SessionKey): Session | null {
  const session = readSession(dirsOf(repository), holder.session_id);
  return session && isSameSession(session, holder) ? session : null;
}

/** Its heartbeat is here. Only the remote may show that somebody took its place. */
async function stateHere(
  repository: StateDirectory & TimeAndHost,
  trust: Trust,
  locks: Locks,
  session: Session,
): Promise<Omit<HolderState, 'held'>> {
  const live = withLiveness(repository, trust, session);
  if (!isActive(live.liveness)) return { live, active: false };
  const end = await endElsewhere(locks, session);
  if (!end) return { live, active: true };
  return { live: { session, liveness: { ...live.liveness, state: 'released', end } }, active: false };
}

/** What was read about a session of this machine is written into its journal: it is over. */
export function tidyHolder(repository: Directories & StateDirectory, { live }: HolderState): void {
  if (live?.liveness.end) recordEnd(repository, live.session, live.liveness.end);
}
