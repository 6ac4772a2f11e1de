import type { StoryMoment } from '../session/newest.ts';
import type { TracedRecord } from '../task/state.ts';

/** What somebody said of a thought record. */
export interface Verdict extends StoryMoment {
  thought: string;
  identity: string;
  verdict: 'approve' | 'reject';
}

export function toVerdict({ record: { id, fields } }: TracedRecord<'review'>): Verdict {
  const { clock, thought = '', identity, verdict } = fields;
  return { clock, delta_id: id, thought, identity, verdict };
}
