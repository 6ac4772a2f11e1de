import { concatBytes, equalBytes, fromBase64, toBase64, utf8 } from '../bytes/bytes.ts';
import type { Hashes } from '../bytes/hash.ts';
import { HandoffError } from '../error.ts';

// Source: openssh-portable PROTOCOL.sshsig. `reserved` is always empty here.

const MAGIC = utf8('SSHSIG');
const VERSION_1 = Uint8Array.of(0, 0, 0, 1);
const KEY_TYPE = utf8('ssh-ed25519');
const RESERVED = new Uint8Array(0);
const MAX_ARMOURED = 4096;
const MAX_PREFIXES = 64;

export interface Sshsig {
  publicKey: Uint8Array;
  namespace: string;
  hash: 'sha256' | 'sha512';
  signature: Uint8Array;
}

/** The bytes that an SSHSIG signature covers. */
export function sshsigMessage(namespace: string, sha512OfPayload: Uint8Array): Uint8Array {
  if (sha512OfPayload.length !== 64) throw lengthError('SHA-512', 64, sha512OfPayload);
  const prefix = messagePrefix(namespace);
  const message = slice(prefix.length + 64);
  message.set(prefix);
  message.set(sha512OfPayload, prefix.length);
  return message;
}

const SLAB = 16 * 1024;
let slab = new Uint8Array(SLAB);
let used = 0;

/** A part of a larger buffer: one allocation of memory for a hundred messages instead of one for each. */
function slice(length: number): Uint8Array {
  if (used + length > SLAB) {
    slab = new Uint8Array(SLAB);
    used = 0;
  }
  used += length;
  return slab.subarray(used - length, used);
}

export function armourSshsig(publicKey: Uint8Array, namespace: string, signature: Uint8Array): string {
  if (signature.length !== 64) throw lengthError('Ed25519 signature', 64, signature);
  const strings = [
    publicKeyBlob(publicKey),
    utf8(namespace),
    RESERVED,
    utf8('sha512'),
    joinStrings([KEY_TYPE, signature]),
  ];
  const lines = toBase64(concatBytes(MAGIC, VERSION_1, joinStrings(strings))).match(/.{1,70}/g)!;
  return `-----BEGIN SSH SIGNATURE-----\n${lines.join('\n')}\n-----END SSH SIGNATURE-----\n`;
}

export function parseSshsig(armoured: string): Sshsig {
  const bytes = unarmour(armoured);
  const header = concatBytes(MAGIC, VERSION_1);
  if (!equalBytes(bytes.subarray(0, header.length), header)) throw invalid('the header SSHSIG, version 1');
  const parts = splitStrings(bytes.subarray(header.length), 5);
  if (parts === null) throw invalid('five fields and nothing after them');
  const [keyBlob, namespace, reserved, hash, signatureBlob] = parts as FiveStrings;
  if (reserved.length !== 0) throw invalid('an empty reserved field');
  return {
    publicKey: ed25519Part(keyBlob, 32) ?? fail('an Ed25519 public key'),
    namespace: printable(namespace) ?? fail('a namespace of printable ASCII'),
    hash: hashName(printable(hash)) ?? fail('the hash sha256 or sha512'),
    signature: ed25519Part(signatureBlob, 64) ?? fail('an Ed25519 signature'),
  };
}

/** A line of a `.pub` file: `ssh-ed25519 AAAA… comment`. */
export function parsePublicKey(line: string): { key: Uint8Array; comment: string } {
  const [, base64 = '', comment = ''] = /^ssh-ed25519 ([A-Za-z0-9+/=]+)(?: (.*?))?(?:\r?\n)?$/s.exec(line) ?? [];
  const blob = isPlain(comment) ? fromBase64(base64) : null;
  const key = blob && ed25519Part(blob, 32);
  if (!key) throw new HandoffError('usage', 'expected a public key `ssh-ed25519 AAAA… comment`', keyHint(line));
  return { key, comment };
}

/** On one line, and visible. Most is ASCII, and the other pattern takes a while to make. */
function isPlain(text: string): boolean {
  return /^[ -~]*$/.test(text) || !/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u.test(text);
}

export function formatPublicKey(key: Uint8Array, comment = ''): string {
  const line = `ssh-ed25519 ${toBase64(publicKeyBlob(key))}${comment === '' ? '' : ` ${comment}`}`;
  if (parsePublicKey(line).comment !== comment) {
    throw new HandoffError('usage', 'expected the comment of a key on one line', { hint: 'Choose a plain comment.' });
  }
  return line;
}

/** As `ssh-keygen -l` prints it. */
export function fingerprint(key: Uint8Array, hashes: Pick<Hashes, 'sha256'>): string {
  return `SHA256:${toBase64(hashes.sha256(publicKeyBlob(key))).replace(/=+$/, '')}`;
}

export function publicKeyBlob(key: Uint8Array): Uint8Array {
  if (key.length !== 32) throw lengthError('Ed25519 public key', 32, key);
  return joinStrings([KEY_TYPE, key]);
}

type FiveStrings = [Uint8Array, Uint8Array, Uint8Array, Uint8Array, Uint8Array];

const prefixes = new Map<string, Uint8Array>();

function messagePrefix(namespace: string): Uint8Array {
  const kept = prefixes.get(namespace);
  if (kept) return kept;
  const fields = joinStrings([utf8(namespace), RESERVED, utf8('sha512')]);
  const prefix = concatBytes(MAGIC, fields, Uint8Array.of(0, 0, 0, 64));
  if (prefixes.size >= MAX_PREFIXES) prefixes.clear();
  prefixes.set(namespace, prefix);
  return prefix;
}

function unarmour(armoured: string): Uint8Array {
  if (armoured.length > MAX_ARMOURED) throw invalid(`at most ${MAX_ARMOURED} characters`);
  const lines = /^-----BEGIN SSH SIGNATURE-----\n((?:[A-Za-z0-9+/=]{1,76}\n)+)-----END SSH SIGNATURE-----\n?$/.exec(
    armoured,
  );
  if (lines === null) throw invalid('base64 lines between BEGIN and END SSH SIGNATURE');
  return fromBase64(lines[1]!.replaceAll('\n', '')) ?? fail('canonical base64');
}

/** SSH strings (RFC 4251 §5): a big-endian uint32 length, then the bytes. */
function joinStrings(strings: Uint8Array[]): Uint8Array {
  return concatBytes(...strings.flatMap((bytes) => [uint32(bytes.length), bytes]));
}

/** Exactly `count` SSH strings that fill `bytes`, or null. */
function splitStrings(bytes: Uint8Array, count: number): Uint8Array[] | null {
  const strings: Uint8Array[] = [];
  let at = 0;
  while (strings.length < count) {
    if (bytes.length - at < 4) return null;
    const length = new DataView(bytes.buffer, bytes.byteOffset + at).getUint32(0);
    at += 4;
    if (bytes.length - at < length) return null;
    strings.push(bytes.slice(at, at + length));
    at += length;
  }
  return at === bytes.length ? strings : null;
}

function ed25519Part(blob: Uint8Array, length: number): Uint8Array | null {
  const parts = splitStrings(blob, 2);
  return parts && equalBytes(parts[0]!, KEY_TYPE) && parts[1]!.length === length ? parts[1]! : null;
}

function uint32(value: number): Uint8Array {
  return Uint8Array.of(value >>> 24, value >>> 16, value >>> 8, value);
}

function printable(bytes: Uint8Array): string | null {
  const isPrintable = bytes.length > 0 && bytes.every((byte) => byte > 0x20 && byte < 0x7f);
  return isPrintable ? String.fromCharCode(...bytes) : null;
}

function hashName(name: string | null): Sshsig['hash'] | null {
  return name === 'sha512' || name === 'sha256' ? name : null;
}

// The line itself is not quoted: what was passed may be a private key.
function keyHint(line: string): { hint: string } {
  const type = /^(?:ssh|ecdsa|sk)-[a-z0-9@.-]{1,60}(?= )/.exec(line)?.[0] ?? '';
  if (line.includes('PRIVATE KEY')) return { hint: 'That is a private key. Pass the file that ends in .pub.' };
  if (type.includes('-cert-')) return { hint: 'Certificates are not supported. Pass the plain public key.' };
  if (type === '' || type === 'ssh-ed25519') return { hint: 'Pass the one line of a .pub file, unchanged.' };
  return { hint: `Keys of type ${type} are not supported. Make one with: ssh-keygen -t ed25519` };
}

function lengthError(what: string, expected: number, found: Uint8Array): HandoffError {
  return new HandoffError('usage', `expected ${expected} bytes of ${what}, got ${found.length}`);
}

function invalid(expected: string): HandoffError {
  return new HandoffError('signature_invalid', `not an SSH signature: expected ${expected}`);
}

function fail(expected: string): never {
  throw invalid(expected);
}
