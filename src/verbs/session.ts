import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { HandoffError } from '../core/error.ts';
import type { Trust } from '../core/trust.ts';
import { absent } from '../journal/absent.ts';
import { guarded, replaceFile } from '../journal/durable.ts';
import { type Moment, readMoment } from '../journal/heartbeat.ts';
import { isOpen, type Liveness, readLiveness } from '../journal/liveness.ts';
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
  return policy.document.fields.stale_after as number;
}

export async function requireSession(
  repository: Repository,
  trust: Trust,
  choice: SessionChoice,
): Promise<LiveSession> {
  const found = await chosenSession(repository, trust, choice);
  if (!found) throw noSession(await namedIdentity(repository, choice.as));
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

export async function withLiveness(repository: Repository, trust: Trust, session: Session): Promise<LiveSession> {
  const moment = await momentOf(repository);
  const liveness = await readLiveness(dirsOf(repository), session, repository.host, moment, staleAfter(trust));
  return { session, liveness };
}

export function momentOf(repository: Repository): Promise<Moment> {
  return readMoment(repository.host, repository.now());
}

/** By id or unique beginning, among the sessions of this machine. */
async function byId(repository: Repository, prefix: string): Promise<Session> {
  const dirs = stateDirs(repository.stateDir);
  const ids = ((await readdir(dirs.sessions).catch(absent)) ?? []).filter((id) => id.startsWith(prefix));
  const session = ids.length === 1 ? await readSession(dirs, ids[0]!) : null;
  if (session && prefix !== '') return session;
  throw unknownSession(prefix, ids.length);
}

export function unknownSession(prefix: string, matches: number): HandoffError {
  const message =
    matches > 1
      ? `${matches} sessions begin with ${JSON.stringify(prefix)}.`
      : `There is no session ${JSON.stringify(prefix)} here.`;
  return new HandoffError('unknown_session', message, { hint: 'git handoff sessions', data: { session: prefix } });
}

/** The session of an identity in this work tree; of whoever came last when nobody is named. It may have ended. */
export async function currentSession(
  repository: Repository,
  trust: Trust,
  as: string | undefined,
): Promise<Session | null> {
  const identity = await namedIdentity(repository, as);
  const opened = await sessionsHere(repository);
  const candidates = opened.filter((session) => identity === null || session.identity === identity);
  const open = await Promise.all(candidates.map((session) => withLiveness(repository, trust, session)));
  const byAge = open.sort((a, b) => (a.session.opened_at < b.session.opened_at ? 1 : -1));
  // whoever was taken over, and names nobody, must not go on in somebody else's session
  const isNext = ({ liveness }: LiveSession) =>
    isOpen(liveness) || (identity === null && liveness.state === 'released');
  const alive = byAge.find(isNext);
  return (alive ?? byAge[0])?.session ?? null;
}

/**
 * Those that this work tree points to, and those that were opened in it by a process that was killed before it could
 * point: whose identity is held by them would otherwise be locked out by a session that nobody can find.
 */
async function sessionsHere(repository: Repository): Promise<Session[]> {
  const pointed = await pointedSessions(repository);
  const known = new Set(pointed.map(({ session_id }) => session_id));
  const all = await listSessions(dirsOf(repository));
  const here = all.filter(({ session_id, worktree }) => worktree === repository.worktree && !known.has(session_id));
  const tips = await Promise.all(here.map(({ session_id }) => readTip(dirsOf(repository), session_id)));
  return [...pointed, ...here.filter((_, index) => tips[index] !== null)];
}

async function pointedSessions(repository: Repository): Promise<Session[]> {
  const folder = pointerFolder(repository);
  const names = (await readdir(folder).catch(absent)) ?? [];
  const dirs = stateDirs(repository.stateDir);
  const sessions = names
    .filter((name) => !name.startsWith('.tmp-'))
    .map(async (name) => readSession(dirs, (await readFile(join(folder, name), 'utf8')).trim()));
  return (await Promise.all(sessions)).filter((session) => session !== null);
}

/** From now on this work tree is in that session, for that identity. */
export async function pointTo(repository: Repository, session: Session): Promise<void> {
  const folder = pointerFolder(repository);
  await guarded(folder, async () => {
    await mkdir(folder, { recursive: true });
    await replaceFile(join(folder, session.identity), `${session.session_id}\n`);
  });
}

/** One folder per work tree; its name can be long and hold anything, so its digest names it. */
function pointerFolder({ stateDir, worktree }: Repository): string {
  return join(stateDirs(stateDir).current, createHash('sha256').update(worktree).digest('hex').slice(0, 16));
}

/** Every session this machine knows outside the tree, but for openings that died or never got anywhere. */
export async function liveSessions(repository: Repository, trust: Trust): Promise<LiveSession[]> {
  const sessions = await listSessions(stateDirs(repository.stateDir));
  const live = await Promise.all(sessions.map((session) => withLiveness(repository, trust, session)));
  for (const { session } of live.filter(({ liveness }) => liveness.dead))
    await removeSession(dirsOf(repository), session.session_id);
  return live.filter(({ liveness }) => liveness.opened || liveness.state === 'active');
}

/** SPEC §8.4: a session that was taken over stops, and never comes back by itself. */
export function assertWritable({ session, liveness }: LiveSession): void {
  if (liveness.state === 'wrapped') throw ended(session);
  if (liveness.state === 'released') throw released(session, liveness.end!);
}

export function released(session: Pick<Session, 'session_id'>, end: End): HandoffError {
  const by = end.session_id ? `${end.identity} (session ${end.session_id.slice(0, 8)})` : end.identity;
  return new HandoffError(
    'session_released',
    `Session ${session.session_id} was released by ${by}: ${end.reason.replace(/[.\s]+$/, '')}.`,
    {
      hint: 'Stop here: somebody else has this work now. git handoff status shows who; git handoff start opens a new session.',
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
    hint: 'git handoff start opens one, git handoff pickup continues another, --session ID names one.',
  });
}

function notYours({ session_id, identity }: Session, as: string): HandoffError {
  return new HandoffError('no_session', `Session ${session_id} is ${identity}'s, not ${as}'s.`, {
    hint: `Leave out --as, or open your own: git handoff start --as ${as}`,
    data: { session_id, identity },
  });
}

export function dirsOf(repository: Repository): StateDirs {
  return stateDirs(repository.stateDir);
}
