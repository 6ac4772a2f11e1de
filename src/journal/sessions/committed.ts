import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { parseJson } from '../../core/bytes/json.ts';
import { createFile, removeIfThere } from '../../disk/durable.ts';
import { readStateText } from '../../disk/state-file.ts';
import type { StateDirs } from './registry.ts';

/** Notes that a commit holds a whole session: its journal may be removed when others need the room. */
export interface Committed {
  /** Null where no branch was checked out, or where it cannot be told: then it counts only while HEAD or a ref has the session. */
  branch: string | null;
}

export function markCommitted(dirs: StateDirs, id: string, { branch }: Committed): void {
  createFile(markOf(dirs, id), `${JSON.stringify({ branch })}\n`);
}

export function isCommitted(dirs: StateDirs, id: string): boolean {
  return existsSync(markOf(dirs, id));
}

/** Null when it is not committed. A mark that cannot be read is one all the same: that it is there is what counts. */
export function readCommitted(dirs: StateDirs, id: string): Committed | null {
  const text = readStateText(markOf(dirs, id));
  return text === null ? null : { branch: parseJson<Committed>(text)?.branch ?? null };
}

/** The commit is gone again. */
export function unmarkCommitted(dirs: StateDirs, id: string): void {
  removeIfThere(markOf(dirs, id));
}

function markOf(dirs: StateDirs, id: string): string {
  return join(dirs.sessions, id, 'committed');
}
