import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseDocument } from 'yaml';
import { concatBytes, utf8 } from '../../src/core/bytes/bytes.ts';
import type { YamlValue } from '../../src/core/bytes/yaml.ts';
import { HandoffError } from '../../src/core/error.ts';
import { attachSignatures, formatRecord } from '../../src/core/record/format.ts';
import { DOCUMENT_KINDS, extensionOf, isRecordKind, type Kind, RECORD_KINDS } from '../../src/core/record/kinds.ts';
import { type ParsedRecord, parseAs, parseRecord } from '../../src/core/record/record.ts';
import { recordId, type Suite, verifyRecord } from '../../src/core/record/verify.ts';
import { assertSignedByMaintainer, assertSucceeds, readIdentity, readPolicy } from '../../src/core/trust/trust.ts';
import {
  type DocumentCase,
  EXAMPLES,
  example,
  nodeSuite,
  readVectors,
  SUITES,
  signatureBy,
  signedFile,
  testKey,
} from './examples.ts';
import { fieldsOf, markdown } from './schema-arbitrary.ts';

const KINDS: Kind[] = [...RECORD_KINDS, ...DOCUMENT_KINDS];
const donna = testKey('donna');
const text = (bytes: Uint8Array) => new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);

describe.each(KINDS)('%s', (kind) => {
  const body = extensionOf(kind) === 'md' ? markdown : fc.constant(null);

  test('what is written is read back, by npm yaml too, and its signature holds', async () => {
    const property = fc.asyncProperty(fieldsOf(kind), body, async (fields, body) => {
      const unsigned = formatRecord(fields, body);
      const file = attachSignatures(unsigned, [signatureBy(unsigned, donna)]);
      const record = parseRecord(file);
      expect(plain(record.fields)).toEqual(plain(fields));
      expect(Object.keys(record.fields)).toEqual(Object.keys(fields));
      expect(record.body).toBe(body);
      expect(record.signedBytes).toEqual(unsigned.signedBytes);
      expect(disagreement(file)).toBeNull();
      await assertSigned(record, nodeSuite);
    });
    await fc.assert(property, { numRuns: 30 });
  });

  test('a flipped bit is noticed', async () => {
    const property = fc.asyncProperty(fieldsOf(kind), body, fc.nat(), async (fields, body, at) => {
      const file = signedFile(fields, body);
      expect(await survives(flip(file, at % (file.length * 8)), nodeSuite)).toBe(false);
    });
    await fc.assert(property, { numRuns: 30 });
  });

  test('its id does not depend on its signature', () => {
    const bytes = fc.uint8Array({ minLength: 64, maxLength: 64 });
    const signers = fc.array(bytes, { minLength: 1, maxLength: isRecordKind(kind) ? 1 : 5 });
    const { fields, body } = example(kind);
    const unsigned = formatRecord(fields, body);
    const property = fc.property(signers, (signatures) => {
      const file = attachSignatures(
        unsigned,
        signatures.map((bytes, at) => ({ ...signatureBy(unsigned, donna), identity: `signer-${at}`, bytes })),
      );
      expect(recordId(parseRecord(file).signedBytes, nodeSuite)).toBe(recordId(unsigned.signedBytes, nodeSuite));
    });
    fc.assert(property, { numRuns: 20 });
  });
});

/** One of each form, and a policy that needs both of its signatures. */
const WHOLE: [string, Uint8Array][] = [
  ['a YAML record', example('note').bytes],
  ['a Markdown record', example('decision').bytes],
  ['a document', example('identity').bytes],
  ['a policy with two signers', utf8(policy('policy 2'))],
];

describe.each(WHOLE)('%s', (_, bytes) => {
  test('holds on every backend', async () => {
    for (const suite of Object.values(SUITES)) expect(await survives(bytes, suite)).toBe(true);
  });

  test('every flipped bit is noticed', async () => {
    const unnoticed = [];
    for (let bit = 0; bit < bytes.length * 8; bit++)
      if (await survives(flip(bytes, bit), nodeSuite)) unnoticed.push(bit);
    expect(unnoticed).toEqual([]);
  });

  test('no byte can be left out, doubled or moved', async () => {
    const unnoticed = [];
    for (let at = 0; at < bytes.length; at++) {
      const [before, after] = [bytes.subarray(0, at), bytes.subarray(at + 1)];
      const byte = bytes.subarray(at, at + 1);
      const changed = [
        concatBytes(before, after),
        concatBytes(before, byte, byte, after),
        concatBytes(after, byte, before),
        before,
      ];
      for (const file of changed)
        if (text(file) !== text(bytes) && (await survives(file, nodeSuite))) unnoticed.push(at);
    }
    expect(unnoticed).toEqual([]);
  });

  // tweetnacl takes 5 ms for a signature, so not every bit: a prime step meets all parts of the file.
  test('in the browser the same bits are noticed', async () => {
    const suite = SUITES.tweetnacl!;
    for (let bit = 3; bit < bytes.length * 8; bit += 61)
      expect(await survives(flip(bytes, bit), suite), `bit ${bit}`).toBe(false);
  });
});

describe('npm yaml, with its core schema,', () => {
  test.each(EXAMPLES)('reads $kind to the same values', ({ bytes }) => {
    expect(disagreement(bytes)).toBeNull();
  });

  test('reads any scalar that the reader accepts to the same value, up to the type that the schema gives it', () => {
    let accepted = 0;
    const property = fc.property(scalarSource, scalarSource, (typed, untyped) => {
      const file = utf8(
        text(example('note').bytes).replace(/^text: .*\n/m, `text: ${typed}\nx_a: ${untyped}\nx_b:\n  - ${typed}\n`),
      );
      if (!isAccepted(file)) return;
      accepted++;
      expect(disagreement(file)).toBeNull();
    });
    fc.assert(property, { numRuns: 1000 });
    expect(accepted).toBeGreaterThan(300);
  });
});

const TOKENS = [
  '010',
  'no',
  '1e3',
  '0x1F',
  '~',
  'null',
  'true',
  '12',
  '.5',
  '-',
  ': ',
  ' #',
  '#',
  '"',
  "'",
  '\\n',
  '\\u0041',
  '&a',
  '*a',
  '!!str',
  '[',
  ']',
  '{}',
  '|',
  '>',
  'é',
  '🙂',
  ' ',
  'a',
  'b:c',
  '%',
  '@',
  '`',
  ',',
  '?',
  '=',
  '<<',
  '2026-02-20',
];
const scalarSource = fc.oneof(
  fc.constantFrom(...TOKENS),
  fc.array(fc.constantFrom(...TOKENS), { maxLength: 4 }).map((tokens) => tokens.join('')),
  fc.array(fc.constantFrom(...TOKENS), { maxLength: 4 }).map((tokens) => `"${tokens.join('')}"`),
  fc.string({ unit: 'grapheme', maxLength: 12 }),
);

function isAccepted(bytes: Uint8Array): boolean {
  try {
    parseRecord(bytes);
    return true;
  } catch (error) {
    if (error instanceof HandoffError) return false;
    throw error;
  }
}

/** Where another reader sees something else in a file than we do, or null. */
function disagreement(bytes: Uint8Array): string | null {
  const { fields, body } = parseRecord(bytes);
  const whole = text(bytes);
  const front = body === null ? whole : whole.slice(4, whole.indexOf('\n---\n') + 1);
  const [core, strings] = (['core', 'failsafe'] as const).map((schema) => {
    const document = parseDocument(front, { schema, version: '1.2', intAsBigInt: false });
    const { signature: _, signatures: __, ...rest } = document.toJS();
    return document.errors.length > 0 ? document.errors[0]!.message : rest;
  });
  return difference(fields as YamlValue, core, strings, '');
}

/** A string of ours may be something else to the core schema, if it has the same characters. */
function difference(ours: YamlValue | undefined, core: unknown, characters: unknown, path: string): string | null {
  if (typeof ours !== 'object' || ours === null) {
    const same = ours === core || (typeof ours === 'string' && ours === characters);
    return same ? null : `${path}: ${JSON.stringify(ours)}, not ${JSON.stringify(core)}`;
  }
  const keys = Object.keys(ours);
  if (typeof core !== 'object' || core === null || Array.isArray(core) !== Array.isArray(ours))
    return `${path}: ${JSON.stringify(core)}`;
  if (keys.join() !== Object.keys(core).join()) return `${path}: keys ${Object.keys(core)}`;
  const at = (value: unknown, key: string) => (value as Record<string, unknown>)[key];
  return (
    keys
      .map((key) => difference(at(ours, key) as YamlValue, at(core, key), at(characters, key), `${path}.${key}`))
      .find((found) => found) ?? null
  );
}

function flip(bytes: Uint8Array, bit: number): Uint8Array {
  const flipped = bytes.slice();
  flipped[bit >> 3]! ^= 1 << (bit & 7);
  return flipped;
}

/** Whether a file is still accepted: parsed, and signed by those who may. */
async function survives(bytes: Uint8Array, suite: Suite): Promise<boolean> {
  try {
    await assertSigned(parseRecord(bytes), suite);
    return true;
  } catch (error) {
    if (error instanceof HandoffError) return false;
    throw error;
  }
}

const maintainers = new Map(
  ['ada', 'donna'].map((label) => {
    const fields = {
      ...example('identity').fields,
      name: label,
      role: 'maintainer',
      keys: [{ key: testKey(label).line, state: 'active' }],
    };
    return [label, readIdentity(parseAs(signedFile(fields), 'identity'), nodeSuite)];
  }),
);
const genesis = readPolicy(parseAs(utf8(policy('policy 1')), 'policy'), nodeSuite);

async function assertSigned(record: ParsedRecord, suite: Suite): Promise<void> {
  if (isRecordKind(record.kind)) await verifyRecord(record, [donna], suite);
  else if (record.kind === 'policy' && record.signatures.some(({ identity }) => identity !== 'donna')) {
    await assertSucceeds(readPolicy(record, suite), genesis, genesis.id.slice('sha256:'.length), suite);
  } else await assertSignedByMaintainer(record, maintainers, suite);
}

function policy(name: string): string {
  return readVectors<DocumentCase>('documents').find((vector) => vector.name === name)!.file!;
}

function plain<T>(value: T): T {
  return JSON.parse(JSON.stringify(value));
}
