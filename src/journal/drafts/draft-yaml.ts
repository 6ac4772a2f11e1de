import { isAlias, isMap, isScalar, isSeq, parseDocument, type YAMLError } from 'yaml';
import type { HandoffError } from '../../core/error.ts';

/** What somebody typed: texts, lists and maps of them; null where it is something else. */
export type DraftValue = string | null | DraftValue[] | DraftMap;

export interface DraftMap {
  [key: string]: DraftValue;
}

export interface DraftFault {
  reason: string;
  line: number | undefined;
  /** Where the text is no YAML at all. */
  syntax?: YAMLError;
}

/** Says it in the words of what was to be read. */
type Refuse = (fault: DraftFault) => HandoffError;

/** Everything is text, as in records (SPEC §3.5): the task `1.10` does not become 1.1, and `no` is a word. */
const STRICT = { schema: 'failsafe', version: '1.2', uniqueKeys: true } as const;

/**
 * The YAML of everything that is typed by hand. Nodes are read here and not by `toJS`, which takes exponential time for keys
 * within keys.
 */
export function readDraftYaml(text: string, refuse: Refuse): DraftValue {
  const { errors, warnings, contents } = parseDocument(text, STRICT);
  const [syntax] = [...errors, ...warnings];
  if (!syntax) return readNode(contents, refuse);
  const reason = syntax.message.split(/ at line \d|\n/, 1)[0]!.slice(0, 200);
  throw refuse({ reason, line: syntax.linePos?.[0].line, syntax });
}

function readNode(node: unknown, refuse: Refuse): DraftValue {
  if (isAlias(node)) throw refuse({ reason: 'Aliases are not allowed', line: undefined });
  if (isSeq(node)) return node.items.map((item) => readNode(item, refuse));
  if (isMap(node))
    return Object.fromEntries(node.items.map(({ key, value }) => [readKey(key, refuse), readNode(value, refuse)]));
  return isScalar(node) && typeof node.value === 'string' ? node.value : null;
}

function readKey(node: unknown, refuse: Refuse): string {
  const key = isScalar(node) || isAlias(node) ? readNode(node, refuse) : null;
  if (typeof key === 'string') return key;
  throw refuse({ reason: 'Expected keys that are words', line: undefined });
}
