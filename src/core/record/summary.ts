import { beginningOf } from '../text/excerpt.ts';
import type { VerifiedRecord } from './verify.ts';

/** The field that says in a line what a record is about, by kind. */
const TELLING: Readonly<Record<string, readonly string[]>> = {
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
  const values = (TELLING[record.kind] ?? []).map((key) => record.fields[key]);
  const text = values.find((value) => typeof value === 'string' && value !== '') ?? firstWords(record.body);
  const line = (text as string).split('\n', 1)[0]!.trim();
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
