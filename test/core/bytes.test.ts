import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { concatBytes, equalBytes, fromBase64, fromHex, toBase64, toHex, utf8 } from '../../src/core/bytes/bytes.ts';

const bytes = fc.uint8Array({ maxLength: 200 });
const BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

describe('hex', () => {
  test('is what Buffer writes, and reads back', () => {
    fc.assert(
      fc.property(bytes, (value) => {
        expect(toHex(value)).toBe(Buffer.from(value).toString('hex'));
        expect(fromHex(toHex(value))).toEqual(value);
      }),
    );
  });

  test.each(['0', 'AB', '0g', ' 00', '0x00', '0\u0130', '\u{1f600}', '0-', '00\n'])('%j is refused', (text) => {
    expect(fromHex(text)).toBeNull();
  });
});

describe('base64', () => {
  test('is what Buffer writes, and reads back', () => {
    fc.assert(
      fc.property(bytes, (value) => {
        expect(toBase64(value)).toBe(Buffer.from(value).toString('base64'));
        expect(fromBase64(toBase64(value))).toEqual(value);
      }),
    );
  });

  test('a value has exactly one spelling: what is accepted is what would be written', () => {
    const text = fc.string({ unit: fc.constantFrom(...BASE64, '=', '=', '\n', ' ', '-', '_', 'é'), maxLength: 12 });
    let accepted = 0;
    fc.assert(
      fc.property(text, (value) => {
        const read = fromBase64(value);
        if (read === null) return;
        accepted++;
        expect(toBase64(read)).toBe(value);
      }),
      { numRuns: 20_000, seed: 1 },
    );
    expect(accepted).toBeGreaterThan(100);
  });

  test('of all two-character groups, the 64 × 4 with zero bits behind them are read', () => {
    const groups = [...BASE64].flatMap((a) => [...BASE64].map((b) => `${a}${b}==`));
    expect(groups.filter((group) => fromBase64(group) !== null)).toHaveLength(256);
  });

  test.each([
    ['no padding', 'AA'],
    ['short padding', 'AA='],
    ['padding alone', '===='],
    ['three paddings', 'A==='],
    ['padding in the middle', 'AA==AAAA'],
    ['a character after padding', 'A=A='],
    ['a line break', 'AAAA\nAAA'],
    ['trailing bits in two characters', 'AB=='],
    ['trailing bits in three characters', 'AAB='],
    ['the URL alphabet', 'AA-_'],
    ['a character beyond ASCII', 'AAA\u0141'],
  ])('%s is refused', (_, text) => {
    expect(fromBase64(text)).toBeNull();
  });
});

describe('byte strings', () => {
  test('concatBytes joins in order', () => {
    expect(concatBytes(Uint8Array.of(1), new Uint8Array(0), Uint8Array.of(2, 3))).toEqual(Uint8Array.of(1, 2, 3));
    expect(concatBytes()).toEqual(new Uint8Array(0));
  });

  test('equalBytes sees every byte and the length', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 80 }), fc.nat(), (value, at) => {
        const other = value.slice();
        expect(equalBytes(value, other)).toBe(true);
        other[at % value.length]! ^= 1;
        expect(equalBytes(value, other)).toBe(false);
        expect(equalBytes(value, value.subarray(1))).toBe(false);
      }),
    );
  });

  test('utf8 encodes beyond the first plane', () => {
    expect(toHex(utf8('a…\u{1f600}'))).toBe('61e280a6f09f9880');
  });
});
