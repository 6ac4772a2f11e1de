import fc from 'fast-check';
import grayMatter from 'gray-matter';
import { describe, expect, test, vi } from 'vitest';
import { HandoffError } from '../../src/core/error.ts';
import { readDraft } from '../../src/journal/drafts/draft.ts';

/** What its types leave out. */
const matter = grayMatter as typeof grayMatter & {
  engines: Record<string, { parse(text: string): object }>;
  cache: object;
};

const bytes = (text: string) => new TextEncoder().encode(text);
const read = (text: string) => readDraft(bytes(text));

function refusal(input: string | Uint8Array): HandoffError {
  try {
    readDraft(typeof input === 'string' ? bytes(input) : input);
  } catch (error) {
    if (!(error instanceof HandoffError)) throw error;
    expect(error.hint).toBeTruthy();
    return error;
  }
  throw new Error('expected a refusal');
}

describe('a draft without front matter', () => {
  test.each(['', '# Progress\n', 'no newline at the end', '\n---\nsummary: x\n---\n', ' ---\n', '-- -\n'])(
    'is its body: %j',
    (text) => {
      expect(read(text)).toEqual({ fields: {}, body: text });
    },
  );

  test('is its body, whatever it says', () => {
    const part = fc.oneof(fc.constantFrom('---', '\n', '---js\n', ' ', '\t', '\u200b'), fc.string({ unit: 'binary' }));
    fc.assert(
      fc.property(fc.array(part), (parts) => {
        const text = parts.join('');
        fc.pre(!/^\ufeff|^---|[\0\r]/.test(text));
        expect(read(text)).toEqual({ fields: {}, body: text });
      }),
    );
  });
});

describe('front matter', () => {
  test('gives the fields, and leaves the body byte for byte', () => {
    const body = '\n# Progress  \n\n---\nsummary: not this\n---\n\ttab, no newline';
    expect(
      read(
        `---\n# for con\nsummary: "Half: done"\nreason: end of day\nnext_agent: con\nfocus: [P0.1, P0.2]\n---\n${body}`,
      ),
    ).toEqual({
      fields: { summary: 'Half: done', reason: 'end of day', next_agent: 'con', focus: ['P0.1', 'P0.2'] },
      body,
    });
  });

  test.each([
    ['next-agent', 'next-agent: con', { next_agent: 'con' }],
    ['a block list', 'focus:\n  - a\n  - b', { focus: ['a', 'b'] }],
    ['text with commas', 'focus: a, b,,c ', { focus: ['a', 'b', 'c'] }],
    ['one task', 'focus: P0.1', { focus: ['P0.1'] }],
    ['a folded scalar', 'summary: >\n  one\n  line', { summary: 'one line' }],
    [
      'what looks like a number or a boolean',
      'focus: [1.10, 010, no, 1e3]\nsummary: true',
      { focus: ['1.10', '010', 'no', '1e3'], summary: 'true' },
    ],
    ['nothing after a key', 'reason:\nfocus:\nsummary: ""', {}],
    ['only a comment', '# nothing', {}],
  ])('takes %s', (_, yaml, fields) => {
    expect(read(`---\n${yaml}\n---\nbody`)).toEqual({ fields, body: 'body' });
  });

  test('may be empty, and may be all there is', () => {
    for (const text of ['---\n---', '---\n---\n', '---\n\n---\n']) expect(read(text)).toEqual({ fields: {}, body: '' });
    expect(read('---\nsummary: x\n---')).toEqual({ fields: { summary: 'x' }, body: '' });
  });

  test('any texts come back as they were written', () => {
    const line = fc.string({ unit: 'grapheme' }).map((text) => text.trim());
    fc.assert(
      fc.property(line, line, fc.string(), (summary, reason, body) => {
        fc.pre(summary !== '' && reason !== '' && !body.includes('\r') && !body.includes('\0'));
        const front = `summary: ${JSON.stringify(summary)}\nreason: ${JSON.stringify(reason)}\n`;
        expect(read(`---\n${front}---\n${body}`)).toEqual({ fields: { summary, reason }, body });
      }),
    );
  });

  test.each([
    ['an unknown key', 'title: x'],
    ['a key of records', 'identity: con\nsummary: x'],
    ['a key that objects have', '__proto__: x'],
    ['a key of every object', 'constructor: x'],
    ['a merge key', '<<: {summary: x}'],
    ['a key in two spellings', 'next_agent: con\nnext-agent: donna'],
    ['a list for a text', 'summary: [a]'],
    ['a map for a text', 'reason: {a: b}'],
    ['a map for a list', 'focus: {a: b}'],
    ['a list in a list', 'focus: [[a]]'],
  ])('refuses %s, and names the keys there are', (_, yaml) => {
    const error = refusal(`---\n${yaml}\n---\nbody`);
    expect(error.code).toBe('schema_invalid');
    expect(error.hint).toContain('summary, reason, next_agent, focus');
  });

  test.each([
    ['an alias', 'summary: &a x\nreason: *a'],
    ['an alias of nothing much', 'summary: &a []\nreason: *a'],
    ['an alias as a key', 'summary: &a reason\n*a : x'],
    ['a billion laughs', 'a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\nfocus: *c'],
    ['a key twice', 'summary: a\nsummary: b'],
    ['a tag', 'summary: !!js/function "function(){}"'],
    ['a tag of its own', 'summary: !x y'],
    ['a directive', '%YAML 1.1'],
    ['a second document', 'summary: a\n...\nreason: b'],
    ['a list', '- summary'],
    ['a text', 'summary'],
    ['broken YAML', 'summary: "x'],
    ['a map as a key', '? {a: b}\n: c'],
    ['keys within keys', '? '.repeat(500)],
    ['more brackets than a stack holds', `focus: ${'['.repeat(8000)}`],
  ])('refuses %s', (_, yaml) => {
    expect(refusal(`---\n${yaml}\n---\nbody`).code).toBe('yaml_invalid');
  });

  test('names the line as an editor counts it', () => {
    expect(refusal('---\nsummary: a\nsummary: b\n---\n').data?.line).toBe(3);
    expect(refusal('---\nsummary: a\n---- \nbody').data?.line).toBe(3);
  });

  test.each([
    ['never closed', '---\nsummary: x\n'],
    ['not even begun', '---'],
    ['closed by more than three dashes', '---\nsummary: x\n----\nbody'],
    ['closed by dashes and a space', '---\nsummary: x\n--- \n---\nbody'],
  ])('that is %s is refused', (_, text) => {
    expect(refusal(text).code).toBe('yaml_invalid');
  });
});

/** Threat 16: gray-matter takes what follows the dashes for a language, and one of its languages is eval. */
describe('code in front matter', () => {
  const canary = '{ summary: (globalThis.canary = "sang") }';
  const LINES = ['---js', '---javascript', '---JS', '--- js', '---coffee', '---cson', '---json', '---toml', '---yaml'];

  test('is what gray-matter would run', () => {
    matter(`---js\n${canary}\n---\n`, {});
    expect(globalThis).toHaveProperty('canary', 'sang');
    Reflect.deleteProperty(globalThis, 'canary');
  });

  test.each([...LINES, '--- ', '---\t', '---\r', '----', '---\u00a0', '---\v', '\ufeff---', '\ufeff---js', '---\0'])(
    'below %j never runs',
    (line) => {
      const error = refusal(`${line}\n${canary}\n---\nbody\n`);
      expect(error).toMatchObject({ code: 'yaml_invalid', data: { line: 1 } });
      expect(globalThis).not.toHaveProperty('canary');
    },
  );

  test('never runs, whatever stands on the first line', () => {
    const word = fc.constantFrom('---', 'js', 'javascript', ' ', '\n', '\r', '\t', '\ufeff', '#', ':', '-');
    fc.assert(
      fc.property(fc.array(word, { maxLength: 6 }), (words) => {
        try {
          read(`${words.join('')}\n${canary}\n---\nbody\n`);
        } catch (error) {
          expect(error).toBeInstanceOf(HandoffError);
        }
        expect(globalThis).not.toHaveProperty('canary');
      }),
      { numRuns: 600 },
    );
  });

  test('has no engine that could run it, and js-yaml is not asked', () => {
    const own = Object.values(matter.engines);
    const calls = own.map((engine) => vi.spyOn(engine, 'parse'));
    expect(calls.length).toBeGreaterThan(2);
    expect(read('---\nsummary: x\n---\n').fields).toEqual({ summary: 'x' });
    for (const call of calls) expect(call).not.toHaveBeenCalled();
    vi.restoreAllMocks();
  });

  test('gray-matter keeps no copy', () => {
    read('---\nsummary: x\n---\nbody\n');
    expect(Object.keys(matter.cache)).toEqual([]);
  });
});

describe('bytes', () => {
  test.each([
    ['a byte order mark', bytes('\ufeff# Progress\n')],
    ['NUL', bytes('a\0b')],
    ['CRLF', bytes('# Progress\r\n')],
    ['CRLF in front matter', bytes('---\nsummary: x\r\n---\n')],
    ['bad UTF-8', Uint8Array.of(0x61, 0xff)],
  ])('%s is refused as in records', (_, input) => {
    expect(refusal(input).code).toBe('bytes_invalid');
  });

  test('at most 256 KiB are read, and 16 KiB of front matter', () => {
    expect(read('a'.repeat(262_144)).body).toHaveLength(262_144);
    expect(refusal('a'.repeat(262_145)).code).toBe('too_large');
    expect(refusal(`---\nsummary: ${'a'.repeat(16_384)}\n---\n`).code).toBe('too_large');
  });

  test.each(['\n', '# \n', '[', '{', '- ', '? ', '"', '*a ', '&a ', 'a: ', '!', 'a:\n b:\n', 'x: y\n', '#'])(
    'front matter full of %j ends soon',
    (fragment) => {
      const text = `---\n${fragment.repeat(16_000 / fragment.length)}\n---\n`;
      expect(/^[\n#]/.test(fragment) ? read(text).body : refusal(text).exitCode).toBe(/^[\n#]/.test(fragment) ? '' : 1);
    },
  );
});
