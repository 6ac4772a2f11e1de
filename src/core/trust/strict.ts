import { fromHex } from '../bytes/bytes.ts';

export type Ed25519Verify = (publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array) => boolean;

/** Backends differ on the inputs that `isStrict` refuses, and only on those; so it runs before any of them. */
export function strict(verify: Ed25519Verify): Ed25519Verify {
  return (publicKey, message, signature) =>
    message instanceof Uint8Array && isStrict(publicKey, signature) && verify(publicKey, message, signature);
}

/** RFC 8032 §5.1.7 and beyond: S < L; A and R canonical and not of small order. */
export function isStrict(publicKey: Uint8Array, signature: Uint8Array): boolean {
  if (!(publicKey instanceof Uint8Array) || publicKey.length !== 32) return false;
  if (!(signature instanceof Uint8Array) || signature.length !== 64) return false;
  return isScalarBelowL(signature) && isStrictPoint(publicKey) && isStrictPoint(signature);
}

/** A key that some message could be signed for by anybody, or that has two spellings, is no key. SPEC §4.3 */
export function isStrictKey(publicKey: Uint8Array): boolean {
  return publicKey.length === 32 && isStrictPoint(publicKey);
}

// L = 2^252 + 27742317777372353535851937790883648493, little-endian.
const L = fromHex('edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010')!;

/** S is the second half. S + L satisfies the same equation, and would be a second signature of one message. */
function isScalarBelowL(signature: Uint8Array): boolean {
  for (let i = 31; i >= 0; i--) {
    const difference = signature[32 + i]! - L[i]!;
    if (difference !== 0) return difference < 0;
  }
  return false;
}

// The y of every point whose order divides 8, in canonical and non-canonical form. Each occurs with the sign bit clear
// and set: 14 encodings. Two of them, y = 1 and y = p - 1 with the sign bit set, are the only encodings with y < p that
// are not canonical (x = 0 has no sign).
const SMALL_ORDER_Y = [
  '0000000000000000000000000000000000000000000000000000000000000000', // 0, order 4
  '0100000000000000000000000000000000000000000000000000000000000000', // 1, order 1
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05', // order 8
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a', // order 8
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f', // p - 1, order 2
  'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f', // p, a second form of 0
  'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f', // p + 1, a second form of 1
].map((hex) => fromHex(hex)!);

const SMALL_ORDER_BY_FIRST_BYTE = new Map(SMALL_ORDER_Y.map((y) => [y[0]!, y]));

/** The point is the first 32 bytes. */
function isStrictPoint(bytes: Uint8Array): boolean {
  const smallOrder = SMALL_ORDER_BY_FIRST_BYTE.get(bytes[0]!);
  return isBelowP(bytes) && (smallOrder === undefined || !hasY(bytes, smallOrder));
}

/** p = 2^255 - 19: all bytes ff but the first, ed, and the last, 7f below the sign bit. */
function isBelowP(bytes: Uint8Array): boolean {
  if ((bytes[31]! & 0x7f) !== 0x7f) return true;
  for (let i = 30; i > 0; i--) if (bytes[i] !== 0xff) return true;
  return bytes[0]! < 0xed;
}

function hasY(bytes: Uint8Array, y: Uint8Array): boolean {
  for (let i = 0; i < 31; i++) if (bytes[i] !== y[i]) return false;
  return (bytes[31]! & 0x7f) === y[31];
}
