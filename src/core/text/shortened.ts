import type { YamlMap, YamlValue } from '../bytes/yaml.ts';
import type { PlacedRecord } from '../record/record-summary.ts';
import type { VerifiedRecord } from '../record/verify.ts';
import { beginningOf, detached, EXCERPT } from './excerpt.ts';

/** A record of at most this many bytes may be kept whole. */
const SMALL = 4096;

/**
 * A record as it is kept until its session has been read to the end and a history is made of it. All records of a session
 * must fit in memory at once, however many they are and however much they say.
 */
export function shortened(placed: PlacedRecord): PlacedRecord {
  const { path, record } = placed;
  if (record.signedBytes.length <= SMALL) return placed;
  const body = record.body === null ? null : beginningOf(record.body);
  const short = detached({ fields: shortFields(record.fields), body });
  const kept = { ...record, ...short, signedBytes: NOTHING, signature: null };
  return { path, record: kept as VerifiedRecord }; // texts and lists are shorter, and are still texts and lists
}

const NOTHING = new Uint8Array();

function shortFields(fields: YamlMap): YamlMap {
  const ours = Object.entries(fields).filter(([key]) => !key.startsWith('x_')); // SPEC §3.6: they mean nothing here
  return Object.fromEntries(ours.map(([key, value]) => [key, shortValue(key, value!)]));
}

/** Lists that a history is made of, and how many of their items it could keep. */
const LISTS: Readonly<Record<string, number>> = { signals: 4096, focus: 64 };

/** One unit more than an excerpt has tells that it is cut. */
function shortValue(key: string, value: YamlValue): YamlValue {
  if (typeof value === 'string') return value.slice(0, EXCERPT + 1);
  return Array.isArray(value) ? value.slice(0, LISTS[key] ?? 0) : value;
}
