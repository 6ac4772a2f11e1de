import { HandoffError } from '../../core/error.ts';
import { quoteWord } from '../../core/text/quote.ts';
import type { GitConfig } from '../../git/config.ts';
import { sharedRemote } from '../../repository/tracking.ts';
import { savedRef } from './saved-name.ts';

/** A clone brings branches, and no ref of what was saved. */
export function savedNotHere(config: GitConfig, session_id: string, commit: string): HandoffError {
  const remote = sharedRemote(config);
  const ref = savedRef(session_id);
  const where = remote === undefined ? 'REMOTE' : quoteWord(remote);
  return new HandoffError('unknown_commit', `What was saved is not in this clone: commit ${commit.slice(0, 12)}.`, {
    hint: `git fetch ${where} ${ref}:${ref}. If the remote has no such ref, it has yet to be pushed from where the session was: git push ${where} ${ref}`,
    data: { commit, ref },
  });
}
