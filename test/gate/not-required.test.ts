import { describe, expect, test } from 'vitest';
import { git } from '../temporary.ts';
import { template } from '../threats/forge.ts';
import { squash, takeRecords } from './landing.ts';
import {
  BATON,
  branch,
  checkout,
  code,
  honestBranch,
  policy,
  START,
  session,
  thoughtSince,
  verdict,
} from './scenario.ts';

// A policy that asks for no writeback: code may come without a thought, and what is said of it is judged all the same.

const place = template();
const writeback = (review: boolean) => ({ writeback: { required: false, review, open_sessions: 'warning' } });

test('code without a thought passes', async () => {
  const here = place();
  policy(here, writeback(true));
  branch(here, 'feature');
  code(here, { 'src/a.ts': 'a\n' });
  expect(await verdict(here)).toEqual([]);
});

describe('M74: where the policy asks for a review', () => {
  test('a thought that covers code is approved by somebody else', async () => {
    const here = place();
    policy(here, writeback(true));
    branch(here, 'feature');
    code(here, { 'src/a.ts': 'a\n' });
    const [, thought] = session(here, [START, await thoughtSince(here, 'main'), BATON], { clock: 10 });
    expect(await verdict(here)).toEqual(['review_missing 0002-thought.yaml']);
    const review = { kind: 'review' as const, task_id: 'P0.1', verdict: 'approve', thought: thought!.id };
    session(here, [START, review, BATON], { clock: 20, identity: 'erin' });
    expect(await verdict(here)).toEqual([]);
  });

  test('so it is after a squash, while code besides it needs none', async () => {
    const here = place();
    policy(here, writeback(true));
    branch(here, 'feature');
    code(here, { 'src/a.ts': 'a\n' });
    session(here, [START, await thoughtSince(here, 'main'), BATON], { clock: 10 });
    squash(here);
    code(here, { 'src/b.ts': 'b\n' });
    expect(await verdict(here, 'HEAD~2')).toEqual(['review_missing 0002-thought.yaml']);
  });
});

describe('M73: a task that is done', () => {
  test('has a thought that a squash kept, found by its patch id', async () => {
    const here = place();
    policy(here, writeback(false));
    const { base } = await honestBranch(here);
    squash(here);
    git(here.dir, 'branch', '--quiet', '-D', 'feature');
    expect(await verdict(here, base)).toEqual([]);
  });

  test('has none where the code of its thought is not there', async () => {
    const here = place();
    policy(here, writeback(false));
    const { base } = await honestBranch(here);
    checkout(here, 'main');
    takeRecords(here, 'feature');
    expect(await verdict(here, base)).toEqual(['done_without_thought 0004-task.yaml']);
  });
});
