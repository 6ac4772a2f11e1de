import { isCommitted, markCommitted } from '../journal/committed.ts';
import { isOpen } from '../journal/liveness.ts';
import { removeSession } from '../journal/registry.ts';
import { askRefs } from './ask-refs.ts';
import { readBranch } from './position.ts';
import { isHeldByRef } from './recover-records.ts';
import type { Repository } from './repository.ts';
import { dirsOf, type LiveSession } from './session-state.ts';

const KEPT = 16;

/**
 * Sessions that ended and that a commit holds need no journal. The newest stay, so that another work tree, whose branch
 * does not have them yet, can pick them up; what no commit holds always stays, and so does what only a detached HEAD holds.
 */
export async function forgetOld(
  repository: Repository,
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
    if (branch !== null || (await isHeldByRef(dirs, session, isInRef))) removeSession(dirs, session.session_id);
}
