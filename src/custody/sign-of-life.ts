import { bestEffort } from '../disk/best-effort.ts';
import { beatAgain, hasShownLife } from '../journal/append.ts';
import { givenIdentity } from '../journal/keys/identity-choice.ts';
import { pointedSessions } from '../journal/sessions/pointers.ts';
import { isWrapped, readTip } from '../journal/sessions/records.ts';
import { dirsOf } from '../journal/sessions/session-state.ts';
import type { Repository } from '../repository/repository.ts';

/**
 * Whoever looks something up is at work: the only open session of this work tree is alive, if it may be theirs. No verb fails
 * because of it, and who holds what does not change: a session that was taken over stays so, and one that has been silent for long
 * is not brought back to life by somebody who looks what became of it. SPEC §8.2
 */
export function showLife(repository: Repository, as: string | undefined): void {
  if (!repository.dirs.topLevel || hasShownLife(repository)) return;
  bestEffort(() => {
    const dirs = dirsOf(repository);
    const given = givenIdentity(repository, as);
    const open = pointedSessions(dirs, repository.worktree).filter(({ session_id }) => {
      const tip = readTip(dirs, session_id);
      return tip !== null && 'bytes' in tip && !isWrapped(dirs, session_id);
    });
    const ids = new Set(open.map(({ session_id }) => session_id));
    const [session] = open;
    if (ids.size !== 1 || !session || (given !== null && given !== session.identity)) return;
    beatAgain(repository, session);
  });
}
