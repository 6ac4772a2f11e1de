import { readYaml, type YamlMap } from '../bytes/yaml.ts';
import { HandoffError } from '../error.ts';
import { shapes, validators } from '../generated/validators.js';
import { MAX_FRONT_MATTER_BYTES, MAX_RECORD_BYTES, MAX_SEAL_BYTES } from '../limits.ts';
import { decodeText } from '../text/text.ts';
import {
  type DocumentKind,
  extensionOf,
  type FieldsOf,
  isDocumentKind,
  isKind,
  isRecordKind,
  type Kind,
  type RecordKind,
} from './kinds.ts';
import { describeSchemaError } from './schema-error.ts';
import {
  closingOffset,
  cutSignature,
  documentParts,
  recordParts,
  type Signature,
  type SignedParts,
} from './signed-parts.ts';

/**
 * A file that has the bytes and the schema of its kind. Nobody has checked yet who signed it. A union by kind: whoever has
 * looked at `kind` knows the type of `fields`.
 */
export type ParsedRecord<K extends Kind = Kind> = { [Each in Kind]: ParsedFile<Each> }[Kind] & { kind: K };

interface ParsedFile<K extends Kind> {
  kind: K;
  fields: FieldsOf<K>;
  /** The Markdown of `.md` kinds, exactly as written; null for `.yaml` kinds. */
  body: string | null;
  /** The file without its signature: what was signed and what the id is the digest of. */
  signedBytes: Uint8Array;
  /** A record has one signature, by the identity it names; a document names its signers. */
  signature: Uint8Array | null;
  signatures: Signature[];
}

/** Bytes → record, or a HandoffError that says which rule of SPEC §3 they break. */
export function parseRecord(bytes: Uint8Array): ParsedRecord {
  if (!(bytes instanceof Uint8Array)) throw notBytes();
  return parseCut(bytes, cutSignature(bytes));
}

/** For a caller that has cut these bytes already, in order to verify them first. */
export function parseCut(bytes: Uint8Array, parts: SignedParts | null): ParsedRecord {
  assertSize(bytes.length, MAX_RECORD_BYTES, 'record');
  const text = decodeText(bytes);
  const { front, body } = splitFrontMatter(text, bytes);
  const kind = readKind(front, body !== null);
  if (kind === 'seal') assertSize(bytes.length, MAX_SEAL_BYTES, 'seal');
  const { cut, signedBytes, signature, signatures } = isRecordKind(kind)
    ? recordParts(parts, front)
    : documentParts(bytes, front);
  const fields =
    body === null ? readYaml(front, shapes[kind], cut) : belowFirstLine(() => readYaml(front, shapes[kind], cut));
  assertSchema(kind, fields);
  const parsed = { kind, fields, body, signedBytes, signature, signatures };
  return parsed as ParsedRecord; // the schema has just said so, and the types are made from the schemas
}

/** Whether it belongs to a session; else it is a document. */
export function isSessionRecord(record: ParsedRecord): record is ParsedRecord<RecordKind> {
  return isRecordKind(record.kind);
}

export function isDocument(record: ParsedRecord): record is ParsedRecord<DocumentKind> {
  return isDocumentKind(record.kind);
}

/** Whether it is of this kind, which tells the type of its fields. */
export function hasKind<K extends Kind>(record: ParsedRecord, kind: K): record is ParsedRecord<K> {
  return record.kind === kind;
}

/** For files that must be records of a session. */
export function parseSessionRecord(bytes: Uint8Array): ParsedRecord<RecordKind> {
  const record = parseRecord(bytes);
  if (isSessionRecord(record)) return record;
  throw unknown('kind', 'a record of a session', record.kind, 'Restore the file from git.');
}

/** For files that must be of one kind, such as those of our own journal. */
export function parseAs<K extends Kind>(bytes: Uint8Array, kind: K): ParsedRecord<K> {
  const record = parseRecord(bytes);
  if (hasKind(record, kind)) return record;
  throw unknown('kind', kind, record.kind, 'Restore the file from git.');
}

function notBytes(): HandoffError {
  return new HandoffError('bytes_invalid', 'Expected the bytes of a file, as Uint8Array.', {
    hint: 'Read the file without an encoding.',
  });
}

export function assertSize(size: number, limit: number, what: string): void {
  if (size <= limit) return;
  throw new HandoffError('too_large', `A ${what} holds at most ${limit} bytes; this one has ${size}.`, {
    hint: 'Keep long text and data in files of the repository and name them in the record.',
    data: { expected: `at most ${limit} bytes`, found: `${size} bytes` },
  });
}

const OPEN = '---\n';
const CLOSE = '\n---\n';

interface Split {
  front: string;
  body: string | null;
}

/** SPEC §3.2: a first line of exactly `---` opens front matter; anything else is one YAML document. */
function splitFrontMatter(text: string, bytes: Uint8Array): Split {
  if (!text.startsWith('---')) return { front: text, body: null };
  const close = text.startsWith(OPEN) ? text.indexOf(CLOSE, OPEN.length) : -1;
  if (close < 0) {
    throw invalidYaml(1, 'front matter between two lines of exactly "---"', JSON.stringify(text.slice(0, 24)));
  }
  assertSize(closingOffset(bytes) - OPEN.length, MAX_FRONT_MATTER_BYTES, 'front matter');
  return { front: text.slice(OPEN.length, close + 1), body: text.slice(close + CLOSE.length) };
}

const HEAD = 'handoff: 1\nkind: ';

/** SPEC §3.3: the first two lines say the version and the kind, so that the rest can be read by that kind's schema. */
function readKind(front: string, isMarkdown: boolean): Kind {
  if (!front.startsWith(HEAD)) throw unknownHead(front, isMarkdown);
  const kind = front.slice(HEAD.length, front.indexOf('\n', HEAD.length));
  if (!isKind(kind)) {
    throw unknown('kind', 'one of the kinds in SPEC §3', kind, 'Upgrade git-handoff, or remove the file.');
  }
  if ((extensionOf(kind) === 'md') !== isMarkdown) {
    const expected = isMarkdown ? 'a YAML document' : 'front matter and Markdown';
    throw unknown('form', expected, kind, 'Write it as SPEC §3.2 says.');
  }
  return kind;
}

function unknownHead(front: string, isMarkdown: boolean): HandoffError {
  const version = /^handoff: ([^\n]*)\nkind: /.exec(front)?.[1];
  if (version === undefined || version === '1') return invalidHead(front, isMarkdown);
  return unknown('protocol version', '1', version, 'Upgrade git-handoff to read it.');
}

/** The line of the two that is wrong. Front matter starts on the second line of its file. */
function invalidHead(front: string, isMarkdown: boolean): HandoffError {
  const [first = '', second = ''] = front.split('\n', 2);
  const [line, expected, found] = first.startsWith('handoff: ')
    ? [2, '"kind: <kind>"', second]
    : [1, '"handoff: 1"', first];
  return invalidYaml(line + (isMarkdown ? 1 : 0), expected, JSON.stringify(found.slice(0, 64)));
}

/** Front matter starts on the second line of its file, and that is the line a person looks for. */
function belowFirstLine<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof HandoffError) || typeof error.data?.line !== 'number') throw error;
    const { code, message, hint, data } = error;
    const line = (data.line as number) + 1;
    throw new HandoffError(code, message.replace(/^line \d+/, `line ${line}`), {
      ...(hint ? { hint } : {}),
      data: { ...data, line },
    });
  }
}

function assertSchema(kind: Kind, fields: YamlMap): void {
  const base = validators[isRecordKind(kind) ? 'record' : 'document'];
  const failed = base(fields) ? validators[kind] : base;
  if (failed !== base && failed(fields)) return;
  throw describeSchemaError(kind, fields, failed.errors![0]!);
}

function invalidYaml(line: number, expected: string, found: string): HandoffError {
  return new HandoffError('yaml_invalid', `line ${line}: expected ${expected}, found ${found}`, {
    hint: 'Records are written by git-handoff; restore the file from git.',
    data: { line, expected, found },
  });
}

function unknown(what: string, expected: string, found: string, hint: string): HandoffError {
  const shown = JSON.stringify(found.slice(0, 64));
  return new HandoffError('schema_invalid', `Unknown ${what}: expected ${expected}, found ${shown}.`, {
    hint,
    data: { expected, found: shown },
  });
}
