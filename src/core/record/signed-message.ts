import type { Hashes } from '../bytes/hash.ts';
import { sshsigMessage } from '../trust/sshsig.ts';
import { namespaceOf, type SignedKind } from './kinds.ts';

/** What a key is asked to sign, or to have signed. */
export interface Signable {
  kind: SignedKind;
  signedBytes: Uint8Array;
}

/** The one place that builds the bytes a key signs, of records, documents and locks. SPEC §4.2 */
export function signedMessage({ kind, signedBytes }: Signable, hashes: Hashes): Uint8Array {
  return sshsigMessage(namespaceOf(kind), hashes.sha512(signedBytes));
}
