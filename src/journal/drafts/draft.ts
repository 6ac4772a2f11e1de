import matter from 'gray-matter';
import { HandoffError } from '../../core/error.ts';
import { MAX_RECORD_BYTES } from '../../core/limits.ts';
import { assertSize } from '../../core/record/record.ts';
import { decodeText } from '../../core/text/text.ts';
import { type DraftFault, type DraftMap, type DraftValue, readDraftYaml } from './draft-yaml.ts';

/** What the author of a draft may say about it in front matter; flags of `wrap` say the same. */
export interface DraftFields {
  summary?: string;
  reason?: string;
  next_agent?: string;
  focus?: string[];
}

export interface Draft {
  fields: DraftFields;
  /** Byte for byte what stands below the front matter. */
  body: string;
}

/** A baton that somebody typed by hand. Its author is trusted to write text, not to run code. */
export function readDraft(bytes: Uint8Array): Draft {
  assertSize(bytes.length, MAX_RECORD_BYTES, 'draft');
  assertFirstLine(bytes);
  const text = decodeText(bytes);
  if (!text.startsWith('---')) return { fields: {}, body: text };
  const { front, body } = splitDraft(text);
  assertSize(Buffer.byteLength(front), MAX_DRAFT_FRONT_BYTES, "draft's front matter");
  return { fields: readFields(readFront(front)), body };
}

const OPEN = '---\n';
/** Room for all its fields at their longest. Both readers take quadratic time for some texts: seconds for 64 KiB. */
const MAX_DRAFT_FRONT_BYTES = 16 * 1024;

/**
 * gray-matter takes what follows `---` for the name of a language, and runs `---js`. So whatever it could see as an
 * opening line, also behind a byte order mark, is exactly `---` or goes no further.
 */
function assertFirstLine(bytes: Uint8Array): void {
  const start = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
  const first = Buffer.from(bytes.subarray(start, start + 64)).toString('latin1');
  if (!first.startsWith('---') || (start === 0 && /^---(?:\n|$)/.test(first))) return;
  const found = start > 0 ? 'a byte order mark before it' : JSON.stringify(first.split('\n', 1)[0]);
  throw invalid(1, 'a first line of exactly "---", or one that does not begin with it', found);
}

/** gray-matter ends front matter at any line that begins with `---`, and at the end of the file; here only `---` does. */
function splitDraft(text: string): { front: string; body: string } {
  const close = text.indexOf('\n---', OPEN.length - 1);
  if (close < 0) throw invalid(1, 'a line of exactly "---" that closes the front matter', 'no such line');
  const [line] = text.slice(close + 1, close + 64).split('\n', 1);
  if (line !== '---') {
    throw invalid(text.slice(0, close + 1).split('\n').length, 'a line of exactly "---"', JSON.stringify(line));
  }
  return { front: text.slice(0, close + 1), body: text.slice(close + 1 + OPEN.length) };
}

/** Options are always passed: without them gray-matter caches whole files, and evaluates. */
function readFront(front: string): DraftMap {
  return matter(`${front}---\n`, { language: 'yaml', engines: ENGINES }).data;
}

const ENGINES = {
  yaml: parseFront,
  ...Object.fromEntries(['json', 'javascript', 'js', 'coffee', 'cson', 'toml'].map((name) => [name, refuseLanguage])),
};

function parseFront(text: string): DraftMap {
  const value = readDraftYaml(text, unreadable);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw unreadable({ reason: 'Expected keys and values', line: undefined });
}

function refuseLanguage(): never {
  throw invalid(1, 'front matter in YAML', 'another language');
}

const KEYS = ['summary', 'reason', 'next_agent', 'focus'] as const;

function readFields(data: DraftMap): DraftFields {
  const fields: DraftFields = {};
  for (const [typed, value] of Object.entries(data)) {
    const name = typed.trim();
    const key = KEYS.find((each) => each === name || (each === 'next_agent' && name === 'next-agent'));
    if (!key) throw wrongField(`${JSON.stringify(name.slice(0, 64))} is no key of a draft.`);
    if (key in fields) throw wrongField(`${key} is given twice.`);
    if (typeof value === 'string' && value.trim() === '') continue; // `reason:` with nothing after it
    if (key === 'focus') fields.focus = readList(value);
    else fields[key] = readText(key, value);
  }
  return fields;
}

function readText(key: string, value: DraftValue): string {
  if (typeof value !== 'string') throw wrongField(`${key} must be text.`);
  return value.trim();
}

function readList(value: DraftValue): string[] {
  const items = typeof value === 'string' ? value.split(',') : Array.isArray(value) ? value : [null];
  return items.map((item) => readText('focus, or each item of it,', item)).filter((item) => item !== '');
}

function wrongField(message: string): HandoffError {
  return new HandoffError('schema_invalid', `The draft's front matter is not as expected: ${message}`, {
    hint: `Allowed are ${KEYS.join(', ')}; anything else belongs below the front matter.`,
    data: { allowed: [...KEYS] },
  });
}

function unreadable({ reason, line, syntax }: DraftFault): HandoffError {
  const place = line === undefined ? '' : `line ${line}: `;
  return new HandoffError('yaml_invalid', `${place}The draft's front matter cannot be read. ${reason}.`, {
    hint: 'Quote values that contain ": " or "#"; keep long text below the front matter.',
    data: line === undefined ? {} : { line },
    cause: syntax,
  });
}

function invalid(line: number, expected: string, found: string): HandoffError {
  return new HandoffError('yaml_invalid', `line ${line}: expected ${expected}, found ${found}`, {
    hint: 'Begin the draft with text, or with front matter between two lines of exactly "---".',
    data: { line, expected, found },
  });
}
