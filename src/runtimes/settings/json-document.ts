import { createScanner, type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser';
import { refusal } from './part.ts';

/** Nobody nests settings as deeply, and the parser calls itself for each level. */
const DEEPEST = 256;

/** Punctuation of JSON, by the numbers that the scanner gives it. */
const OPENING: ReadonlySet<number> = new Set([1, 3]);
const CLOSING: ReadonlySet<number> = new Set([2, 4]);
const END = 17;

export const BOM = '\ufeff';

/** JSON with comments and trailing commas; null where there is nothing but white space and comments. Offsets are those of the text. */
export function parseSettings(text: string): Node | null {
  const json = text.startsWith(BOM) ? ` ${text.slice(1)}` : text;
  if (json.trim() === '') return null;
  assertShallow(json);
  const errors: ParseError[] = [];
  const root = parseTree(json, errors, { allowTrailingComma: true });
  const [wrong] = errors;
  if (wrong) throw notJson(json, wrong);
  if (root?.type === 'object') return root;
  throw refusal(`has ${named(root)} where an object { … } is expected`, 'Mend it, or move it away, and try again.');
}

function assertShallow(json: string): void {
  const scanner = createScanner(json, true);
  let depth = 0;
  for (let token: number = scanner.scan(); token !== END; token = scanner.scan()) {
    if (OPENING.has(token)) depth += 1;
    if (CLOSING.has(token)) depth -= 1;
    if (depth > DEEPEST) throw refusal(`is nested more than ${DEEPEST} levels deep`, 'Mend it, and try again.');
  }
}

function notJson(json: string, { offset, error }: ParseError): Error {
  const before = json.slice(0, offset).split('\n');
  const place = `line ${before.length}, column ${(before.at(-1) ?? '').length + 1}`;
  return refusal(`is not JSON: ${printParseErrorCode(error)} at ${place}`, 'Mend it there, and try again.');
}

/** The value of a key; null where there is none. Twice would be two answers, and programs differ in which they take. */
export function memberOf(object: Node, key: string): Node | null {
  const found = (object.children ?? []).filter((property) => property.children?.[0]?.value === key);
  if (found.length > 1) throw refusal(`has the key ${JSON.stringify(key)} ${found.length} times`, 'Leave one of them.');
  return found[0]?.children?.[1] ?? null;
}

/** As `memberOf`, for a value that has to be of one type. */
export function typedMember(object: Node, key: string, type: 'object' | 'array'): Node | null {
  const value = memberOf(object, key);
  if (value === null || value.type === type) return value;
  const expected = type === 'object' ? 'an object { … }' : 'a list [ … ]';
  throw refusal(`has ${named(value)} under ${JSON.stringify(key)}, where ${expected} is expected`, 'Mend it there.');
}

export function textOf(node: Node | null): string | null {
  return typeof node?.value === 'string' ? node.value : null;
}

function named(node: Node | undefined): string {
  return node ? ({ object: 'an object', array: 'a list' }[node.type as 'object'] ?? `a ${node.type}`) : 'nothing';
}

export function endOf({ offset, length }: Node): number {
  return offset + length;
}
