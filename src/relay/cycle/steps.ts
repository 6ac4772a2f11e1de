import type { ErrorCode } from '../../core/error.ts';

/** What a relay has behind it. Each is made once, in this order. docs/relay.md */
export const STEPS = [
  'initiated',
  'instructed',
  'authored',
  'recorded',
  'ended',
  'spawned',
  'primed',
  'injected',
  'done',
] as const;
export type Step = (typeof STEPS)[number];

/** A step that can fail: each but the first, which is the trigger itself. */
export type LaterStep = Exclude<Step, 'initiated'>;

/** What a person can do about a relay. */
export const EXITS = ['retry', 'abandon', 'force'] as const;
export type Exit = (typeof EXITS)[number];

/** Why a step could not be made, and what to do about it. */
export interface StepFailure {
  step: LaterStep;
  code: ErrorCode;
  message: string;
  hint: string;
}

/** Where a relay stands: `step` is the last one that was made. */
export interface Standing {
  state: 'under_way' | 'failed' | 'abandoned' | 'done';
  step: Step;
  failure: StepFailure | null;
}

/** Null after the last. */
export function stepAfter(step: Step): LaterStep | null {
  const after = STEPS[STEPS.indexOf(step) + 1];
  return after === undefined || after === 'initiated' ? null : after;
}

export function isBefore(step: Step, other: Step): boolean {
  return STEPS.indexOf(step) < STEPS.indexOf(other);
}

/** Nothing happens to it any more. */
export function isOver({ state }: Pick<Standing, 'state'>): boolean {
  return state === 'done' || state === 'abandoned';
}
