import { assertVisible, lineAt } from '../text/text.ts';
import { excerpt, parseScalar, type Shape, yamlError } from './yaml-scalar.ts';

export type { Shape } from './yaml-scalar.ts';
export type YamlValue = string | number | boolean | null | YamlValue[] | YamlMap;
export interface YamlMap {
  [key: string]: YamlValue | undefined;
}

export const MAX_DEPTH = 8;
export const MAX_KEYS = 256;
/** `null`, `true` and `false` are not strings to YAML; the others reach into JavaScript's prototypes. */
export const KEY = /^(?!(?:constructor|prototype|null|true|false)$)[a-z][a-z0-9_]{0,63}$/;

const ENTRY = /^[a-z][a-z0-9_]*:(?: |$)/;
const LAYOUT = 'Indent by two spaces per level, and sequences under their key; no comments, blank lines or markers.';
const EMPTY = 'Write null, [] or {}, indent what belongs beneath it by two spaces, or leave the key out.';
const DASH = 45;
const SPACE = 32;

/** The line being read: `at` moves along it, `end` is its LF. An indent of -1 is the end of the document. */
interface Cursor {
  readonly text: string;
  readonly limit: number;
  at: number;
  end: number;
  indent: number;
  line: number;
  keys: number;
}

/**
 * Reads the subset that `writeYaml` emits, and refuses the rest. Maps inherit nothing. `limit` is where the document ends
 * when something follows it in the text: cutting the text first would cost a copy of every part of it.
 */
export function readYaml(text: string, shape?: Shape, limit = text.length): YamlMap {
  assertLayoutBytes(text);
  if (text === '{}\n') return new BareMap();
  const cursor: Cursor = { text, limit, at: 0, end: -1, indent: 0, line: 0, keys: 0 };
  nextLine(cursor);
  if (cursor.indent !== 0) throw unexpected(cursor, 'a key in the first column');
  return readMap(cursor, 0, shape, 1);
}

/** A tab is a layout fault and gets the layout's error; hidden characters get that of the bytes. */
function assertLayoutBytes(text: string): void {
  const tab = text.indexOf('\t');
  if (tab >= 0) throw yamlError(lineAt(text, tab), 'spaces', 'a tab', LAYOUT);
  assertVisible(text);
}

function readMap(cursor: Cursor, indent: number, shape: Shape | undefined, depth: number): YamlMap {
  const map: YamlMap = new BareMap();
  const order = shape?.order ?? NO_ORDER;
  let next = 0;
  do {
    while (next < order.length && !isKey(cursor, order[next]!)) next++;
    const key = next < order.length ? takeKey(cursor, order[next]!) : readKey(cursor);
    if (map[key] !== undefined)
      throw yamlError(cursor.line, 'each key once', `\`${key}\` again`, 'Keep one of the two.');
    map[key] = readValue(cursor, indent, shape?.keys?.[key] ?? shape?.rest, depth);
  } while (cursor.indent === indent);
  if (cursor.indent > indent) throw unexpected(cursor, `an indent of at most ${indent} spaces`);
  return map;
}

function readSequence(cursor: Cursor, indent: number, shape: Shape | undefined, depth: number): YamlValue[] {
  const items: YamlValue[] = [];
  do {
    if (!isItem(cursor)) throw unexpected(cursor, 'a sequence item (`- `)');
    cursor.at += 2;
    items.push(readItem(cursor, indent, shape?.items, depth));
  } while (cursor.indent === indent);
  if (cursor.indent > indent) throw unexpected(cursor, `an indent of at most ${indent} spaces`);
  return items;
}

const NO_ORDER: readonly string[] = [];
const COLON = 58;

/** Records have their keys in the order of the schema, so the next one is known before it is read. */
function isKey({ text, at }: Cursor, key: string): boolean {
  return text.charCodeAt(at + key.length) === COLON && text.startsWith(key, at);
}

function takeKey(cursor: Cursor, key: string): string {
  if (++cursor.keys > MAX_KEYS) throw unexpected(cursor, `at most ${MAX_KEYS} keys`);
  cursor.at += key.length + 1;
  return key;
}

/** A key that the schema does not expect here. */
function readKey(cursor: Cursor): string {
  const colon = cursor.text.indexOf(':', cursor.at);
  const key = colon < cursor.end ? cursor.text.slice(cursor.at, Math.max(colon, cursor.at)) : '';
  if (!KEY.test(key)) throw unexpected(cursor, 'a key (a-z, 0-9 and _, then a colon)');
  return takeKey(cursor, key);
}

/** After `key:`, a scalar on the line or a block beneath it. */
function readValue(cursor: Cursor, indent: number, shape: Shape | undefined, depth: number): YamlValue {
  const { text, at, end } = cursor;
  if (at < end) {
    if (text.charCodeAt(at) !== SPACE) throw unexpected(cursor, 'a space after the colon');
    return readScalar(cursor, text.slice(at + 1, end), shape);
  }
  nextLine(cursor);
  if (cursor.indent <= indent) throw yamlError(cursor.line - 1, 'a value, or a block beneath', 'nothing', EMPTY);
  if (cursor.indent !== indent + 2) throw unexpected(cursor, `a block indented by ${indent + 2} spaces`);
  assertDepth(cursor, depth + 1);
  const read = isItem(cursor) ? readSequence : readMap;
  return read(cursor, indent + 2, shape, depth + 1);
}

/** After `- `, a scalar, or a map whose first key stands on the dash's line. */
function readItem(cursor: Cursor, indent: number, shape: Shape | undefined, depth: number): YamlValue {
  const source = cursor.text.slice(cursor.at, cursor.end);
  if (source === '[]') throw unexpected(cursor, 'no sequence directly in a sequence');
  if (!ENTRY.test(source)) return readScalar(cursor, source, shape);
  assertDepth(cursor, depth + 1);
  cursor.indent = indent + 2;
  return readMap(cursor, indent + 2, shape, depth + 1);
}

function readScalar(cursor: Cursor, source: string, shape: Shape | undefined): YamlValue {
  const value = source === '[]' ? [] : source === '{}' ? new BareMap() : parseScalar(source, shape, cursor.line);
  nextLine(cursor);
  return value;
}

/**
 * An object that inherits nothing: its prototype is empty and has none of its own. `Object.create(null)` would make V8
 * keep the keys in a hash table, which is slower to fill, to validate and to read.
 */
class BareMap {
  [key: string]: YamlValue | undefined;
}
Object.setPrototypeOf(BareMap.prototype, null);
Reflect.deleteProperty(BareMap.prototype, 'constructor');
Object.freeze(BareMap.prototype);

function nextLine(cursor: Cursor): void {
  const { text } = cursor;
  const start = cursor.end + 1;
  cursor.line++;
  let at = start;
  while (text.charCodeAt(at) === SPACE) at++;
  cursor.at = at;
  cursor.end = text.indexOf('\n', at);
  cursor.indent = start === cursor.limit ? -1 : at - start;
  if (cursor.indent >= 0) assertLine(cursor);
}

function assertLine(cursor: Cursor): void {
  const { text, limit, at, end, line } = cursor;
  if (end < 0 || end >= limit)
    throw yamlError(line, 'LF at the end of the last line', 'the end of the text', 'End the file with LF.');
  if (at === end) throw yamlError(line, 'a key or an item', 'a blank line', LAYOUT);
  if (text.charCodeAt(end - 1) === SPACE) throw yamlError(line, 'the end of the line', 'a trailing space', LAYOUT);
}

function isItem({ text, at }: Cursor): boolean {
  return text.charCodeAt(at) === DASH && text.charCodeAt(at + 1) === SPACE;
}

function assertDepth(cursor: Cursor, depth: number): void {
  if (depth > MAX_DEPTH) throw unexpected(cursor, `at most ${MAX_DEPTH} levels`);
}

function unexpected({ text, at, end, indent, line }: Cursor, expected: string) {
  if (indent < 0) return yamlError(line, expected, 'the end of the text', LAYOUT);
  return yamlError(line, expected, excerpt(text.slice(at, end)), LAYOUT);
}
