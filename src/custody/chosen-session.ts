import { readdirSync } from 'node:fs';
import { HandoffError } from '../core/error.ts';
import { isNamed, parseSessionName } from '../core/session/session-name.ts';
import { quoteWord } from '../core/text/quote.ts';
import type { Trust } from '../core/trust/trust.ts';
import { ifThere } from '../disk/if-there.ts';
import { BOT, configuredIdentity, givenIdentity, namedIdentity } from '../journal/keys/identity-choice.ts';
import { isOpen } from '../journal/sessions/liveness.ts';
import { lastSession, pointedSessions } from '../journal/sessions/pointers.ts';
import { readTip } from '../journal/sessions/records.ts';
import { listSessions, readSession, type Session } from '../journal/sessions/registry.ts';
import { dirsOf, type LiveSession, withLiveness } from '../journal/sessions/session-state.ts';
import type { Directories, Settings, StateDirectory, TimeAndHost } from '../repository/parts.ts';
import type { Repository } from '../repository/repository.ts';
import { unknownSession } from '../repository/unknown-session.ts';
import { type Elsewhere, openElsewhere } from './elsewhere.ts';

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
  if (!found) throw noSession(named, openElsewhere(repository, trust, named));
  if (choice.as !== undefined && choice.as !== found.identity) throw notYours(found, choice.as);
  return withLiveness(repository, trust, found);
}

/** The one that is named, else that of the work tree. */
export async function chosenSession(
  repository: Repository,
  trust: Trust,
  { session, as }: SessionChoice,
): Promise<Session | null> {
  const named = sessionNamed(repository, session);
  return named === undefined ? workTreeSession(repository, trust, as) : byId(repository, named);
}

export function isSessionNamed(repository: Settings, { session }: SessionChoice): boolean {
  return sessionNamed(repository, session) !== undefined;
}

function sessionNamed({ env }: Settings, session: string | undefined): string | undefined {
  return session ?? (env.HANDOFF_SESSION || undefined);
}

/** By id or unique beginning, among the sessions of this machine. */
function byId(repository: StateDirectory, prefix: string): Session {
  const found = sessionsCalled(repository, prefix);
  if (found.length === 1) return found[0]!;
  throw unknownSession(prefix, found);
}

/** Those of this machine that are named so. */
export function sessionsCalled(repository: StateDirectory, prefix: string): Session[] {
  const dirs = dirsOf(repository);
  const name = parseSessionName(prefix);
  if (name.prefix === '') return [];
  const ids = (ifThere(() => readdirSync(dirs.sessions)) ?? []).filter((id) => id.startsWith(name.prefix));
  const found = ids.map((id) => readSession(dirs, id)).filter((session) => session !== null);
  return found.filter((session) => isNamed(name, session));
}

/**
 * Who acts, by one rule for all verbs: the flag, the environment, the only identity with an open session in this work tree, the
 * configuration, the bot. docs/tool.md §8.5.
 */
export async function chosenIdentity(repository: Repository, trust: Trust, as: string | undefined): Promise<string> {
  const given = givenIdentity(repository, as);
  if (given !== null) return given;
  const only = await onlyOpenSession(repository, trust);
  const chosen = only?.identity ?? (await configuredIdentity(repository));
  if (chosen === null) assertNobodyElse(repository, trust);
  return chosen ?? BOT;
}

/** Whose own session has ended here, beside one of somebody else's that is open, may be either of the two, and is not the bot. */
function assertNobodyElse(repository: Repository, trust: Trust): void {
  const [other] = byAge(sessionsHere(repository)).filter((session) => isOpenHere(repository, trust, session));
  const last = lastOpened(repository);
  if (!other || !last || last.identity === other.identity || [other.identity, last.identity].includes(BOT)) return;
  throw new HandoffError(
    'ambiguous_session',
    `The session that was opened last in this work tree, of ${last.identity}, has ended, and one of ${other.identity} is open.`,
    {
      hint: `Say who you are: --as ${other.identity} or --as ${last.identity}, or set HANDOFF_IDENTITY.`,
      data: { sessions: [other, last].map(({ session_id, identity }) => ({ session_id, identity })) },
    },
  );
}

/** The session of whoever acts in this work tree. It may have ended. `besides`: one that does not count. */
export async function workTreeSession(
  repository: Repository,
  trust: Trust,
  as: string | undefined,
  besides?: string,
): Promise<Session | null> {
  const given = givenIdentity(repository, as);
  const only = given === null ? await onlyOpenSession(repository, trust, besides) : null;
  if (only) return only;
  const identity = given ?? (await configuredIdentity(repository));
  // whoever names nobody must not go on in somebody else's session because their own has ended
  if (identity === null) return lastOpened(repository) ?? byAge(sessionsHere(repository))[0] ?? null;
  const own = byAge(sessionsHere(repository)).filter((session) => session.identity === identity);
  return own.find((session) => isOpenHere(repository, trust, session)) ?? own[0] ?? null;
}

/** For verbs that only show: where several sessions could be meant, the one opened last, and why that is a guess. */
export async function shownSession(
  repository: Repository,
  trust: Trust,
  choice: SessionChoice,
): Promise<{ session: Session | null; ambiguity: HandoffError | null }> {
  try {
    return { session: await chosenSession(repository, trust, choice), ambiguity: null };
  } catch (error) {
    if (!(error instanceof HandoffError) || error.code !== 'ambiguous_session') throw error;
    return { session: lastOpened(repository), ambiguity: error };
  }
}

/**
 * Null where none is open, and where the session that was opened last has ended and was somebody else's: whoever wrote there and
 * names nobody must not go on in the session of another. Of several identities the configured one is meant; else nobody can tell.
 */
async function onlyOpenSession(repository: Repository, trust: Trust, besides?: string): Promise<Session | null> {
  const isOpenOther = (session: Session): boolean =>
    session.session_id !== besides && isOpenHere(repository, trust, session);
  const open = byAge(sessionsHere(repository)).filter(isOpenOther);
  const identities = new Set(open.map(({ identity }) => identity));
  const last = lastOpened(repository);
  if (identities.size === 1 && last && last.session_id !== besides && !identities.has(last.identity)) return null;
  if (identities.size < 2) return newestOf(last, open);
  const configured = await configuredIdentity(repository);
  if (configured === null || !identities.has(configured)) throw ambiguous(open);
  return newestOf(
    last,
    open.filter(({ identity }) => identity === configured),
  );
}

/** The bot may have several: the one that was opened or found again last. */
function newestOf(last: Session | null, sessions: readonly Session[]): Session | null {
  return sessions.find(({ session_id }) => session_id === last?.session_id) ?? sessions[0] ?? null;
}

function isOpenHere(repository: StateDirectory & TimeAndHost, trust: Trust, session: Session): boolean {
  return isOpen(withLiveness(repository, trust, session).liveness);
}

function byAge(sessions: Session[]): Session[] {
  return sessions.sort((a, b) => (a.opened_at < b.opened_at ? 1 : -1));
}

function ambiguous(open: readonly Session[]): HandoffError {
  const named = open.map(({ identity, session_id }) => `${identity} (session ${session_id.slice(0, 8)})`);
  const [first, second] = [...new Set(open.map(({ identity }) => identity))];
  return new HandoffError('ambiguous_session', `Several sessions are open in this work tree: ${named.join(', ')}.`, {
    hint: `Say who you are: --as ${first} or --as ${second}, or set HANDOFF_IDENTITY. One that nobody works in ends with git handoff release ${open.at(-1)!.session_id.slice(0, 8)} --reason TEXT`,
    data: { sessions: open.map(({ session_id, identity }) => ({ session_id, identity })) },
  });
}

/** Null when its opening was cut off before it had a record. */
function lastOpened(repository: Directories & StateDirectory): Session | null {
  const dirs = dirsOf(repository);
  const last = lastSession(dirs, repository.worktree);
  return last && readTip(dirs, last.session_id) ? last : null;
}

/**
 * Those that this work tree points to, and those that were opened in it by a process that was killed before it could
 * point: whose identity is held by them would otherwise be locked out by a session that nobody can find. One that has no
 * record has yet to begin.
 */
function sessionsHere(repository: Directories & StateDirectory): Session[] {
  const dirs = dirsOf(repository);
  const pointed = pointedSessions(dirs, repository.worktree);
  const ids = new Set(pointed.map(({ session_id }) => session_id));
  const others = listSessions(dirs).filter(
    ({ worktree, session_id }) => worktree === repository.worktree && !ids.has(session_id),
  );
  return [...pointed, ...others].filter(({ session_id }) => readTip(dirs, session_id) !== null);
}

function noSession(identity: string | null, [elsewhere]: readonly Elsewhere[]): HandoffError {
  const whose = identity === null ? 'No session is' : `${identity} has no session`;
  const as = identity === null ? '' : ` --as ${quoteWord(identity)}`;
  const open = `git handoff start${as} opens one, git handoff pickup continues another, --session ID names one.`;
  if (!elsewhere) return new HandoffError('no_session', `${whose} open in this work tree.`, { hint: open });
  const { session, cd } = elsewhere;
  const where = `session ${session.session_id.slice(0, 8)} of ${session.identity} is in another one`;
  return new HandoffError('no_session', `${whose} open in this work tree: ${where}.`, {
    // whoever names nobody must not be sent to somebody else's
    hint: identity === null ? `If that is yours: ${cd}. Else ${open}` : cd,
    data: { session_id: session.session_id, identity: session.identity },
  });
}

function notYours({ session_id, identity }: Session, as: string): HandoffError {
  return new HandoffError('no_session', `Session ${session_id} is ${identity}'s, not ${as}'s.`, {
    hint: `Leave out --as, or open your own: git handoff start --as ${quoteWord(as)}`,
    data: { session_id, identity },
  });
}
