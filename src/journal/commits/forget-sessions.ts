import { askRefs } from '../../repository/ask-refs.ts';
import type { Directories, GitAccess, StateDirectory } from '../../repository/parts.ts';
import { readBranch } from '../../repository/position.ts';
import { isCommitted, markCommitted } from '../sessions/committed.ts';
import { isOpen } from '../sessions/liveness.ts';
import { removeSession } from '../sessions/registry.ts';
import { dirsOf, type LiveSession } from '../sessions/session-state.ts';
import { isInSomeRef } from './recover-records.ts';

const KEPT = 16;

/**
 * Sessions that ended and that a commit holds need no journal. The newest stay, so that another work tree, whose branch
 * does not have them yet, can pick them up; what no commit holds always stays, and so does what only a detached HEAD holds.
 */
export async function forgetOldSessions(
  repository: GitAccess & Directories & StateDirectory,
  live: readonly LiveSession[],
  committed: ReadonlySet<string>,
): Promise<void> {
  const dirs = dirsOf(repository);
  const over = live.filter(({ session, liveness }) => committed.has(session.session_id) && !isOpen(liveness));
  over.sort((a, b) => (a.session.opened_at < b.session.opened_at ? 1 : -1));
  const unmarked = over.filter(({ session }) => !isCommitted(dirs, session.session_id));
  const branch = readBranch(repository);
  for (const { session } of unmarked) markCommitted(dirs, session.session_id, { branch });
  const isInRef = askRefs(repository);
  for (const { session } of over.slice(KEPT))
    if (branch !== null || (await isInSomeRef(dirs, session, isInRef))) removeSession(dirs, session.session_id);
}
