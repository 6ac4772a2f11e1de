import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { DEFAULT_LIMITS, openBudget } from '../../src/core/budget.ts';
import { AGAIN, growth } from '../growth.ts';
import { type Draft, type Place, writeSession } from '../handoff.ts';
import { template } from '../threats/forge.ts';
import { branch, commitRecords, headOf, judge, policy, START } from './scenario.ts';

// THREATS 66: whoever has a key decides how many records a push brings, and what they name. Each was looked for among all.

const place = template((here) =>
  policy(here, { writeback: { required: true, review: true, open_sessions: 'warning' } }),
);
const HALF = 400;

const each = (count: number, make: (at: number) => Draft[]): Draft[] =>
  Array.from({ length: count }, (_, at) => make(at)).flat();
const thought = (task_id: string, commit_sha: string): Draft => ({
  ...{ kind: 'thought', task_id, branch: 'main', commit_sha, summary: 's' },
  ...{ tests_run: [], blockers: [], files_changed: [], related_thought_records: [] },
});
const change = (task_id: string, status: string): Draft => ({ kind: 'task', task_id, status });
const note = (task: string, token: number): Draft => ({ kind: 'note', text: 'x', lock: { task, token } });
const hash = (at: number): string => `sha256:${createHash('sha256').update(String(at)).digest('hex')}`;
const review = (task_id: string, at: number): Draft => ({
  ...{ kind: 'review', task_id, verdict: 'approve', thought: hash(at), checked: ['x'] },
});

/** Twice the number, twice the records: of one session, or of as many. */
const CASES: Record<string, (count: number, head: string) => Draft[][]> = {
  'changes of different tasks': (count) => [each(count, (at) => [change(`X${at}`, 'in_progress')])],
  'different tasks that are done': (count, head) => [
    each(count / 2, (at) => [thought(`X${at}`, head), change(`X${at}`, 'done')]),
  ],
  'one task that is done again and again, then thoughts about it': (count, head) => [
    [...each(count / 2, () => [change('X', 'done')]), ...each(count / 2, () => [thought('X', head)])],
  ],
  'notes under the locks of different tasks': (count) => [each(count, (at) => [note(`X${at}`, 1)])],
  'notes under different numbers of one lock': (count) => [each(count, (at) => [note('X', at + 1)])],
  'thoughts, and reviews of others': (count, head) => [
    each(count / 2, (at) => [thought(`X${at}`, head), review(`X${at}`, at)]),
  ],
};

/** A branch for each number of records. */
function branches(drafts: (count: number, head: string) => Draft[][]): Place {
  const here = place();
  const head = headOf(here.dir);
  for (const [name, count] of Object.entries({ half: HALF, whole: 2 * HALF })) {
    branch(here, name, 'main');
    for (const some of drafts(count, head)) writeSession(here, [START, ...some]);
    commitRecords(here);
  }
  return here;
}

describe('twice as many cost at most 2.2 times as much', () => {
  test.each(Object.entries(CASES))('%s', AGAIN, async (_, drafts) => {
    const here = branches(drafts);
    const judging = (head: string) => () => judge(here, 'main', head);
    expect(await growth(judging('half'), judging('whole'))).toBeLessThan(2.2);
  });
});

// What is only computed lets no timer fire: a gate with 4 seconds took 70, and passed.
describe('the time is asked for with every record, in each part that grows with them', () => {
  /** How often, but for what is paid in bytes. */
  async function asked(here: Place, head: string): Promise<number> {
    let count = 0;
    const budget = { ...openBudget(DEFAULT_LIMITS, () => 0), assertTime: () => void count++ };
    await judge(here, 'main', head, { budget });
    return count;
  }

  // once as it is verified, once for secrets, and once or more as what it is about is judged
  test.each([
    ['changes of different tasks', 3],
    ['different tasks that are done', 3.5],
    ['notes under the locks of different tasks', 4],
    ['notes under different numbers of one lock', 3],
  ])('%s: %d times', async (name, times) => {
    const here = branches(CASES[name]!);
    expect((await asked(here, 'whole')) - (await asked(here, 'half'))).toBeGreaterThanOrEqual(times * HALF);
  });
});
