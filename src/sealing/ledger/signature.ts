import { type Ledger, ledgerVerifiers, openCheckpoint } from '../../audit/ledger/ledger.ts';
import { toHex } from '../../core/bytes/bytes.ts';
import { HandoffError } from '../../core/error.ts';
import { type Checkpoint, formatCheckpoint, ledgerOrigin } from '../../core/ledger/checkpoint.ts';
import { formatNote, MAX_SIGNATURES, type Note, noteSignature, openNote } from '../../core/ledger/note.ts';
import type { Trust } from '../../core/trust/trust.ts';
import { nodeSuite } from '../../crypto.ts';
import type { NamedSigner } from '../../journal/keys/sign.ts';
import type { LedgerPin } from './pin-file.ts';

/** False where the key that signed it was revoked since: then whoever appends signs what is there once more. */
export async function isSignedStill(ledger: Ledger, trust: Trust): Promise<boolean> {
  try {
    await openCheckpoint(ledger, trust, nodeSuite);
    return true;
  } catch (error) {
    const isOurs = ledger.checkpoint.origin === ledgerOrigin(trust.repoId);
    if (!(error instanceof HandoffError) || error.code !== 'ledger_inconsistent' || !isOurs) throw error;
    await openNote(ledger.note, ledgerVerifiers(trust, nodeSuite, ['revoked']), nodeSuite);
    return false;
  }
}

/**
 * Whoever holds a revoked key can sign any ledger. So it is signed anew only where this clone saw it while the key was good, or
 * where a person names its root.
 */
export function assertSeenBefore({ checkpoint }: Ledger, pin: LedgerPin | null, named: string | undefined): void {
  const found = toHex(checkpoint.root);
  if (named === found || (pin?.root === found && pin.size === checkpoint.size)) return;
  throw new HandoffError(
    'ledger_inconsistent',
    `The ledger is signed by a key that was revoked, and this clone has not seen it before: ${checkpoint.size} seals, root ${found}.`,
    {
      hint: `Compare that root with a clone that saw it before the revocation; if it is the same: git handoff ledger append --resign ${found}`,
      data: { size: checkpoint.size, root: found },
    },
  );
}

/** The one place that makes a checkpoint. Of the same text as before, what witnesses have signed is signed still. */
export function signCheckpoint(
  checkpoint: Checkpoint,
  { identity, signer }: NamedSigner,
  before: Note | null,
): Uint8Array {
  if (!signer.signNote) throw noNoteKey(identity);
  const { origin } = checkpoint;
  const text = formatCheckpoint(checkpoint);
  const own = noteSignature(origin, signer.publicKey.bytes, signer.signNote(text), nodeSuite);
  const others = before?.text === text ? before.signatures.filter(({ name }) => name !== origin) : [];
  const kept = others.slice(0, MAX_SIGNATURES - 1);
  return formatNote({ text, signatures: [own, ...kept] });
}

function noNoteKey(identity: string): HandoffError {
  return new HandoffError(
    'no_key',
    `The key of ${identity} signs through OpenSSH only, and a checkpoint is no such signature.`,
    {
      hint: 'Append as a maintainer whose key file is here: --as NAME. git handoff identity keygen NAME makes one, which another maintainer signs in: git handoff identity add NAME --role maintainer --key FILE',
      data: { identity },
    },
  );
}
