import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { bestEffort } from '../../disk/best-effort.ts';
import { replaceFile } from '../../disk/durable.ts';
import { ifThere } from '../../disk/if-there.ts';
import type { Directories } from '../../repository/parts.ts';
import type { Session } from '../sessions/registry.ts';

/**
 * From now on commits that its identity makes in the session's work tree name it, and its task. The hook prepare-commit-msg reads
 * this: one file for each identity that has a session open there.
 */
export function writeTrailers({ dirs }: Directories, session: Session, task: string | null): void {
  const lines = [sessionLine(session), ...(task === null ? [] : [`Handoff-Task: ${task}\n`])];
  bestEffort(() => replaceFile(trailersPath(dirs.commonDir, session), lines.join('')));
}

/** The same, unless they name it already. */
export function keepTrailers(repository: Directories, session: Session, task: string | null): void {
  if (!namesIt(repository, session)) writeTrailers(repository, session, task);
}

/** When the session has ended. Those of another session of the identity in the same work tree stay. */
export function removeTrailers(repository: Directories, session: Session): void {
  if (!namesIt(repository, session)) return;
  bestEffort(() => rmSync(trailersPath(repository.dirs.commonDir, session), { force: true }));
}

function namesIt({ dirs }: Directories, session: Session): boolean {
  const read = () => readFileSync(trailersPath(dirs.commonDir, session), 'utf8').startsWith(sessionLine(session));
  return bestEffort(() => ifThere(read)) ?? false;
}

function sessionLine({ session_id }: Session): string {
  return `Handoff-Session: ${session_id}\n`;
}

function trailersPath(commonDir: string, { worktree, identity }: Session): string {
  return join(commonDir, worktree, 'handoff-sessions', identity);
}
