import {
  EXITS,
  type Exit,
  isOver,
  type LaterStep,
  type Standing,
  type Step,
  type StepFailure,
  stepAfter,
} from './steps.ts';

/** What happens to a relay. */
export type RelayEvent =
  | { is: 'made'; step: LaterStep }
  /** Something was learnt, and it stands where it stood. */
  | { is: 'learnt' }
  | { is: 'failed'; failure: StepFailure }
  | { is: 'retry'; facts: RetryFacts }
  | { is: 'abandon' }
  | { is: 'force' };

/** What whoever tries again has seen first: nothing is done twice because somebody asks. */
export interface RetryFacts {
  /** The draft is there, and may be recorded. */
  isWritten: boolean;
  /** No successor runs. */
  isSuccessorGone: boolean;
}

/** Where a relay stands after an event; null where the event means nothing to it. */
export function next(standing: Standing, event: RelayEvent): Standing | null {
  if (isOver(standing)) return null;
  const { state, step, failure } = standing;
  switch (event.is) {
    case 'made':
      return isDue(standing, event.step) ? underWay(event.step) : null;
    case 'learnt':
      return { state, step, failure };
    case 'failed':
      return isDue(standing, event.failure.step) ? { state: 'failed', step, failure: event.failure } : null;
    case 'abandon':
      return { state: 'abandoned', step, failure };
    case 'retry':
      return failure && underWay(WAYS[failure.step].retry(event.facts));
    case 'force': {
      const forced = WAYS[dueStep(standing)].force;
      return forced && underWay(forced);
    }
  }
}

/** What can be asked for where a relay stands. */
export function exitsOf(standing: Standing): Exit[] {
  return EXITS.filter((exit) => canTake(standing, exit));
}

function canTake(standing: Standing, exit: Exit): boolean {
  if (isOver(standing)) return false;
  if (exit === 'retry') return standing.state === 'failed';
  return exit === 'abandon' || WAYS[dueStep(standing)].force !== null;
}

/** The step that is to be made, or that could not be made. */
export function dueStep({ step, failure }: Standing): LaterStep {
  const due = failure?.step ?? stepAfter(step);
  if (due === null) throw new Error(`Nothing comes after ${step}.`); // only what is not over is asked
  return due;
}

function isDue({ state, step }: Standing, made: LaterStep): boolean {
  return state === 'under_way' && stepAfter(step) === made;
}

/** Whoever has made the last step is done. */
function underWay(step: Step): Standing {
  return { state: step === 'done' ? 'done' : 'under_way', step, failure: null };
}

interface Ways {
  /** Where a relay stands when its failed step is tried again. */
  retry(facts: RetryFacts): Step;
  /** Where it stands when it goes on without; null where there is nothing to go on with. */
  force: Step | null;
}

/** Of each step that can fail: the way back, and the way past it. */
const WAYS: Record<LaterStep, Ways> = {
  instructed: { retry: () => 'initiated', force: 'instructed' },
  // an agent that has stopped without writing is asked once more; what is there by now needs nobody
  authored: { retry: ({ isWritten }) => (isWritten ? 'authored' : 'initiated'), force: 'authored' },
  recorded: { retry: () => 'authored', force: null },
  ended: { retry: () => 'recorded', force: 'ended' },
  spawned: { retry: () => 'ended', force: null },
  primed: { retry: ({ isSuccessorGone }) => (isSuccessorGone ? 'ended' : 'spawned'), force: 'primed' },
  injected: { retry: ({ isSuccessorGone }) => (isSuccessorGone ? 'ended' : 'primed'), force: null },
  done: { retry: ({ isSuccessorGone }) => (isSuccessorGone ? 'ended' : 'primed'), force: 'done' },
};
