import { replaceHidden } from '../core/text/text.ts';

/** One line, the same value, but with nothing in it that a terminal would obey or a reader could not see. */
export function toJson(value: unknown): string {
  return `${replaceHidden(JSON.stringify(value), escapeUnits)}\n`;
}

function escapeUnits(char: string): string {
  return Array.from({ length: char.length }, (_, i) => `\\u${char.charCodeAt(i).toString(16).padStart(4, '0')}`).join(
    '',
  );
}
