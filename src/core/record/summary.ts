import type { YamlMap } from '../bytes/yaml.ts';
import { beginningOf } from '../text/excerpt.ts';
import type { FieldsOf, RecordKind } from './kinds.ts';
import type { VerifiedRecord } from './verify.ts';

/** The field that says in a line what a record is about, by kind. */
const TELLING: { readonly [K in RecordKind]: readonly (keyof FieldsOf<K>)[] } = {
  start: ['intent', 'task'],
  pickup: ['reason', 'predecessor_session_id'],
  note: ['text'],
  checkpoint: ['text'],
  decision: ['title'],
  wip: ['text', 'key'],
  signal: ['text'],
  thought: ['summary'],
  task: ['notes', 'reason', 'status'],
  baton: ['summary'],
  review: ['verdict'],
  waiver: ['reason'],
  audit: ['intent'],
  seal: ['root'],
  release: ['reason'],
};

const LENGTH = 120;

/** One line of at most 120 characters: enough to recognise a record in a list. */
export function summarise(record: VerifiedRecord): string {
  const fields: YamlMap = record.fields;
  const values = TELLING[record.kind].map((key) => fields[key]);
  const text = values.find((value) => typeof value === 'string' && value !== '') ?? firstWords(record.body);
  const line = String(text).split('\n', 1)[0]!.trim();
  return line.length > LENGTH ? `${line.slice(0, LENGTH - 1).trimEnd()}…` : line;
}

/** A baton without a summary is known by its first line that says something. */
function firstWords(body: string | null): string {
  return (
    beginningOf(body)
      .split('\n')
      .map((line) => line.replace(/^#+\s*/, '').trim())
      .find((line) => line !== '') ?? ''
  );
}
