import { concatBytes, fromBase64, fromHex, toBase64, toHex, utf8 } from '../bytes/bytes.ts';
import type { Hashes } from '../bytes/hash.ts';
import { HandoffError } from '../error.ts';
import type { Suite } from '../record/verify.ts';
import { decodeText, escapeInvisible } from '../text/text.ts';
import { isStrictKey } from '../trust/strict.ts';

// Source: C2SP signed-note and tlog-cosignature.

/** A log signs the text of a note; a witness signs it with the time at which it saw it. */
export type KeyType = 'ed25519' | 'cosignature';

export interface Verifier {
  name: string;
  /** A hash over name, type and key, in 8 hex digits. It tells keys apart and proves nothing. */
  hash: string;
  type: KeyType;
  publicKey: Uint8Array;
}

export interface NoteSignature {
  name: string;
  hash: string;
  /** What follows the hash of the key. */
  bytes: Uint8Array;
}

export interface Note {
  /** Ends in LF. */
  text: string;
  signatures: NoteSignature[];
}

export interface OpenedNote {
  verified: { verifier: Verifier; time?: number }[];
  /** Signatures by unknown keys: they prove nothing. */
  unverified: NoteSignature[];
}

const ALGORITHM: Record<KeyType, number> = { ed25519: 1, cosignature: 4 };
const MAX_NOTE_BYTES = 1_000_000;
export const MAX_SIGNATURES = 100;
const HASH_BYTES = 4;
const VKEY = /^([^+]+)\+([0-9a-f]{8})\+(.+)$/su;
const SIGNATURE_LINE = /^\u2014 ([^ ]+) ([A-Za-z0-9+/=]+)$/u;
const CONTROL = /[\0-\x09\x0b-\x1f]/;

export function parseVerifierKey(vkey: string, suite: Hashes, hint = KEY_OF_LEDGER): Verifier {
  const [, name = '', hash, base64 = ''] = VKEY.exec(vkey) ?? [];
  const bytes = fromBase64(base64);
  const type = bytes && typeOf(bytes[0]);
  if (!type || !isKeyName(name) || !isStrictKey(bytes.subarray(1))) throw badVerifierKey(vkey, 'a base64 key', hint);
  const publicKey = bytes.slice(1);
  if (hash !== keyHash(name, publicKey, suite, type))
    throw badVerifierKey(vkey, 'digits that fit the rest of it', hint);
  return { name, hash, type, publicKey };
}

const KEY_OF_LEDGER = 'Pass it unchanged, as `git handoff ledger key` prints it.';
const KEY_OF_WITNESS = 'Pass the key of a witness unchanged, as the witness publishes it.';

/** The same of a witness: the key of a log signs no cosignatures. */
export function parseWitnessKey(vkey: string, suite: Hashes): Verifier {
  const verifier = parseVerifierKey(vkey, suite, KEY_OF_WITNESS);
  if (verifier.type === 'cosignature') return verifier;
  throw new HandoffError('usage', `${escapeInvisible(verifier.name)} is the key of a log, and no witness.`, {
    hint: `${KEY_OF_WITNESS} It has the algorithm 0x04 of tlog-cosignature.`,
  });
}

export function formatVerifierKey(
  name: string,
  publicKey: Uint8Array,
  suite: Hashes,
  type: KeyType = 'ed25519',
): string {
  const key = toBase64(concatBytes(Uint8Array.of(ALGORITHM[type]), publicKey));
  const vkey = `${name}+${keyHash(name, publicKey, suite, type)}+${key}`;
  parseVerifierKey(vkey, suite);
  return vkey;
}

/** The text is everything up to the last blank line; nobody has checked yet who signed it. */
export function parseNote(bytes: Uint8Array): Note {
  const whole = decodeNote(bytes);
  const end = whole.lastIndexOf('\n\n') + 1;
  const lines = whole.slice(end + 1).split('\n');
  if (end === 0 || lines.pop() !== '' || lines.length === 0)
    throw malformed('text, a blank line and lines of signatures');
  if (lines.length > MAX_SIGNATURES) throw malformed(`at most ${MAX_SIGNATURES} signatures`);
  return { text: whole.slice(0, end), signatures: lines.map(parseSignature) };
}

/** Refuses what `parseNote` would not read. */
export function formatNote({ text, signatures }: Note): Uint8Array {
  const lines = signatures.map(
    ({ name, hash, bytes }) => `\u2014 ${name} ${toBase64(concatBytes(fromHex(hash)!, bytes))}\n`,
  );
  const bytes = utf8(`${text}\n${lines.join('')}`);
  if (parseNote(bytes).text !== text) throw malformed('text that ends in LF');
  return bytes;
}

export function noteSignature(
  name: string,
  publicKey: Uint8Array,
  bytes: Uint8Array,
  suite: Hashes,
  type: KeyType = 'ed25519',
): NoteSignature {
  return { name, hash: keyHash(name, publicKey, suite, type), bytes };
}

/** What the key of a log signs. */
export function noteMessage(text: string): Uint8Array {
  return utf8(text);
}

/** What a witness signs; the time is in seconds. */
export function cosignatureMessage(text: string, time: number): Uint8Array {
  return utf8(`cosignature/v1\ntime ${time}\n${text}`);
}

/** Checks the signatures of known keys: at least one, and none of them wrong. Of a key that signed twice the first counts. */
export async function openNote(note: Note, verifiers: readonly Verifier[], suite: Suite): Promise<OpenedNote> {
  const verified = new Map<string, OpenedNote['verified'][number]>();
  const unverified = new Map<string, NoteSignature>();
  for (const signature of note.signatures) {
    const label = labelOf(signature);
    const verifier = findVerifier(label, verifiers);
    if (!verifier) unverified.set(`${label} ${toHex(signature.bytes)}`, signature);
    else if (!verified.has(label)) verified.set(label, await verifySignature(note.text, signature, verifier, suite));
  }
  if (verified.size === 0) throw unsigned(note, verifiers);
  return { verified: [...verified.values()], unverified: [...unverified.values()] };
}

async function verifySignature(text: string, signature: NoteSignature, verifier: Verifier, suite: Suite) {
  const parts = verifier.type === 'ed25519' ? plainParts(text, signature) : timedParts(text, signature);
  const isVerified = parts && (await suite.verify(verifier.publicKey, parts.message, parts.bytes));
  if (!isVerified) throw wrongSignature(labelOf(signature));
  return { verifier, ...(parts.time === undefined ? {} : { time: parts.time }) };
}

interface SignatureParts {
  message: Uint8Array;
  bytes: Uint8Array;
  time?: number;
}

function plainParts(text: string, { bytes }: NoteSignature): SignatureParts {
  return { message: noteMessage(text), bytes };
}

/** A big-endian time of 8 bytes, then the signature. Null for a time that is none. */
function timedParts(text: string, { bytes }: NoteSignature): SignatureParts | null {
  if (bytes.length !== 8 + 64) return null;
  const time = Number(new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0));
  if (!Number.isSafeInteger(time)) return null;
  return { message: cosignatureMessage(text, time), bytes: bytes.slice(8), time };
}

function decodeNote(bytes: Uint8Array): string {
  if (bytes.length > MAX_NOTE_BYTES) throw malformed(`at most ${MAX_NOTE_BYTES} bytes`);
  const text = decodeOrRefuse(bytes);
  if (CONTROL.test(text)) throw malformed('no control characters but LF');
  return text;
}

function decodeOrRefuse(bytes: Uint8Array): string {
  try {
    return decodeText(bytes);
  } catch (error) {
    if (!(error instanceof HandoffError)) throw error;
    throw malformed('UTF-8 with LF line ends', error);
  }
}

function parseSignature(line: string): NoteSignature {
  const [, name = '', base64 = ''] = SIGNATURE_LINE.exec(line) ?? [];
  const bytes = fromBase64(base64);
  if (!bytes || bytes.length <= HASH_BYTES || !isKeyName(name))
    throw malformed('signatures as "\u2014 <name of the key> <base64>"');
  return { name, hash: toHex(bytes.subarray(0, HASH_BYTES)), bytes: bytes.slice(HASH_BYTES) };
}

function keyHash(name: string, publicKey: Uint8Array, suite: Hashes, type: KeyType): string {
  const input = concatBytes(utf8(`${name}\n`), Uint8Array.of(ALGORITHM[type]), publicKey);
  return toHex(suite.sha256(input).subarray(0, HASH_BYTES));
}

function typeOf(algorithm: number | undefined): KeyType | null {
  return algorithm === ALGORITHM.ed25519 ? 'ed25519' : algorithm === ALGORITHM.cosignature ? 'cosignature' : null;
}

/** What a signature names its key by. */
export function labelOf({ name, hash }: { name: string; hash: string }): string {
  return `${name}+${hash}`;
}

/** Two keys of one label are an error only where one of them is needed: then nobody can say which signed. */
function findVerifier(label: string, verifiers: readonly Verifier[]): Verifier | undefined {
  const [verifier, second] = verifiers.filter((candidate) => labelOf(candidate) === label);
  if (second === undefined) return verifier;
  throw inconsistent(`Expected one key ${escapeInvisible(label)}, got more than one.`, 'Pass each key once.');
}

function unsigned({ signatures }: Note, verifiers: readonly Verifier[]): HandoffError {
  const expected = verifiers.map(labelOf).join(' or ') || 'a known key';
  const found = [...new Set(signatures.map(labelOf))].join(', ');
  return inconsistent(
    escapeInvisible(`The note is not signed by a key that is trusted: expected ${expected}, found ${found}.`),
    'Compare the key with what `git handoff ledger key` prints in a clone you trust.',
    { expected, found },
  );
}

function wrongSignature(label: string): HandoffError {
  return inconsistent(
    `The signature of ${escapeInvisible(label)} does not fit the text of the note.`,
    'The note was changed after it was signed. Fetch it again, or restore it from git.',
  );
}

function malformed(expected: string, cause?: unknown): HandoffError {
  return inconsistent(
    `Not a signed note: expected ${expected}.`,
    'Restore the file from git; notes are written by git-handoff.',
    { expected },
    cause,
  );
}

function inconsistent(message: string, hint: string, data?: Record<string, unknown>, cause?: unknown): HandoffError {
  return new HandoffError('ledger_inconsistent', message, { hint, ...(data ? { data } : {}), cause });
}

function badVerifierKey(vkey: string, expected: string, hint: string): HandoffError {
  const shown = escapeInvisible(vkey.length > 40 ? `${vkey.slice(0, 40)}…` : vkey);
  const form = '"<name>+<8 hex digits>+<base64>"';
  return new HandoffError('usage', `expected a verifier key ${form}, with ${expected}, got "${shown}"`, { hint });
}

/** No white space and no plus. Most is ASCII, and the other pattern takes a while to make. */
function isKeyName(name: string): boolean {
  return /^[!-*,-~]+$/.test(name) || /^[^\p{White_Space}+]+$/u.test(name);
}
