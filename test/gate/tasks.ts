import type { YamlMap } from '../../src/core/bytes/yaml.ts';
import type { Draft, Place, SessionOptions, Written } from '../handoff.ts';
import { BATON, headOf, START, session, thoughtSince } from './scenario.ts';

export const REVIEW: YamlMap = { writeback: { required: true, open_sessions: 'error', review: true } };

export const CHANGE = (status: string): Draft => ({ kind: 'task', task_id: 'P0.1', status });
export const WORK = CHANGE('in_progress');
export const FINISHED = CHANGE('done');

/** A thought about no code. */
export async function remark(place: Place): Promise<Draft> {
  return thoughtSince(place, headOf(place.dir));
}

export function verdictOn(thought: string, verdict: 'approve' | 'reject' = 'approve'): Draft {
  return { kind: 'review', task_id: 'P0.1', verdict, thought };
}

/** A finished session, committed. Returns what is between its beginning and its end. */
export function told(place: Place, drafts: Draft[], options: SessionOptions = {}): Written[] {
  return session(place, [START, ...drafts, BATON], options).slice(1, -1);
}

/** Under a number of the lock of P0.1. */
export function under(token: number, draft: Draft): Draft {
  return { ...draft, lock: { task: 'P0.1', token } };
}

export function many(count: number, draft: (n: number) => Draft): Draft[] {
  return Array.from({ length: count }, (_, n) => draft(n));
}

/** The id of something that nobody knows. */
export function nothing(n: number): string {
  return `sha256:${n.toString(16).padStart(64, '0')}`;
}
