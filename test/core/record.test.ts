import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { concatBytes, equalBytes, utf8 } from '../../src/core/bytes/bytes.ts';
import type { YamlMap, YamlValue } from '../../src/core/bytes/yaml.ts';
import { validators } from '../../src/core/generated/validators.js';
import { MAX_FRONT_MATTER_BYTES, MAX_RECORD_BYTES } from '../../src/core/limits.ts';
import { attachSignatures, formatRecord } from '../../src/core/record/format.ts';
import { DOCUMENT_KINDS, extensionOf, isRecordKind, type Kind, RECORD_KINDS } from '../../src/core/record/kinds.ts';
import { parseAs, parseRecord, parseSessionRecord } from '../../src/core/record/record.ts';
import { recordId, verifyRecord } from '../../src/core/record/verify.ts';
import {
  EXAMPLES,
  errorOf,
  example,
  nodeSuite,
  resultOf,
  signedFile,
  signedText,
  testKey,
  withoutSignature,
} from './examples.ts';

const SCHEMAS = join(import.meta.dirname, '../../protocol/schemas');
const donna = testKey('donna');
const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

test('there is an example of each of the 15 records and 4 documents', () => {
  expect(EXAMPLES.map(({ kind }) => kind).sort()).toEqual([...RECORD_KINDS, ...DOCUMENT_KINDS].sort());
  expect(EXAMPLES.length).toBe(19);
});

describe.each(EXAMPLES)('$kind', ({ kind, bytes, fields, body }) => {
  const schema = JSON.parse(readFileSync(join(SCHEMAS, `${kind}.json`), 'utf8'));
  const base = JSON.parse(readFileSync(join(SCHEMAS, schema.allOf[0].$ref), 'utf8'));
  const required: string[] = [...base.required, ...schema.required];
  const optional = Object.keys({ ...base.properties, ...schema.properties }).filter((key) => !required.includes(key));

  test('gives its fields, its body and the signed bytes', () => {
    const record = parseRecord(bytes);
    expect(record.kind).toBe(kind);
    expect(plain(record.fields)).toEqual(fields);
    expect(record.body).toBe(body);
    expect(text(record.signedBytes)).toBe(withoutSignature(text(bytes), kind));
    expect([record.signature?.length ?? null, record.signatures.length]).toEqual(
      isRecordKind(kind) ? [64, 0] : [null, 1],
    );
  });

  test('its fields, formatted and signed again, are the same bytes', () => {
    const { signature, signatures } = parseRecord(bytes);
    const signers = signature ? [{ identity: '', fingerprint: '', bytes: signature }] : signatures;
    expect(text(attachSignatures(formatRecord(fields, body), signers))).toBe(text(bytes));
  });

  test('an unknown key is refused', () => {
    const { code, data, message } = refusal({ ...fields, colour: 'blue' }, body);
    expect({ code, ...data }).toMatchObject({ code: 'schema_invalid', key: 'colour', found: '"blue"' });
    expect(message).toContain('only keys that begin with x_');
  });

  test('keys that begin with x_ are kept and signed', () => {
    const more = { x_tool: 'vim', x_1: 7, x_deep: { list: ['a', null, true], map: { n: 0 } } };
    const record = parseRecord(signedFile({ ...fields, ...more }, body));
    expect(plain(record.fields)).toEqual({ ...fields, ...more });
    expect(text(record.signedBytes)).toContain('\nx_tool: vim\nx_1: 7\n');
    expect(recordId(record.signedBytes, nodeSuite)).not.toBe(recordId(parseRecord(bytes).signedBytes, nodeSuite));
  });

  test.each(['x_', `x_${'a'.repeat(63)}`, 'xtool'])('the key %s is no extension', (key) => {
    const found = errorOf(() => parseRecord(signedFile({ ...fields, [key]: 'a' }, body)));
    expect(found.code).toMatch(/^(?:schema|yaml)_invalid$/);
  });

  test.each(required)('without %s it is refused', (key) => {
    const { [key]: _, ...rest } = fields;
    const unsigned = withoutKey(withoutSignature(text(bytes), kind), key, rest);
    const found = errorOf(() => parseRecord(signedText(kind, unsigned)));
    if (key === 'handoff' || key === 'kind') return expect(found.code).toBe('yaml_invalid');
    expect(found.code).toBe('schema_invalid');
    expect(found.data).toMatchObject({ key, expected: 'a value', found: 'nothing' });
  });

  test('without what it may have it is accepted', () => {
    const rest = Object.fromEntries(Object.entries(fields).filter(([key]) => !optional.includes(key)));
    expect(plain(parseRecord(signedFile(rest, body)).fields)).toEqual(rest);
    expect(Object.keys(fields).sort(), 'the example has all keys').toEqual(expect.arrayContaining(required));
  });

  test('the example has every key but those of another version or beginning', () => {
    const absent = optional.filter((key) => !(key in fields));
    expect(['inherited_from', 'lock', 'repo', 'nonce', 'agents']).toEqual(expect.arrayContaining(absent));
  });

  test.each(Object.keys(fields).filter((key) => key !== 'handoff' && key !== 'kind' && !key.startsWith('x_')))(
    'a %s of the wrong type is refused',
    (key) => {
      const { code, data } = refusal({ ...fields, [key]: wrong(fields[key]!) }, body);
      expect(code).toBe('schema_invalid');
      expect(data!.key).toBe(key);
      expect(data!.found).toBe(JSON.stringify(wrong(fields[key]!)));
    },
  );

  test('in the other form it is refused', () => {
    const signed = withoutSignature(text(bytes), kind);
    const other = extensionOf(kind) === 'md' ? signed.slice(4, signed.indexOf('\n---\n') + 1) : `---\n${signed}---\n`;
    const { code, data } = errorOf(() => parseRecord(signedText(kind, other)));
    expect(code).toBe('schema_invalid');
    expect(data!.expected).toBe(extensionOf(kind) === 'md' ? 'front matter and Markdown' : 'a YAML document');
  });

  test('with the signature of the other sort it is refused', () => {
    const signed = withoutSignature(text(bytes), kind);
    expect(errorOf(() => parseRecord(signedText(isRecordKind(kind) ? 'project' : 'note', signed))).code).toBe(
      'signature_invalid',
    );
  });

  test('under the name of another kind its signature does not hold', async () => {
    const keys = ['donna', 'con-1', 'ada'].map(testKey);
    const others = EXAMPLES.map((other) => other.kind).filter((other) => other !== kind);
    for (const other of others) {
      const renamed = utf8(text(bytes).replace(`kind: ${kind}`, `kind: ${other}`));
      expect(await resultOf(() => verifyRecord(parseRecord(renamed), keys, nodeSuite)), other).not.toBe('valid');
    }
  });

  test.each(Object.keys(fields).filter((key) => isMap(fields[key]!)))('an unknown key in %s is refused', (key) => {
    const { code, data } = refusal({ ...fields, [key]: { ...(fields[key] as YamlMap), x_colour: 'blue' } }, body);
    expect([code, data!.key]).toEqual(['schema_invalid', `${key}.x_colour`]);
  });
});

describe('the published schemas', () => {
  const schemas = Object.fromEntries(
    readdirSync(SCHEMAS).map((name) => [name.slice(0, -5), JSON.parse(readFileSync(join(SCHEMAS, name), 'utf8'))]),
  );
  const ajv = new Ajv2020({ strict: true, strictTypes: false, strictRequired: false, allErrors: true });
  for (const schema of Object.values(schemas)) ajv.addSchema(schema);

  test.each(Object.keys(schemas))('%s is valid draft 2020-12 and compiles in strict mode', (name) => {
    expect(schemas[name].$schema).toBe('https://json-schema.org/draft/2020-12/schema');
    expect(schemas[name].$id).toBe(`${name}.json`);
    expect(ajv.validateSchema(schemas[name], false), ajv.errorsText()).toBe(true);
    expect(ajv.getSchema(`${name}.json`)).toBeTypeOf('function');
  });

  test.each(EXAMPLES)(
    '$kind.json agrees with the compiled validator on the example and its mutations',
    ({ kind, fields }) => {
      const published = ajv.getSchema(`${kind}.json`)!;
      const base = validators[isRecordKind(kind) ? 'record' : 'document'];
      const cases = mutations(fields);
      expect(published(fields), ajv.errorsText(published.errors)).toBe(true);
      const verdicts = cases.map(([name, value]) => ({ name, valid: base(value) && validators[kind](value) }));
      expect(verdicts).toEqual(cases.map(([name, value]) => ({ name, valid: published(value) })));
      expect(verdicts.filter(({ valid }) => !valid).length, 'most mutations are refused').toBeGreaterThan(
        cases.length / 2,
      );
    },
  );
});

describe('the last line of a record', () => {
  const note = text(example('note').bytes);
  const signature = note.slice(-100);
  const unsigned = note.slice(0, -100);
  const base64 = signature.slice(11, -1);

  test.each([
    ['no signature', unsigned],
    ['an empty signature', `${unsigned}signature: \n`],
    ['no LF after it', note.slice(0, -1)],
    ['a blank line after it', `${note}\n`],
    ['a key after it', `${note}x_a: 1\n`],
    ['a space after it', `${note.slice(0, -1)} \n`],
    ['a second space before it', `${unsigned}signature:  ${base64}\n`],
    ['no space before it', `${unsigned}signature:${base64}\n`],
    ['an indent', `${unsigned} ${signature}`],
    ['quotes', `${unsigned}signature: "${base64}"\n`],
    ['a space inside', `${unsigned}signature: ${base64.slice(0, 40)} ${base64.slice(41)}\n`],
    ['a line break inside', `${unsigned}signature: ${base64.slice(0, 40)}\n  ${base64.slice(40)}\n`],
    ['87 characters', `${unsigned}signature: ${base64.slice(0, 85)}==\n`],
    ['92 characters', `${unsigned}signature: AAAA${base64}\n`],
    ['no padding', `${unsigned}signature: ${base64.slice(0, 86)}\n`],
    ['base64url', `${unsigned}signature: -_${base64.slice(2)}\n`],
    ['bits to spare', `${unsigned}signature: ${base64.slice(0, 85)}B==\n`],
    ['another case', `${unsigned}Signature: ${base64}\n`],
    ['another name', `${unsigned}signatures: ${base64}\n`],
    ['the signatures of a document', `${unsigned}signatures:\n  - donna ${donna.fingerprint} ${base64}\n`],
    ['no LF before it', `${unsigned.slice(0, -1)}${signature}`],
  ])('with %s is refused', (_, file) => {
    const { code, data, hint } = errorOf(() => parseRecord(utf8(file)));
    expect(code).toBe('signature_invalid');
    expect(data!.expected).toContain('88 characters of base64');
    expect(hint).toContain('restore the file from git');
  });

  test('twice is refused as an unknown key', () => {
    const { code, data } = errorOf(() => parseRecord(utf8(note + signature)));
    expect([code, data!.key]).toEqual(['schema_invalid', 'signature']);
  });

  test('is not looked for in the body', () => {
    const { fields, body } = example('decision');
    const file = text(signedFile(fields, body));
    const line = /^signature: .*\n/m.exec(file)![0];
    expect(errorOf(() => parseRecord(utf8(file.replace(line, '') + line))).code).toBe('signature_invalid');
    expect(parseRecord(signedFile(fields, `${line}---\n${line}`)).body).toBe(`${line}---\n${line}`);
  });
});

describe('the last lines of a document', () => {
  const file = text(example('project').bytes);
  const at = file.indexOf('signatures:\n');
  const unsigned = file.slice(0, at);
  const line = file.slice(at + 'signatures:\n'.length);
  const [, name, print, base64] = line.trim().split(' ') as [string, string, string, string];

  test.each([
    ['no signatures', unsigned],
    ['nobody under signatures', `${unsigned}signatures:\n`],
    ['an empty sequence', `${unsigned}signatures: []\n`],
    ['a signature', `${unsigned}signature: ${base64}\n`],
    ['no LF at the end', file.slice(0, -1)],
    ['a blank line at the end', `${file}\n`],
    ['a key after them', `${file}x_a: 1\n`],
    ['signatures twice', `${file}signatures:\n${line}`],
    ['no indent', `${unsigned}signatures:\n- ${name} ${print} ${base64}\n`],
    ['a deeper indent', `${unsigned}signatures:\n   - ${name} ${print} ${base64}\n`],
    ['quotes', `${unsigned}signatures:\n  - "${name} ${print} ${base64}"\n`],
    ['two spaces', `${unsigned}signatures:\n  - ${name}  ${print} ${base64}\n`],
    ['a space at the end', `${unsigned}signatures:\n  - ${name} ${print} ${base64} \n`],
    ['no name', `${unsigned}signatures:\n  - ${print} ${base64}\n`],
    ['a name in capitals', `${unsigned}signatures:\n  - Ada ${print} ${base64}\n`],
    ['a name of 65 characters', `${unsigned}signatures:\n  - ${'a'.repeat(65)} ${print} ${base64}\n`],
    ['an MD5 fingerprint', `${unsigned}signatures:\n  - ${name} MD5:${print.slice(7)} ${base64}\n`],
    ['a padded fingerprint', `${unsigned}signatures:\n  - ${name} ${print}= ${base64}\n`],
    ['a short signature', `${unsigned}signatures:\n  - ${name} ${print} ${base64.slice(4)}\n`],
    ['bits to spare', `${unsigned}signatures:\n  - ${name} ${print} ${base64.slice(0, 85)}B==\n`],
    ['a good line and a bad one', `${file}  - nobody\n`],
  ])('with %s are refused', (_, bytes) => {
    expect(errorOf(() => parseRecord(utf8(bytes))).code).toBe('signature_invalid');
  });

  test('signatures that are not last leave keys unsigned, and are refused', () => {
    const moved = unsigned.replace('name: ', `signatures:\n${line}name: `);
    expect(errorOf(() => parseRecord(utf8(moved))).code).toBe('signature_invalid');
  });

  test('several signers are kept in their order, and none of them is signed', () => {
    const lines = `${line}  - ben ${testKey('ben').fingerprint} ${base64}\n`;
    const { signatures, signedBytes } = parseRecord(utf8(`${unsigned}signatures:\n${lines}`));
    expect(signatures.map(({ identity }) => identity)).toEqual(['ada', 'ben']);
    expect(signatures[1]).toMatchObject({ fingerprint: testKey('ben').fingerprint });
    expect(text(signedBytes)).toBe(unsigned);
  });

  test('M19: a key signs once, however often its line is copied', () => {
    expect(errorOf(() => parseRecord(utf8(`${unsigned}signatures:\n${line}${line}`))).code).toBe('signature_invalid');
  });

  test('the word in a value does not end a document', () => {
    const fields = { ...example('project').fields, x_a: 'b\nsignatures:\n  - c' };
    expect(plain(parseRecord(signedFile(fields)).fields)).toEqual(fields);
  });
});

describe('bytes', () => {
  const { fields: noteFields, bytes: note } = example('note');
  const decision = text(example('decision').bytes);

  test.each<[string, Uint8Array, string, number]>([
    ['a BOM', concatBytes(Uint8Array.of(0xef, 0xbb, 0xbf), note), 'a BOM (U+FEFF)', 1],
    ['CRLF', utf8(text(note).replaceAll('\n', '\r\n')), 'a carriage return (U+000D)', 1],
    ['a lone CR', utf8(text(note).replace('repo:', '\rrepo:')), 'a carriage return (U+000D)', 3],
    ['NUL', utf8(text(note).replace('donna', 'don\0na')), 'NUL (U+0000)', 5],
    ['no UTF-8', insert(note, text(note).indexOf('donna'), 0xc3), 'byte 0xc3', 5],
    ['an overlong form', insert(note, text(note).indexOf('donna'), 0xc0, 0x80), 'byte 0xc0', 5],
    ['a surrogate', insert(note, text(note).indexOf('donna'), 0xed, 0xa0, 0x80), 'byte 0xed', 5],
    ['CR in a body', utf8(`${decision}one\ntwo\r\n`), 'a carriage return (U+000D)', decision.split('\n').length + 1],
    ['NUL in a body', utf8(`${decision}one\0`), 'NUL (U+0000)', decision.split('\n').length],
    [
      'an override in front matter',
      utf8(decision.replace('title: Use', 'title: \u202eUse')),
      'U+202E',
      lineOf(decision, 'title:'),
    ],
    ['a zero-width space in front matter', utf8(text(note).replace('donna', 'don\u200bna')), 'U+200B', 5],
  ])('%s is refused, on its line', (_, file, found, line) => {
    const error = errorOf(() => parseRecord(file));
    expect(error.code).toBe('bytes_invalid');
    expect(error.data).toMatchObject({ found, line });
    expect(error.message).toMatch(new RegExp(`^line ${line}: expected .*, found `));
  });

  test('nothing at all is refused', () => {
    expect(errorOf(() => parseRecord(new Uint8Array())).code).toBe('yaml_invalid');
  });

  test('a file of 256 KiB is read, one byte more is not', () => {
    const size = signedFile({ ...noteFields, text: 'a' }).length;
    const file = (extra: number) =>
      signedFile({ ...noteFields, text: 'a'.repeat(1 + MAX_RECORD_BYTES - size + extra) });
    expect(parseRecord(file(0)).kind).toBe('note');
    const { code, data } = errorOf(() => parseRecord(file(1)));
    expect({ code, ...data }).toEqual({ code: 'too_large', expected: 'at most 262144 bytes', found: '262145 bytes' });
  });

  test('front matter of 64 KiB is read, one byte more is not; the signature counts, characters are not bytes', () => {
    const { fields } = example('decision');
    const front = (file: Uint8Array) => utf8(text(file).slice(4, text(file).indexOf('\n---\n') + 1)).length;
    const room = MAX_FRONT_MATTER_BYTES - front(signedFile({ ...fields, x_a: 'é' }, ''));
    const file = (extra: number) => signedFile({ ...fields, x_a: `é${'a'.repeat(room + extra)}` }, 'é\n'.repeat(999));
    expect(front(file(0))).toBe(MAX_FRONT_MATTER_BYTES);
    expect(parseRecord(file(0)).body).toBe('é\n'.repeat(999));
    const { code, data } = errorOf(() => parseRecord(file(1)));
    expect({ code, ...data }).toEqual({ code: 'too_large', expected: 'at most 65536 bytes', found: '65537 bytes' });
  });

  test('a view into a larger buffer is read like a copy, and never written to', () => {
    const frame = concatBytes(Uint8Array.of(1, 2, 3), note, Uint8Array.of(4));
    const copy = frame.slice();
    expect(parseRecord(frame.subarray(3, 3 + note.length))).toEqual(parseRecord(note));
    expect(equalBytes(frame, copy)).toBe(true);
  });
});

describe('front matter', () => {
  const { fields, body, bytes } = example('decision');
  const file = text(bytes);

  test.each(['---js', '--- ', '----', '---\t', '--- yaml', '---json', '---\u00a0', '---#'])(
    'a first line of %j is refused',
    (first) => {
      const { code, data } = errorOf(() => parseRecord(utf8(file.replace('---', first))));
      expect([code, data!.line]).toEqual(['yaml_invalid', 1]);
      expect(data!.expected).toContain('exactly "---"');
      expect(data!.found).toContain(JSON.stringify(first).slice(0, 4));
    },
  );

  test.each([
    ['a blank first line', `\n${file}`],
    ['a space before the dashes', ` ${file}`],
    ['dashes that never close', file.replaceAll('\n---\n', '\n')],
    ['a closing line without LF', `${file.slice(0, file.indexOf('\n---\n'))}\n---`],
    ['a closing line with a space', file.replaceAll('\n---\n', '\n--- \n')],
    ['a closing line of dots', file.replaceAll('\n---\n', '\n...\n')],
    ['nothing between the dashes', '---\n---\n'],
    ['a blank line between the dashes', '---\n\n---\n'],
    ['a second document', file.replace('\nkind', '\n---\nkind')],
  ])('%s is refused', (_, changed) => {
    expect(errorOf(() => parseRecord(utf8(changed))).code).toBe('yaml_invalid');
  });

  test.each([
    '',
    '\n',
    '---\n',
    '\n---\n---\n',
    'no line break',
    '\ttab, é, 🙂, \u202e\u200b \u2028\n',
    ' \n \n',
    '```yaml\n---\n',
  ])('the body %j is kept byte for byte, and signed', async (text) => {
    const record = parseRecord(signedFile(fields, text));
    expect(record.body).toBe(text);
    await verifyRecord(record, [donna], nodeSuite);
  });

  test.each(['a\r\nb', 'a\0b', '\ufeffa', '\ud800'])('the body %j is not written', (text) => {
    expect(errorOf(() => formatRecord(fields, text)).code).toBe('bytes_invalid');
  });

  test('errors name the line of the file', () => {
    const lineOfError = (changed: string) =>
      errorOf(() => parseRecord(signedText('decision', withoutSignature(changed, 'decision')))).data!.line;
    const unsigned = withoutSignature(file, 'decision');
    for (const key of ['repo', 'seq', 'at', 'lock', 'title', 'supersedes']) {
      const line = lineOf(unsigned, `${key}:`);
      expect(lineOfError(file.replace(`\n${key}:`, `\n"${key}":`)), key).toBe(line);
      expect(lineOfError(file.replace(`\n${key}:`, `\n\n${key}:`)), key).toBe(line);
    }
    expect(lineOfError(file.replace('\n  task: ', '\n  task: &a '))).toBe(lineOf(file, '  task:'));
    expect(body).not.toBe('');
  });
});

describe('the first two lines', () => {
  const note = text(example('note').bytes);
  const decision = text(example('decision').bytes);

  test.each([
    ['no version', note.replace('handoff: 1\n', ''), 1],
    ['a comment first', `# hi\n${note}`, 1],
    ['the kind first', note.replace('handoff: 1\nkind: note\n', 'kind: note\nhandoff: 1\n'), 1],
    ['something between', note.replace('kind:', 'x_a: 1\nkind:'), 2],
    ['an indented kind', note.replace('kind:', ' kind:'), 2],
    ['no version in front matter', decision.replace('handoff: 1\n', ''), 2],
    ['something between in front matter', decision.replace('kind:', 'x_a: 1\nkind:'), 3],
  ])('%s is refused, on its line', (_, file, line) => {
    const { code, data, message } = errorOf(() => parseRecord(utf8(file)));
    expect(code).toBe('yaml_invalid');
    expect(data!.line).toBe(line);
    expect(message).toBe(`line ${line}: expected ${data!.expected}, found ${data!.found}`);
    expect(data!.found).toBe(JSON.stringify(file.split('\n')[line - 1]));
  });

  test.each(['2', '01', '1.0', '"1"', '1 ', 'true', ''])('the version %j is refused', (version) => {
    const { code, data } = errorOf(() => parseRecord(utf8(note.replace('handoff: 1', `handoff: ${version}`))));
    expect({ code, ...data }).toEqual({ code: 'schema_invalid', expected: '1', found: JSON.stringify(version) });
  });

  test.each([
    'poem',
    'Note',
    '"note"',
    'note ',
    'record',
    'document',
    'common',
    '__proto__',
    'constructor',
    'toString',
    '',
  ])('the kind %j is refused', (kind) => {
    const { code, data } = errorOf(() => parseRecord(utf8(note.replace('kind: note', `kind: ${kind}`))));
    expect({ code, found: data!.found }).toEqual({ code: 'schema_invalid', found: JSON.stringify(kind) });
  });

  test('a first line of a quarter of a megabyte does not end up in the message', () => {
    const { message } = errorOf(() => parseRecord(utf8(`${'a'.repeat(250_000)}\n`)));
    expect(message.length).toBeLessThan(300);
  });
});

describe('numbers and words are what the schema says', () => {
  const PLAIN = [
    '010',
    '1e3',
    'no',
    'yes',
    'on',
    '0x1F',
    '0o17',
    '9007199254740993',
    'true',
    'null',
    '1.0',
    '.5',
    '12:30:45',
    '2026-02-20',
    'Infinity',
    '.nan',
  ];
  const { fields } = example('audit');
  const front = (change: (text: string) => string) =>
    parseAs(signedText('audit', change(withoutSignature(text(example('audit').bytes), 'audit'))), 'audit').fields;

  test.each(PLAIN)('%s as text stays a string', (value) => {
    expect(front((text) => text.replace(/^intent: .*$/m, `intent: ${value}`)).intent).toBe(value);
  });

  test.each(['010', '1e3', 'no', '0x1F', '9007199254740993', 'true', 'null', '1.0'])(
    '%s as an id stays a string',
    (value) => {
      expect(front((text) => text.replace(/^task_id: .*$/m, `task_id: ${value}`)).task_id).toBe(value);
      expect(front((text) => text.replace(/^ {2}task: .*$/m, `  task: ${value}`)).lock).toMatchObject({ task: value });
    },
  );

  test.each(['010', '1e3', 'no', '0x1F', '9007199254740993', '1.0', '+1', '"2"', 'null', 'true', '1_000'])(
    '%s as seq or clock is refused, with what was expected and found',
    (value) => {
      for (const key of ['seq', 'clock']) {
        const { code, data } = errorOf(() =>
          front((text) => text.replace(new RegExp(`^${key}: .*$`, 'm'), `${key}: ${value}`)),
        );
        expect({ code, ...data }).toEqual({
          code: 'schema_invalid',
          key,
          expected: 'integer',
          found: JSON.stringify(value.replaceAll('"', '')),
        });
      }
    },
  );

  test.each([
    ['seq', '0', '>= 1'],
    ['seq', '1000000', '<= 999999'],
    ['clock', '0', '>= 1'],
  ])('a %s of %s is out of range', (key, value, expected) => {
    const { data } = errorOf(() => front((text) => text.replace(new RegExp(`^${key}: .*$`, 'm'), `${key}: ${value}`)));
    expect(data).toEqual({ key, expected, found: value });
  });

  test('the largest clock is exact', () => {
    expect(parseSessionRecord(signedFile({ ...fields, clock: Number.MAX_SAFE_INTEGER })).fields.clock).toBe(
      2 ** 53 - 1,
    );
  });

  test('a boolean is true or false, and nothing that means it', () => {
    const baton = (value: string) =>
      parseAs(
        signedText(
          'baton',
          withoutSignature(text(example('baton').bytes), 'baton').replace(
            'secret_allowed: false',
            `secret_allowed: ${value}`,
          ),
        ),
        'baton',
      ).fields.secret_allowed;
    expect([baton('true'), baton('false')]).toEqual([true, false]);
    for (const value of ['no', 'True', '0', '"true"', 'null']) {
      expect(errorOf(() => baton(value)).data, value).toMatchObject({ key: 'secret_allowed', expected: 'boolean' });
    }
  });

  test('null is null only where the schema has it', () => {
    const { fields: start } = example('start');
    expect(parseAs(signedFile({ ...start, head: null }), 'start').fields.head).toBeNull();
    expect(parseRecord(signedFile({ ...start, prev: null })).fields.prev).toBeNull();
    expect(errorOf(() => parseRecord(signedFile({ ...start, prev: 'null' }))).data).toMatchObject({ key: 'prev' });
    expect(parseAs(signedFile({ ...start, intent: 'null' }), 'start').fields.intent).toBe('null');
  });

  test('what nobody typed is read as YAML reads it, or refused', () => {
    const extra = (value: string) => front((text) => `${text}x_a: ${value}\n`).x_a;
    expect([extra('12'), extra('true'), extra('null'), extra('no'), extra('"12"')]).toEqual([
      12,
      true,
      null,
      'no',
      '12',
    ]);
    for (const value of ['010', '1e3', '0x1F', '1.5', '9007199254740993'])
      expect(errorOf(() => extra(value)).code).toBe('schema_invalid');
  });
});

describe('the patterns of the fields', () => {
  test.each([
    ['identity', 'con', 'note'],
    ['identity', 'a..b', 'note'],
    ['identity', 'a.', 'note'],
    ['identity', 'Donna', 'note'],
    ['identity', 'a'.repeat(65), 'note'],
    ['session_id', '7C1F09AA-5B1E-4C3D-9F2A-0123456789AB', 'note'],
    ['session_id', '7c1f09aa-5b1e-1c3d-9f2a-0123456789ab', 'note'],
    ['repo', 'ABCD', 'note'],
    ['prev', 'sha1:abcd', 'note'],
    ['at', '2026-02-20T14:30:25Z', 'note'],
    ['at', '2026-13-20T14:30:25.123Z', 'note'],
    ['at', '2026-02-20T14:30:25.123+00:00', 'note'],
    ['task_id', 'NUL', 'audit'],
    ['task_id', '../x', 'audit'],
    ['task_id', 'a\n', 'audit'],
    ['branch', '--upload-pack=x', 'start'],
    ['branch', '', 'start'],
    ['head', 'HEAD', 'start'],
    ['title', 'two\nlines', 'decision'],
    ['title', '', 'decision'],
    ['status', 'maybe', 'decision'],
    ['summary', 'a'.repeat(1001), 'baton'],
    ['type', 'Shout', 'signal'],
  ] as [string, string, Kind][])('a %s of %j is refused', (key, value, kind) => {
    const { fields, body } = example(kind);
    const { code, data } = refusal({ ...fields, [key]: value }, body);
    expect([code, data!.key]).toEqual(['schema_invalid', key]);
  });

  test('a key line that is no Ed25519 key is refused', () => {
    const [policy, identity] = [example('policy').fields, example('identity').fields];
    const line = `ssh-ed25519 ${'A'.repeat(68)}`;
    expect(refusal({ ...policy, root: { threshold: 1, keys: [`ada ${line}`] } }, null).data).toMatchObject({
      key: 'root.keys.0',
    });
    expect(refusal({ ...identity, keys: [{ key: line, state: 'active' }] }, null).data).toMatchObject({
      key: 'keys.0.key',
    });
  });
});

describe('verifyRecord', () => {
  test.each(EXAMPLES.filter(({ kind }) => isRecordKind(kind) && kind !== 'pickup'))(
    'accepts $kind by its key, whichever of several it is',
    async ({ bytes }) => {
      const keys = [testKey('ben'), donna, testKey('ada')];
      const verified = await verifyRecord(parseRecord(bytes), keys, nodeSuite);
      expect(verified.fingerprint).toBe(donna.fingerprint);
      expect(verified.id).toBe(recordId(parseRecord(bytes).signedBytes, nodeSuite));
    },
  );

  test('says whose signature was expected', async () => {
    const record = parseRecord(example('note').bytes);
    await expect(verifyRecord(record, [testKey('ada')], nodeSuite)).rejects.toMatchObject({
      code: 'signature_invalid',
      data: { expected: expect.stringContaining(testKey('ada').fingerprint) },
    });
    expect(await resultOf(() => verifyRecord(record, [], nodeSuite))).toBe('signature_invalid');
  });

  test('never accepts a document: it has signers, not an author', async () => {
    const record = parseRecord(example('project').bytes);
    expect(await resultOf(() => verifyRecord(record, [testKey('ada')], nodeSuite))).toBe('signature_invalid');
  });
});

function refusal(fields: YamlMap, body: string | null) {
  return errorOf(() => parseRecord(signedFile(fields, body)));
}

function isMap(value: YamlValue): value is YamlMap {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function wrong(value: YamlValue): YamlValue {
  return typeof value === 'object' && value !== null ? 'text' : ['a'];
}

/** Every value replaced by ones of other types and by odd ones of its own, every key left out, keys added: at each level. */
function mutations(fields: YamlMap): [string, unknown][] {
  const found: [string, unknown][] = [['an extension', { ...fields, x_a: [{ b: 1 }] }]];
  for (const [path, set] of places(fields, [])) {
    for (const value of ODD) found.push([`${path.join('.')} = ${JSON.stringify(value)}`, set(value)]);
  }
  for (const key of ['colour', 'x_', 'x_a-b', 'signature', 'signatures', '__proto', `x_${'a'.repeat(63)}`]) {
    found.push([`${key} added`, { ...fields, [key]: 'a' }]);
  }
  return found;
}

const ODD = [
  undefined,
  null,
  true,
  0,
  1,
  -1,
  1.5,
  2 ** 53,
  '',
  'a',
  'null',
  'A\nb',
  'con',
  'a..b',
  '-a',
  [],
  {},
  ['a'],
  [1],
  [{}],
  { a: 'b' },
  { a: 1 },
  'a'.repeat(5000),
];

type Set = (value: unknown) => unknown;

function* places(
  value: YamlValue,
  path: (string | number)[],
  set: Set = (changed) => changed,
): Generator<[(string | number)[], Set]> {
  if (path.length > 0) yield [path, set];
  if (typeof value !== 'object' || value === null) return;
  for (const [key, inner] of Object.entries(value)) {
    const step = Array.isArray(value) ? Number(key) : key;
    yield* places(inner as YamlValue, [...path, step], (changed) => set(replaced(value, step, changed)));
  }
}

function replaced(value: object, step: string | number, changed: unknown): unknown {
  if (Array.isArray(value)) return value.toSpliced(step as number, 1, ...(changed === undefined ? [] : [changed]));
  const { [step as string]: _, ...rest } = value as YamlMap;
  return changed === undefined ? rest : { ...value, [step]: changed };
}

function withoutKey(unsigned: string, key: string, rest: YamlMap): string {
  if (key === 'handoff' || key === 'kind') return unsigned.replace(new RegExp(`^${key}: .*\n`, 'm'), '');
  const close = unsigned.startsWith('---') ? unsigned.slice(unsigned.indexOf('\n---\n') + 5) : null;
  return text(formatRecord(rest as YamlMap & { kind: Kind }, close).signedBytes);
}

function insert(bytes: Uint8Array, at: number, ...more: number[]): Uint8Array {
  return concatBytes(bytes.subarray(0, at), Uint8Array.from(more), bytes.subarray(at));
}

function lineOf(file: string, start: string): number {
  return file.split('\n').findIndex((line) => line.startsWith(start)) + 1;
}

/** The maps of the reader inherit nothing; JSON's do. */
function plain<T>(value: T): T {
  return JSON.parse(JSON.stringify(value));
}
