import { closeSync, ftruncateSync, mkdirSync, openSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { HandoffError } from '../../src/core/error.ts';
import { parseAs, parseRecord } from '../../src/core/record/record.ts';
import { commitAll, newKey, privateKey, STORY, signRecord, writeBytes, writeSession } from '../handoff.ts';
import { git } from '../temporary.ts';
import { blob, codes, commitAndFind, findings, policyAfter, rawTree, reopen, template, writePolicy } from './forge.ts';

const fresh = template();
const COMMON = {
  ...{ handoff: 1, repo: 'ab'.repeat(32), session_id: '7c1f09aa-51cf-4c61-9a39-2b7fd2f9a1de', identity: 'donna' },
  ...{ seq: 2, prev: `sha256:${'cd'.repeat(32)}`, clock: 2, at: '2026-02-20T14:30:25.123Z' },
};
const { handoff, ...REST } = COMMON;
const decoder = new TextDecoder();
const NOTE = decoder.decode(signRecord({ handoff, kind: 'note', ...REST, text: 'hello' }, newKey()).bytes);
const BATON = decoder.decode(
  signRecord({ handoff, kind: 'baton', ...REST, summary: 'half way' }, newKey(), '# Now\n').bytes,
);

/** The code that parseRecord refuses the bytes with, or `accepted`. */
function verdict(bytes: string | Uint8Array): string {
  try {
    parseRecord(typeof bytes === 'string' ? new TextEncoder().encode(bytes) : bytes);
    return 'accepted';
  } catch (error) {
    if (error instanceof HandoffError) return error.code;
    throw error;
  }
}

/** A note with this in the place of its text, and a baton with this in its front matter. */
const both = (line: string): string[] => [NOTE.replace('text: hello', line), BATON.replace('summary: half way', line)];

it('the files below are accepted before anything is done to them', () => {
  expect([verdict(NOTE), verdict(BATON)]).toEqual(['accepted', 'accepted']);
});

describe('THREATS 16: front matter that runs', () => {
  it.each([
    ...[
      '---js',
      '---javascript',
      '---coffee',
      '---json',
      '---toml',
      '---yaml',
      '--- ',
      '--- js',
      '---\t',
      '----',
      '---#',
      '---\r',
    ],
    ...['--', '- --', ' ---', '+++', ';;;', '\ufeff---', '\n---', '---\n---', '```'],
  ])('a first line %o', (line) => {
    expect(verdict(`${line}\n${BATON.slice(4)}`)).not.toBe('accepted');
  });

  it.each(['--- ', '---js', '----', '...', ' ---', '---\t'])('a closing line %o does not close', (line) => {
    expect(verdict(BATON.replace('\n---\n', `\n${line}\n`))).not.toBe('accepted');
  });

  it('a second block of front matter is text', () => {
    const text = `${BATON}---js\nglobalThis.canary = true\n---\n`;
    expect(parseRecord(new TextEncoder().encode(text)).body).toContain('---js');
    expect('canary' in globalThis).toBe(false);
  });
});

describe('THREATS 17: YAML that says more than it shows', () => {
  it.each([
    'text: &a hello',
    'text: *a',
    'text: !!str hello',
    'text: !<tag:yaml.org,2002:js/function> "function () {}"',
    '<<: {a: 1}',
    '"<<": hello',
    '? text\n: hello',
    'text: {a: b}',
    'text: [a, b]',
    'text: |\n  hello',
    'text: >-\n  hello',
    "text: 'hello'",
    'text: hello # comment',
    '# comment\ntext: hello',
    'text: hello\n---\ntext: hello',
    'text: hello\n...',
    '%YAML 1.1\ntext: hello',
    'text:\thello',
    'text:  hello',
    'text: hello ',
    'text :hello',
    'text: a\n  b',
    'Text: hello',
    '"text": hello',
    'text: hello\n\n',
  ])('%j', (line) => {
    expect(both(line).map(verdict)).not.toContain('accepted');
  });

  it('billion laughs end at the first anchor', () => {
    const lines = [
      'x_a: &a "lol"',
      ...Array.from({ length: 9 }, (_, i) => `x_${i}: [*a, *a, *a, *a, *a, *a, *a, *a, *a]`),
    ];
    expect(both(lines.join('\n')).map(verdict)).toEqual(['yaml_invalid', 'yaml_invalid']);
  });

  it('nine levels, and 257 keys', () => {
    const deep = Array.from({ length: 9 }, (_, i) => `${'  '.repeat(i)}x_a:`).join('\n');
    expect(verdict(NOTE.replace('text: hello', `text: hello\n${deep} 1`))).toBe('yaml_invalid');
    const wide = Array.from({ length: 257 }, (_, i) => `x_${i}: 1`).join('\n');
    expect(verdict(NOTE.replace('text: hello', `text: hello\n${wide}`))).toBe('yaml_invalid');
  });
});

describe('THREATS 18, 19: keys', () => {
  it.each(['text: a\ntext: b', 'seq: 2\ntext: a', 'x_a: 1\nx_a: 1\ntext: a', 'x_m:\n  a: 1\n  a: 2\ntext: a'])(
    'twice: %j',
    (lines) => {
      expect(verdict(NOTE.replace('text: hello', lines))).toBe('yaml_invalid');
    },
  );

  it.each(['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty'])(
    '%s, plain, nested, in a list and under x_',
    (key) => {
      for (const lines of [
        `${key}: 1`,
        `x_m:\n  ${key}: 1`,
        `x_m:\n  - ${key}: 1`,
        `x_m:\n  a:\n    ${key}:\n      b: 1`,
      ]) {
        expect(verdict(NOTE.replace('text: hello', `text: hello\n${lines}`)), lines).not.toBe('accepted');
      }
      expect(({} as Record<string, unknown>).b).toBeUndefined();
    },
  );

  it('what was read inherits nothing', () => {
    const { fields } = parseRecord(new TextEncoder().encode(NOTE.replace('text: hello', 'text: hello\nx_m:\n  a: 1')));
    expect(fields.toString).toBeUndefined();
    expect((fields.x_m as Record<string, unknown>).constructor).toBeUndefined();
  });

  it('a signature that is not the last line, or stands twice, is none', () => {
    const line = /signature: .*\n$/.exec(NOTE)![0];
    for (const text of [
      NOTE.replace(line, ''),
      `${NOTE}${line}`,
      `${NOTE}x_a: 1\n`,
      NOTE.replace(line, `${line.trimEnd()} \n`),
      NOTE.replace('signature: ', 'signature:  '),
      NOTE.replace('signature: ', 'signature:\n  '),
      NOTE.slice(0, -1),
      NOTE.replace(line, `signatures:\n  - donna SHA256:${'A'.repeat(43)} ${line.slice(11)}`),
    ]) {
      expect(verdict(text)).not.toBe('accepted');
    }
  });
});

describe('THREATS 20: numbers that are none', () => {
  const SPELLINGS = [
    '010',
    '0x1F',
    '0o17',
    '1e3',
    '1_000',
    '1.0',
    '.inf',
    '.nan',
    '-1',
    '+1',
    '9007199254740993',
    '"2"',
    '２',
    '',
  ];

  it.each(SPELLINGS)('seq: %s', (value) => {
    expect(verdict(NOTE.replace('seq: 2', `seq: ${value}`))).not.toBe('accepted');
    expect(verdict(NOTE.replace('clock: 2', `clock: ${value}`))).not.toBe('accepted');
  });

  it.each(['010', '0x1F', '1e3', 'no', 'null', 'true', '~', '.inf', '9007199254740993', '2026-01-01'])(
    'text: %s stays those characters',
    (value) => {
      const { fields } = parseAs(new TextEncoder().encode(NOTE.replace('text: hello', `text: ${value}`)), 'note');
      expect(fields.text).toBe(value);
    },
  );

  it.each(['010', '0x1F', '1e3', '.inf', '~', 'True', '9007199254740993'])(
    'x_a: %s is refused where no schema says what it is',
    (value) => {
      expect(verdict(NOTE.replace('text: hello', `text: hello\nx_a: ${value}`))).toBe('schema_invalid');
    },
  );
});

describe('THREATS 21, 22: bytes and characters nobody sees', () => {
  const encode = (text: string) => new TextEncoder().encode(text);
  it.each<[string, Uint8Array]>([
    ['NUL', encode(NOTE.replace('hello', 'he\0llo'))],
    ['a BOM', encode(`\ufeff${NOTE}`)],
    ['CRLF', encode(NOTE.replaceAll('\n', '\r\n'))],
    ['a lone CR', encode(NOTE.replace('hello', 'he\rllo'))],
    ['a CR in a body', encode(BATON.replace('# Now', '# Now\r'))],
    ['NUL in a body', encode(BATON.replace('# Now', '# N\0w'))],
    ['NEL', encode(NOTE.replace('hello', 'he\u0085llo'))],
    ['LS', encode(NOTE.replace('hello', 'he\u2028llo'))],
    ['PS', encode(NOTE.replace('hello', 'he\u2029llo'))],
    ['bad UTF-8', Buffer.from(NOTE.replace('hello', 'he\xffllo'), 'latin1')],
    ['an overlong form', Buffer.from(NOTE.replace('hello', 'he\xc0\xafllo'), 'latin1')],
    ['a surrogate in UTF-8', Buffer.from(NOTE.replace('hello', 'he\xed\xa0\x80llo'), 'latin1')],
    ['a character cut off at the end', Buffer.concat([encode(BATON), Buffer.of(0xe2, 0x82)])],
    ['UTF-16', Buffer.from(NOTE, 'utf16le')],
  ])('%s', (_, bytes) => expect(verdict(bytes)).toBe('bytes_invalid'));

  const HIDDEN = [
    0x202a, 0x202b, 0x202c, 0x202d, 0x202e, 0x2066, 0x2067, 0x2068, 0x2069, 0x200e, 0x200f, 0x061c, 0x200b, 0x200c,
    0x200d,
  ];
  const MORE = [
    0x2060, 0xad, 0xfeff, 0xe0001, 0xe0041, 0xe007f, 0xfe0f, 0x1b, 0x07, 0x08, 0x7f, 0x80, 0x9b, 0xfffe, 0x1d173,
  ];
  it('bidi, zero-width, tags, ESC and C1 in front matter, each of them; in a body they are text', () => {
    for (const point of [...HIDDEN, ...MORE]) {
      const char = String.fromCodePoint(point);
      const name = `U+${point.toString(16)}`;
      expect(both(`summary: he${char}llo`).map(verdict), name).toEqual(['bytes_invalid', 'bytes_invalid']);
      expect(verdict(NOTE.replace('text: hello', `text: "he${char}llo"`)), name).toBe('bytes_invalid');
      if (point !== 0xfeff) expect(verdict(BATON.replace('# Now', `# N${char}w`)), name).toBe('accepted');
    }
  });
});

describe('THREATS 23: size bombs', () => {
  it('257 KiB, and 65 KiB of front matter, are refused; the limit itself is not', () => {
    const fill = 'x'.repeat(256 * 1024 - BATON.length);
    expect(verdict(BATON + fill)).toBe('accepted');
    expect(verdict(`${BATON + fill}x`)).toBe('too_large');
    expect(verdict(BATON.replace('summary: half way', `x_a: ${'x'.repeat(64 * 1024)}`))).toBe('too_large');
  });

  it('100,000 brackets, quotes, dashes or lines cost no stack', () => {
    for (const piece of ['[', '{', '"', '- ', '\\"', '? ', '&a ', '\n', ' ', 'a:\n  ', '\n- x', '\\u0041']) {
      const bomb = piece.repeat(Math.floor(100_000 / piece.length));
      for (const text of [...both(`text: ${bomb}`), ...both(`x_a: "${bomb}"`), `---\n${bomb}`, bomb]) {
        expect(['accepted', 'yaml_invalid', 'too_large', 'schema_invalid', 'signature_invalid']).toContain(
          verdict(text),
        );
      }
    }
  });

  it('a tree of blobs beyond the limit is refused without reading them, and the others are judged', async () => {
    const place = fresh();
    const [start, note] = writeSession(place, STORY.slice(0, 2));
    const huge = blob(place.dir, Buffer.alloc(48 << 20));
    commitAll(place);
    const folder = dirname(start!.path);
    for (let seq = 3; seq < 40; seq++) {
      const name = `${String(seq).padStart(4, '0')}-note.yaml`;
      git(place.dir, 'update-index', '--add', '--cacheinfo', `100644,${huge},${folder}/${name}`);
    }
    git(place.dir, 'update-index', '--add', '--cacheinfo', `100644,${huge},.handoff/project.yaml`);
    git(place.dir, 'commit', '--quiet', '-m', 'bombs');
    expect(note!.path).toContain(folder);
    const found = await codes(place);
    expect(found).toHaveLength(38);
    expect(new Set(found.map((line) => line.split(' ')[0]))).toEqual(new Set(['too_large']));
  });

  it('the limit of the policy counts where it is lower, for what arrives', async () => {
    const place = fresh();
    const limits = { limits: { record_bytes: 1024, records_per_push: 10000 } };
    writePolicy(place, 2, policyAfter(place, 1, limits), [['maintainer', privateKey(place, 'maintainer')]]);
    const base = commitAll(place);
    writeSession(place, [STORY[0]!, { kind: 'note', text: 'x'.repeat(1024) }]);
    expect(await commitAndFind(place)).toEqual([]);
    const { findings } = await reopen(place).handoff.gate({ base, head: 'HEAD' });
    const errors = findings.filter(({ severity }) => severity === 'error');
    expect(errors.map(({ code, path }) => `${code} ${path}`)).toEqual([
      expect.stringMatching(/^too_large .*0002-note.yaml$/),
    ]);
  });

  it('a gibibyte on disk, where a verb reads the work tree, is not read', async () => {
    const place = fresh();
    const path = join(place.dir, '.handoff/identities/huge/identity.yaml');
    mkdirSync(dirname(path));
    const file = openSync(path, 'w');
    ftruncateSync(file, 2 ** 30);
    closeSync(file);
    const { handoff, warnings } = reopen(place);
    expect((await handoff.identity.list()).identities.map(({ identity }) => identity)).toEqual([
      'maintainer',
      'bot',
      'donna',
      'erin',
    ]);
    expect(warnings).toEqual([expect.stringContaining('identities/huge')]);
  });

  it('20,000 files that have no place end in as many findings, quickly', async () => {
    const place = fresh();
    const oid = blob(place.dir, 'junk\n');
    const names = Array.from({ length: 20_000 }, (_, i) => `junk${String(i).padStart(5, '0')}`);
    const junk = rawTree(
      place.dir,
      names.map((name) => ({ mode: '100644', name, oid })),
    );
    git(place.dir, 'read-tree', '--prefix=.handoff/tasks/', junk);
    const tree = git(place.dir, 'write-tree');
    expect(await findings(place, { rev: tree })).toHaveLength(20_000);
  });
});

describe('THREATS 24: what was signed is bytes, not a meaning', () => {
  it.each([
    ['quotes around the same text', 'text: npm and git are all it needs', 'text: "npm and git are all it needs"'],
    ['an escape for the same character', 'text: npm', 'text: "\\u006epm"'],
    ['two keys in another order', 'identity: donna\nseq: 2\n', 'seq: 2\nidentity: donna\n'],
    ['a key that means nothing', 'seq: 2\n', 'seq: 2\nx_a: 1\n'],
  ])('%s', async (_, from, to) => {
    const place = fresh();
    const [, note] = writeSession(place, STORY.slice(0, 2));
    const text = decoder.decode(note!.bytes);
    const changed = to.startsWith('text: "\\u')
      ? text.replace(/text: n(.*)\n/, 'text: "\\u006e$1"\n')
      : text.replace(from, to);
    expect(changed).not.toBe(text);
    writeBytes(place.dir, note!.path, changed);
    commitAll(place);
    expect(await codes(place)).toEqual(['signature_invalid 0002-note.yaml']);
  });
});
