import { describeWaiting, type WaitingBaton, waitingBatons } from '../../custody/baton/waiting-batons.ts';
import { readKnownSessions } from '../../custody/known-sessions.ts';
import type { Repository } from '../../repository/repository.ts';
import { requireTrust } from '../../repository/trusted-now.ts';

/** What waits to be picked up, on any branch; the newest first. It changes nothing. */
export async function batons(repository: Repository): Promise<{ batons: WaitingBaton[] }> {
  const knownSessions = await readKnownSessions(repository, await requireTrust(repository));
  return { batons: describeWaiting(knownSessions, waitingBatons(knownSessions.history), repository.now()) };
}
