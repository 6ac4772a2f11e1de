import { HandoffError } from '../../core/error.ts';
import { heirOf } from '../../core/session/history-queries.ts';
import { quoteWord } from '../../core/text/quote.ts';
import type { Trust } from '../../core/trust/trust.ts';
import { sessionsCalled } from '../../custody/chosen-session.ts';
import { readKnownSessions } from '../../custody/known-sessions.ts';
import { identityConflict, identityHolder } from '../../custody/open-session.ts';
import type { Locks } from '../../journal/locks/open-locks.ts';
import { isActive, isOpen } from '../../journal/sessions/liveness.ts';
import { readSession, type Session } from '../../journal/sessions/registry.ts';
import { dirsOf, withLiveness } from '../../journal/sessions/session-state.ts';
import { readAgent } from '../../relay/agents.ts';
import { processOf } from '../../relay/running.ts';
import type { Repository } from '../../repository/repository.ts';
import { unknownSession } from '../../repository/unknown-session.ts';

export interface Lost {
  session: Session;
  /** The same identity has picked it up already, and not wrapped: this was tried before, and cut off. */
  isBegun: boolean;
}

/** A session that left no baton, and that nobody else has taken since. Of another machine's there is nothing here to save. */
export async function requireLost(
  repository: Repository,
  trust: Trust,
  target: string,
  identity: string,
): Promise<Lost> {
  const found = sessionsCalled(repository, target);
  const [session] = found;
  if (!session || found.length > 1) throw unknownSession(target, found);
  const { history } = await readKnownSessions(repository, trust);
  const { liveness } = withLiveness(repository, trust, session);
  const heir = heirOf(history, session.session_id);
  const heirSession = heir && readSession(dirsOf(repository), heir.session_id);
  if (heirSession?.identity === identity && isOpen(withLiveness(repository, trust, heirSession).liveness))
    return { session, isBegun: true };
  if (heir) throw taken(session, heir);
  if (liveness.state === 'wrapped') throw hasBaton(session);
  return { session, isBegun: false };
}

/** Before anything is taken from anybody: neither from an agent that works, nor from whoever salvages. */
export async function assertMayTake(
  repository: Repository,
  trust: Trust,
  locks: Locks,
  { lost, identity, force }: { lost: Session; identity: string; force: boolean },
): Promise<void> {
  const known = await readKnownSessions(repository, trust);
  const own = await identityHolder(repository, trust, known, locks, identity);
  if (own.active && own.held?.holder.session_id !== lost.session_id)
    throw identityConflict(repository, identity, own.held?.holder ?? null);
  if (force) return;
  const agent = readAgent(repository, lost.session_id);
  const process = agent ? processOf(repository.host, agent) : 'unknown';
  const { liveness } = withLiveness(repository, trust, lost);
  if (process === 'running' || (process === 'unknown' && isActive(liveness)))
    throw stillAtWork(lost, identity, process);
}

function stillAtWork({ session_id, identity }: Session, as: string, process: string): HandoffError {
  const sign = process === 'running' ? 'its agent runs' : 'it showed a sign of life a short while ago';
  const sid8 = session_id.slice(0, 8);
  return new HandoffError('predecessor_active', `${identity} is still at work in session ${session_id}: ${sign}.`, {
    hint: `Let it wrap, or wait. If you know that it has ended: git handoff salvage ${sid8} --as ${quoteWord(as)} --force`,
    data: { session_id, identity },
  });
}

function taken({ session_id }: Session, heir: { session_id: string; identity: string }): HandoffError {
  return new HandoffError(
    'session_released',
    `Session ${session_id} was picked up by ${heir.identity}, in session ${heir.session_id}: nothing is left to save.`,
    {
      hint: 'git handoff batons shows what waits, git handoff sessions who works.',
      data: { session_id, released_by: heir.session_id, identity: heir.identity },
    },
  );
}

function hasBaton({ session_id }: Session): HandoffError {
  return new HandoffError('session_ended', `Session ${session_id} was wrapped: its baton says what it left.`, {
    hint: `git handoff pickup --from-session ${session_id.slice(0, 8)} --as NAME`,
    data: { session_id },
  });
}
