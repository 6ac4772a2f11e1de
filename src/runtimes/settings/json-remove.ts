import type { Node } from 'jsonc-parser';
import { withoutComments } from './json-add.ts';
import { endOf } from './json-document.ts';

/** Takes out a member of an object or list, and what was made only to hold it. Null: the file was made for it. */
export function removeValue(text: string, value: Node): string | null {
  const item = value.parent?.type === 'property' ? value.parent : value;
  const container = item.parent;
  if (!container) return removeRoot(text, item);
  const siblings = container.children ?? [];
  if (siblings.length === 1 && isMade(text, container, item)) return removeValue(text, container);
  const at = siblings.indexOf(item);
  const previous = siblings[at - 1];
  const next = siblings[at + 1];
  return cut(text, item, previous, next ? next.offset : endOf(container) - 1);
}

/** What is made begins with white space, where an empty one that was there begins with ours. */
function isMade(text: string, container: Node, first: Node): boolean {
  return first.offset > container.offset + 1 && /^\s+$/.test(text.slice(container.offset + 1, first.offset));
}

function removeRoot(text: string, root: Node): string | null {
  const before = text.slice(0, root.offset);
  const after = text.slice(endOf(root));
  return before === '' && /^\r?\n$/.test(after) ? null : before + after;
}

/** With the comma behind it, or where it is the last, the one before it. */
function cut(text: string, item: Node, previous: Node | undefined, end: number): string {
  const before = previous ? text.slice(0, item.offset).trimEnd() : text.slice(0, item.offset);
  const behind = text.slice(endOf(item), end);
  const comma = withoutComments(behind).indexOf(',');
  if (comma >= 0)
    return before + behind.slice(0, comma) + afterComma(behind.slice(comma + 1), before) + text.slice(end);
  const rest = text.slice(endOf(item));
  return previous ? withoutComma(before, endOf(previous)) + rest : before + rest;
}

/** The first member leaves the white space before it to the next one. */
function afterComma(behind: string, before: string): string {
  return /\s$/.test(before) ? behind.trimStart() : behind;
}

function withoutComma(text: string, from: number): string {
  const at = from + withoutComments(text.slice(from)).indexOf(',');
  return text.slice(0, at) + text.slice(at + 1);
}
