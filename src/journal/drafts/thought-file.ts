import { HandoffError } from '../../core/error.ts';
import type { ThoughtRecord } from '../../core/generated/types.ts';
import { MAX_RECORD_BYTES } from '../../core/limits.ts';
import type { OwnFields } from '../../core/record/kinds.ts';
import { assertSize } from '../../core/record/record.ts';
import { decodeText } from '../../core/text/text.ts';
import { readDraftYaml } from './draft-yaml.ts';

export type Blocker = ThoughtRecord['blockers'][number];
export type Evidence = NonNullable<ThoughtRecord['evidence']>[number];

/**
 * What a thought may say about itself in a file: the fields of the record, and where the work began. Its tree and patch ids follow
 * from the commit, and are told from it anew; a draft that was kept has them.
 */
export type ThoughtFields = Partial<OwnFields<'thought'>> & { base?: string };

/** JSON or YAML that somebody wrote, or a draft that was kept. Its author is trusted to write text, not to run code. */
export function readThoughtFile(bytes: Uint8Array): ThoughtFields {
  assertSize(bytes.length, MAX_RECORD_BYTES, 'file');
  const value = readValue(decodeText(bytes));
  if (!isObject(value)) throw wrong('Expected keys and values.');
  const unknown = Object.keys(value).filter((key) => !isField(key));
  if (unknown.length > 0) throw wrong(`No key of a thought: ${unknown.map((key) => JSON.stringify(key)).join(', ')}.`);
  const entries = Object.entries(value).flatMap(([key, item]) =>
    isField(key) && item !== null && item !== '' ? [[key, READERS[key](key, item)]] : [],
  );
  return Object.fromEntries(entries);
}

type Value = string | number | boolean | null | Value[] | { [key: string]: Value };

const READERS: { [Key in keyof Required<ThoughtFields>]: (key: string, value: Value) => ThoughtFields[Key] } = {
  task_id: readText,
  branch: readText,
  commit_sha: readText,
  base: readText,
  tests_run: readTexts,
  evidence: (key, value) => readList(key, value).map((item) => readEvidence(key, item)),
  summary: readText,
  blockers: (key, value) => readList(key, value).map((item) => toBlocker(key, item)),
  files_changed: readTexts,
  related_thought_records: readTexts,
  tree: readText,
  patch_id: readText,
  commit_patch_ids: readTexts,
  no_code: readYesNo,
};

function isField(key: string): key is keyof ThoughtFields {
  return Object.hasOwn(READERS, key);
}

/** One blocker as the command line gives it. */
export function parseBlocker(text: string): Blocker {
  return toBlocker('--blocker', readValue(text));
}

function toBlocker(key: string, value: Value): Blocker {
  if (!isObject(value)) throw wrong(`${key}: expected an object such as {"type": "peer-dep"}, found ${shown(value)}.`);
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, readText(`${key}.${name}`, item)]));
}

function readEvidence(key: string, value: Value): Evidence {
  const { command, exit_code, duration_ms, tree, output_digest, ...rest } = isObject(value) ? value : {};
  const [unknown] = Object.keys(rest);
  if (unknown !== undefined) throw wrong(`${key}: no key of evidence: ${JSON.stringify(unknown)}.`);
  return {
    command: readTexts(`${key}.command`, command ?? null),
    exit_code: readNumber(`${key}.exit_code`, exit_code ?? null),
    duration_ms: readNumber(`${key}.duration_ms`, duration_ms ?? null),
    ...(tree === undefined ? {} : { tree: readText(`${key}.tree`, tree) }),
    output_digest: readText(`${key}.output_digest`, output_digest ?? null),
  };
}

function readText(key: string, value: Value): string {
  if (typeof value !== 'string') throw wrong(`${key}: expected text, found ${shown(value)}.`);
  return value;
}

function readTexts(key: string, value: Value): string[] {
  return readList(key, value).map((item) => readText(key, item));
}

function readList(key: string, value: Value): Value[] {
  if (!Array.isArray(value)) throw wrong(`${key}: expected a list, found ${shown(value)}.`);
  return value;
}

/** Scalars of YAML are text here. */
function readNumber(key: string, value: Value): number {
  const number = typeof value === 'string' && /^[0-9]{1,15}$/.test(value) ? Number(value) : value;
  if (typeof number !== 'number') throw wrong(`${key}: expected a number, found ${shown(value)}.`);
  return number;
}

/** In YAML words are text here. */
function readYesNo(key: string, value: Value): boolean {
  if (value === true || value === 'true') return true;
  if (value === false || value === 'false') return false;
  throw wrong(`${key}: expected true or false, found ${shown(value)}.`);
}

function readValue(text: string): Value {
  return /^\s*[{[]/.test(text) ? (readJson(text) ?? readYaml(text)) : readYaml(text);
}

function readJson(text: string): Value {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return null; // YAML may look like it
    throw error;
  }
}

function readYaml(text: string): Value {
  return readDraftYaml(text, ({ reason, line, syntax }) => {
    const place = line === undefined ? '' : ` (line ${line})`;
    return wrong(syntax ? `It is neither JSON nor YAML${place}: ${reason}.` : `${reason}.`);
  });
}

function isObject(value: Value): value is { [key: string]: Value } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function shown(value: Value): string {
  return JSON.stringify(value).slice(0, 80);
}

function wrong(message: string): HandoffError {
  return new HandoffError('usage', `The thought cannot be read. ${message}`, {
    hint: `Allowed are ${Object.keys(READERS).join(', ')}. Leave out what should be filled in.`,
    data: { allowed: Object.keys(READERS) },
  });
}
