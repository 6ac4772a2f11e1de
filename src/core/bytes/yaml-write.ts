import { HandoffError } from '../error.ts';
import { HIDDEN, patternOf } from '../text/text.ts';
import { KEY, MAX_DEPTH, MAX_KEYS, type YamlMap, type YamlValue } from './yaml.ts';
import { NOT_PLAIN, NOT_STRING } from './yaml-scalar.ts';

const PLAIN = /^[A-Za-z0-9_/.][\x20-\x7e]*$/;
const escaped = patternOf(`["\\\\\\n${HIDDEN}]`);
const SHORT: Record<string, string> = {
  '"': '\\"',
  '\\': '\\\\',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
};

/** Where in the value the writer is, and how many keys it has written: what it writes, `readYaml` must take. */
interface WritePosition {
  path: string;
  pad: string;
  depth: number;
  count: { keys: number };
}

/** The one layout of a value. Keys whose value is undefined are left out. */
export function writeYaml(value: YamlMap): string {
  const block = formatMap(value, { path: '', pad: '', depth: 1, count: { keys: 0 } });
  return block === '' ? '{}\n' : block;
}

function formatMap(map: YamlMap, place: WritePosition): string {
  let block = '';
  for (const [key, value] of Object.entries(map)) {
    if (value === undefined) continue;
    const path = place.path === '' ? key : `${place.path}.${key}`;
    if (!KEY.test(key)) throw unwritable(path, 'a key of a-z, 0-9 and _', JSON.stringify(key));
    assertRoom(place);
    if (++place.count.keys > MAX_KEYS) throw unwritable(path, `at most ${MAX_KEYS} keys`, 'more');
    block += `${place.pad}${key}:${formatValue(value, { ...place, path })}`;
  }
  return block;
}

/** What follows `key:`, with its line break. */
function formatValue(value: YamlValue, place: WritePosition): string {
  if (!isCollection(value)) return ` ${formatScalar(value, place.path)}\n`;
  const inner = { ...place, pad: `${place.pad}  `, depth: place.depth + 1 };
  const block = Array.isArray(value) ? formatSequence(value, inner) : formatMap(value, inner);
  if (block === '') return Array.isArray(value) ? ' []\n' : ' {}\n';
  return `\n${block}`;
}

function formatSequence(items: YamlValue[], place: WritePosition): string {
  return Array.from(items, (item, index) => formatItem(item, { ...place, path: `${place.path}[${index}]` })).join('');
}

function formatItem(item: YamlValue, place: WritePosition): string {
  assertRoom(place);
  if (Array.isArray(item)) throw unwritable(place.path, 'no sequence directly in a sequence', 'one');
  if (!isCollection(item)) return `${place.pad}- ${formatScalar(item, place.path)}\n`;
  const block = formatMap(item, { ...place, pad: `${place.pad}  `, depth: place.depth + 1 });
  // the map's first key takes the place of the indent after the dash
  return `${place.pad}- ${block === '' ? '{}\n' : block.slice(place.pad.length + 2)}`;
}

/** Empty collections take no level, as in the reader. A cycle ends here too. */
function assertRoom({ path, depth }: WritePosition): void {
  if (depth > MAX_DEPTH) throw unwritable(path, `at most ${MAX_DEPTH} levels`, 'more');
}

function isCollection(value: YamlValue): value is YamlValue[] | YamlMap {
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return true;
  const prototype = Object.getPrototypeOf(value);
  // A plain object, one without a prototype, or a map of `readYaml`, whose prototype is the end of the chain.
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function formatScalar(value: YamlValue, path: string): string {
  if (typeof value === 'string') return formatString(value, path);
  if (value === null || typeof value === 'boolean') return String(value);
  if (typeof value !== 'number') throw unwritable(path, 'text, a number, a map or a sequence', describe(value));
  if (Number.isSafeInteger(value) && value >= 0 && !Object.is(value, -0)) return String(value);
  throw unwritable(path, 'a whole number from 0 to 2^53-1', String(value));
}

function formatString(text: string, path: string): string {
  if (PLAIN.test(text) && !NOT_PLAIN.test(text) && !NOT_STRING.test(text)) return text;
  return `"${text.replace(escaped(), (char) => SHORT[char] ?? formatEscape(char.codePointAt(0)!, path))}"`;
}

function formatEscape(point: number, path: string): string {
  if (point >= 0xd800 && point <= 0xdfff) throw unwritable(path, 'Unicode text', 'a lone surrogate');
  const hex = point.toString(16).toUpperCase();
  return point > 0xffff ? `\\U${hex.padStart(8, '0')}` : `\\u${hex.padStart(4, '0')}`;
}

function describe(value: unknown): string {
  return typeof value === 'object' ? `a ${value?.constructor?.name ?? 'foreign object'}` : `a ${typeof value}`;
}

function unwritable(path: string, expected: string, found: string): HandoffError {
  const data = { path, expected, found };
  const hint = 'Correct the value before it is written.';
  return new HandoffError('schema_invalid', `cannot write ${path}: expected ${expected}, found ${found}`, {
    hint,
    data,
  });
}
