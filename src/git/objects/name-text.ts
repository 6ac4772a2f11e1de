/**
 * A name or a path, which is bytes to git, as text: two that differ never become one. Where it is no UTF-8, or has the sign for
 * that in it, every byte beyond ASCII is written as U+FFFD and two hexadecimal digits.
 */
export function decodeName(bytes: Buffer): string {
  const text = bytes.toString('utf8');
  return text.includes(MARK) ? bytes.toString('latin1').replace(/[\x80-\xff]/g, escaped) : text;
}

/** The beginnings that paths in a folder may have: if one name below is not UTF-8, the whole path is escaped. */
export function spellings(folder: Buffer): string[] {
  const escapedAlways = folder.toString('latin1').replace(/[\x80-\xff]/g, escaped);
  return [...new Set([decodeName(folder), escapedAlways])];
}

/** What git separates and ends by NUL, as `-z` makes it. */
export function decodeNames(output: Buffer): string[] {
  const text = output.toString('utf8');
  const parts = text.includes(MARK) ? split(output).map(decodeName) : text.split('\0');
  return parts.slice(0, -1);
}

const MARK = '\uFFFD';

function escaped(byte: string): string {
  return `${MARK}${byte.charCodeAt(0).toString(16)}`;
}

function split(output: Buffer): Buffer[] {
  return output
    .toString('latin1')
    .split('\0')
    .map((part) => Buffer.from(part, 'latin1'));
}
