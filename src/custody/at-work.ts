import { findOwn } from '../core/session/session-summary.ts';
import { isSameSession, type SessionKey } from '../core/task/state.ts';
import type { Trust } from '../core/trust/trust.ts';
import { type Held, type Holds, isElsewhere } from '../journal/locks/holds.ts';
import { endElsewhere, recordEnd } from '../journal/locks/superseded.ts';
import { readSession, type Session } from '../journal/sessions/registry.ts';
import { dirsOf, type LiveSession, withLiveness } from '../journal/sessions/session-state.ts';
import type { Repository } from '../repository/repository.ts';
import type { Known } from './known-sessions.ts';

/** The session that holds a lock, and whether it is at work. */
export interface HolderState {
  /** Null when it is not of this machine. */
  live: LiveSession | null;
  active: boolean;
}

/**
 * SPEC §8.2: here it shows signs of life. One that only the remote shows cannot be asked for any: it is at work until its
 * baton is known, or somebody has taken its place.
 */
export async function readHolderState(
  repository: Repository,
  trust: Trust,
  { history }: Known,
  holds: Holds,
  held: Held | null,
): Promise<HolderState> {
  if (!held || held.released) return { live: null, active: false };
  const session = readSession(dirsOf(repository), held.holder.session_id);
  if (session && isSameSession(session, held.holder)) return stateHere(repository, trust, holds, session);
  const isWrapped = (findOwn(history.sessions, held.holder)?.baton ?? null) !== null;
  const active = isElsewhere(held) && !isWrapped && (await holdsItself(holds, held.holder)) !== false;
  return { live: null, active };
}

/** Its heartbeat is here. Only the remote may show that somebody took its place. */
async function stateHere(repository: Repository, trust: Trust, holds: Holds, session: Session): Promise<HolderState> {
  const live = withLiveness(repository, trust, session);
  if (live.liveness.state !== 'active') return { live, active: false };
  const end = await endElsewhere(holds, session);
  if (!end) return { live, active: true };
  return { live: { session, liveness: { ...live.liveness, state: 'released', end } }, active: false };
}

/** What was read about a session of this machine is written into its journal: it is over. */
export function tidyHolder(repository: Repository, { live }: HolderState): void {
  if (live?.liveness.end) recordEnd(repository, live.session, live.liveness.end);
}

/** Whether a session has its own lock, on the remote or here; null when nobody has it. */
export async function holdsItself(holds: Holds, session: SessionKey): Promise<boolean | null> {
  const held = await holds.read(`session/${session.session_id}`);
  return held && isSameSession(held.holder, session) && isElsewhere(held);
}
