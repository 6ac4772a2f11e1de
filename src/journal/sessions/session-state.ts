import { HandoffError } from '../../core/error.ts';
import { quoteWord } from '../../core/text/quote.ts';
import type { Trust } from '../../core/trust/trust.ts';
import { type Moment, readMoment } from '../../disk/moment.ts';
import type { StateDirectory, TimeAndHost } from '../../repository/parts.ts';
import { hasBegun, type Liveness, readLiveness } from './liveness.ts';
import type { End } from './records.ts';
import { listSessions, removeSession, type Session, type StateDirs, stateDirs } from './registry.ts';

/** A session and what it is doing. */
export interface LiveSession {
  session: Session;
  liveness: Liveness;
}

export function dirsOf(repository: StateDirectory): StateDirs {
  return stateDirs(repository.stateDir);
}

export function withLiveness(repository: StateDirectory & TimeAndHost, trust: Trust, session: Session): LiveSession {
  const moment = momentOf(repository);
  const liveness = readLiveness(dirsOf(repository), session, repository.host, moment, staleAfter(trust));
  return { session, liveness };
}

export function momentOf(repository: TimeAndHost): Moment {
  return readMoment(repository.host, repository.now());
}

function staleAfter({ policy }: Trust): number {
  return policy.rules.stale_after;
}

/** Every session this machine knows outside the tree, but for openings that died or never got anywhere. */
export function liveSessions(repository: StateDirectory & TimeAndHost, trust: Trust): LiveSession[] {
  return allSessions(repository, trust).filter(({ liveness }) => hasBegun(liveness));
}

/** Removes what processes have left that were killed before they had opened their session. */
export function tidyOpenings(repository: StateDirectory & TimeAndHost, trust: Trust): void {
  for (const { session } of allSessions(repository, trust).filter(({ liveness }) => liveness.dead))
    removeSession(dirsOf(repository), session.session_id);
}

function allSessions(repository: StateDirectory & TimeAndHost, trust: Trust): LiveSession[] {
  return listSessions(dirsOf(repository)).map((session) => withLiveness(repository, trust, session));
}

/** SPEC §8.4: a session that was taken over stops, and never comes back by itself. */
export function assertWritable(live: LiveSession): void {
  if (live.liveness.state === 'wrapped') throw ended(live.session);
  assertNotReleased(live);
}

export function assertNotReleased({ session, liveness }: LiveSession): void {
  if (liveness.state === 'released') throw released(session, liveness.end!);
}

export function released(session: Pick<Session, 'session_id' | 'identity'>, end: End): HandoffError {
  const by = end.session_id ? `${end.identity} (session ${end.session_id.slice(0, 8)})` : end.identity;
  return new HandoffError(
    'session_released',
    `Session ${session.session_id} was released by ${by}: ${end.reason.replace(/[.\s]+$/, '')}.`,
    {
      hint: `Stop here: somebody else has this work now. git handoff status shows who; git handoff start --as ${quoteWord(session.identity)} opens a new session.`,
      data: { session_id: session.session_id, reason: end.reason, released_by: end.session_id, identity: end.identity },
    },
  );
}

export function ended({ session_id }: Pick<Session, 'session_id'>): HandoffError {
  return new HandoffError('session_ended', `Session ${session_id} is wrapped: nothing is added to it any more.`, {
    hint: 'Continue it with git handoff pickup, or open fresh work with git handoff start.',
    data: { session_id },
  });
}
