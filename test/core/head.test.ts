import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { utf8 } from '../../src/core/bytes/bytes.ts';
import type { YamlMap } from '../../src/core/bytes/yaml.ts';
import { HandoffError } from '../../src/core/error.ts';
import { toLink } from '../../src/core/record/chain.ts';
import { matchHead, type SignedHead } from '../../src/core/record/front-matter.ts';
import { extensionOf, type Kind, RECORD_KINDS, type RecordKind } from '../../src/core/record/kinds.ts';
import { parseSessionRecord } from '../../src/core/record/record.ts';
import { cutSignature } from '../../src/core/record/signed-parts.ts';
import { bytesOf, example, type FileCase, readVectors, signedFile, signedText, withoutSignature } from './examples.ts';
import { fieldsOf, markdown } from './schema-arbitrary.ts';

const text = (bytes: Uint8Array) => new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);

describe.each(RECORD_KINDS)('a %s', (kind) => {
  test('as the writer writes it, with every key, is matched', () => {
    expect(heads(example(kind).bytes, kind)).toMatchObject({ matched: expect.anything() });
  });

  test('that is matched is a record, and says the same to its parser', () => {
    const body = extensionOf(kind) === 'md' ? markdown : fc.constant(null);
    const written = fc.tuple(fieldsOf(kind), body).map(([fields, body]) => signedFile(withoutExtensions(fields), body));
    const property = fc.property(written, fc.array(edit, { maxLength: 2 }), (file, edits) => {
      const whole = withoutSignature(text(file), kind);
      heads(signedText(kind, edits.reduce(apply, whole)), kind);
    });
    fc.assert(property, { numRuns: 100 });
  });

  test('whose example is changed in any one place is matched only if it is a record', () => {
    const whole = withoutSignature(text(example(kind).bytes), kind);
    let matched = 0;
    const property = fc.property(edit, (one) => {
      if (heads(signedText(kind, apply(whole, one)), kind).matched) matched++;
    });
    fc.assert(property, { numRuns: 500 });
    expect(matched).toBeGreaterThan(0);
  });
});

test('a pickup where nobody was before says so to both', () => {
  const { fields } = example('pickup');
  const first = Object.fromEntries(Object.entries(fields).filter(([key]) => key !== 'inherited_from'));
  const { matched } = heads(signedFile({ ...first, predecessor_session_id: null }, null), 'pickup') as {
    matched: SignedHead | null;
  };
  expect(matched?.fields.predecessor_session_id).toBeNull();
});

test('no vector that is refused is matched', () => {
  const cases = readVectors<FileCase>('records').map(bytesOf);
  for (const bytes of cases) for (const kind of RECORD_KINDS) heads(bytes, kind);
  expect(cases.length).toBeGreaterThan(40);
});

test('a key that stands twice in a map of free keys is left to the parser', () => {
  expect(thought(['a: b', 'c: d']).matched).not.toBeNull();
  for (const keys of [
    ['a: b', 'a: c'],
    ['a: b', 'c: d', 'a: b'],
    ['a: b', 'c: d', 'c: d'],
    ['constructor: b'],
    ['a: b', 'null: c'],
  ]) {
    expect(thought(keys), keys.join()).toEqual({ matched: null, parsed: null });
  }
});

test('more keys than a record may have are not matched', () => {
  const several = (count: number) => Array.from({ length: count }, (_, index) => `k${index}: v`);
  expect(thought(...Array.from({ length: 16 }, () => several(8))).matched).not.toBeNull();
  for (const blockers of [
    [several(9)],
    Array.from({ length: 17 }, () => several(8)),
    Array.from({ length: 60 }, () => several(5)),
  ])
    expect(thought(...blockers).matched).toBeNull();
});

test('front matter and files beyond the limits are left to the parser', () => {
  const { fields } = example('decision');
  const title = 'a'.repeat(1000);
  expect(heads(signedFile({ ...fields, title }, 'b'.repeat(260_000)), 'decision').matched).not.toBeNull();
  expect(heads(signedFile({ ...fields, title }, 'b'.repeat(262_144)), 'decision').matched).toBeNull();
  const wide = { ...example('baton').fields, focus: Array.from({ length: 1100 }, () => 'a'.repeat(60)) };
  expect(heads(signedFile(wide, ''), 'baton')).toEqual({ matched: null, parsed: null });
});

test('the largest files that almost match are answered: a pattern that went back and forth would never end', () => {
  const { fields } = example('thought');
  const long = (unit: string) => unit.repeat(Math.floor(250_000 / unit.length));
  const almost = ['a', 'a ', 'a:', ': ', '\\n', '"', ' #'].flatMap((unit) =>
    [`"${long(unit)}"`, `a${long(unit)}`, long(unit)].map((summary) => ({ summary, end: 'x: y\n' })),
  );
  for (const { summary, end } of almost) {
    const whole = withoutSignature(text(signedFile(fields)), 'thought').replace(
      /^summary: .*$/m,
      `summary: ${summary}`,
    );
    const bytes = signedText('thought', `${whole}${end}`);
    expect(matchHead(bytes, cutSignature(bytes), 'thought'), summary.slice(0, 8)).toBeNull();
  }
});

/** What the pattern makes of a file and what the parser does. What is matched must be a record that says the same. */
function heads(bytes: Uint8Array, kind: RecordKind): { matched: unknown; parsed: unknown } {
  const matched = attempt(() => matchHead(bytes, cutSignature(bytes), kind));
  const parsed = attempt(() => parseSessionRecord(bytes));
  if (matched) {
    expect(parsed && { kind: parsed.kind, ...headOf(parsed) }).toEqual({ kind, ...headOf(matched) });
    expect(parsed && Buffer.compare(parsed.signedBytes, matched.signedBytes)).toBe(0);
  }
  return { matched, parsed };
}

function headOf({ kind, fields }: Pick<SignedHead, 'kind' | 'fields'>) {
  return { link: toLink({ kind, fields }, '', ''), repo: fields.repo, identity: fields.identity };
}

function attempt<T>(run: () => T): T | null {
  try {
    return run();
  } catch (error) {
    if (error instanceof HandoffError) return null;
    throw error;
  }
}

function thought(...blockers: string[][]) {
  const block = blockers.map((lines) => `  - ${lines.join('\n    ')}\n`).join('');
  const whole = withoutSignature(text(example('thought').bytes), 'thought');
  return heads(signedText('thought', whole.replace(/^blockers:\n(?: {2}.*\n)+/m, `blockers:\n${block}`)), 'thought');
}

function withoutExtensions(fields: YamlMap & { kind: Kind }) {
  const own = Object.entries(fields).filter(([key]) => !key.startsWith('x_'));
  return Object.fromEntries(own) as typeof fields;
}

/** At a place, some characters out and some others in. */
const edit = fc.record({
  at: fc.nat(),
  out: fc.constantFrom(0, 0, 1, 1, 2, 40),
  put: fc.oneof(
    fc.constantFrom(
      '',
      ' ',
      '\n',
      ':',
      ': ',
      ' #',
      '#',
      '-',
      '- ',
      '"',
      '\\',
      "'",
      '\t',
      '~',
      'null',
      '[]',
      '{}',
      '0',
      '9',
    ),
    fc.constantFrom(
      'é',
      '\u202e',
      '\0',
      '\r',
      '..',
      'con',
      '\n  - a',
      '\n    b: c',
      'x_a: 1\n',
      '---\n',
      '&a',
      '*a',
      '!',
      '%',
    ),
    fc.string({ maxLength: 3 }),
  ),
});

function apply(whole: string, { at, out, put }: { at: number; out: number; put: string }): string {
  const place = at % whole.length;
  return text(utf8(whole.slice(0, place) + put + whole.slice(place + out)));
}
