import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { toHex, utf8 } from '../../src/core/bytes/bytes.ts';
import { sha256 } from '../../src/core/bytes/hash.ts';
import { formatCheckpoint, ledgerOrigin, parseCheckpoint } from '../../src/core/ledger/checkpoint.ts';
import { parseNote } from '../../src/core/ledger/note.ts';
import { leafHash } from '../../src/core/seal/merkle.ts';
import { vectors } from '../vectors.ts';
import { errorOf } from './examples.ts';

const path = vectors('signed-note/notes.json');
const ROOT = 'TszzRgjTG6xce+z2AG31kAXYKBgQVtCSCE40HmuwBb0=';
const TEXT = `git-handoff/${'ab'.repeat(32)}\n12\n${ROOT}\nsessions ${'4b'.repeat(20)}\n`;

describe.skipIf(!path)('published tree heads', () => {
  const { tree_heads: heads, checkpoint_examples: examples } = path ? JSON.parse(readFileSync(path, 'utf8')) : {};

  test('a good one is read and written', () => {
    const checkpoint = parseCheckpoint(heads.good);
    expect(checkpoint).toMatchObject({ origin: 'go.sum database tree', size: heads.good_size, extensions: [] });
    expect(toHex(checkpoint.root)).toBe(toHex(leafHash(utf8(heads.good_leaf_text), sha256)));
    expect(formatCheckpoint(checkpoint)).toBe(heads.good);
  });

  test('bad ones are refused, and another origin is another origin', () => {
    const [other, size, root] = heads.bad;
    expect(parseCheckpoint(other).origin).not.toBe(parseCheckpoint(heads.good).origin);
    for (const text of [size, root]) expect(errorOf(() => parseCheckpoint(text)).code).toBe('ledger_inconsistent');
  });

  test('the checkpoint of the specification is one', () => {
    const { text } = parseNote(utf8(examples[0].text));
    expect(parseCheckpoint(text)).toMatchObject({ origin: 'example.com/behind-the-sofa', size: 20852163 });
  });
});

describe('a checkpoint', () => {
  test('is read and written as the same text', () => {
    const checkpoint = parseCheckpoint(TEXT);
    expect(checkpoint).toMatchObject({ origin: ledgerOrigin('ab'.repeat(32)), size: 12 });
    expect(checkpoint.extensions).toEqual([`sessions ${'4b'.repeat(20)}`]);
    expect(formatCheckpoint(checkpoint)).toBe(TEXT);
  });

  test.each(['0', '1', '9007199254740991'])('has a size up to 2^53-1: %s', (size) => {
    expect(parseCheckpoint(`a\n${size}\n${ROOT}\n`).size).toBe(Number(size));
  });

  test.each([
    ...['', '-1', '+1', '01', '00', '1.0', '1e3', '0x1', ' 1', '1 ', '١', '9007199254740992', '1'.repeat(400)],
  ])('has no size %j', (size) => {
    expect(errorOf(() => parseCheckpoint(`a\n${size}\n${ROOT}\n`)).code).toBe('ledger_inconsistent');
  });

  test.each([
    ['nothing', ''],
    ['two lines', 'a\n1\n'],
    ['no origin', `\n1\n${ROOT}\n`],
    ['no line end', `a\n1\n${ROOT}`],
    ['a blank line', `a\n1\n${ROOT}\n\n`],
    ['a blank extension', `a\n1\n${ROOT}\n\nb\n`],
    ['a root of 31 bytes', `a\n1\n${'A'.repeat(41)}E=\n`],
    ['a root of 33 bytes', `a\n1\n${'A'.repeat(44)}\n`],
    ['a root with a second spelling', `a\n1\n${ROOT.replace('0=', '1=')}\n`],
    ['a root in hex', `a\n1\n${'ab'.repeat(32)}\n`],
  ])('is refused with %s', (_, text) => {
    expect(errorOf(() => parseCheckpoint(text)).code).toBe('ledger_inconsistent');
  });

  test.each([
    { origin: '' },
    { origin: 'a\nb' },
    { size: -1 },
    { size: 0.5 },
    { size: 2 ** 53 },
    { size: Number.NaN },
    { root: new Uint8Array(31) },
    { extensions: [''] },
    { extensions: ['a\nb'] },
  ])('is not written when it could not be read: %j', (change) => {
    expect(errorOf(() => formatCheckpoint({ ...parseCheckpoint(TEXT), ...change })).code).toBe('ledger_inconsistent');
  });
});
