const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const BAD = 0xff;
const PAD = '='.charCodeAt(0);

const HEX_OF_BYTE = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));
const NIBBLE_OF_CHAR = reverse('0123456789abcdef');
const SEXTET_OF_CHAR = reverse(ALPHABET);

const encoder = new TextEncoder();

export function utf8(text: string): Uint8Array {
  return encoder.encode(text);
}

export function toHex(bytes: Uint8Array): string {
  let text = '';
  for (let i = 0; i < bytes.length; i++) text += HEX_OF_BYTE[bytes[i]!];
  return text;
}

/** Lower case only, so that a value has one spelling. */
export function fromHex(text: string): Uint8Array | null {
  if (text.length % 2 !== 0) return null;
  const bytes = new Uint8Array(text.length / 2);
  for (let i = 0; i < bytes.length; i++) {
    const high = valueAt(NIBBLE_OF_CHAR, text, 2 * i);
    const low = valueAt(NIBBLE_OF_CHAR, text, 2 * i + 1);
    if ((high | low) === BAD) return null;
    bytes[i] = (high << 4) | low;
  }
  return bytes;
}

export function toBase64(bytes: Uint8Array): string {
  const whole = bytes.length - (bytes.length % 3);
  let text = '';
  for (let i = 0; i < whole; i += 3) {
    const bits = (bytes[i]! << 16) | (bytes[i + 1]! << 8) | bytes[i + 2]!;
    text += twoChars(bits >> 12) + twoChars(bits & 0xfff);
  }
  return text + lastGroup(bytes, whole);
}

/** RFC 4648 §4 with §3.5: padded, no white space, unused bits zero, so that a value has one spelling. */
export function fromBase64(text: string): Uint8Array | null {
  return decodeBase64(encoder.encode(text));
}

/** The same from characters as bytes: every signature passes here, and text of it would cost more than all the rest. */
export function decodeBase64(chars: Uint8Array): Uint8Array | null {
  const { length } = chars;
  if (length % 4 !== 0) return null;
  const padding = chars[length - 1] !== PAD ? 0 : chars[length - 2] === PAD ? 2 : 1;
  const bytes = new Uint8Array((length / 4) * 3 - padding);
  let bits = 0;
  for (let i = 0, at = 0; i < length - padding; i++) {
    const sextet = SEXTET_OF_CHAR[chars[i]!]!;
    if (sextet === BAD) return null;
    bits = ((bits & 0xff) << 6) | sextet;
    if ((i & 3) !== 0) bytes[at++] = bits >> ((3 - (i & 3)) * 2);
  }
  const unused = padding === 0 ? 0 : padding === 2 ? bits & 0x0f : bits & 0x03;
  return unused === 0 ? bytes : null;
}

export function concatBytes(...parts: Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

/** Not constant-time: for public values only. */
export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  if (a.buffer === b.buffer && a.byteOffset === b.byteOffset) return true;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

function reverse(alphabet: string): Uint8Array {
  const values = new Uint8Array(256).fill(BAD);
  for (let i = 0; i < alphabet.length; i++) values[alphabet.charCodeAt(i)] = i;
  return values;
}

function valueAt(values: Uint8Array, text: string, index: number): number {
  const code = text.charCodeAt(index);
  return code < 256 ? values[code]! : BAD;
}

function twoChars(bits: number): string {
  return ALPHABET[bits >> 6]! + ALPHABET[bits & 63]!;
}

function lastGroup(bytes: Uint8Array, at: number): string {
  if (at === bytes.length) return '';
  const bits = (bytes[at]! << 16) | ((bytes[at + 1] ?? 0) << 8);
  const rest = at + 1 === bytes.length ? '=' : ALPHABET[(bits >> 6) & 63]!;
  return `${twoChars(bits >> 12)}${rest}=`;
}
