import { describe, expect, it } from 'vitest';
import { budgetFinding, DEFAULT_LIMITS, isOverBudget, openBudget } from '../../src/core/budget.ts';
import { HandoffError } from '../../src/core/error.ts';

const LIMITS = { ...DEFAULT_LIMITS, seconds: 10, merges: 3, bytes: 100 };

function thrown(run: () => void): HandoffError {
  try {
    run();
  } catch (error) {
    if (error instanceof HandoffError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

describe('a budget', () => {
  it('allows exactly what it says, in any number of steps', () => {
    const budget = openBudget(LIMITS, () => 0);
    for (const _ of [1, 2, 3]) budget.spend('merges', 1);
    budget.spend('bytes', 100);
    expect(thrown(() => budget.spend('merges', 1))).toMatchObject({ code: 'too_many_merges', exitCode: 1 });
    const other = openBudget(LIMITS, () => 0);
    other.spend('bytes', 100);
    expect(thrown(() => other.spend('bytes', 1))).toMatchObject({ code: 'too_large', exitCode: 1 });
  });

  it('says no for good once it has said no', () => {
    const budget = openBudget(LIMITS, () => 0);
    thrown(() => budget.spend('bytes', 101));
    expect(thrown(() => budget.spend('merges', 1)).code).toBe('too_large');
    expect(thrown(() => budget.assertTime()).code).toBe('too_large');
  });

  it('ends with its time, whatever else is left', () => {
    let now = 5_000;
    const budget = openBudget(LIMITS, () => now);
    now = 14_999;
    budget.spend('merges', 1);
    expect(budget.left()).toBe(1);
    now = 15_000;
    expect(thrown(() => budget.spend('merges', 1)).code).toBe('over_budget');
    expect(thrown(() => budget.assertTime()).code).toBe('over_budget');
    now = 99_000;
    expect(budget.left()).toBe(0);
  });

  it('tells the limit, what arrived and what to do', () => {
    const error = thrown(() => openBudget(LIMITS, () => 0).spend('merges', 7));
    expect(isOverBudget(error)).toBe(true);
    expect(isOverBudget(new HandoffError('too_large', 'one file'))).toBe(false);
    expect(budgetFinding(error)).toEqual({
      code: 'too_many_merges',
      severity: 'error',
      message: expect.stringContaining('at most 3 merges that have to be made again, found 7 or more'),
      expected: 'at most 3 merges that have to be made again',
      found: '7 or more',
      hint: expect.stringMatching(/git push REMOTE COMMIT:BRANCH.*git config handoff\.budget\.merges NUMBER/),
    });
  });
});
