import { describe, expect, test } from 'vitest';
import { DEFAULT_LIMITS, openBudget } from '../../src/core/budget.ts';
import type { PlacedRecord } from '../../src/core/record/record-summary.ts';
import type { Verdict } from '../../src/core/record/verdict.ts';
import { firstFreeToken, rivalTokens } from '../../src/core/task/rival-tokens.ts';
import { type TaskToken, type TracedRecord, wholeTrail } from '../../src/core/task/state.ts';
import type { Account } from '../../src/core/writeback/account.ts';
import { judgeReviews } from '../../src/gate/reviews/reviews.ts';
import { judgeTokens } from '../../src/gate/tokens.ts';
import { AGAIN, growth } from '../growth.ts';

// THREATS 66: what one record names was looked for among all others. A push may bring ten thousand, and a project has more; with as
// few as test/gate/growth.test.ts writes, the rest of a verdict takes so much longer that this does not show.

const HALF = 5000;
const BUDGET = openBudget(DEFAULT_LIMITS, () => 0);

const numbers = (count: number): number[] => Array.from({ length: count }, (_, at) => at + 1);
const tokens = (count: number, identity: (number: number) => string): TaskToken[] =>
  numbers(count).map((token) => ({ token, session_id: `session ${token}`, identity: identity(token) }));
const noted = (count: number): TracedRecord[] =>
  numbers(count).map((token) => {
    const fields = { session_id: 'one', identity: 'donna', clock: token, lock: { task: 'X', token } };
    return { path: `sessions/donna/one/${token}`, record: { kind: 'note', id: `${token}`, fields } };
  });

const CASES: Record<string, (count: number) => () => unknown> = {
  'thoughts, and a review of each': (count) => {
    const thoughts = numbers(count).map((at) => ({ delta_id: `${at}`, identity: 'donna', task_id: 'X', path: '' }));
    const covers = new Map(thoughts.map((thought) => [thought as Account, new Set([thought.delta_id])]));
    const reviews = thoughts.map(({ delta_id }, at): Verdict => {
      return { clock: at, delta_id: `review ${at}`, thought: delta_id, identity: 'erin', verdict: 'approve' };
    });
    return () => judgeReviews({ covers, findUnlisted: async () => new Set() }, [], reviews, BUDGET);
  },
  'records of one session under different numbers of one lock': (count) => {
    const added = noted(count) as PlacedRecord[]; // nothing more is read of them
    const held = numbers(count).map((token) => ({ token, session_id: 'one', identity: 'donna' }));
    const trails = { trailOf: async () => wholeTrail('X', []), tokensOf: async () => held };
    return () => judgeTokens(added, trails, BUDGET);
  },
  'what all of them add up to': (count) => {
    const records = noted(count);
    return () => wholeTrail('X', records);
  },
  'numbers of as many identities': (count) => {
    const held = tokens(count, (number) => `agent ${number}`);
    return () => rivalTokens(held, [{ session_id: 'one', identity: 'donna' }]);
  },
  'numbers of one identity, one after the other': (count) => {
    const held = tokens(count, () => 'erin');
    return () => firstFreeToken(1, 1, held, { session_id: 'one', identity: 'donna' });
  },
};

// what grows with the square takes four times as long
describe('twice as many cost at most three times as much', () => {
  test.each(Object.entries(CASES))('%s', AGAIN, async (_, prepare) => {
    const [half, whole] = [prepare(HALF), prepare(2 * HALF)];
    expect(
      await growth(
        async () => half(),
        async () => whole(),
      ),
    ).toBeLessThan(3);
  });
});
