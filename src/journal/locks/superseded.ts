import { isSameSession } from '../../core/task/state.ts';
import type { Directories, StateDirectory } from '../../repository/parts.ts';
import { removeTrailers } from '../commits/trailers.ts';
import { BOT } from '../keys/identity-choice.ts';
import { toEnd } from '../sessions/liveness.ts';
import { type End, endSession } from '../sessions/records.ts';
import type { Session } from '../sessions/registry.ts';
import { dirsOf } from '../sessions/session-state.ts';
import { isHeldBy, type LockState, type Locks } from './open-locks.ts';

/**
 * Looks whether somebody else has taken a session's place, or its identity. If so, it writes that into the session's own journal
 * and returns it. SPEC §8.4: from then on every verb says the same, wherever the session was taken, and `start` opens a new one.
 * It also takes the remote half of a lock where only the local half is there. SPEC §8.7
 */
export async function endIfSuperseded(
  repository: Directories & StateDirectory,
  locks: Locks,
  session: Session,
): Promise<End | null> {
  const names = [`session/${session.session_id}`, `identity/${session.identity}`] as const;
  for (const name of session.identity === BOT ? names.slice(0, 1) : names) {
    const held = await locks.read(name);
    if (isHeldBy(held, session) && (await locks.complete(held))) continue;
    return endBy(repository, session, isHeldBy(held, session) ? await locks.read(name) : held);
  }
  return null;
}

/** Who ended a session, if only the remote shows it; null if nobody did. Writes nothing. */
export async function endElsewhere(locks: Locks, session: Session): Promise<End | null> {
  const held = locks.remote && (await locks.read(`session/${session.session_id}`));
  return held && !isSameSession(held.holder, session) ? toEnd(held.holder) : null;
}

/** What the remote shows is written into the session's own journal, so that every verb here says the same. SPEC §8.4 */
export function recordEnd(repository: Directories & StateDirectory, session: Session, end: End): void {
  endSession(dirsOf(repository), session.session_id, end);
  removeTrailers(repository, session);
}

function endBy(repository: Directories & StateDirectory, session: Session, held: LockState | null): End {
  if (!held) return { ...NOBODY, at: session.opened_at };
  const end = toEnd(held.holder);
  if (isSameSession(held.holder, session)) return end; // released, and nobody else has it
  recordEnd(repository, session, end);
  return end;
}

const NOBODY = { session_id: null, identity: 'nobody', reason: 'its lock is gone' };
