import { HandoffError } from '../error.ts';

/**
 * The inside of a character class: what a reader of front matter cannot see, or sees in another order.
 * Spelled out, because Unicode property classes change with the engine and two verifiers must agree. LF is not in it.
 */
export const HIDDEN =
  '\\0-\\x09\\x0b-\\x1f\\x7f-\\x9f' + // C0 but LF, DEL, C1
  '\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069' + // bidi controls
  '\\u2028\\u2029' + // line and paragraph separators
  '\\xad\\u034f\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b-\\u200d\\u2060-\\u2065\\u206a-\\u206f' + // invisible
  '\\u3164\\ufeff\\uffa0\\ufff0-\\ufffb\\u{1bca0}-\\u{1bca3}\\u{1d173}-\\u{1d17a}' +
  '\\ufe00-\\ufe0f' + // variation selectors
  '\\u{e0000}-\\u{e0fff}' + // tags, more selectors, and what Unicode keeps for more of the same
  '\\ufdd0-\\ufdef\\p{Noncharacter_Code_Point}' + // the property is fixed for ever by Unicode's stability policy
  '\\ud800-\\udfff'; // with the u flag: only lone surrogates

/** Most text is printable ASCII, and this answers for it in a fifth of the time. */
const UNPRINTABLE = /[^\n -~]/;
const hidden = patternOf(`[${HIDDEN}]`);

const NAMES: Record<number, string> = { 0: 'NUL', 9: 'a tab', 13: 'a carriage return', 27: 'ESC', 65279: 'a BOM' };
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Bytes to text: UTF-8 without BOM, NUL or CR, so that what is signed has exactly one reading. */
export function decodeText(bytes: Uint8Array): string {
  const text = decodeUtf8(bytes);
  if (text.charCodeAt(0) === 0xfeff) throw refuse(text, 0, 'text without a byte order mark', 'Save it without a BOM.');
  const nul = text.indexOf('\0');
  if (nul >= 0) throw refuse(text, nul, 'text', 'Remove the NUL character.');
  const cr = text.indexOf('\r');
  if (cr >= 0) throw refuse(text, cr, 'lines that end in LF', 'Save it with LF line endings; check core.autocrlf.');
  return text;
}

/** What a mailer or an editor may have done to a file is undone: a BOM, CRLF, no LF at its end. */
export function mendEnds(bytes: Uint8Array): Uint8Array {
  const text = new TextDecoder().decode(bytes).replaceAll('\r\n', '\n');
  return new TextEncoder().encode(text.endsWith('\n') ? text : `${text}\n`);
}

/** Refuses front matter that does not say what it shows (Trojan Source, smuggled tag characters, terminal escapes). */
export function assertVisible(text: string): void {
  if (isVisible(text)) return;
  const at = text.search(hidden());
  throw refuse(text, at, 'visible characters', 'Remove it, or escape it in a double-quoted scalar.');
}

export function isVisible(text: string): boolean {
  return !UNPRINTABLE.test(text) || text.search(hidden()) < 0;
}

/** For display: hidden characters become visible escapes. LF and tab stay. */
export function escapeInvisible(text: string): string {
  return replaceHidden(text, (char) => (char === '\t' ? char : `\\u{${char.codePointAt(0)!.toString(16)}}`));
}

export function replaceHidden(text: string, replacement: (char: string) => string): string {
  return UNPRINTABLE.test(text) ? text.replace(hidden(), replacement) : text;
}

/** Made when it is first used: with all of `HIDDEN` in it that takes as long as to verify several signatures. */
export function patternOf(source: string): () => RegExp {
  let pattern: RegExp | undefined;
  return () => (pattern ??= new RegExp(source, 'gu'));
}

export function lineAt(text: string, index: number): number {
  let line = 1;
  for (let at = 0; at < index; at++) if (text.charCodeAt(at) === 10) line++;
  return line;
}

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch (cause) {
    if (!(cause instanceof TypeError)) throw cause;
    const { line, byte } = findFault(bytes);
    throw invalid(line, 'UTF-8', byte, 'Save the file as UTF-8.', cause);
  }
}

/** A lossy reading, encoded again, first differs from the bytes where the fault is. */
function findFault(bytes: Uint8Array): { line: number; byte: string } {
  const lossy = new TextEncoder().encode(new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes));
  let at = 0;
  let line = 1;
  for (; at < bytes.length && bytes[at] === lossy[at]; at++) if (bytes[at] === 10) line++;
  const byte = bytes[at];
  return { line, byte: byte === undefined ? 'a truncated character' : `byte 0x${byte.toString(16).padStart(2, '0')}` };
}

function refuse(text: string, at: number, expected: string, hint: string): HandoffError {
  const point = text.codePointAt(at)!;
  const code = `U+${point.toString(16).toUpperCase().padStart(4, '0')}`;
  const name = NAMES[point];
  return invalid(lineAt(text, at), expected, name ? `${name} (${code})` : code, hint);
}

function invalid(line: number, expected: string, found: string, hint: string, cause?: unknown): HandoffError {
  const data = { line, expected, found };
  return new HandoffError('bytes_invalid', `line ${line}: expected ${expected}, found ${found}`, { hint, data, cause });
}
