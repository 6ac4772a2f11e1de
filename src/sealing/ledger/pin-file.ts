import { join } from 'node:path';
import { parseJson } from '../../core/bytes/json.ts';
import { HandoffError } from '../../core/error.ts';
import { readStateText } from '../../disk/state-file.ts';
import { isOid } from '../../git/objects/asked-name.ts';
import type { Oid } from '../../git/objects/store.ts';
import type { Messages, StateDirectory } from '../../repository/parts.ts';
import { tryRemember } from '../../repository/pins/pins-file.ts';

/** The largest checkpoint that this clone has seen, and when it first did. */
export interface LedgerPin {
  origin: string;
  size: number;
  root: string;
  at: string;
  /** Where this clone made it: others may yet append something else first. */
  own?: { commit: Oid; before: LedgerPin | null };
}

export function readLedgerPin(repository: StateDirectory): LedgerPin | null {
  const path = pinPath(repository);
  const text = readStateText(path);
  const pin = parseJson<LedgerPin>(text ?? '');
  if (text === null || isPin(pin)) return pin;
  throw new HandoffError('io', `What was seen of the ledger cannot be read in ${path}.`, {
    hint: 'Compare git handoff root --ledger with another clone, then move the file away.',
    data: { path },
  });
}

function isPin(pin: LedgerPin | null): boolean {
  const isHead =
    typeof pin?.origin === 'string' &&
    Number.isSafeInteger(pin.size) &&
    pin.size > 0 &&
    /^[0-9a-f]{64}$/.test(pin.root) &&
    !Number.isNaN(Date.parse(pin.at));
  if (!isHead || !pin.own) return isHead;
  return isOid(pin.own.commit) && (pin.own.before === null || isPin(pin.own.before));
}

/** A ledger without seals is not worth remembering; nor is what is remembered. */
export function rememberPin(repository: StateDirectory & Messages, pin: LedgerPin): LedgerPin {
  const isNew = JSON.stringify(pin) !== JSON.stringify(readLedgerPin(repository));
  if (pin.size > 0 && isNew) tryRemember(repository, pinPath(repository), pin);
  return pin;
}

export function pinPath({ stateDir }: StateDirectory): string {
  return join(stateDir, 'ledger.json');
}
