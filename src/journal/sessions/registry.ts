import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseJson } from '../../core/bytes/json.ts';
import { HandoffError } from '../../core/error.ts';
import { isIdentityName, isSessionId } from '../../core/names.ts';
import { parseSessionFolder, ROOT } from '../../core/paths.ts';
import { createFile, guarded, replaceSynced } from '../../disk/durable.ts';
import { ifThere } from '../../disk/if-there.ts';
import type { Moment } from '../../disk/moment.ts';
import { readStateText } from '../../disk/state-file.ts';
import { writeHeartbeat } from './heartbeat.ts';

/** A session that was opened on this machine. Only its work tree ever changes: the rest that changes stands beside it. */
export interface Session {
  session_id: string;
  identity: string;
  /** Its folder in the tree. */
  folder: string;
  /** The work tree it is in: its files are put back there and nowhere else. */
  worktree: string;
  inherited_from: string | null;
  opened_at: string;
  /** Who opened it, as long as it has no record: a process that died before its first record left nothing. */
  opener: { pid: number; host: string; boot: string | null };
}

/** Where everything that is not in the tree has its place. */
export interface StateDirs {
  locks: string;
  sessions: string;
  pointers: string;
  drafts: string;
  clock: string;
  scratch: string;
}

const KNOWN = new Map<string, StateDirs>();

/** Every step of a verb asks. */
export function stateDirs(stateDir: string): StateDirs {
  const dirs = KNOWN.get(stateDir) ?? dirsIn(stateDir);
  KNOWN.set(stateDir, dirs);
  return dirs;
}

function dirsIn(stateDir: string): StateDirs {
  const at = (name: string): string => join(stateDir, name);
  return {
    locks: at('locks'),
    sessions: at('sessions'),
    pointers: at('current'),
    drafts: at('drafts'),
    clock: at('clock'),
    scratch: at('scratch'),
  };
}

/** The heartbeat comes first: whoever sees the lock of a session sees that it is alive. */
export function createSession(dirs: StateDirs, session: Session, moment: Moment): void {
  const folder = join(dirs.sessions, session.session_id);
  guarded(folder, () => {
    writeHeartbeat(heartbeatFile(dirs, session.session_id), moment);
    createFile(join(folder, 'session.json'), `${JSON.stringify(session)}\n`);
  });
}

/** It has moved to another work tree. */
export function replaceSession(dirs: StateDirs, session: Session): void {
  const path = join(dirs.sessions, session.session_id, 'session.json');
  guarded(path, () => replaceSynced(path, `${JSON.stringify(session)}\n`));
}

export function removeSession(dirs: StateDirs, id: string): void {
  rmSync(join(dirs.sessions, id), { recursive: true, force: true });
  rmSync(join(dirs.locks, 'session', id), { recursive: true, force: true });
}

/**
 * Null for an unknown session, and for one whose opening was cut off before it could be described. The id may come from
 * somebody else: text that is no session id is never used in a path.
 */
export function readSession(dirs: StateDirs, id: string): Session | null {
  if (!isSessionId(id)) return null;
  const path = join(dirs.sessions, id, 'session.json');
  const text = readStateText(path);
  const texts = ['session_id', 'identity', 'folder', 'worktree', 'opened_at'] as const;
  const session = text === null ? null : parseState<Session>(text, path, texts);
  if (session && !isSession(session, id)) throw spoilt(path);
  return session;
}

/** What it says becomes paths and words of commands. */
function isSession({ session_id, identity, folder, opener, inherited_from }: Session, id: string): boolean {
  const [root, sessions, whose, name = '', ...more] = folder.split('/');
  const isFolder = root === ROOT && sessions === 'sessions' && whose === identity && more.length === 0;
  if (!isFolder || parseSessionFolder(name)?.sid8 !== id.slice(0, 8)) return false;
  const isHeir = inherited_from === null || (typeof inherited_from === 'string' && isSessionId(inherited_from));
  return session_id === id && isIdentityName(identity) && isHeir && typeof opener?.host === 'string';
}

export function listSessions(dirs: StateDirs): Session[] {
  const ids = ifThere(() => readdirSync(dirs.sessions)) ?? [];
  const sessions = ids.map((id) => readSession(dirs, id));
  return sessions.filter((session) => session !== null);
}

export function heartbeatFile(dirs: StateDirs, id: string): string {
  return join(dirs.sessions, id, 'heartbeat');
}

/** A state file that a fault of the disk, or a hand, has spoilt. It is not taken for none: it may be what holds a session. */
export function parseState<T>(text: string, path: string, texts: readonly (keyof T)[]): T {
  const value = parseJson<T>(text);
  if (value && texts.every((key) => typeof value[key] === 'string')) return value;
  throw spoilt(path);
}

export function spoilt(path: string): HandoffError {
  return new HandoffError('io', `${path} cannot be read: it is not what git-handoff wrote.`, {
    hint: 'Look at it. If nobody works in that session any more, move its folder away.',
    data: { path },
  });
}
