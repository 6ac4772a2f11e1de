import type { PlacedRecord } from '../record/record-summary.ts';
import type { VerifiedRecord } from '../record/verify.ts';
import { type Excerpt, excerptOf } from '../text/excerpt.ts';
import { insertNewest, mergeNewest, type StoryMoment } from './newest.ts';

/** `path` leads to the whole text. */
export interface Signal extends StoryMoment, Excerpt {
  from: string;
  to: string;
  type: string | null;
  at: string;
  session_id: string;
  path: string;
}

/** The signals that pickups of an identity list: `delta_id` is the signal's, `clock` that of the pickup. */
interface Drained {
  identity: string;
  signals: StoryMoment[];
}

/** Branches merge in any order: a pickup can be read before the signals that it names. Only who asks compares the two. */
export interface Signals {
  sent: Signal[];
  /** By the name of the identity. */
  drained: Drained[];
}

/** Received ones count: were they dropped first, which signals are kept would depend on the order of reading. */
const NEWEST_SIGNALS = 512;

/** How many received signals are kept for each identity, so that nobody can push out another's. It is more than one record can list. */
const NEWEST_DRAINED = 4096;

export function addSignal({ sent }: Signals, placed: PlacedRecord<'signal'>): void {
  insertNewest(sent, toSignal(placed), NEWEST_SIGNALS);
}

function toSignal({ path, record: { id, fields } }: PlacedRecord<'signal'>): Signal {
  const { identity, to, type = null, text, at, clock, session_id } = fields;
  return { delta_id: id, from: identity, to, type, ...excerptOf(text), at, clock, session_id, path };
}

export function addDrain({ drained }: Signals, { fields }: VerifiedRecord<'pickup'>): void {
  const { identity, clock, signals = [] } = fields;
  if (signals.length === 0) return;
  const own = drainedBy(drained, identity);
  own.signals = mergeNewest(
    own.signals,
    signals.map((delta_id) => ({ clock, delta_id })),
    NEWEST_DRAINED,
  );
}

function drainedBy(drained: Drained[], identity: string): Drained {
  const own = drained.find((each) => each.identity === identity);
  if (own) return own;
  const added: Drained = { identity, signals: [] };
  drained.push(added);
  drained.sort((a, b) => (a.identity < b.identity ? -1 : 1));
  return added;
}

/** SPEC §8.5: nobody receives what was sent to another, and everybody once. */
export function pendingOf({ sent, drained }: Signals, identity: string): Signal[] {
  const received = new Set(drained.find((each) => each.identity === identity)?.signals.map(({ delta_id }) => delta_id));
  return sent.filter(({ to, delta_id }) => to === identity && !received.has(delta_id));
}
