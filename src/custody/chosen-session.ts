import { readdirSync } from 'node:fs';
import { HandoffError } from '../core/error.ts';
import { isNamed, parseSessionName } from '../core/session/session-name.ts';
import { quoteWord } from '../core/text/quote.ts';
import type { Trust } from '../core/trust/trust.ts';
import { ifThere } from '../disk/if-there.ts';
import { namedIdentity } from '../journal/keys/acting.ts';
import { isOpen } from '../journal/sessions/liveness.ts';
import { lastSession, pointedSessions } from '../journal/sessions/pointers.ts';
import { readTip } from '../journal/sessions/records.ts';
import { listSessions, readSession, type Session } from '../journal/sessions/registry.ts';
import { dirsOf, type LiveSession, withLiveness } from '../journal/sessions/session-state.ts';
import type { Repository } from '../repository/repository.ts';
import { unknownSession } from '../repository/unknown-session.ts';

/** Whose session: named, or the one this work tree is in. */
export interface SessionChoice {
  as?: string;
  session?: string;
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
