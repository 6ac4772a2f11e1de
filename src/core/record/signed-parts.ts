import { decodeBase64, fromBase64, utf8 } from '../bytes/bytes.ts';
import { HandoffError } from '../error.ts';
import { isIdentityName } from '../names.ts';

// Where the signature stands in a file, and which bytes it signs. Nothing here looks at what the file says.

/** One line of a document's `signatures`. */
export interface Signature {
  identity: string;
  fingerprint: string;
  bytes: Uint8Array;
}

/** What is signed, and by whom. */
export interface SignedFile {
  /** Where the front matter that is signed ends. */
  cut: number;
  signedBytes: Uint8Array;
  signature: Uint8Array | null;
  signatures: Signature[];
}

const NONE: Signature[] = [];

export function recordParts(parts: SignedParts | null, front: string): SignedFile {
  if (!parts) throw noSignature('a last line "signature: <88 characters of base64>"');
  return { cut: front.length - LINE, ...parts, signatures: NONE };
}

/** The signed bytes and the signature of a record. */
export interface SignedParts {
  signedBytes: Uint8Array;
  signature: Uint8Array;
}

const LF = 0x0a;
const DASH = 0x2d;
const LABEL = utf8('\nsignature: ');
const LINE = 100;

/**
 * SPEC §4.1: the signature is the last line of the front matter, on one line of 100 characters. Looks at bytes alone, so
 * that they can be verified before they are parsed. Null when there is no such line.
 */
export function cutSignature(bytes: Uint8Array): SignedParts | null {
  const end = isMarkdown(bytes) ? closingOffset(bytes) : bytes.length;
  const start = end - LINE;
  if (start < 1 || !hasLabel(bytes, start - 1) || bytes[end - 1] !== LF) return null;
  const signature = decodeBase64(bytes.subarray(start + 11, end - 1));
  return signature && { signedBytes: cutBytes(bytes, end, LINE), signature };
}

function hasLabel(bytes: Uint8Array, at: number): boolean {
  for (let i = 0; i < LABEL.length; i++) if (bytes[at + i] !== LABEL[i]) return false;
  return true;
}

function isMarkdown(bytes: Uint8Array): boolean {
  return bytes[0] === DASH && bytes[1] === DASH && bytes[2] === DASH && bytes[3] === LF;
}

const SIGNER = /^ {2}- ([a-z0-9._-]{1,64}) (SHA256:[A-Za-z0-9+/]{43}) ([A-Za-z0-9+/]{86}==)$/;

/** SPEC §4.4: a document ends in `signatures:`; what stands before that line is signed. */
export function documentParts(bytes: Uint8Array, front: string): SignedFile {
  const at = front.indexOf('\nsignatures:\n');
  const lines = at < 0 ? [] : front.slice(at + 13).split('\n');
  if (lines.pop() !== '' || lines.length === 0) throw noSignature('"signatures:" and its lines at the end');
  const signatures = lines.map(parseSigner);
  assertDistinct(signatures);
  const cut = at + 1; // signature lines are ASCII, so characters are bytes
  return { cut, signedBytes: bytes.subarray(0, bytes.length - (front.length - cut)), signature: null, signatures };
}

/** A key signs once: a thousand copies of one good line would be a thousand checks. */
function assertDistinct(signatures: readonly Signature[]): void {
  const keys = new Set(signatures.map(({ identity, fingerprint }) => `${identity} ${fingerprint}`));
  if (keys.size < signatures.length) throw noSignature('each identity and key once among the signatures');
  if (keys.size > MAX_SIGNATURES) throw noSignature(`at most ${MAX_SIGNATURES} signatures`);
}

const MAX_SIGNATURES = 255;

function parseSigner(line: string): Signature {
  const match = SIGNER.exec(line);
  const bytes = match && isIdentityName(match[1]!) ? fromBase64(match[3]!) : null;
  if (!match || !bytes) throw noSignature('lines of "  - <identity> <fingerprint> <base64>"');
  return { identity: match[1]!, fingerprint: match[2]!, bytes };
}

/** The signed bytes, cut from the file itself: nothing is ever written again in order to verify it. */
function cutBytes(bytes: Uint8Array, end: number, cut: number): Uint8Array {
  if (end === bytes.length) return bytes.subarray(0, end - cut);
  const signed = new Uint8Array(bytes.length - cut);
  signed.set(bytes.subarray(0, end - cut));
  signed.set(bytes.subarray(end), end - cut);
  return signed;
}

/** The byte offset of the line that closes front matter; 0 when there is none. */
export function closingOffset(bytes: Uint8Array): number {
  for (let i = bytes.indexOf(LF, 3); i >= 0; i = bytes.indexOf(LF, i + 1)) {
    if (bytes[i + 1] === DASH && bytes[i + 2] === DASH && bytes[i + 3] === DASH && bytes[i + 4] === LF) return i + 1;
  }
  return 0;
}

function noSignature(expected: string): HandoffError {
  return new HandoffError('signature_invalid', `The file is not signed as its kind must be: expected ${expected}.`, {
    hint: 'Unsigned or cut-off files are never records; restore the file from git.',
    data: { expected, found: 'no such line' },
  });
}
