import { type Place, privateKey } from '../handoff.ts';
import { writeLedgerOf } from '../ledger/forge-ledger.ts';
import { commitSealed, entriesOf } from '../ledger/sealed.ts';
import { publicLine } from '../threats/forge.ts';
import { open } from '../verbs/agents.ts';
import { type Change, commitRecords, document, headOf, identityAfter } from './scenario.ts';

/** A ledger of three seals on the branch that is checked out, by the verb. */
export async function ledgered(place: Place): Promise<void> {
  commitSealed(place, 3);
  await append(place);
}

export async function append(place: Place, options: object = {}): Promise<void> {
  await open(place).handoff.ledger.append(options);
}

/** What is done to the protected branch itself, after it has a ledger. */
export async function onMain(place: Place, change: () => Promise<unknown> | unknown): Promise<Change> {
  await ledgered(place);
  const base = headOf(place.dir);
  await change();
  return { base };
}

/** A ledger that somebody made up, committed. */
export async function forgeLedger(
  place: Place,
  change: (entries: string[]) => string[],
  forgery: Parameters<typeof writeLedgerOf>[2] = {},
): Promise<void> {
  await writeLedgerOf(place, change(entriesOf(place)), forgery);
  commitRecords(place, 'handoff: ledger');
}

export function textOf({ bytes }: { bytes: Uint8Array }): string {
  return Buffer.from(bytes).toString('utf8');
}

/** The key of donna, revoked by a maintainer with a cutoff. */
export function revokeDonna(place: Place, cutoff?: number): void {
  const keys = [{ key: publicLine(privateKey(place, 'donna')), state: 'revoked', ...(cutoff ? { cutoff } : {}) }];
  document(place, 'identities/donna/identity.yaml', identityAfter(place, 'donna', { keys }));
}
