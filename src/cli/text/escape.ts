import { escapeInvisible } from '../../core/text/text.ts';

/** The values that may have lines; everywhere else a line break would let a value pose as our own output. */
const MULTILINE: ReadonlySet<string> = new Set(['body', 'diff', 'draft', 'allowed_signers', 'script', 'yaml']);

/** Every text in a result, made harmless to a terminal. Formatters get nothing else, so none of them can forget it. */
export function escapeResult<T>(value: T, key = ''): T {
  if (typeof value === 'string') return (MULTILINE.has(key) ? escapeText(value) : escapeLine(value)) as T;
  if (Array.isArray(value)) return value.map((item) => escapeResult(item, key)) as T;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [escapeLine(name), escapeResult(item, name)]),
  ) as T;
}

export function escapeText(text: string): string {
  return escapeInvisible(text);
}

export function escapeLine(text: string): string {
  return escapeInvisible(text).replaceAll('\n', '\\n').replaceAll('\t', '\\t');
}
