import { decodeName } from '../objects/name-text.ts';

/** A path as git prints it: as it is, or in double quotes with escapes as in C. */
export function unquotePath(bytes: Buffer): string {
  if (bytes[0] !== QUOTE) return decodeName(bytes);
  const parts: number[] = [];
  for (let at = 1; at < bytes.length - 1; at++) {
    if (bytes[at] !== BACKSLASH) {
      parts.push(bytes[at]!);
      continue;
    }
    const octal = /^[0-3][0-7]{2}/.exec(bytes.toString('latin1', at + 1, at + 4));
    parts.push(octal ? Number.parseInt(octal[0], 8) : ESCAPES[String.fromCharCode(bytes[at + 1]!)]!);
    at += octal ? 3 : 1;
  }
  return decodeName(Buffer.from(parts));
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const ESCAPES: Readonly<Record<string, number>> = {
  a: 7,
  b: 8,
  t: 9,
  n: 10,
  v: 11,
  f: 12,
  r: 13,
  '"': QUOTE,
  '\\': BACKSLASH,
};
