import { toHex } from './bytes.ts';
import { HandoffError } from './error.ts';
import type { Hashes } from './hash.ts';
import { namespaceOf } from './kinds.ts';
import type { ParsedRecord } from './record.ts';
import { sshsigMessage } from './sshsig.ts';

/** Node's crypto or the browser's: both behind the strict rule of SPEC §4.3. */
export interface Suite extends Hashes {
  verify(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean | Promise<boolean>;
}

/** A public key with the fingerprint people know it by. */
export interface PublicKey {
  bytes: Uint8Array;
  fingerprint: string;
}

declare const verified: unique symbol;

/** A record whose signature was checked. Only `verifyRecord` makes one; folds and everything that shows text take no other. */
export interface VerifiedRecord extends ParsedRecord {
  id: string;
  fingerprint: string;
  readonly [verified]: true;
}

/** Checks a record's signature against the keys of the identity it names. SPEC §4 */
export async function verifyRecord(
  record: ParsedRecord,
  keys: readonly PublicKey[],
  suite: Suite,
): Promise<VerifiedRecord> {
  const { signedBytes, signature } = record;
  return assertSigned(
    record,
    await checkSignature({ kind: record.kind, signedBytes, signature: signature! }, keys, suite),
    keys,
    suite,
  );
}

/** What was signed, and by which of the keys; null when by none of them. Only `checkSignature` makes one. */
export interface SignatureCheck {
  signedBytes: Uint8Array;
  signer: PublicKey | null;
  readonly [verified]: true;
}

/**
 * Checks bytes before anyone reads them. SPEC §4.5. Whoever has many files starts this for all of them first and parses
 * while other cores verify.
 */
export async function checkSignature(
  { kind, signedBytes, signature }: Pick<ParsedRecord, 'kind' | 'signedBytes'> & { signature: Uint8Array },
  keys: readonly PublicKey[],
  suite: Suite,
): Promise<SignatureCheck> {
  const message = signedMessage({ kind, signedBytes }, suite);
  let signer: PublicKey | null = null;
  for (const key of keys) {
    if (await suite.verify(key.bytes, message, signature)) {
      signer = key;
      break;
    }
  }
  return { signedBytes, signer } as SignatureCheck;
}

/** A record whose own bytes were checked, and found to be signed by one of the keys. */
export function assertSigned(
  record: ParsedRecord,
  check: SignatureCheck | null,
  keys: readonly PublicKey[],
  suite: Suite,
): VerifiedRecord {
  if (check?.signer && check.signedBytes === record.signedBytes) return verifiedBy(record, check.signer, suite);
  throw new HandoffError('signature_invalid', 'The signature does not fit these bytes and any key of the identity.', {
    hint: 'The file was changed after it was signed, or someone else signed it. Restore it from git.',
    data: {
      expected: `a signature over these bytes by ${keys.map((key) => key.fingerprint).join(' or ')}`,
      found: 'a signature over other bytes, or by another key',
    },
  });
}

/** Spelled out: a spread costs more than the hash. */
function verifiedBy(
  { kind, fields, body, signedBytes, signature, signatures }: ParsedRecord,
  key: PublicKey,
  suite: Suite,
): VerifiedRecord {
  const id = recordId(signedBytes, suite);
  return { kind, fields, body, signedBytes, signature, signatures, id, fingerprint: key.fingerprint } as VerifiedRecord;
}

/** The one place that builds the bytes a key signs. SPEC §4.2 */
export function signedMessage(record: Pick<ParsedRecord, 'kind' | 'signedBytes'>, hashes: Hashes): Uint8Array {
  return sshsigMessage(namespaceOf(record.kind), hashes.sha512(record.signedBytes));
}

/** SPEC §2.3: an id is the digest of the signed bytes; it never covers a signature. */
export function recordId(signedBytes: Uint8Array, hashes: Hashes): string {
  return `sha256:${hashes.sha256Hex?.(signedBytes) ?? toHex(hashes.sha256(signedBytes))}`;
}
