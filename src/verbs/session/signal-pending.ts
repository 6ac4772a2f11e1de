import { pendingSignals } from '../../core/session/history-queries.ts';
import type { Signal } from '../../core/session/signals.ts';
import { currentSession, type SessionChoice } from '../../custody/chosen-session.ts';
import { readKnown } from '../../custody/known-sessions.ts';
import { BOT, knownIdentity } from '../../journal/keys/acting.ts';
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
  const named = await knownIdentity(repository, trust, options.as);
  const { history } = await readKnown(repository, trust);
  const session = await currentSession(repository, trust, options.as);
  const identity = named ?? session?.identity ?? BOT;
  return { pending_signals: pendingSignals(history, identity).map(toPendingSignal) };
}

export function toPendingSignal({ clock: _, ...signal }: Signal): PendingSignal {
  return signal;
}
