import { createPublicKey, verify as cryptoVerify, hash, type KeyObject } from 'node:crypto';
import type { Hash, Hashes } from './core/bytes/hash.ts';
import type { SignedMessage, Suite } from './core/record/verify.ts';
import { type Ed25519Verify, isStrict, strict } from './core/trust/strict.ts';

export const verifyEd25519: Ed25519Verify = strict((publicKey, message, signature) => {
  const key = importKey(publicKey);
  return key !== null && cryptoVerify(null, message, key, signature);
});

/** The same answer; with several calls in flight libuv's pool uses all cores. */
export async function verifyEd25519Async(
  publicKey: Uint8Array,
  message: Uint8Array,
  signature: Uint8Array,
): Promise<boolean> {
  const [isValid] = await verifyEach(publicKey, [{ message, signature }]);
  return isValid!;
}

/** One promise for all of them: a promise each would cost more than the strict rule. */
function verifyEach(publicKey: Uint8Array, signed: readonly SignedMessage[]): Promise<boolean[]> {
  return new Promise((resolve, reject) => {
    const answers = new Array<boolean>(signed.length).fill(false);
    let open = 1;
    const close = (): void => {
      if (--open === 0) resolve(answers);
    };
    signed.forEach(({ message, signature }, index) => {
      const key = message instanceof Uint8Array && isStrict(publicKey, signature) ? importKey(publicKey) : null;
      if (key === null) return;
      open++;
      cryptoVerify(null, message, key, signature, (error, isValid) => {
        if (error) reject(error);
        answers[index] = isValid;
        close();
      });
    });
    close();
  });
}

// A Buffer made in C++ is dearer than this copy: 'buffer' takes twice as long for 65 bytes. Node takes every encoding here,
// its types name those that are text.
const TWO_BYTES_A_CHARACTER = 'utf16le' as 'binary';

export const nodeHashes = {
  sha256: hashOf('sha256', 32),
  sha512: hashOf('sha512', 64),
  sha256Hex: (bytes) => hash('sha256', bytes, 'hex'),
} satisfies Required<Hashes>;

/** What audits run on under Node. */
export const nodeSuite: Suite = { ...nodeHashes, verify: verifyEd25519Async, verifyAll: verifyEach };

function hashOf(algorithm: string, length: number): Hash {
  const into = (bytes: Uint8Array, target: Uint8Array, at: number): void => {
    const text = hash(algorithm, bytes, TWO_BYTES_A_CHARACTER);
    for (let i = 0; i < text.length; i++) {
      const pair = text.charCodeAt(i);
      target[at + 2 * i] = pair;
      target[at + 2 * i + 1] = pair >> 8;
    }
  };
  const whole = (bytes: Uint8Array): Uint8Array => {
    const target = new Uint8Array(length);
    into(bytes, target, 0);
    return target;
  };
  return Object.assign(whole, { into });
}

const MAX_KEYS = 4096;
const keys = new Map<string, KeyObject | null>();

function importKey(publicKey: Uint8Array): KeyObject | null {
  const bytes = Buffer.from(publicKey.buffer, publicKey.byteOffset, publicKey.byteLength);
  const name = bytes.toString('latin1');
  const kept = keys.get(name);
  if (kept !== undefined) return kept;
  if (keys.size >= MAX_KEYS) keys.clear();
  const key = createKey(bytes.toString('base64url'));
  keys.set(name, key);
  return key;
}

/** JWK, because importing DER takes 14 times as long. Null for a key that OpenSSL refuses. */
function createKey(x: string): KeyObject | null {
  try {
    return createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
  } catch (error) {
    if (error instanceof Error && 'code' in error) return null;
    throw error;
  }
}
