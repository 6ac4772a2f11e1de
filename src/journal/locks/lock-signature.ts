import { randomUUID } from 'node:crypto';
import { signedMessage } from '../../core/record/signed-message.ts';
import type { PublicKey } from '../../core/record/verify.ts';
import { nodeSuite } from '../../crypto.ts';
import type { Signer } from '../keys/keys.ts';
import { type Holder, NO_SESSION } from './holder.ts';
import { type LockDocument, lockBytes, type UncheckedLock } from './lock-commit.ts';
import { parseAnyLockRef } from './lock-ref.ts';

/** Who may hold a lock of this repository, and the keys they sign with. */
export interface LockReaders {
  repo: string;
  /** The keys of an identity that are not revoked; none for somebody who is not signed in. */
  keysOf(identity: string): Promise<readonly PublicKey[]>;
}

/** Who takes locks from this machine. */
export interface LockWriters extends LockReaders {
  signerOf(identity: string): Promise<Signer>;
}

/** SPEC §8.7: a lock is its holder's word. Whatever else is under its name is noise, whoever may push there. */
export async function isLock(lock: UncheckedLock, { repo, keysOf }: LockReaders): Promise<boolean> {
  if (!mayBeLock(lock, repo)) return false;
  const message = signedMessage({ kind: 'lock', signedBytes: lock.signedBytes }, nodeSuite);
  for (const { bytes } of await keysOf(lock.holder.identity))
    if (await nodeSuite.verify(bytes, message, lock.signature)) return true;
  return false;
}

/** It is one if a key of its holder has signed it. */
export function mayBeLock({ ref, repo, signature, holder }: UncheckedLock, ofRepo: string): boolean {
  const named = parseAnyLockRef(ref);
  return named !== null && repo === ofRepo && signature.length === 64 && mayHold(named.name, holder);
}

/** An identity is its own to hold; whoever ends a session may have none of its own. */
function mayHold(name: string, { identity, session_id }: Holder): boolean {
  if (name.startsWith('session/')) return true;
  return session_id !== NO_SESSION && (!name.startsWith('identity/') || name === `identity/${identity}`);
}

export async function signLock(
  { repo, signerOf }: LockWriters,
  ref: string,
  holder: Holder,
): Promise<{ document: LockDocument; signature: Uint8Array }> {
  const document = { repo, ref, nonce: randomUUID(), holder };
  const signer = await signerOf(holder.identity);
  return { document, signature: await signer.sign({ kind: 'lock', signedBytes: lockBytes(document) }) };
}
