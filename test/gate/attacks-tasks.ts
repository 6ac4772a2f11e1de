import { usual } from './ready.ts';
import { branch, checkout, defined, merge, policy, type Scenario, waiting } from './scenario.ts';
import { CHANGE, FINISHED, many, nothing, REVIEW, remark, told, under, verdictOn, WORK } from './tasks.ts';

/** More than any list of a history holds. */
const MANY = 520;

/** Junk after the evidence: a list that keeps the newest forgets what counts. */
export const PUSHED_OUT: Scenario[] = [
  {
    name: 'a refusal that junk reviews push out',
    threat: 52,
    expect: 'review_missing',
    async build(place) {
      policy(place, REVIEW);
      const { records } = await usual(place);
      checkout(place, 'main');
      told(place, [verdictOn(records[2]!.id, 'reject')], { clock: 20, identity: 'maintainer' });
      told(
        place,
        many(MANY, (n) => verdictOn(nothing(n))),
        { clock: 30 },
      );
      checkout(place, 'feature');
      told(place, [verdictOn(records[2]!.id)], { clock: 1000, identity: 'erin' });
    },
  },
  {
    name: 'a refusal that junk reviews push out, which all arrive',
    threat: 52,
    expect: 'review_missing',
    async build(place) {
      policy(place, REVIEW);
      const { records } = await usual(place);
      told(place, [verdictOn(records[2]!.id, 'reject')], { clock: 20, identity: 'maintainer' });
      const junk = many(MANY, (n) => verdictOn(nothing(n)));
      told(place, [...junk, verdictOn(records[2]!.id)], { clock: 30, identity: 'erin' });
    },
  },
  {
    name: 'a refusal that approvals of the same thought push out',
    threat: 52,
    expect: 'review_missing',
    isVariant: true,
    async build(place) {
      policy(place, REVIEW);
      const { records } = await usual(place);
      const thought = records[2]!.id;
      told(place, [verdictOn(thought, 'reject')], { clock: 20, identity: 'maintainer' });
      told(
        place,
        many(MANY, () => verdictOn(thought)),
        { clock: 30, identity: 'erin' },
      );
    },
  },
  {
    name: 'a number of a lock that junk numbers push out',
    threat: 52,
    expect: 'stale_token',
    async build(place) {
      told(place, [under(3, WORK)], { clock: 20, identity: 'erin' });
      told(
        place,
        many(20, (n) => under(1000 + n, { kind: 'note', text: 'mine' })),
        { clock: 30, identity: 'maintainer' },
      );
      branch(place, 'feature');
      told(place, [under(3, CHANGE('blocked'))], { clock: 100 });
    },
  },
  {
    name: 'done by a thought from before it was begun again, and junk changes push out the beginning',
    threat: 52,
    expect: 'done_without_thought',
    async build(place) {
      told(place, [WORK, await remark(place), FINISHED, CHANGE('todo'), WORK], { clock: 20 });
      told(
        place,
        many(20, () => CHANGE('blocked')),
        { clock: 30, identity: 'erin' },
      );
      branch(place, 'feature');
      told(place, [FINISHED], { clock: 100 });
    },
  },
  {
    name: 'the same, and the junk arrives with it',
    threat: 52,
    expect: 'done_without_thought',
    async build(place) {
      told(place, [WORK, await remark(place), FINISHED, CHANGE('todo'), WORK], { clock: 20 });
      branch(place, 'feature');
      told(place, [...many(20, () => CHANGE('blocked')), FINISHED], { clock: 30 });
    },
  },
];

/** A thought that was accepted before anybody had to look at it. */
export const UNSEEN: Scenario[] = [
  {
    name: 'a thought in one push, done in the next, no review',
    threat: 56,
    expect: 'review_missing',
    async build(place) {
      policy(place, REVIEW);
      told(place, [WORK, await remark(place)], { clock: 20 });
      branch(place, 'feature');
      told(place, [FINISHED], { clock: 30 });
    },
  },
  {
    name: 'the same, done by another identity',
    threat: 56,
    isVariant: true,
    expect: 'review_missing',
    async build(place) {
      policy(place, REVIEW);
      told(place, [WORK, await remark(place)], { clock: 20 });
      branch(place, 'feature');
      told(place, [FINISHED], { clock: 30, identity: 'erin' });
    },
  },
  {
    name: 'a thought that was refused after it was approved, done in a third push',
    threat: 56,
    expect: 'review_missing',
    async build(place) {
      policy(place, REVIEW);
      const [, thought] = told(place, [WORK, await remark(place)], { clock: 20 });
      told(place, [verdictOn(thought!.id)], { clock: 30, identity: 'erin' });
      told(place, [verdictOn(thought!.id, 'reject')], { clock: 40, identity: 'erin' });
      branch(place, 'feature');
      told(place, [FINISHED], { clock: 50 });
    },
  },
  {
    name: 'a review of the thought from before a task was begun again',
    threat: 56,
    expect: 'review_missing',
    async build(place) {
      policy(place, REVIEW);
      const [, thought] = told(place, [WORK, await remark(place), FINISHED], { clock: 20 });
      told(place, [verdictOn(thought!.id)], { clock: 30, identity: 'erin' });
      told(place, [CHANGE('todo'), WORK, await remark(place)], { clock: 40 });
      branch(place, 'feature');
      told(place, [FINISHED], { clock: 50 });
    },
  },
];

/** A session that was superseded goes on writing. */
export const SUPERSEDED: Scenario[] = [
  {
    name: 'done under a number that was superseded on the protected branch',
    threat: 74,
    expect: 'stale_token',
    async build(place) {
      told(place, [under(4, WORK)], { clock: 50, identity: 'erin' });
      branch(place, 'feature');
      told(place, [under(3, await remark(place)), under(3, FINISHED)], { clock: 60 });
    },
  },
  {
    name: 'a task put aside under a number that was superseded',
    threat: 74,
    isVariant: true,
    expect: 'stale_token',
    build(place) {
      told(place, [under(4, WORK)], { clock: 50, identity: 'erin' });
      branch(place, 'feature');
      told(place, [under(3, CHANGE('cancelled'))], { clock: 60 });
    },
  },
  {
    name: 'done by a thought that was written under a number that was superseded',
    threat: 74,
    expect: 'stale_token',
    async build(place) {
      told(place, [under(4, WORK)], { clock: 50, identity: 'erin' });
      branch(place, 'feature');
      told(place, [under(3, await remark(place)), FINISHED], { clock: 60 });
    },
  },
  {
    name: 'done under a number that was superseded, brought together with what superseded it',
    threat: 74,
    expect: 'stale_token',
    async build(place) {
      branch(place, 'feature');
      told(place, [under(4, WORK)], { clock: 50, identity: 'erin' });
      told(place, [under(3, await remark(place)), under(3, FINISHED)], { clock: 60 });
    },
  },
  {
    name: 'done under the number that somebody else holds',
    threat: 74,
    expect: 'stale_token',
    async build(place) {
      told(place, [under(4, WORK)], { clock: 50, identity: 'erin' });
      branch(place, 'feature');
      told(place, [under(4, await remark(place)), under(4, FINISHED)], { clock: 60 });
    },
  },
];

/** Tasks that wait for each other: nobody could begin them. */
export const CIRCLES: Scenario[] = [
  {
    name: 'two maintainers, each with one half of a cycle',
    expect: 'task_cycle',
    build(place) {
      for (const id of ['A', 'B']) defined(place, id);
      branch(place, 'feature');
      waiting(place, 'A', ['B']);
      checkout(place, 'main');
      waiting(place, 'B', ['A']);
      checkout(place, 'feature');
    },
  },
  {
    name: 'the same, merged before it is pushed',
    expect: 'task_cycle',
    build(place) {
      for (const id of ['A', 'B']) defined(place, id);
      branch(place, 'feature');
      waiting(place, 'A', ['B']);
      checkout(place, 'main');
      waiting(place, 'B', ['A']);
      checkout(place, 'feature');
      merge(place, 'main');
    },
  },
  {
    name: 'a new task that closes a cycle of three, of which one had been waiting for it',
    expect: 'task_cycle',
    build(place) {
      defined(place, 'A', ['LATER']);
      defined(place, 'B', ['A']);
      branch(place, 'feature');
      defined(place, 'LATER', ['B']);
    },
  },
  {
    name: 'a task that waits for itself',
    expect: 'task_cycle',
    build(place) {
      branch(place, 'feature');
      defined(place, 'A', ['A']);
    },
  },
  {
    name: 'a second cycle, by a task that is on one already',
    expect: 'task_cycle',
    build(place) {
      defined(place, 'A', ['B']);
      defined(place, 'B', ['A']);
      defined(place, 'C', ['A']);
      branch(place, 'feature');
      waiting(place, 'A', ['B', 'C']);
    },
  },
];
