import { createPrivateKey, type KeyObject, sign } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { fromHex, toBase64, toHex, utf8 } from '../../src/core/bytes/bytes.ts';
import {
  cosignatureMessage,
  formatNote,
  formatVerifierKey,
  type Note,
  type NoteSignature,
  noteMessage,
  noteSignature,
  openNote,
  parseNote,
  parseVerifierKey,
} from '../../src/core/ledger/note.ts';
import { vectors } from '../vectors.ts';
import { errorOf, nodeSuite, resultOf, SUITES, testKey } from './examples.ts';

interface OpenCase {
  name: string;
  note: string;
  vkeys: string[];
  result: 'ok' | 'error' | 'unverified';
  verified?: string[];
  unverified?: string[];
}

const path = vectors('signed-note/notes.json');
const published: {
  skey: string;
  sign: { text: string; want: string };
  open: OpenCase[];
  bad_vkeys: string[];
} = path ? JSON.parse(readFileSync(path, 'utf8')) : { skey: '', sign: { text: '', want: '' }, open: [], bad_vkeys: [] };

const TEXT = 'git-handoff/somewhere\n3\nabc\n';
const LOG = 'git-handoff/somewhere';
const ada = testKey('ada');
const ben = testKey('ben');
const LOG_KEY = formatVerifierKey(LOG, ada.bytes, nodeSuite);
const WITNESS_KEY = formatVerifierKey('witness.example/w1', ben.bytes, nodeSuite, 'cosignature');

describe.skipIf(!path)('published notes', () => {
  describe.each(Object.entries(SUITES))('with %s', (_, suite) => {
    test.each(published.open)('$name: $result', async ({ note, vkeys, result, verified, unverified }) => {
      const verifiers = vkeys.map((vkey) => parseVerifierKey(vkey, suite));
      const open = () => openNote(parseNote(fromHex(note)!), verifiers, suite);
      expect(await resultOf(async () => await open())).toBe(result === 'ok' ? 'valid' : 'ledger_inconsistent');
      if (result !== 'ok') return;
      const opened = await open();
      expect(opened.verified.map(({ verifier }) => labelOf(verifier))).toEqual(verified);
      expect(opened.unverified.map(labelOf)).toEqual(unverified);
    });
  });

  test('what is parsed is written again byte for byte', () => {
    for (const { note } of published.open.filter(({ result }) => result === 'ok'))
      expect(toHex(formatNote(parseNote(fromHex(note)!)))).toBe(note);
  });

  test('signing gives the published bytes', () => {
    const [name, , base64] = published.skey.replace('PRIVATE+KEY+', '').split(/\+(?=[0-9a-f]{8}\+|A)/);
    const seed = Buffer.from(base64!, 'base64').subarray(1);
    const key = createPrivateKey({
      key: Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), seed]),
      format: 'der',
      type: 'pkcs8',
    });
    const text = Buffer.from(published.sign.text, 'hex').toString();
    const { publicKey } = parseVerifierKey(goodKey(), nodeSuite);
    const signature = noteSignature(name!, publicKey, signedBy(key, noteMessage(text)), nodeSuite);
    expect(toHex(formatNote({ text, signatures: [signature] }))).toBe(published.sign.want);
  });

  test('a verifier key is written as it was read', () => {
    const { name, publicKey } = parseVerifierKey(goodKey(), nodeSuite);
    expect(formatVerifierKey(name, publicKey, nodeSuite)).toBe(goodKey());
  });

  test('bad verifier keys are refused: the published ones, every part of a good one, every byte one higher', () => {
    const good = goodKey();
    const bad = [...published.bad_vkeys];
    for (let from = 0; from < good.length; from++)
      for (let to = from + (from === 0 ? 0 : 1); to <= good.length; to++)
        if (to - from < good.length) bad.push(good.slice(from, to));
    for (let at = 0; at < good.length; at++)
      bad.push(good.slice(0, at) + String.fromCharCode(good.charCodeAt(at) + 1) + good.slice(at + 1));
    expect(bad.length).toBeGreaterThan(2000);
    for (const vkey of bad) expect(errorOf(() => parseVerifierKey(vkey, nodeSuite)).code, vkey).toBe('usage');
  });

  const goodKey = () => published.open[0]!.vkeys[0]!;
});

describe('a verifier key', () => {
  const vkeyOf = (bytes: Uint8Array) => formatVerifierKey('log', bytes, nodeSuite);

  test.each([
    ['of small order', '01'.padEnd(64, '0')],
    ['with a second spelling', `ee${'ff'.repeat(30)}7f`],
    ['too short', 'ab'.repeat(31)],
    ['too long', 'ab'.repeat(33)],
  ])('%s is no key', (_, hex) => {
    expect(errorOf(() => vkeyOf(fromHex(hex)!)).code).toBe('usage');
  });

  test.each(['', 'a b', 'a+b', 'a\u00a0b', 'a\u2003b', 'a\u0085b', 'a\nb'])('cannot be named %j', (name) => {
    expect(errorOf(() => formatVerifierKey(name, ada.bytes, nodeSuite)).code).toBe('usage');
  });

  test('has one spelling', () => {
    const [name, hash, key] = LOG_KEY.split('+') as [string, string, string];
    const base64 = LOG_KEY.slice(name.length + hash.length + 2);
    expect(key.length).toBeGreaterThan(0);
    for (const vkey of [
      `${name}+${hash.toUpperCase()}+${base64}`,
      `${LOG_KEY}\n`,
      ` ${LOG_KEY}`,
      `${name}+${hash}+${base64}=`,
      `${name}+0${hash}+${base64}`,
    ])
      expect(errorOf(() => parseVerifierKey(vkey, nodeSuite)).code, vkey).toBe('usage');
  });

  test('of a log and of a witness are two keys', () => {
    const log = parseVerifierKey(formatVerifierKey('a', ada.bytes, nodeSuite), nodeSuite);
    const witness = parseVerifierKey(formatVerifierKey('a', ada.bytes, nodeSuite, 'cosignature'), nodeSuite);
    expect([log.type, witness.type]).toEqual(['ed25519', 'cosignature']);
    expect(log.hash).not.toBe(witness.hash);
  });
});

describe('a note', () => {
  const line = `\u2014 log ${toBase64(new Uint8Array(68))}\n`;

  test('ends its text at the last blank line', () => {
    expect(parseNote(utf8(`a\n\nb\n\n${line}`)).text).toBe('a\n\nb\n');
    expect(parseNote(utf8(`\n\n${line}`)).text).toBe('\n');
  });

  test('may have 100 signatures', () => {
    expect(parseNote(utf8(`a\n\n${line.repeat(100)}`)).signatures).toHaveLength(100);
    expect(codeOfNote(`a\n\n${line.repeat(101)}`)).toBe('ledger_inconsistent');
  });

  test.each([
    ['nothing', ''],
    ['no text', `\n${line}`],
    ['a carriage return', `a\r\n\n${line}`],
    ['a tab', `a\tb\n\n${line}`],
    ['NUL', `a\0b\n\n${line}`],
    ['a byte order mark', `\ufeffa\n\n${line}`],
    ['a hyphen for the dash', `a\n\n${line.replace('\u2014', '-')}`],
    ['two spaces', `a\n\n${line.replace(' log', '  log')}`],
    ['a space at the end', `a\n\n${line.replace('\n', ' \n')}`],
    ['a name with a plus', `a\n\n${line.replace('log', 'l+g')}`],
    ['a name with a hidden space', `a\n\n${line.replace('log', 'l\u2003g')}`],
    ['unused bits that are set', `a\n\n${line.replace('A=', 'B=')}`],
    ['no padding', `a\n\n${line.replace('=', '')}`],
    ['a hash without a signature', `a\n\n\u2014 log AAAAAA==\n`],
    ['a megabyte', `${'a'.repeat(1_000_000)}\n\n${line}`],
  ])('is refused with %s', (_, text) => {
    expect(codeOfNote(text)).toBe('ledger_inconsistent');
  });

  test('is not written when it could not be read', () => {
    const signatures = [logSignature()];
    for (const note of [
      { text: TEXT, signatures: [] },
      { text: 'no line end', signatures },
      { text: '', signatures },
      { text: 'a\tb\n', signatures },
      { text: TEXT, signatures: [{ ...signatures[0]!, name: 'a b' }] },
    ])
      expect(errorOf(() => formatNote(note)).code, JSON.stringify(note.text)).toBe('ledger_inconsistent');
  });

  test('of a key that signed twice the first signature counts', async () => {
    const verifiers = [parseVerifierKey(LOG_KEY, nodeSuite)];
    const wrong = { ...logSignature(), bytes: new Uint8Array(64) };
    const open = (...signatures: NoteSignature[]) =>
      resultOf(async () => await openNote({ text: TEXT, signatures }, verifiers, nodeSuite));
    expect(await open(logSignature(), wrong)).toBe('valid');
    expect(await open(wrong, logSignature())).toBe('ledger_inconsistent');
  });

  test('two keys of one name and hash are an error where one of them signed, and only there', async () => {
    const log = parseVerifierKey(LOG_KEY, nodeSuite);
    const twin = { ...log, publicKey: ben.bytes };
    const other = parseVerifierKey(formatVerifierKey('other', ben.bytes, nodeSuite), nodeSuite);
    const note = { text: TEXT, signatures: [logSignature()] };
    expect(await resultOf(async () => await openNote(note, [log, twin], nodeSuite))).toBe('ledger_inconsistent');
    expect(await resultOf(async () => await openNote(note, [other, log, other], nodeSuite))).toBe('valid');
  });

  test('every single-bit change is refused', async () => {
    const bytes = formatNote({ text: TEXT, signatures: [logSignature()] });
    const verifiers = [parseVerifierKey(LOG_KEY, nodeSuite)];
    const accepted: number[] = [];
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const changed = bytes.slice();
      changed[bit >> 3]! ^= 1 << (bit & 7);
      const result = await resultOf(async () => await openNote(parseNote(changed), verifiers, nodeSuite));
      if (result !== 'ledger_inconsistent') accepted.push(bit);
    }
    expect(accepted).toEqual([]);
  });
});

describe.each(Object.entries(SUITES))('a witness, with %s', (_, suite) => {
  const open = (note: Note, ...vkeys: string[]) =>
    openNote(
      note,
      vkeys.map((vkey) => parseVerifierKey(vkey, suite)),
      suite,
    );
  const note = (...signatures: NoteSignature[]): Note =>
    parseNote(formatNote({ text: TEXT, signatures: [logSignature(), ...signatures] }));

  test('signs the text and its time', async () => {
    const { verified, unverified } = await open(note(cosignature(1_679_315_147)), LOG_KEY, WITNESS_KEY);
    expect(verified.map(({ verifier, time }) => [verifier.name, time])).toEqual([
      [LOG, undefined],
      ['witness.example/w1', 1_679_315_147],
    ]);
    expect(unverified).toEqual([]);
  });

  test('who is not known is ignored', async () => {
    const wrong = { ...cosignature(5), bytes: new Uint8Array(3) };
    expect((await open(note(wrong), LOG_KEY)).unverified).toHaveLength(1);
  });

  test.each<[string, (bytes: Uint8Array) => Uint8Array]>([
    ['another time', (bytes) => bytes.map((byte, i) => (i === 7 ? byte ^ 1 : byte))],
    ['a time beyond 2^53', (bytes) => bytes.map((byte, i) => (i === 0 ? 0x7f : byte))],
    ['no time', (bytes) => bytes.slice(8)],
    ['a byte too many', (bytes) => Uint8Array.of(...bytes, 0)],
    ['the signature of a log', () => signedBy(ben.privateKey, noteMessage(TEXT))],
    ['a time that a number cannot hold', () => cosignature(2n ** 60n).bytes],
    ['half a time', (bytes) => bytes.slice(0, 4)],
    ['nothing but a time', (bytes) => bytes.slice(0, 8)],
  ])('with %s is refused', async (_, change) => {
    const { bytes, ...label } = cosignature(1_679_315_147);
    const changed = note({ ...label, bytes: change(bytes) });
    expect(await resultOf(async () => await open(changed, LOG_KEY, WITNESS_KEY))).toBe('ledger_inconsistent');
  });

  test('cannot pass for the log, nor the log for a witness', async () => {
    const asLog = { ...cosignature(5), name: LOG };
    const alone = parseNote(formatNote({ text: TEXT, signatures: [asLog] }));
    expect(await resultOf(async () => await open(alone, LOG_KEY))).toBe('ledger_inconsistent');
    const asWitness = formatVerifierKey(LOG, ada.bytes, suite, 'cosignature');
    expect(await resultOf(async () => await open(note(), asWitness))).toBe('ledger_inconsistent');
  });
});

function logSignature(): NoteSignature {
  return noteSignature(LOG, ada.bytes, signedBy(ada.privateKey, noteMessage(TEXT)), nodeSuite);
}

function cosignature(time: number | bigint): NoteSignature {
  const bytes = Buffer.alloc(72);
  bytes.writeBigUInt64BE(BigInt(time));
  bytes.set(signedBy(ben.privateKey, cosignatureMessage(TEXT, Number(time))), 8);
  return noteSignature('witness.example/w1', ben.bytes, new Uint8Array(bytes), nodeSuite, 'cosignature');
}

function signedBy(key: KeyObject, message: Uint8Array): Uint8Array {
  return new Uint8Array(sign(null, message, key));
}

function labelOf({ name, hash }: { name: string; hash: string }): string {
  return `${name}+${hash}`;
}

function codeOfNote(text: string): string {
  return errorOf(() => parseNote(utf8(text))).code;
}
