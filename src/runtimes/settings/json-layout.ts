import type { Node } from 'jsonc-parser';
import { endOf } from './json-document.ts';

/** How a file is laid out, so that what is added looks like the rest. */
export interface Layout {
  lineEnd: string;
  unit: string;
}

export function layoutOf(text: string): Layout {
  const lineEnd = /\r?\n/.exec(text)?.[0] ?? '\n';
  const unit = /[{[][ \t]*\r?\n([ \t]+)\S/.exec(text)?.[1] ?? '  ';
  return { lineEnd, unit };
}

/** Whether the members of an object or list stand on lines of their own. */
export function isSpread(text: string, container: Node): boolean {
  const [first] = container.children ?? [];
  const last = container.children?.at(-1);
  if (!first || !last) return false;
  return hasBreak(text.slice(container.offset, first.offset)) || hasBreak(text.slice(endOf(last), endOf(container)));
}

function hasBreak(text: string): boolean {
  return text.includes('\n');
}

/** The white space that the line begins with on which an offset is. */
export function indentAt(text: string, offset: number): string {
  const line = text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset);
  return /^[ \t]*/.exec(line.replace('\ufeff', ''))?.[0] ?? '';
}

/**
 * The text of a value. What it opens is always followed by white space: that tells an object that was made for ours from an
 * empty one that was there, into which ours is put without any.
 */
export function print(value: unknown, { lineEnd, unit }: Layout, indent: string | null): string {
  if (indent === null) return JSON.stringify(value, null, 1).replace(/\n\s*/g, ' ');
  return JSON.stringify(value, null, unit).replaceAll('\n', lineEnd + indent);
}
