import type { Wip } from '../../core/session/history.ts';
import { openWip } from '../../core/session/history-queries.ts';
import { readKnownSessions } from '../../custody/known-sessions.ts';
import type { Repository } from '../../repository/repository.ts';
import { requireTrust } from '../../repository/trusted-now.ts';

export interface WipListing {
  wip: Omit<Wip, 'clock'>[];
}

/** What is half done, whoever began it; the newest first. */
export async function wipList(repository: Repository): Promise<WipListing> {
  const { history } = await readKnownSessions(repository, await requireTrust(repository));
  return { wip: openWip(history).map(({ clock: _, ...wip }) => wip) };
}
