import { createHash } from 'node:crypto';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { guarded, replaceFile } from '../../disk/durable.ts';
import { ifThere } from '../../disk/if-there.ts';
import { readStateText } from '../../disk/state-file.ts';
import { readSession, type Session, type StateDirs } from './registry.ts';

/** The sessions that a work tree is in: one for each identity that works there. */
export function pointedSessions(dirs: StateDirs, worktree: string): Session[] {
  const folder = pointerFolder(dirs, worktree);
  const names = (ifThere(() => readdirSync(folder)) ?? []).filter((name) => !name.startsWith('.'));
  return names.map((name) => readPointer(dirs, join(folder, name))).filter((session) => session !== null);
}

/** The one that was opened or found again last, by whomever. The clock on the wall cannot tell: it may have been moved. */
export function lastSession(dirs: StateDirs, worktree: string): Session | null {
  return readPointer(dirs, join(pointerFolder(dirs, worktree), LAST));
}

/** No identity has such a name. */
const LAST = '.last';

function readPointer(dirs: StateDirs, path: string): Session | null {
  const id = readStateText(path)?.trim() ?? null;
  return id === null ? null : readSession(dirs, id);
}

/** From now on the session's work tree is in it, for its identity. */
export function pointTo(dirs: StateDirs, { worktree, identity, session_id }: Session): void {
  for (const name of [identity, LAST]) {
    const path = join(pointerFolder(dirs, worktree), name);
    guarded(path, () => replaceFile(path, `${session_id}\n`));
  }
}

/** Its work tree is in it no longer. */
export function dropPointers(dirs: StateDirs, { worktree, identity, session_id }: Session): void {
  for (const name of [identity, LAST]) {
    const path = join(pointerFolder(dirs, worktree), name);
    if ((readStateText(path)?.trim() ?? null) === session_id) guarded(path, () => rmSync(path, { force: true }));
  }
}

/** One folder per work tree; its name can be long and hold anything, so its digest names it. */
function pointerFolder({ pointers }: StateDirs, worktree: string): string {
  return join(pointers, createHash('sha256').update(worktree).digest('hex').slice(0, 16));
}
