import type { Trust } from '../core/trust/trust.ts';
import { forgetOldSessions } from '../journal/commits/forget-sessions.ts';
import { tryRememberClock } from '../journal/sessions/next-clock.ts';
import { tidyOpenings } from '../journal/sessions/session-state.ts';
import type { Repository } from '../repository/repository.ts';
import type { KnownSessions } from './known-sessions.ts';

/**
 * What reading has shown to be of no use any more: openings that died, journals that commits have. And the highest clock that was
 * seen, from which the next record counts. For verbs that write, once nothing refuses them any more.
 */
export async function tidyKnownSessions(
  repository: Repository,
  trust: Trust,
  knownSessions: KnownSessions,
): Promise<void> {
  tidyOpenings(repository, trust);
  await forgetOldSessions(repository, knownSessions.live, knownSessions.committed);
  tryRememberClock(repository, knownSessions.history.clock);
}
