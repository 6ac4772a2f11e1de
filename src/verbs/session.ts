import { readdirSync } from 'node:fs';
import { HandoffError } from '../core/error.ts';
import { quoteWord } from '../core/quote.ts';
import { isNamed, parseSessionName } from '../core/session-name.ts';
import { listSome } from '../core/some.ts';
import type { Trust } from '../core/trust.ts';
import { type Moment, readMoment } from '../journal/heartbeat.ts';
import { ifThere } from '../journal/if-there.ts';
import { isOpen, type Liveness, readLiveness } from '../journal/liveness.ts';
import { lastSession, pointedSessions } from '../journal/pointers.ts';
import { type End, readTip } from '../journal/records.ts';
import {
  listSessions,
  readSession,
  removeSession,
  type Session,
  type StateDirs,
  stateDirs,
} from '../journal/registry.ts';
import { namedIdentity } from './acting.ts';
import type { Repository } from './repository.ts';

/** Whose session: named, or the one this work tree is in. */
export interface SessionChoice {
  as?: string;
  session?: string;
}

/** A session and what it is doing. */
export interface LiveSession {
  session: Session;
  liveness: Liveness;
}

function staleAfter({ policy }: Trust): number {
  return policy.rules.stale_after;
}

export async function requireSession(
  repository: Repository,
  trust: Trust,
  choice: SessionChoice,
): Promise<LiveSession> {
  const named = await namedIdentity(repository, choice.as);
  const found = await chosenSession(repository, trust, choice);
  if (!found) throw noSession(named);
  if (choice.as !== undefined && choice.as !== found.identity) throw notYours(found, choice.as);
  return withLiveness(repository, trust, found);
}

/** The one that is named, else that of the work tree. */
export async function chosenSession(
  repository: Repository,
  trust: Trust,
  { session, as }: SessionChoice,
): Promise<Session | null> {
  const named = session ?? (repository.env.HANDOFF_SESSION || undefined);
  return named === undefined ? currentSession(repository, trust, as) : byId(repository, named);
}

export function withLiveness(repository: Repository, trust: Trust, session: Session): LiveSession {
  const moment = momentOf(repository);
  const liveness = readLiveness(dirsOf(repository), session, repository.host, moment, staleAfter(trust));
  return { session, liveness };
}

export function momentOf(repository: Repository): Moment {
  return readMoment(repository.host, repository.now());
}

/** By id or unique beginning, among the sessions of this machine. */
function byId(repository: Repository, prefix: string): Session {
  const found = sessionsCalled(repository, prefix);
  if (found.length === 1) return found[0]!;
  throw unknownSession(prefix, found);
}

/** Those of this machine that are named so. */
export function sessionsCalled(repository: Repository, prefix: string): Session[] {
  const dirs = dirsOf(repository);
  const name = parseSessionName(prefix);
  if (name.prefix === '') return [];
  const ids = (ifThere(() => readdirSync(dirs.sessions)) ?? []).filter((id) => id.startsWith(name.prefix));
  const found = ids.map((id) => readSession(dirs, id)).filter((session) => session !== null);
  return found.filter((session) => isNamed(name, session));
}

export function unknownSession(prefix: string, matches: readonly Named[]): HandoffError {
  const data = { session: prefix };
  if (matches.length < 2) {
    const message = `There is no session ${JSON.stringify(prefix)} here.`;
    return new HandoffError('unknown_session', message, { hint: 'git handoff sessions', data });
  }
  const names = matches.map(({ identity, session_id }) => `${identity}/${session_id}`);
  return new HandoffError('unknown_session', `${names.length} sessions begin with ${JSON.stringify(prefix)}.`, {
    hint: `Name one of them: ${listSome(names, 5)}`,
    data,
  });
}

type Named = Pick<Session, 'session_id' | 'identity'>;

/** The session of an identity in this work tree; of whoever came last when nobody is named. It may have ended. */
export async function currentSession(
  repository: Repository,
  trust: Trust,
  as: string | undefined,
): Promise<Session | null> {
  const identity = await namedIdentity(repository, as);
  const byAge = () => sessionsHere(repository).sort((a, b) => (a.opened_at < b.opened_at ? 1 : -1));
  // whoever names nobody must not go on in somebody else's session because their own has ended
  if (identity === null) return lastOpened(repository) ?? byAge()[0] ?? null;
  const own = byAge().filter((session) => session.identity === identity);
  return own.find((session) => isOpen(withLiveness(repository, trust, session).liveness)) ?? own[0] ?? null;
}

/** Null when its opening was cut off before it had a record. */
function lastOpened(repository: Repository): Session | null {
  const dirs = dirsOf(repository);
  const last = lastSession(dirs, repository.worktree);
  return last && readTip(dirs, last.session_id) ? last : null;
}

/**
 * Those that this work tree points to, and those that were opened in it by a process that was killed before it could
 * point: whose identity is held by them would otherwise be locked out by a session that nobody can find. One that has no
 * record has yet to begin.
 */
function sessionsHere(repository: Repository): Session[] {
  const dirs = dirsOf(repository);
  const pointed = pointedSessions(dirs, repository.worktree);
  const known = new Set(pointed.map(({ session_id }) => session_id));
  const others = listSessions(dirs).filter(
    ({ worktree, session_id }) => worktree === repository.worktree && !known.has(session_id),
  );
  return [...pointed, ...others].filter(({ session_id }) => readTip(dirs, session_id) !== null);
}

/** Every session this machine knows outside the tree, but for openings that died or never got anywhere. */
export function liveSessions(repository: Repository, trust: Trust): LiveSession[] {
  const sessions = listSessions(stateDirs(repository.stateDir));
  const live = sessions.map((session) => withLiveness(repository, trust, session));
  for (const { session } of live.filter(({ liveness }) => liveness.dead))
    removeSession(dirsOf(repository), session.session_id);
  return live.filter(({ liveness }) => liveness.opened || liveness.state === 'active');
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

function noSession(identity: string | null): HandoffError {
  const whose = identity === null ? 'No session is' : `${identity} has no session`;
  return new HandoffError('no_session', `${whose} open in this work tree.`, {
    hint: `git handoff start${identity === null ? '' : ` --as ${quoteWord(identity)}`} opens one, git handoff pickup continues another, --session ID names one.`,
  });
}

function notYours({ session_id, identity }: Session, as: string): HandoffError {
  return new HandoffError('no_session', `Session ${session_id} is ${identity}'s, not ${as}'s.`, {
    hint: `Leave out --as, or open your own: git handoff start --as ${quoteWord(as)}`,
    data: { session_id, identity },
  });
}

export function dirsOf(repository: Repository): StateDirs {
  return stateDirs(repository.stateDir);
}
