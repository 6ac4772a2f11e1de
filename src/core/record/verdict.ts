import type { Moment } from '../session/newest.ts';
import type { TaskRecord } from '../task/state.ts';

/** What somebody said of a thought record. */
export interface Verdict extends Moment {
  thought: string;
  identity: string;
  verdict: 'approve' | 'reject';
}

export function toVerdict({ record: { id, fields } }: TaskRecord): Verdict {
  const { clock, thought = '', identity, verdict } = fields as unknown as Omit<Verdict, 'delta_id'>;
  return { clock, delta_id: id, thought, identity, verdict };
}
