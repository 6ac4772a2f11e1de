import { describe, expect, test } from 'vitest';
import { exitsOf, next, type RelayEvent, type RetryFacts } from '../../src/relay/cycle/next.ts';
import { EXITS, type LaterStep, STEPS, type Standing, type Step, stepAfter } from '../../src/relay/cycle/steps.ts';

const FACTS: RetryFacts = { isWritten: false, isSuccessorGone: false };

const underWay = (step: Step): Standing => ({ state: 'under_way', step, failure: null });
const failed = (due: LaterStep): Standing => ({
  state: 'failed',
  step: STEPS[STEPS.indexOf(due) - 1]!,
  failure: { step: due, code: 'relay_timeout', message: 'too long', hint: 'look' },
});
const at = (standing: Standing | null) => standing && `${standing.state} ${standing.step}`;

/** Every place a relay can stand at, as the page for operators has it. */
const LATER = STEPS.filter((step): step is LaterStep => step !== 'initiated');
const WAITING = STEPS.filter((step) => step !== 'done').map(underWay);
const FAILED = LATER.map(failed);
const OVER: Standing[] = [
  { state: 'done', step: 'done', failure: null },
  ...STEPS.filter((step) => step !== 'done').map((step): Standing => ({ state: 'abandoned', step, failure: null })),
];

describe('what happens to a relay', () => {
  test('its steps come one after the other, and the last one ends it', () => {
    const seen: (string | null)[] = [];
    let standing = underWay('initiated');
    for (let step = stepAfter('initiated'); step; step = stepAfter(step)) {
      standing = next(standing, { is: 'made', step })!;
      seen.push(at(standing));
    }
    expect(seen).toEqual([...LATER.slice(0, -1).map((step) => `under_way ${step}`), 'done done']);
  });

  test.each(WAITING)('$state $step: no step but the next is made, and no other fails', (standing) => {
    const due = stepAfter(standing.step);
    for (const step of LATER) {
      const failure = { step, code: 'io' as const, message: '', hint: '' };
      expect(next(standing, { is: 'made', step }) !== null).toBe(step === due);
      expect(next(standing, { is: 'failed', failure }) !== null).toBe(step === due);
    }
  });

  test.each(FAILED)('failed at $failure.step: nothing goes on by itself, whatever comes late', (standing) => {
    for (const step of LATER) {
      expect(next(standing, { is: 'made', step })).toBeNull();
      expect(next(standing, { is: 'failed', failure: { ...standing.failure!, step } })).toBeNull();
    }
  });

  test.each(OVER)('$state $step: nothing happens any more', (standing) => {
    const events: RelayEvent[] = [
      ...LATER.map((step): RelayEvent => ({ is: 'made', step })),
      { is: 'learnt' },
      { is: 'failed', failure: { step: 'instructed', code: 'io', message: '', hint: '' } },
      { is: 'retry', facts: FACTS },
      { is: 'abandon' },
      { is: 'force' },
    ];
    expect(events.map((event) => next(standing, event))).toEqual(events.map(() => null));
    expect(exitsOf(standing)).toEqual([]);
  });
});

describe('every state has a way out that a person can take', () => {
  test.each([...WAITING, ...FAILED])(
    '$state $step $failure.step: what is offered does something, and nothing else does',
    (standing) => {
      const offered = exitsOf(standing);
      const asEvent = (exit: (typeof EXITS)[number]): RelayEvent =>
        exit === 'retry' ? { is: exit, facts: FACTS } : { is: exit };
      expect(EXITS.filter((exit) => next(standing, asEvent(exit)) !== null)).toEqual(offered);
      expect(offered).toContain('abandon');
      if (standing.state === 'failed') expect(offered).toContain('retry');
      expect(next(standing, { is: 'abandon' })!.state).toBe('abandoned');
    },
  );

  // the table of docs/relay.md
  test.each<[LaterStep, string, string, string, string | null]>([
    ['instructed', 'initiated', 'initiated', 'initiated', 'instructed'],
    ['authored', 'initiated', 'authored', 'initiated', 'authored'],
    ['recorded', 'authored', 'authored', 'authored', null],
    ['ended', 'recorded', 'recorded', 'recorded', 'ended'],
    ['spawned', 'ended', 'ended', 'ended', null],
    ['primed', 'spawned', 'spawned', 'ended', 'primed'],
    ['injected', 'primed', 'primed', 'ended', null],
    ['done', 'primed', 'primed', 'ended', 'done'],
  ])(
    'failed at %s: retry goes back to %s, %s where the draft is there, %s where no successor runs; force goes on at %s',
    (due, plain, written, alone, past) => {
      const standing = failed(due);
      const retried = (facts: Partial<RetryFacts>) =>
        next(standing, { is: 'retry', facts: { ...FACTS, ...facts } })!.step;
      expect([retried({}), retried({ isWritten: true }), retried({ isSuccessorGone: true })]).toEqual([
        plain,
        written,
        alone,
      ]);
      expect(next(standing, { is: 'force' })?.step ?? null).toBe(past);
    },
  );

  test('whoever forces the last step ends it', () => {
    expect(at(next(failed('done'), { is: 'force' }))).toBe('done done');
    expect(at(next(underWay('injected'), { is: 'force' }))).toBe('done done');
  });
});
