import { randomUUID } from 'node:crypto';
import { asHandoffError, HandoffError } from '../core/error.ts';
import { ROOT, sessionFolder } from '../core/paths.ts';
import { quoteWord } from '../core/text/quote.ts';
import type { Trust } from '../core/trust/trust.ts';
import { removeTrailers } from '../journal/commits/trailers.ts';
import { BOT } from '../journal/keys/identity-choice.ts';
import type { Holder } from '../journal/locks/holder.ts';
import { hasHalf, holderOf, type LockState, type Locks } from '../journal/locks/open-locks.ts';
import { toEnd } from '../journal/sessions/liveness.ts';
import { endSession, isWrapped } from '../journal/sessions/records.ts';
import { createSession, readSession, removeSession, type Session } from '../journal/sessions/registry.ts';
import { dirsOf, momentOf } from '../journal/sessions/session-state.ts';
import type { Directories, GitAccess, Settings, StateDirectory, TimeAndHost } from '../repository/parts.ts';
import { learnSystemFile } from '../repository/system-config.ts';
import { type HolderState, readHolderState } from './at-work.ts';
import { wayToSession } from './elsewhere.ts';
import type { KnownSessions } from './known-sessions.ts';

/**
 * Opens a session of an identity: its locks come before its records, so whoever loses a race has written nothing. When
 * anything fails, `takePlaces` included, it is as if nothing had been tried.
 */
export async function openSession(
  repository: Pick<GitAccess, 'git'> & Directories & Settings & StateDirectory & TimeAndHost,
  locks: Locks,
  opening: { identity: string; inherited_from: string | null; prior: LockState | null },
  takePlaces: (session: Session) => Promise<void>,
): Promise<Session> {
  // where that fails, git is asked each time
  const learnt = learnSystemFile(repository).catch(asHandoffError);
  const session = register(repository, opening.identity, opening.inherited_from);
  try {
    await takeIdentity(repository, locks, session, opening.prior);
    await takeOwn(locks, session);
    await takePlaces(session);
    await learnt;
    return session;
  } catch (error) {
    // where that fails too, what went wrong first tells more; the next session of the identity here takes the next number
    await giveBack(locks, session, opening.prior).catch(asHandoffError);
    removeSession(dirsOf(repository), session.session_id);
    throw error;
  }
}

/** Gives the identity back to the session that held it before, under a new number; if nobody held it, it becomes free. */
async function giveBack(locks: Locks, session: Session, prior: LockState | null): Promise<void> {
  const held = await readIdentityLock(locks, session.identity);
  if (!held || !hasHalf(held, session)) return;
  if (prior && !prior.released) await locks.take(held.name, held, prior.holder);
  else await locks.release(held, own(session));
}

/** Registered, so that whoever meets its locks finds it alive. */
function register(
  repository: Directories & StateDirectory & TimeAndHost,
  identity: string,
  inherited_from: string | null,
): Session {
  const moment = momentOf(repository);
  const session_id = randomUUID();
  const session: Session = {
    session_id,
    identity,
    folder: `${ROOT}/sessions/${identity}/${sessionFolder(moment.at, session_id)}`,
    worktree: repository.worktree,
    inherited_from,
    opened_at: moment.at,
    opener: { pid: repository.host.pid, host: repository.host.name, boot: moment.boot },
  };
  createSession(dirsOf(repository), session, moment);
  return session;
}

/** The bot has none: any number of sessions may be its own at once. */
async function readIdentityLock(locks: Locks, identity: string): Promise<LockState | null> {
  return identity === BOT ? null : locks.read(`identity/${identity}`);
}

/** Who stands in the way of a new session of this identity. SPEC §8.2: one active session, except for the bot. */
export async function identityHolder(
  repository: StateDirectory & TimeAndHost,
  trust: Trust,
  knownSessions: KnownSessions,
  locks: Locks,
  identity: string,
): Promise<HolderState> {
  return readHolderState(repository, trust, knownSessions, locks, await readIdentityLock(locks, identity));
}

/** Takes the identity for a session, or says who was faster. */
async function takeIdentity(
  repository: Directories & StateDirectory,
  locks: Locks,
  session: Session,
  prior: LockState | null,
): Promise<void> {
  if (session.identity === BOT) return;
  const name = `identity/${session.identity}` as const;
  if (await locks.take(name, prior, own(session))) return;
  throw identityConflict(repository, session.identity, (await locks.read(name))?.holder ?? null);
}

export function identityConflict(
  repository: Directories & StateDirectory,
  identity: string,
  holder: Holder | null,
): HandoffError {
  const who = holder ? `session ${holder.session_id} on ${holder.host}, since ${holder.at}` : 'another session';
  const cd = holder && wayToSession(repository, holder.session_id);
  return new HandoffError('identity_conflict', `${identity} is active in ${who}.`, {
    hint: `${cd ? `It is in another work tree: ${cd}. Go on there` : 'Let it wrap'}, act as somebody else (--as NAME), or take it over: git handoff pickup --as ${quoteWord(identity)}${holder ? ` --from-session ${quoteWord(holder.session_id.slice(0, 8))}` : ''} --force --reason TEXT`,
    data: { identity, session_id: holder?.session_id ?? null },
  });
}

/**
 * Takes a session's place: its lock first, which only one can win, then its journal, after which it cannot write.
 * A wrapped session has nothing left to write. False when somebody else has taken it since `held` was read.
 */
export async function takeOver(
  repository: Directories & StateDirectory,
  locks: Locks,
  victim: string,
  held: LockState | null,
  holder: Holder,
): Promise<boolean> {
  if (!(await locks.take(`session/${victim}`, held, holder))) return false;
  const dirs = dirsOf(repository);
  const session = readSession(dirs, victim);
  if (session && !isWrapped(dirs, victim)) endSession(dirs, victim, toEnd(holder));
  if (session) removeTrailers(repository, session);
  return true;
}

/** The session's own lock: number 1, which nobody else can want before the session is known. */
async function takeOwn(locks: Locks, session: Session): Promise<void> {
  await locks.take(`session/${session.session_id}`, null, own(session));
}

export async function releaseIdentity(locks: Locks, session: Session): Promise<void> {
  const held = await readIdentityLock(locks, session.identity);
  if (held && hasHalf(held, session)) await locks.release(held, own(session));
}

function own(session: Session): Holder {
  return holderOf(session.opener.host, session, session.opened_at);
}
