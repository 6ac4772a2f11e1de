import { toHex } from '../bytes/bytes.ts';
import type { Hashes } from '../bytes/hash.ts';
import { HandoffError } from '../error.ts';
import type { Kind, RecordKind } from './kinds.ts';
import type { ParsedRecord } from './record.ts';
import { signedMessage } from './signed-message.ts';
import type { SignedParts } from './signed-parts.ts';

/** Node's crypto or the browser's: both behind the strict rule of SPEC §4.3. */
export interface Suite extends Hashes {
  verify(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean | Promise<boolean>;
  /** The same answers at once, where one promise for all of them is cheaper. */
  verifyAll?(publicKey: Uint8Array, signed: readonly SignedMessage[]): Promise<boolean[]>;
}

export interface SignedMessage {
  message: Uint8Array;
  signature: Uint8Array;
}

/** A public key with the fingerprint people know it by. */
export interface PublicKey {
  bytes: Uint8Array;
  fingerprint: string;
}

declare const verified: unique symbol;

/** A record whose signature was checked. Only `verifyRecord` makes one; folds and everything that shows text take no other. */
export type VerifiedRecord<K extends RecordKind = RecordKind> = Verified<ParsedRecord<K>>;

/** No document: that has signers, and no author. */
type SessionRecord = { kind: RecordKind };
type Verified<R> = R & { id: string; fingerprint: string; readonly [verified]: true };

/** Checks a record's signature against the keys of the identity it names. SPEC §4 */
export async function verifyRecord<R extends ParsedRecord>(
  record: R,
  keys: readonly PublicKey[],
  suite: Suite,
): Promise<Verified<R & SessionRecord>> {
  const { kind, signedBytes, signature } = record;
  const [check] = await checkSignatures([{ kind, parts: { signedBytes, signature: signature! } }], keys, suite);
  return assertVerified(record, check!, keys, suite);
}

/** What was signed, and by which of the keys; null when by none of them. Only `checkSignatures` makes one. */
export interface SignatureCheck {
  signedBytes: Uint8Array;
  signer: PublicKey | null;
  readonly [verified]: true;
}

/** A file that claims to be of a kind; null for one without a signature. */
export interface SignedFile {
  kind: Kind;
  parts: SignedParts | null;
}

/** Checks bytes before anyone reads them, SPEC §4.5: all files with the first key, what it did not sign with the next. */
export async function checkSignatures(
  files: readonly SignedFile[],
  keys: readonly PublicKey[],
  suite: Suite,
): Promise<(SignatureCheck | null)[]> {
  const checks = files.map((file) => unchecked(file, suite));
  for (const key of keys) await signBy(key, checks.filter(isOpen), suite);
  return checks as (SignatureCheck | null)[];
}

async function signBy(key: PublicKey, open: readonly Unchecked[], suite: Suite): Promise<void> {
  const answers = await verifyAll(key.bytes, open, suite);
  for (let i = 0; i < open.length; i++) if (answers[i]) open[i]!.signer = key;
}

function isOpen(check: Unchecked | null): check is Unchecked {
  return check !== null && check.signer === null;
}

interface Unchecked extends SignedParts, SignedMessage {
  signer: PublicKey | null;
}

function unchecked({ kind, parts }: SignedFile, suite: Suite): Unchecked | null {
  if (!parts) return null;
  const { signedBytes, signature } = parts;
  return { signedBytes, signature, message: signedMessage({ kind, signedBytes }, suite), signer: null };
}

function verifyAll(publicKey: Uint8Array, signed: readonly SignedMessage[], suite: Suite): Promise<boolean[]> {
  if (suite.verifyAll) return suite.verifyAll(publicKey, signed);
  return Promise.all(signed.map(({ message, signature }) => suite.verify(publicKey, message, signature)));
}

/** Who signed a record: one of the keys, and the record's own bytes. */
export function assertSigned<K extends PublicKey>(
  { signedBytes }: Pick<ParsedRecord, 'signedBytes'>,
  check: SignatureCheck | null,
  keys: readonly K[],
): K {
  const signer = check?.signedBytes === signedBytes && keys.find((key) => key === check.signer);
  if (signer) return signer;
  throw new HandoffError('signature_invalid', 'The signature does not fit these bytes and any key of the identity.', {
    hint: 'The file was changed after it was signed, or someone else signed it. Restore it from git.',
    data: {
      expected: `a signature over these bytes by ${keys.map((key) => key.fingerprint).join(' or ')}`,
      found: 'a signature over other bytes, or by another key',
    },
  });
}

export function assertVerified<R extends ParsedRecord>(
  record: R,
  check: SignatureCheck | null,
  keys: readonly PublicKey[],
  suite: Suite,
): Verified<R & SessionRecord> {
  const { fingerprint } = assertSigned(record, check, keys);
  const verified = { ...record, id: recordId(record.signedBytes, suite), fingerprint };
  return verified as Verified<R & SessionRecord>; // the check above makes it one; a document has no signature that could pass
}

/** SPEC §2.3: an id is the digest of the signed bytes; it never covers a signature. */
export function recordId(signedBytes: Uint8Array, hashes: Hashes): string {
  return `sha256:${hashes.sha256Hex?.(signedBytes) ?? toHex(hashes.sha256(signedBytes))}`;
}
