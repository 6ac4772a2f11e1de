import { BOM } from './json-document.ts';

/**
 * Puts lines at the end of a text. How they end says what was there, so that taking them out gives it back to the byte: a file
 * that did not end in a line break does not end in one now, and one that was not there begins with them.
 */
export function appendBlock(text: string | null, lines: readonly string[]): string {
  const end = lineEndOf(text ?? '');
  const block = lines.join(end);
  if (text === null) return block + end;
  if (text === '' || text === BOM) return text + block;
  return text.endsWith('\n') ? text + end + block + end : text + end + end + block;
}

/** Takes out what stands between two offsets, with the line breaks that came with it. Null: the file was made for it. */
export function removeBlock(text: string, from: number, to: number): string | null {
  const before = text.slice(0, from);
  const after = text.slice(to);
  if (before === '' && /^\r?\n$/.test(after)) return null;
  if (after === '') return before.replace(/(?:\r?\n){0,2}$/, '');
  return before.replace(/\r?\n$/, '') + after.replace(/^\r?\n/, '');
}

export function lineEndOf(text: string): string {
  return /\r?\n/.exec(text)?.[0] ?? '\n';
}
