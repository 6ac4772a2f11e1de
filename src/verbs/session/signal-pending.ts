import { pendingSignals } from '../../core/session/history-queries.ts';
import type { Signal } from '../../core/session/signals.ts';
import { chosenIdentity, type SessionChoice } from '../../custody/chosen-session.ts';
import { readKnownSessions } from '../../custody/known-sessions.ts';
import { knownIdentity } from '../../journal/keys/identity-choice.ts';
import type { Repository } from '../../repository/repository.ts';
import { requireTrust } from '../../repository/trusted-now.ts';

/** A signal as verbs show it: its place in the order of records is nobody's business. */
export type PendingSignal = Omit<Signal, 'clock'>;

export interface PendingResult {
  pending_signals: PendingSignal[];
}

/** What the next pickup would hand over. It stays pending. */
export async function signalPending(repository: Repository, options: SessionChoice = {}): Promise<PendingResult> {
  const trust = await requireTrust(repository);
  await knownIdentity(repository, trust, options.as); // whoever misspells a name is not told that nothing waits
  const identity = await chosenIdentity(repository, trust, options.as);
  const { history } = await readKnownSessions(repository, trust);
  return { pending_signals: pendingSignals(history, identity).map(toPendingSignal) };
}

export function toPendingSignal({ clock: _, ...signal }: Signal): PendingSignal {
  return signal;
}
