import type { Draft } from '../handoff.ts';
import { usual } from './ready.ts';
import {
  BATON,
  branch,
  checkout,
  code,
  defined,
  headOf,
  merge,
  policy,
  type Scenario,
  START,
  session,
  thoughtSince,
  waiting,
} from './scenario.ts';
import { CHANGE, FINISHED, many, REVIEW, remark, told, under, verdictOn, WORK } from './tasks.ts';

/** What was said long ago still counts. */
export const REMEMBERED: Scenario[] = [
  {
    name: 'a thought on the protected branch, and twenty newer ones about the same task',
    async build(place) {
      branch(place, 'feature');
      code(place, { 'src/new.ts': 'new\n' });
      const thought = await thoughtSince(place, 'main');
      checkout(place, 'main');
      const later = await remark(place);
      told(place, [thought, ...many(20, () => later)], { clock: 20 });
      checkout(place, 'feature');
    },
  },
  {
    name: 'a waiver on the protected branch, and five hundred newer ones',
    build(place) {
      branch(place, 'feature');
      const commit_sha = code(place, { 'src/new.ts': 'new\n' });
      checkout(place, 'main');
      const waiver = (commit: string) => ({ kind: 'waiver' as const, commit_sha: commit, reason: 'urgent' });
      const others = many(520, (n) => waiver(n.toString(16).padStart(40, '0')));
      told(place, [waiver(commit_sha), ...others], { clock: 20, identity: 'maintainer' });
      checkout(place, 'feature');
    },
  },
  {
    name: 'an approval that came before five hundred reviews of other thoughts',
    async build(place) {
      policy(place, REVIEW);
      const { records } = await usual(place);
      checkout(place, 'main');
      const junk = many(520, (n) => verdictOn(`sha256:${n.toString(16).padStart(64, '0')}`));
      told(place, [verdictOn(records[2]!.id), ...junk], { clock: 20, identity: 'erin' });
      checkout(place, 'feature');
    },
  },
  {
    name: 'a task that is done by a thought from before thirty changes of it',
    async build(place) {
      told(place, [WORK, await remark(place), ...many(30, (n) => CHANGE(n % 2 ? 'blocked' : 'cancelled'))], {
        clock: 20,
      });
      branch(place, 'feature');
      told(place, [FINISHED], { clock: 100 });
    },
  },
];

/** Reviews and `done` come when they come. */
export const SEEN: Scenario[] = [
  {
    name: 'a thought, its review and done in three pushes',
    async build(place) {
      policy(place, REVIEW);
      const [, thought] = told(place, [WORK, await remark(place)], { clock: 20 });
      told(place, [verdictOn(thought!.id)], { clock: 30, identity: 'erin' });
      branch(place, 'feature');
      told(place, [FINISHED], { clock: 40 });
    },
  },
  {
    name: 'a thought of an earlier push, its review and done together, by somebody else',
    async build(place) {
      policy(place, REVIEW);
      const [, thought] = told(place, [WORK, await remark(place)], { clock: 20 });
      branch(place, 'feature');
      told(place, [verdictOn(thought!.id), FINISHED], { clock: 30, identity: 'erin' });
    },
  },
  {
    name: 'a refusal that its author took back',
    async build(place) {
      policy(place, REVIEW);
      const [, thought] = told(place, [WORK, await remark(place)], { clock: 20 });
      told(place, [verdictOn(thought!.id, 'reject')], { clock: 30, identity: 'erin' });
      told(place, [verdictOn(thought!.id)], { clock: 40, identity: 'erin' });
      branch(place, 'feature');
      told(place, [FINISHED], { clock: 50 });
    },
  },
  {
    name: 'a task begun again, with a thought and a review of its own',
    async build(place) {
      policy(place, REVIEW);
      told(place, [WORK, await remark(place)], { clock: 20 });
      const [, , again] = told(place, [CHANGE('todo'), WORK, await remark(place)], { clock: 30 });
      branch(place, 'feature');
      told(place, [verdictOn(again!.id)], { clock: 40, identity: 'erin' });
      told(place, [FINISHED], { clock: 50 });
    },
  },
];

/** One after the other, in whatever order it is merged. */
export const IN_TURN: Scenario[] = [
  {
    name: 'the work of a session that was superseded later, merged after that of its successor',
    async build(place) {
      branch(place, 'feature');
      code(place, { 'src/new.ts': 'new\n' });
      told(place, [under(3, WORK), under(3, await thoughtSince(place, 'main'))], { clock: 20 });
      checkout(place, 'main');
      told(place, [under(4, WORK)], { clock: 50, identity: 'erin' });
      checkout(place, 'feature');
    },
  },
  {
    name: 'done under a number that was superseded, said again under a new one',
    async build(place) {
      told(place, [under(4, WORK)], { clock: 50, identity: 'erin' });
      branch(place, 'feature');
      told(place, [under(3, await remark(place)), under(3, FINISHED)], { clock: 60 });
      told(place, [under(5, WORK), under(5, await remark(place)), under(5, FINISHED)], { clock: 70 });
    },
  },
  {
    name: 'done under a number that another identity has passed long ago, writing down one for every 64 since',
    threat: 74,
    async build(place) {
      const ladder = [64, 128, 192, 256].map((token) => under(token, { kind: 'note', text: 'mine' }));
      told(place, ladder, { clock: 30, identity: 'erin' });
      branch(place, 'feature');
      told(place, [under(65, WORK), under(65, await remark(place)), under(65, FINISHED)], { clock: 60 });
    },
  },
  {
    name: 'done by the successor, by the thought of the session that it picked up',
    async build(place) {
      const first = headOf(place.dir);
      branch(place, 'feature', first);
      told(place, [under(3, WORK), under(3, await remark(place))], { clock: 20 });
      told(place, [under(4, FINISHED)], { clock: 60, identity: 'erin' });
    },
  },
  {
    name: 'the same, where the successor was heard of before',
    async build(place) {
      branch(place, 'feature');
      told(place, [under(3, WORK), under(3, await remark(place))], { clock: 20 });
      const begun: Draft[] = [START, under(4, { kind: 'note', text: 'going on' })];
      const erin = { clock: 50, identity: 'erin', sessionId: '9a1b2c3d-0000-4000-8000-000000000001' };
      checkout(place, 'main');
      session(place, begun, erin);
      checkout(place, 'feature');
      merge(place, 'main');
      session(place, [...begun, under(4, FINISHED), BATON], erin);
    },
  },
  {
    name: 'a number of a lock far above all others, which nobody ever held',
    async build(place) {
      told(place, [under(1_000_000, { kind: 'note', text: 'mine' })], { clock: 20, identity: 'erin' });
      branch(place, 'feature');
      told(place, [under(3, WORK), under(3, await remark(place)), under(3, FINISHED)], { clock: 30 });
    },
  },
  {
    name: 'a number of a lock that somebody else took from a branch that all can see',
    async build(place) {
      branch(place, 'feature');
      code(place, { 'src/new.ts': 'new\n' });
      told(place, [under(3, WORK), under(3, await thoughtSince(place, 'main'))], { clock: 20 });
      checkout(place, 'main');
      told(place, [under(3, CHANGE('blocked'))], { clock: 50, identity: 'erin' });
      checkout(place, 'feature');
    },
  },
];

/** What comes close to a cycle, and what may be done while there is one. */
export const UNTANGLED: Scenario[] = [
  {
    name: 'two maintainers, each with a task that waits for the one that the other changes',
    build(place) {
      for (const id of ['A', 'B', 'C']) defined(place, id);
      branch(place, 'feature');
      waiting(place, 'A', ['B', 'C']);
      checkout(place, 'main');
      waiting(place, 'B', ['C']);
      checkout(place, 'feature');
    },
  },
  {
    name: 'a dependency that is turned round',
    build(place) {
      defined(place, 'A');
      defined(place, 'B', ['A']);
      branch(place, 'feature');
      waiting(place, 'B', []);
      waiting(place, 'A', ['B']);
    },
  },
  {
    name: 'one of two cycles is taken apart',
    build(place) {
      defined(place, 'A', ['B', 'C']);
      defined(place, 'B', ['A']);
      defined(place, 'C', ['A']);
      branch(place, 'feature');
      waiting(place, 'A', ['C']);
    },
  },
  {
    name: 'a task that waits for one on a cycle',
    build(place) {
      defined(place, 'A', ['B']);
      defined(place, 'B', ['A']);
      branch(place, 'feature');
      defined(place, 'C', ['A']);
    },
  },
  {
    name: 'a change elsewhere while there is a cycle',
    async build(place) {
      defined(place, 'A', ['B']);
      defined(place, 'B', ['A']);
      await usual(place);
    },
  },
];
