import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { HandoffError } from '../../src/core/error.ts';
import { assertVisible, decodeText, escapeInvisible } from '../../src/core/text/text.ts';

const bytes = (...parts: (string | number[])[]) =>
  Uint8Array.from(parts.flatMap((part) => (typeof part === 'string' ? [...new TextEncoder().encode(part)] : part)));

function refusal(run: () => unknown): HandoffError {
  try {
    run();
  } catch (error) {
    expect(error).toBeInstanceOf(HandoffError);
    expect(error).toMatchObject({ code: 'bytes_invalid', data: { expected: expect.any(String) } });
    return error as HandoffError;
  }
  throw new Error('expected a refusal');
}

describe('decodeText', () => {
  test.each<[string, Uint8Array, number, string]>([
    ['NUL', bytes('a: b\nc: ', [0], '\n'), 2, 'U+0000'],
    ['BOM at the start', bytes([0xef, 0xbb, 0xbf], 'a: b\n'), 1, 'U+FEFF'],
    ['lone CR', bytes('a: b\rc: d\n'), 1, 'U+000D'],
    ['CRLF', bytes('a: b\nc: d\r\n'), 2, 'U+000D'],
    ['a byte that is never UTF-8', bytes('a\nb\n', [0xff], '\n'), 3, '0xff'],
    ['a lone continuation byte', bytes('a\n', [0x80]), 2, '0x80'],
    ['an overlong slash', bytes([0xc0, 0xaf]), 1, '0xc0'],
    ['an encoded surrogate', bytes('a\n', [0xed, 0xa0, 0x80]), 2, '0x'],
    ['beyond U+10FFFF', bytes([0xf4, 0x90, 0x80, 0x80]), 1, '0xf4'],
    ['a character cut off by the end', bytes('a\n', [0xe2, 0x82]), 2, ''],
    ['a character cut off by LF', bytes('a\n', [0xe2, 0x82], '\nb\n'), 2, ''],
  ])('refuses %s, and names the line', (_, input, line, found) => {
    const error = refusal(() => decodeText(input));
    expect(error.data?.line).toBe(line);
    expect(error.data?.found).toContain(found);
    expect(error.message).toMatch(new RegExp(`^line ${line}: expected .+, found .+`));
    expect(error.hint).toBeTruthy();
  });

  test('keeps a replacement character that the author wrote, and still finds a fault after it', () => {
    expect(decodeText(bytes('a \ufffd\n'))).toBe('a \ufffd\n');
    expect(refusal(() => decodeText(bytes('\ufffd\n\ufffd\n', [0xc3], 'x'))).data?.line).toBe(3);
  });

  test('a BOM inside the text is left to assertVisible', () => {
    const text = decodeText(bytes('a\ufeff\n'));
    expect(refusal(() => assertVisible(text)).data?.found).toContain('U+FEFF');
  });

  test('returns every other text unchanged', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        fc.pre(!/[\0\r]|^\ufeff/.test(text));
        expect(decodeText(new TextEncoder().encode(text))).toBe(text);
      }),
    );
  });

  test('accepts exactly what the encoder could have written', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 12 }), (input) => {
        let text: string;
        try {
          text = decodeText(input);
        } catch (error) {
          expect(error).toBeInstanceOf(HandoffError);
          return;
        }
        expect([...new TextEncoder().encode(text)]).toEqual([...input]);
      }),
      { numRuns: 600 },
    );
  });
});

const RANGES: [string, number, number][] = [
  ['C0 before LF, with tab', 0x00, 0x09],
  ['C0 after LF, with ESC', 0x0b, 0x1f],
  ['DEL and C1, with NEL', 0x7f, 0x9f],
  ['soft hyphen', 0xad, 0xad],
  ['combining grapheme joiner', 0x34f, 0x34f],
  ['Arabic letter mark', 0x61c, 0x61c],
  ['Hangul fillers', 0x115f, 0x1160],
  ['Khmer inherent vowels', 0x17b4, 0x17b5],
  ['Mongolian selectors', 0x180b, 0x180f],
  ['zero-width', 0x200b, 0x200d],
  ['LRM and RLM', 0x200e, 0x200f],
  ['LS and PS', 0x2028, 0x2029],
  ['bidi embeddings and overrides', 0x202a, 0x202e],
  ['word joiner and invisible operators', 0x2060, 0x2065],
  ['bidi isolates', 0x2066, 0x2069],
  ['deprecated format characters', 0x206a, 0x206f],
  ['Hangul filler', 0x3164, 0x3164],
  ['lone surrogates', 0xd800, 0xdfff],
  ['noncharacters of the Arabic block', 0xfdd0, 0xfdef],
  ['variation selectors', 0xfe00, 0xfe0f],
  ['BOM', 0xfeff, 0xfeff],
  ['halfwidth Hangul filler', 0xffa0, 0xffa0],
  ['reserved and interlinear annotation', 0xfff0, 0xfffb],
  ['shorthand format controls', 0x1bca0, 0x1bca3],
  ['musical format controls', 0x1d173, 0x1d17a],
  ['tags, supplementary selectors and what is reserved for more', 0xe0000, 0xe0fff],
  ...Array.from({ length: 17 }, (_, plane): [string, number, number] => [
    `noncharacters of plane ${plane}`,
    plane * 0x10000 + 0xfffe,
    plane * 0x10000 + 0xffff,
  ]),
];
const isListed = (point: number) => RANGES.some(([, from, to]) => point >= from && point <= to);

describe('assertVisible', () => {
  test.each(RANGES)('refuses %s', (_, from, to) => {
    for (let point = from; point <= to; point++) {
      const error = refusal(() => assertVisible(`a: b\nc: x${String.fromCodePoint(point)}y\n`));
      expect(error.data?.line).toBe(2);
      expect(error.message).toContain(`U+${point.toString(16).toUpperCase().padStart(4, '0')}`);
    }
  });

  test('refuses nothing else in all of Unicode', () => {
    for (let point = 0; point <= 0x10ffff; point++) {
      if (!isListed(point)) assertVisible(String.fromCodePoint(point));
    }
  });

  test('refuses the Trojan Source example, and takes letters of any script', () => {
    refusal(() => assertVisible('note: access \u202e\u2066// check\u2069 \u2066\n'));
    assertVisible('note: Größe, 日本語, עברית, 😀\n');
  });
});

describe('escapeInvisible', () => {
  test.each([
    ['bidi', 'a\u202eb', 'a\\u{202e}b'],
    ['ESC', '\x1b[31mred', '\\u{1b}[31mred'],
    ['C1 CSI', '\x9b31m', '\\u{9b}31m'],
    ['CR that would overwrite the line', 'ok\rno', 'ok\\u{d}no'],
    ['tag characters', '\u{e0041}', '\\u{e0041}'],
    ['lone surrogates', 'a\ud800b', 'a\\u{d800}b'],
    ['nothing in LF, tab and letters', 'a\n\tü😀', 'a\n\tü😀'],
  ])('shows %s', (_, text, shown) => {
    expect(escapeInvisible(text)).toBe(shown);
  });

  test('leaves nothing that assertVisible refuses, but tabs', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((u) => String.fromCharCode(u)) }), (text) =>
        assertVisible(escapeInvisible(text).replaceAll('\t', '')),
      ),
    );
  });
});
