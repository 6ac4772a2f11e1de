import { rmdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { bestEffort } from '../../disk/best-effort.ts';
import { replaceFile } from '../../disk/durable.ts';
import type { Session } from './registry.ts';

const FOLDER = 'handoff-pending';

/**
 * Says, in the git directory of a work tree, which record a session wrote last: if HEAD lacks that one, the pre-commit hook has
 * something to take in. A shell reads it, so that a commit with nothing pending does not start Node. One file for each session:
 * two agents in one work tree never write the same file.
 */
export function markPending(gitDir: string, { session_id }: Session, newest: string): void {
  bestEffort(() => replaceFile(join(gitDir, FOLDER, session_id), `${newest}\n`));
}

/** A commit holds all of the session, or it has left the work tree. */
export function clearPending(gitDir: string, { session_id }: Session): void {
  bestEffort(() => rmSync(join(gitDir, FOLDER, session_id), { force: true }));
  bestEffort(() => rmdirSync(join(gitDir, FOLDER))); // without it the hook does not even start a second shell
}
