import { type Ledger, ledgerVerifiers, openCheckpoint, readLedger } from '../../audit/ledger.ts';
import { ledgerOrigin } from '../../core/checkpoint.ts';
import { formatVerifierKey } from '../../core/note.ts';
import type { Trust } from '../../core/trust.ts';
import { nodeSuite } from '../../crypto.ts';
import { currentSource, requireTrust } from '../current.ts';
import type { Repository } from '../repository.ts';
import { type Actor, maintainerSigner } from '../signing.ts';

export interface LedgerKeyResult {
  /** Of the key that signed the ledger as it is; where there is none, of the one that would. */
  vkey: string;
  origin: string;
  /** Of all keys that may sign it. */
  vkeys: string[];
}

/** The public key that a proof is checked with, in the form of C2SP signed-note. */
export async function ledgerKey(repository: Repository, options: Actor = {}): Promise<LedgerKeyResult> {
  const trust = await requireTrust(repository);
  const origin = ledgerOrigin(trust.repoId);
  const ledger = options.as === undefined ? await readLedger(await currentSource(repository)) : null;
  const key = ledger
    ? await signingKey(ledger, trust)
    : (await maintainerSigner(repository, trust, options)).signer.publicKey.bytes;
  const vkeys = ledgerVerifiers(trust, nodeSuite).map(({ publicKey }) =>
    formatVerifierKey(origin, publicKey, nodeSuite),
  );
  return { vkey: formatVerifierKey(origin, key, nodeSuite), origin, vkeys };
}

export async function signingKey(ledger: Ledger, trust: Trust): Promise<Uint8Array> {
  const { verified } = await openCheckpoint(ledger, trust, nodeSuite);
  return verified.find(({ verifier }) => verifier.type === 'ed25519')!.verifier.publicKey;
}
