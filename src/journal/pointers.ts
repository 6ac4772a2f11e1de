import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { guarded, replaceFile } from './durable.ts';
import { ifThere } from './if-there.ts';
import { readSession, type Session, type StateDirs } from './registry.ts';

/** The sessions that a work tree is in: one for each identity that works there. */
export function pointedSessions(dirs: StateDirs, worktree: string): Session[] {
  const folder = pointerFolder(dirs, worktree);
  const names = (ifThere(() => readdirSync(folder)) ?? []).filter((name) => !name.startsWith('.tmp-'));
  const ids = names.map((name) => readFileSync(join(folder, name), 'utf8').trim());
  return ids.map((id) => readSession(dirs, id)).filter((session) => session !== null);
}

/** From now on the session's work tree is in it, for its identity. */
export function pointTo(dirs: StateDirs, { worktree, identity, session_id }: Session): void {
  const path = join(pointerFolder(dirs, worktree), identity);
  guarded(path, () => replaceFile(path, `${session_id}\n`));
}

/** One folder per work tree; its name can be long and hold anything, so its digest names it. */
function pointerFolder({ current }: StateDirs, worktree: string): string {
  return join(current, createHash('sha256').update(worktree).digest('hex').slice(0, 16));
}
