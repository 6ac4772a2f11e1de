import type { Moment } from '../session/newest.ts';
import { excerptOf } from '../text/excerpt.ts';
import type { RecordKind } from './kinds.ts';
import { summarise } from './summary.ts';
import type { VerifiedRecord } from './verify.ts';

/** A record and where it stands. */
export interface PlacedRecord {
  path: string;
  record: VerifiedRecord;
}

/** Enough to show a record in a list and to find it again. */
export interface RecordSummary extends Moment {
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
  return {
    delta_id: record.id,
    kind: record.kind as RecordKind,
    session_id: record.fields.session_id as string,
    identity: record.fields.identity as string,
    at: record.fields.at as string,
    clock: record.fields.clock as number,
    summary: summarise(record),
    path,
  };
}

export function toBaton(placed: PlacedRecord): Baton {
  const { next_agent, focus } = placed.record.fields as { next_agent?: string; focus?: string[] };
  return { ...toRecordSummary(placed), next_agent: next_agent ?? null, focus: (focus ?? []).slice(0, MOST_IN_FOCUS) };
}

export function toDecision(placed: PlacedRecord): Decision {
  const { title, status, supersedes } = placed.record.fields as { title: string; status: string; supersedes?: string };
  return { ...toRecordSummary(placed), title: excerptOf(title).text, status, supersedes: supersedes ?? null };
}
