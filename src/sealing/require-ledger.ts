import { type Ledger, readLedger } from '../audit/ledger/ledger.ts';
import type { Source } from '../audit/source/source.ts';
import { HandoffError } from '../core/error.ts';

export async function requireLedger(source: Source): Promise<Ledger> {
  const ledger = await readLedger(source);
  if (ledger) return ledger;
  throw notInLedger('There is no ledger here yet.');
}

export function notInLedger(message: string): HandoffError {
  return new HandoffError('nothing_sealed', message, {
    hint: 'On the protected branch, once the seal is merged: git handoff ledger append',
  });
}
