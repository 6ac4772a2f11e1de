import { isAlias, isMap, isScalar, isSeq, parseDocument } from 'yaml';
import { HandoffError } from '../../core/error.ts';

/** A value of a draft's front matter; null where it is something else. */
export type DraftValue = string | (string | null)[] | null;

/** Everything is text, as in records (SPEC §3.5): the task `1.10` does not become 1.1, and `no` is a word. */
const STRICT = { schema: 'failsafe', version: '1.2', uniqueKeys: true } as const;

/**
 * The YAML of a draft's front matter: a map of texts and lists of texts. Nodes are read here and not by `toJS`, which
 * takes exponential time for keys within keys.
 */
export function parseDraftYaml(text: string): Record<string, DraftValue> {
  const { errors, warnings, contents } = parseDocument(text, STRICT);
  const [fault] = [...errors, ...warnings];
  if (fault) throw invalid(fault.message.split(/ at line \d|\n/, 1)[0]!, fault.linePos?.[0].line, fault);
  if (!isMap(contents)) throw invalid('Expected keys and values');
  return Object.fromEntries(contents.items.map(({ key, value }) => [readKey(key), readValue(value)]));
}

function readKey(node: unknown): string {
  const key = readText(node);
  if (key === null) throw invalid('Expected keys that are words');
  return key;
}

function readValue(node: unknown): DraftValue {
  return isSeq(node) ? node.items.map(readText) : readText(node);
}

function readText(node: unknown): string | null {
  if (isAlias(node)) throw invalid('Aliases are not allowed');
  return isScalar(node) && typeof node.value === 'string' ? node.value.trim() : null;
}

function invalid(reason: string, line?: number, cause?: unknown): HandoffError {
  const place = line === undefined ? '' : `line ${line}: `;
  return new HandoffError('yaml_invalid', `${place}The draft's front matter cannot be read. ${reason.slice(0, 200)}.`, {
    hint: 'Quote values that contain ": " or "#"; keep long text below the front matter.',
    data: line === undefined ? {} : { line },
    cause,
  });
}
