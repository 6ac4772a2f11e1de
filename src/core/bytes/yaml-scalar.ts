import { HandoffError } from '../error.ts';
import { escapeInvisible } from '../text/text.ts';

/** What the schema says a value is. Plain data, derived from JSON Schema at build time. */
export interface Shape {
  type?: 'string' | 'integer' | 'boolean' | 'null' | 'any';
  nullable?: boolean;
  keys?: Record<string, Shape>;
  /** The names of `keys` in the order the writer puts them. */
  order?: readonly string[];
  /** The shape of all keys that `keys` does not name. */
  rest?: Shape;
  items?: Shape;
}

/** Where a plain scalar would begin something else, or end early: indicators, `: `, ` #`, spaces at the ends. */
export const NOT_PLAIN = /^[-?:,[\]{}#&*!|>'"%@` ]|: | #|[: ]$/;

/** What the core schema reads as something other than a string. */
export const NOT_STRING =
  /^(?:~|null|Null|NULL|true|True|TRUE|false|False|FALSE|0o[0-7]+|0x[0-9a-fA-F]+|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)|[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?)$/;

const INTEGER = /^(?:0|[1-9][0-9]{0,15})$/;
const CODE_POINT = /^\\(?:u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8})/;
const ESCAPES = new Map(
  Object.entries({ '"': '"', '\\': '\\', '/': '/', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }),
);
const QUOTE = 'Put the value in double quotes, on one line.';

/** The name of what a refused value begins with, for the error. */
const BEGINS: Record<string, string> = {
  '[': 'a flow sequence',
  ']': 'a flow sequence',
  '{': 'a flow map',
  '}': 'a flow map',
  '&': 'an anchor',
  '*': 'an alias',
  '!': 'a tag',
  '|': 'a block scalar',
  '>': 'a block scalar',
  "'": 'a single-quoted scalar',
  '#': 'a comment',
  '%': 'a directive',
  '?': 'a complex key',
  '-': 'a dash',
  ' ': 'a second space',
};

/** One scalar: double-quoted is always a string, plain is what the shape says, never what YAML guesses. */
export function parseScalar(source: string, shape: Shape | undefined, line: number) {
  if (source.charCodeAt(0) === 34) return parseQuoted(source, line);
  if (NOT_PLAIN.test(source)) throw notPlain(source, line);
  if (source === 'null' && shape?.nullable) return null;
  switch (shape?.type) {
    case 'string':
      return source;
    case 'integer':
      return isInteger(source) ? Number(source) : source;
    case 'boolean':
      return source === 'true' ? true : source === 'false' ? false : source;
    case 'null':
      return source === 'null' ? null : source;
    default:
      return resolveCore(source, line);
  }
}

export function yamlError(line: number, expected: string, found: string, hint: string): HandoffError {
  return lineError('yaml_invalid', { line, expected, found }, hint);
}

interface WrongLine extends Record<string, unknown> {
  line: number;
  expected: string;
  found: string;
}

function lineError(code: 'yaml_invalid' | 'schema_invalid', data: WrongLine, hint: string): HandoffError {
  return new HandoffError(code, `line ${data.line}: expected ${data.expected}, found ${data.found}`, { hint, data });
}

export function excerpt(text: string): string {
  return text === '' ? 'nothing' : `\`${escapeInvisible(text.length > 40 ? `${text.slice(0, 40)}…` : text)}\``;
}

function isInteger(source: string): boolean {
  return INTEGER.test(source) && Number(source) <= Number.MAX_SAFE_INTEGER;
}

/** Untyped: the few forms that every reader agrees on. The odd ones are refused, not guessed. */
function resolveCore(source: string, line: number): string | number | boolean | null {
  if (!NOT_STRING.test(source)) return source;
  if (source === 'null') return null;
  if (source === 'true') return true;
  if (source === 'false') return false;
  if (isInteger(source)) return Number(source);
  // M14: it is YAML, and its type is what is wrong
  const expected = 'a string, a whole number, true, false or null';
  throw lineError('schema_invalid', { line, expected, found: excerpt(source) }, QUOTE);
}

function parseQuoted(source: string, line: number): string {
  const last = source.length - 1;
  if (last === 0 || source.charCodeAt(last) !== 34) throw yamlError(line, 'a closing quote', excerpt(source), QUOTE);
  const body = source.slice(1, last);
  return body.indexOf('\\') < 0 ? assertRun(body, line) : parseEscapes(body, line);
}

/** A loop over the escapes: a `replace` with a callback takes 50 ms for 256 KiB of them. */
function parseEscapes(body: string, line: number): string {
  const runs: string[] = [];
  let from = 0;
  for (let at = body.indexOf('\\'); at >= 0; at = body.indexOf('\\', from)) {
    const letter = body.charAt(at + 1);
    const short = ESCAPES.get(letter);
    if (at > from) runs.push(assertRun(body.slice(from, at), line));
    runs.push(short ?? parseCodePoint(body, at, line));
    from = at + (short ? 2 : letter === 'u' ? 6 : 10);
  }
  runs.push(assertRun(body.slice(from), line));
  return runs.join('');
}

/** The text between two escapes. A bare quote would end the scalar for another reader. */
function assertRun(run: string, line: number): string {
  if (run.indexOf('"') < 0) return run;
  throw yamlError(line, 'one quoted scalar', 'a quote inside it', 'Write a quote inside quotes as \\".');
}

function parseCodePoint(body: string, at: number, line: number): string {
  const hex = CODE_POINT.exec(body.slice(at, at + 10))?.[0].slice(2);
  const point = hex === undefined ? Number.NaN : Number.parseInt(hex, 16);
  if (point <= 0x10ffff && (point < 0xd800 || point > 0xdfff)) return String.fromCodePoint(point);
  const hint = 'Use \\" \\\\ \\/ \\b \\f \\n \\r \\t, or \\uXXXX and \\UXXXXXXXX of a character.';
  throw yamlError(line, 'an escape of a character', excerpt(body.slice(at, at + 10)), hint);
}

function notPlain(source: string, line: number): HandoffError {
  const found = BEGINS[source.charAt(0)] ?? excerpt(source);
  return yamlError(line, 'a plain or double-quoted scalar', found, QUOTE);
}
