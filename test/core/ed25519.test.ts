import { createPrivateKey, sign } from 'node:crypto';
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import nacl from 'tweetnacl';
import { describe, expect, test } from 'vitest';
import { fromHex } from '../../src/core/bytes/bytes.ts';
import { nobleHashes } from '../../src/core/bytes/hash.ts';
import { verifyEd25519 as verifyTweetnacl } from '../../src/core/trust/ed25519.ts';
import { isStrict } from '../../src/core/trust/strict.ts';
import { nodeHashes, verifyEd25519Async, verifyEd25519 as verifyNode } from '../../src/crypto.ts';
import { vectors } from '../vectors.ts';

type Case = { name: string; publicKey: Uint8Array; message: Uint8Array; signature: Uint8Array; valid: boolean };

const backends = [
  ['tweetnacl', verifyTweetnacl],
  ['node:crypto', verifyNode],
  ['node:crypto in the pool', verifyEd25519Async],
] as const;

const L = 2n ** 252n + 27742317777372353535851937790883648493n;
const P = 2n ** 255n - 19n;

describe.each(suites())('published vectors: $name', ({ path, count, accepted, read }) => {
  describe.skipIf(!path)('on each backend', () => {
    test.each(backends)('%s answers as labelled', async (_, verify) => {
      const cases = read();
      const answers = await Promise.all(cases.map((c) => verify(c.publicKey, c.message, c.signature)));
      expect(cases.filter((c, i) => c.valid !== answers[i]).map((c) => c.name)).toEqual([]);
      expect([cases.length, cases.filter((c) => c.valid).length]).toEqual([count, accepted]);
    });
  });
});

describe('backends agree', () => {
  const key = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((seed) => nacl.sign.keyPair.fromSeed(seed));
  const message = fc.uint8Array({ maxLength: 100 });

  test('on signatures made by either', async () => {
    const property = fc.asyncProperty(key, message, async ({ publicKey, secretKey }, text) => {
      const signature = nacl.sign.detached(text, secretKey);
      expect(new Uint8Array(sign(null, text, privateKey(secretKey)))).toEqual(signature);
      expect(await answers(publicKey, text, signature)).toEqual([true, true, true]);
    });
    await fc.assert(property, { numRuns: 15 });
  });

  test('on one flipped bit in key, message or signature: refused', async () => {
    const property = fc.asyncProperty(key, message, fc.nat(), async ({ publicKey, secretKey }, text, bit) => {
      const signature = nacl.sign.detached(text, secretKey);
      const whole = new Uint8Array([...publicKey, ...signature, ...text]);
      whole[(bit >> 3) % whole.length]! ^= 1 << (bit & 7);
      const flipped = await answers(whole.slice(0, 32), whole.slice(96), whole.slice(32, 96));
      expect(flipped).toEqual([false, false, false]);
    });
    await fc.assert(property, { numRuns: 40 });
  });

  test('on S + L, S + 2L, … that still fit: refused, though tweetnacl alone accepts S + L', async () => {
    let acceptedAlone = 0;
    const property = fc.asyncProperty(key, message, fc.integer({ min: 1, max: 15 }), async (pair, text, times) => {
      const signature = nacl.sign.detached(text, pair.secretKey);
      const s = toNumber(signature.subarray(32)) + BigInt(times) * L;
      fc.pre(s < 2n ** 256n);
      signature.set(toBytes(s), 32);
      if (nacl.sign.detached.verify(text, signature, pair.publicKey)) acceptedAlone++;
      expect(await answers(pair.publicKey, text, signature)).toEqual([false, false, false]);
    });
    await fc.assert(property, { numRuns: 25 });
    expect(acceptedAlone).toBeGreaterThan(0);
  });
});

describe('the strict rule', () => {
  const { publicKey, secretKey } = nacl.sign.keyPair.fromSeed(new Uint8Array(32).fill(7));
  const text = Uint8Array.of(1, 2, 3);
  const signature = nacl.sign.detached(text, secretKey);

  test('S may be L - 1 but not L', () => {
    const withS = (s: bigint) => new Uint8Array([...signature.subarray(0, 32), ...toBytes(s)]);
    expect([0n, 1n, L - 1n].map((s) => isStrict(publicKey, withS(s)))).toEqual([true, true, true]);
    expect([L, L + 1n, L + 256n, 2n ** 253n, 2n ** 256n - 1n].map((s) => isStrict(publicKey, withS(s)))).toEqual(
      Array(5).fill(false),
    );
  });

  test('y may be p - 2 but not p - 1 (small order), p or more, as A and as R, with either sign', () => {
    for (const sign of [0n, 2n ** 255n]) {
      const below = [2n, P - 2n].map((y) => toBytes(y + sign));
      const above = Array.from({ length: 20 }, (_, i) => toBytes(P - 1n + BigInt(i) + sign));
      expect(below.map((point) => isStrict(point, signature) && isStrict(publicKey, withR(point)))).toEqual([
        true,
        true,
      ]);
      expect(above.filter((point) => isStrict(point, signature) || isStrict(publicKey, withR(point)))).toEqual([]);
    }
  });

  test('the 14 encodings of small order, recomputed from the curve, are refused as A and as R', () => {
    const encodings = smallOrderEncodings();
    expect(new Set(encodings.map(String)).size).toBe(14);
    for (const point of encodings) {
      expect(isStrict(point, signature)).toBe(false);
      expect(isStrict(publicKey, withR(point))).toBe(false);
    }
  });

  test('wrong lengths and other types are false, never an exception', async () => {
    const wrong = [undefined, null, '', 'a'.repeat(64), 64, {}, Array(64).fill(0), new Uint8Array(0)] as Uint8Array[];
    wrong.push(new Uint8Array(31), new Uint8Array(33), new Uint8Array(63), new Uint8Array(65), publicKey.subarray(1));
    wrong.push(
      new Uint16Array(32) as unknown as Uint8Array,
      new DataView(new ArrayBuffer(32)) as unknown as Uint8Array,
    );
    for (const value of wrong) {
      expect(await answers(value, text, signature)).toEqual([false, false, false]);
      expect(await answers(publicKey, value, signature)).toEqual([false, false, false]);
      expect(await answers(publicKey, text, value)).toEqual([false, false, false]);
    }
  });

  test('a y that is on no point of the curve is false', async () => {
    expect(await answers(toBytes(2n), text, signature)).toEqual([false, false, false]);
  });

  test('views into a larger buffer verify, and Buffers too', async () => {
    const whole = Buffer.from([9, ...publicKey, ...signature, ...text]);
    expect(await answers(whole.subarray(1, 33), whole.subarray(97), whole.subarray(33, 97))).toEqual([
      true,
      true,
      true,
    ]);
  });

  test('more keys than the cache holds still verify', () => {
    for (let i = 0; i < 4200; i++) {
      const seed = new Uint8Array(32).fill(3);
      new DataView(seed.buffer).setUint32(0, i);
      verifyNode(seed, text, signature);
    }
    expect(verifyNode(publicKey, text, signature)).toBe(true);
  });

  function withR(point: Uint8Array): Uint8Array {
    return new Uint8Array([...point, ...signature.subarray(32)]);
  }
});

test('OpenSSL and noble hash alike', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      expect(nodeHashes.sha256(bytes)).toEqual(nobleHashes.sha256(bytes));
      expect(nodeHashes.sha512(bytes)).toEqual(nobleHashes.sha512(bytes));
      expect(nodeHashes.sha256Hex(bytes)).toBe(Buffer.from(nobleHashes.sha256(bytes)).toString('hex'));
    }),
  );
});

async function answers(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): Promise<boolean[]> {
  return Promise.all(backends.map(([, verify]) => verify(publicKey, message, signature)));
}

function suites() {
  const suite = (name: string, count: number, accepted: number, parse: (text: string) => Case[]) => {
    const path = vectors(name);
    return { name, count, accepted, path, read: () => parse(readFileSync(path!, 'utf8')) };
  };
  return [
    suite('wycheproof/ed25519_test.json', 151, 88, wycheproof),
    suite('ed25519-speccheck/cases.json', 12, 1, speccheck),
    suite('rfc8032/rfc8032.json', 6, 5, rfc8032),
    suite('rfc8032/djb-sign.input.first128.txt', 128, 128, djb),
    suite('rfc8032/djb-sign.input.line1024.txt', 1, 1, djb),
  ];
}

function wycheproof(text: string): Case[] {
  type Test = { tcId: number; comment: string; msg: string; sig: string; result: string };
  const groups: { publicKey: { pk: string }; tests: Test[] }[] = JSON.parse(text).testGroups;
  return groups.flatMap((group) =>
    group.tests.map((t) => toCase(`${t.tcId} ${t.comment}`, group.publicKey.pk, t.msg, t.sig, t.result === 'valid')),
  );
}

/** The file has no labels; under the strict rule only case 3 passes. */
function speccheck(text: string): Case[] {
  const cases: { message: string; pub_key: string; signature: string }[] = JSON.parse(text);
  return cases.map((c, i) => toCase(`case ${i}`, c.pub_key, c.message, c.signature, i === 3));
}

function rfc8032(text: string): Case[] {
  type Known = { name: string; public: string; message: string; signature: string };
  const { valid, invalid }: { valid: Known[]; invalid: Known[] } = JSON.parse(text);
  const read = (label: boolean) => (c: Known) => toCase(c.name, c.public, c.message, c.signature, label);
  return [...valid.map(read(true)), ...invalid.map(read(false))];
}

function djb(text: string): Case[] {
  return text
    .trim()
    .split('\n')
    .map((line, i) => {
      const [, publicKey, message, signed] = line.split(':') as [string, string, string, string];
      return toCase(`line ${i + 1}`, publicKey, message, signed.slice(0, 128), true);
    });
}

function toCase(name: string, publicKey: string, message: string, signature: string, valid: boolean): Case {
  const [a, m, s] = [fromHex(publicKey), fromHex(message), fromHex(signature)];
  if (!a || !m || !s) throw new Error(`bad hex in ${name}`);
  return { name, publicKey: a, message: m, signature: s, valid };
}

function privateKey(secretKey: Uint8Array) {
  const { d, x } = { d: b64url(secretKey.subarray(0, 32)), x: b64url(secretKey.subarray(32)) };
  return createPrivateKey({ key: { kty: 'OKP', crv: 'Ed25519', d, x }, format: 'jwk' });
}

function b64url(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64url');
}

/** y = 0, ±1 and the two y of order 8 (y² = (-1 ± sqrt(1 + d)) / d), each plus p where that fits, with both signs. */
function smallOrderEncodings(): Uint8Array[] {
  const d = mod(-121665n * power(121666n, P - 2n));
  const root = squareRoot(mod(1n + d))!;
  const y8 = [root, -root].map((r) => squareRoot(mod((r - 1n) * power(d, P - 2n)))).filter((y) => y !== null);
  const ys = [0n, 1n, P - 1n, ...y8.flatMap((y) => [y, P - y])];
  const forms = ys.flatMap((y) => [y, y + P]).filter((y) => y < 2n ** 255n);
  return forms.flatMap((y) => [toBytes(y), toBytes(y + 2n ** 255n)]);
}

function squareRoot(value: bigint): bigint | null {
  const candidate = power(value, (P + 3n) / 8n);
  const other = mod(candidate * power(2n, (P - 1n) / 4n));
  return [candidate, other].find((root) => mod(root * root) === value) ?? null;
}

function power(base: bigint, exponent: bigint): bigint {
  let result = 1n;
  for (let [b, e] = [mod(base), exponent]; e > 0n; b = mod(b * b), e >>= 1n) if (e & 1n) result = mod(result * b);
  return result;
}

function mod(value: bigint): bigint {
  return ((value % P) + P) % P;
}

function toBytes(value: bigint): Uint8Array {
  return Uint8Array.from({ length: 32 }, (_, i) => Number((value >> BigInt(8 * i)) & 0xffn));
}

function toNumber(bytes: Uint8Array): bigint {
  return bytes.reduceRight((value, byte) => (value << 8n) | BigInt(byte), 0n);
}
