import type { StoryMoment } from '../session/newest.ts';
import { excerptOf } from '../text/excerpt.ts';
import type { RecordKind } from './kinds.ts';
import { summarise } from './summary.ts';
import type { VerifiedRecord } from './verify.ts';

/** A record and where it stands. */
export interface PlacedRecord<K extends RecordKind = RecordKind> {
  path: string;
  record: VerifiedRecord<K>;
}

/** Enough to show a record in a list and to find it again. */
export interface RecordSummary extends StoryMoment {
  kind: RecordKind;
  session_id: string;
  identity: string;
  at: string;
  summary: string;
  path: string;
}

/** `path` leads to the body. */
export interface Baton extends RecordSummary {
  next_agent: string | null;
  /** Where it was wrapped. */
  branch: string | null;
  /** The first of them, where there are more than anybody has in focus. */
  focus: string[];
}

const MOST_IN_FOCUS = 64;

export interface Decision extends RecordSummary {
  title: string;
  status: string;
  supersedes: string | null;
}

export function toRecordSummary({ path, record }: PlacedRecord): RecordSummary {
  const { session_id, identity, at, clock } = record.fields;
  const { id, kind } = record;
  return { delta_id: id, kind, session_id, identity, at, clock, summary: summarise(record), path };
}

export function toBaton(placed: PlacedRecord<'baton'>): Baton {
  const { next_agent, branch, focus } = placed.record.fields;
  return {
    ...toRecordSummary(placed),
    next_agent: next_agent ?? null,
    branch: branch ?? null,
    focus: (focus ?? []).slice(0, MOST_IN_FOCUS),
  };
}

export function toDecision(placed: PlacedRecord<'decision'>): Decision {
  const { title, status, supersedes } = placed.record.fields;
  return { ...toRecordSummary(placed), title: excerptOf(title).text, status, supersedes: supersedes ?? null };
}
