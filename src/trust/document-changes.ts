import type { YamlValue } from '../core/bytes/yaml.ts';
import type { ParsedRecord } from '../core/record/record.ts';
import { readIdentity, readPolicy } from '../core/trust/trust.ts';
import { nodeSuite } from '../crypto.ts';

/** What a document says that the one before it did not, a line each: what somebody who is asked to sign it has to know. */
export function describeChanges(next: ParsedRecord, before: ParsedRecord | null): string[] {
  const [old, now] = [before ? statements(before) : new Map<string, string>(), statements(next)];
  const said = [...now].filter(([label, value]) => old.get(label) !== value);
  const gone = [...old.keys()].filter((label) => !now.has(label));
  return [
    ...said.map(([label, value]) => `${label}: ${old.has(label) ? `${old.get(label)} → ` : ''}${value}`),
    ...gone.map((label) => `${label}: ${old.get(label)} → none`),
  ];
}

/** Keys that say which document it is, and not what it says. */
const FRAME: ReadonlySet<string> = new Set(['handoff', 'kind', 'repo', 'version', 'prev', 'at', 'nonce']);

function statements(document: ParsedRecord): Map<string, string> {
  const fields = Object.entries(document.fields).filter(([key]) => !FRAME.has(key));
  const plain = fields.filter(([key]) => !(document.kind === 'identity' && key === 'keys'));
  return new Map([...plain.flatMap(([key, value]) => flatten(key, value)), ...keysOf(document)]);
}

/** Keys are known by their fingerprints, as people compare them. */
function keysOf(document: ParsedRecord): [string, string][] {
  if (document.kind === 'identity')
    return readIdentity(document, nodeSuite).keys.map(({ fingerprint, state, cutoff }) => [
      `key ${fingerprint}`,
      cutoff === undefined ? state : `${state} (cutoff ${cutoff})`,
    ]);
  if (document.kind !== 'policy') return [];
  const { principals } = readPolicy(document, nodeSuite).root;
  return [...principals].map(([name, { fingerprint }]) => [`root key of ${name}`, fingerprint]);
}

function flatten(label: string, value: YamlValue | undefined): [string, string][] {
  if (label === 'root.keys') return []; // by their fingerprints
  if (Array.isArray(value)) return [[label, value.map((item) => text(item)).join(', ') || 'none']];
  if (value === undefined) return [];
  if (typeof value !== 'object' || value === null) return [[label, text(value)]];
  return Object.entries(value).flatMap(([key, inner]) => flatten(`${label}.${key}`, inner));
}

function text(value: YamlValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
