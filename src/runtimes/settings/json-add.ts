import type { Node } from 'jsonc-parser';
import { endOf, parseSettings, typedMember } from './json-document.ts';
import { indentAt, isSpread, type Layout, layoutOf, print } from './json-layout.ts';

/** A value, and the keys that lead to it. The last of them is a list that it is appended to, where `key` is not given. */
export interface Addition {
  path: readonly string[];
  key?: string;
  value: unknown;
}

/** Puts a value at the end of what the path leads to; what is missing of the path is made. */
export function addValue(text: string | null, { path, key, value }: Addition): string {
  const root = text === null ? null : parseSettings(text);
  const inList = key === undefined;
  const whole = key === undefined ? [value] : { [key]: value };
  if (root === null) return addRoot(text, nested(path, whole));
  let container = root;
  for (const [at, name] of path.entries()) {
    const isLast = at === path.length - 1;
    const next = typedMember(container, name, isLast && inList ? 'array' : 'object');
    if (next === null) return insert(text!, container, name, nested(path.slice(at + 1), whole));
    container = next;
  }
  return insert(text!, container, key ?? null, value);
}

function nested(path: readonly string[], value: unknown): unknown {
  return path.reduceRight((inner, name) => ({ [name]: inner }), value);
}

/** A new file ends in a line break. One that was there and empty does not, which is how it is known again. */
function addRoot(text: string | null, value: unknown): string {
  const layout = layoutOf(text ?? '');
  const json = print(value, layout, '');
  return text === null ? json + layout.lineEnd : text + json;
}

function insert(text: string, container: Node, key: string | null, value: unknown): string {
  const layout = layoutOf(text);
  const last = container.children?.at(-1);
  if (!last) return insertFirst(text, container, key, value, layout);
  const spread = isSpread(text, container);
  const indent = spread ? indentAt(text, last.offset) : null;
  const item = member(key, value, layout, indent);
  const before = indent === null ? ' ' : layout.lineEnd + indent;
  const tail = text.slice(endOf(last), endOf(container) - 1);
  const comma = commaIn(tail);
  const kept = tail.trimEnd();
  const rest = tail.slice(kept.length) + text.slice(endOf(container) - 1);
  const upTo = text.slice(0, endOf(last));
  return comma ? `${upTo}${kept}${before}${item},${rest}` : `${upTo},${kept}${before}${item}${rest}`;
}

/** Right behind the bracket: see `print`. */
function insertFirst(text: string, container: Node, key: string | null, value: unknown, layout: Layout): string {
  const indent = text.includes('\n') ? indentAt(text, container.offset) : null;
  const at = container.offset + 1;
  return text.slice(0, at) + member(key, value, layout, indent) + text.slice(at);
}

function member(key: string | null, value: unknown, layout: Layout, indent: string | null): string {
  const json = print(value, layout, indent);
  return key === null ? json : `${JSON.stringify(key)}: ${json}`;
}

/** A comma behind the last member, past comments: the user's style, which is kept. */
function commaIn(tail: string): boolean {
  return withoutComments(tail).includes(',');
}

export function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\/|\/\/[^\n]*/g, (comment) => comment.replace(/[^\n]/g, ' '));
}

/** Puts another value in the place of one. */
export function replaceValue(text: string, node: Node, value: unknown): string {
  const indent = text.slice(node.offset, endOf(node)).includes('\n') ? indentAt(text, node.offset) : null;
  return text.slice(0, node.offset) + print(value, layoutOf(text), indent) + text.slice(endOf(node));
}
