import { type Ledger, ledgerVkeys, openCheckpoint, readLedger } from '../../audit/ledger/ledger.ts';
import { HandoffError } from '../../core/error.ts';
import { ledgerOrigin } from '../../core/ledger/checkpoint.ts';
import { formatVerifierKey } from '../../core/ledger/note.ts';
import type { Trust } from '../../core/trust/trust.ts';
import { nodeSuite } from '../../crypto.ts';
import { type Actor, maintainerSigner } from '../../journal/keys/signers.ts';
import type { Repository } from '../../repository/repository.ts';
import { currentSource, requireTrust } from '../../repository/trusted-now.ts';
import { checkCurrentPin, homeOf } from '../../sealing/ledger/pin.ts';
import { notInLedger } from '../../sealing/require-ledger.ts';

export interface LedgerKeyResult {
  /** The verifier key of the key that signed the ledger; if there is no ledger yet, of the key that would sign it. */
  vkey: string;
  origin: string;
  /** The verifier keys of all keys that may sign the ledger. */
  vkeys: string[];
}

/** The public key that a proof is checked with, in the form of C2SP signed-note. */
export async function ledgerKey(repository: Repository, options: Actor = {}): Promise<LedgerKeyResult> {
  const trust = await requireTrust(repository);
  const origin = ledgerOrigin(trust.repoId);
  const ledger = options.as === undefined ? await readLedger(await currentSource(repository)) : null;
  const key = ledger ? await signingKey(ledger, trust) : await ownKey(repository, trust, options);
  if (ledger) await checkCurrentPin(repository, ledger, homeOf(trust));
  return { vkey: formatVerifierKey(origin, key, nodeSuite), origin, vkeys: ledgerVkeys(trust, nodeSuite) };
}

async function ownKey(repository: Repository, trust: Trust, actor: Actor): Promise<Uint8Array> {
  try {
    return (await maintainerSigner(repository, trust, actor)).signer.publicKey.bytes;
  } catch (error) {
    if (!(error instanceof HandoffError) || error.code !== 'no_key' || actor.as !== undefined) throw error;
    throw notInLedger('There is no ledger here yet, and so no key that has signed it.');
  }
}

export async function signingKey(ledger: Ledger, trust: Trust): Promise<Uint8Array> {
  const { verified } = await openCheckpoint(ledger, trust, nodeSuite);
  return verified.find(({ verifier }) => verifier.type === 'ed25519')!.verifier.publicKey;
}
