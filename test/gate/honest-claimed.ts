import { type Place, privateKey } from '../handoff.ts';
import { git } from '../temporary.ts';
import { edited } from './ground.ts';
import { inReview, mainMoves, revert, squash, takeRecords } from './landing.ts';
import {
  BATON,
  branch,
  type Change,
  checkout,
  code,
  DONE,
  headOf,
  IN_PROGRESS,
  merge,
  policy,
  type Scenario,
  START,
  session,
  staged,
  thoughtSince,
} from './scenario.ts';
import { REVIEW, told, verdictOn } from './tasks.ts';

type Files = Record<string, string>;

/** A branch whose thought says what was done, and leaves it to others to call it done. */
async function undone(place: Place, ...commits: Files[]): Promise<string> {
  const base = headOf(place.dir);
  branch(place, 'feature');
  for (const [at, files] of commits.entries()) code(place, files, `commit ${at}`);
  told(place, [IN_PROGRESS, await thoughtSince(place, base)], { clock: 20 });
  return base;
}

/** What has landed is on the protected branch, and somebody says that the task is done. */
function doneBy(place: Place, landed: string, clock = 100): Change {
  branch(place, 'later', landed);
  told(place, [DONE], { clock, identity: 'erin' });
  return { base: landed, head: 'later' };
}

function land(place: Place, how: 'squash' | 'rebase' | 'merge'): void {
  branch(place, 'landed', how === 'rebase' ? 'feature' : 'main');
  if (how === 'rebase') git(place.dir, 'rebase', '--quiet', 'main');
  else if (how === 'merge') merge(place, '--no-ff', 'feature');
  else squash(place, 'feature', 'landed');
}

const NEAR = { 'src/app.ts': edited({ 20: 'feature\n' }) };
const NEARBY = { 'src/app.ts': edited({ 18: 'main\n' }) };

/** A thought came, and later somebody says that its task is done. */
export const DONE_LATER: Scenario[] = [
  ...(['squash', 'rebase', 'merge'] as const).map((how, at) => ({
    name: `done in a second push, after a ${how} of a branch that is gone`,
    isVariant: at > 1,
    async build(place: Place) {
      await undone(place, { 'src/a.ts': 'a\n' }, { 'src/b.ts': 'b\n' });
      mainMoves(place, { 'src/main.ts': 'main\n' });
      land(place, how);
      return doneBy(place, 'landed');
    },
  })),
  ...(['squash', 'rebase'] as const).map((how) => ({
    name: `done in a second push, after a ${how} where main had changed lines nearby`,
    async build(place: Place) {
      await undone(place, { 'src/a.ts': 'a\n' }, NEAR);
      mainMoves(place, NEARBY);
      land(place, how);
      return { ...doneBy(place, 'landed'), ...inReview(place) };
    },
  })),
  {
    name: 'the same where main has gone on in the same lines since',
    async build(place) {
      await undone(place, NEAR);
      mainMoves(place, { 'src/main.ts': 'main\n' });
      land(place, 'squash');
      code(place, { 'src/app.ts': edited({ 20: 'feature, and more\n' }) });
      return doneBy(place, 'landed');
    },
  },
  {
    name: 'done by a new thought about the commit that landed, where the old one is not found',
    async build(place) {
      await undone(place, NEAR);
      mainMoves(place, NEARBY);
      land(place, 'squash');
      const landed = headOf(place.dir);
      branch(place, 'later');
      told(place, [await thoughtSince(place, `${landed}^`, landed), DONE], { clock: 100, identity: 'erin' });
      return { base: 'landed', head: 'later' };
    },
  },
  {
    name: 'done in a second push by a thought about no code',
    async build(place) {
      branch(place, 'landed');
      told(place, [IN_PROGRESS, await thoughtSince(place, headOf(place.dir))], { clock: 20 });
      return doneBy(place, 'landed');
    },
  },
  {
    name: 'a thought about a commit that was amended, and one about what it became, done in a second push',
    async build(place) {
      const base = headOf(place.dir);
      branch(place, 'feature');
      code(place, { 'src/a.ts': 'wrong\n' });
      const first = await thoughtSince(place, base);
      git(place.dir, 'reset', '--quiet', '--hard', base);
      code(place, { 'src/a.ts': 'right\n' });
      told(place, [IN_PROGRESS, first, await thoughtSince(place, base)], { clock: 20 });
      land(place, 'squash');
      return doneBy(place, 'landed');
    },
  },
  {
    name: 'a task taken up again, done by the thought of the second time',
    async build(place) {
      await undone(place, { 'src/a.ts': 'a\n' });
      land(place, 'squash');
      const base = headOf(place.dir);
      branch(place, 'again');
      code(place, { 'src/b.ts': 'b\n' });
      told(place, [IN_PROGRESS, await thoughtSince(place, base)], { clock: 60 });
      branch(place, 'second', 'landed');
      squash(place, 'again', 'second');
      return doneBy(place, 'second');
    },
  },
];

/** What arrives in two pushes, in an order that nobody meant. */
export const RECORDS_FIRST: Scenario[] = [
  ...(['squash', 'rebase', 'merge'] as const).map((how) => ({
    name: `records without their code, and then an honest ${how}`,
    async build(place: Place) {
      const base = await undone(place, { 'src/a.ts': 'a\n' }, NEAR);
      branch(place, 'one', base);
      takeRecords(place, 'feature');
      branch(place, 'two', how === 'rebase' ? 'feature~1' : 'one');
      if (how === 'rebase') git(place.dir, 'rebase', '--quiet', 'one');
      else if (how === 'merge') merge(place, '--no-ff', 'feature');
      else squash(place, 'feature', 'two');
      told(place, [DONE], { clock: 100, identity: 'erin' });
      return { base: 'one', head: 'two', ...inReview(place) };
    },
  })),
  ...(['merge', 'squash'] as const).map((how) => ({
    name: `the same ${how}, where main has merged an old branch that never had the file as it is`,
    async build(place: Place) {
      branch(place, 'old');
      code(place, { 'src/else.ts': 'else\n' });
      checkout(place, 'main');
      code(place, { 'src/app.ts': edited({ 5: 'main\n' }) });
      await undone(place, { 'src/app.ts': edited({ 5: 'main\n', 20: 'feature\n' }) });
      branch(place, 'one', 'main');
      takeRecords(place, 'feature');
      merge(place, '--no-ff', 'old'); // to git this merge changes the file: it differs from what the old branch had
      branch(place, 'two', 'one');
      if (how === 'merge') merge(place, '--no-ff', 'feature');
      else squash(place, 'feature', 'two');
      return { base: 'one', head: 'two', ...inReview(place) };
    },
  })),
];

/** Two commits, the second of which has a thought of its own that lists only its own files. */
async function stacked(place: Place, first: Files, second: Files): Promise<{ one: string; two: string }> {
  const base = headOf(place.dir);
  branch(place, 'feature');
  const start = code(place, first, 'first');
  const [one] = told(place, [{ ...(await thoughtSince(place, base)), task_id: 'P0.2' }], { clock: 20 });
  code(place, second, 'second');
  const [, two] = told(place, [IN_PROGRESS, await thoughtSince(place, start), DONE], { clock: 40 });
  return { one: one!.id, two: two!.id };
}

const SECOND = { 'src/app.ts': edited({ 20: 'feature\n', 35: 'second\n' }) };

/** What comes along is listed by somebody. */
export const LISTED: Scenario[] = [
  {
    name: 'a squash of two thoughts, each of which lists its own files, where main has changed lines nearby',
    async build(place) {
      await stacked(place, { ...NEAR, 'src/a.ts': 'a\n' }, { ...SECOND, 'src/b.ts': 'b\n' });
      mainMoves(place, NEARBY);
      land(place, 'squash');
      return inReview(place);
    },
  },
  {
    name: 'the same, each of them approved',
    async build(place) {
      policy(place, REVIEW);
      const { one, two } = await stacked(place, { ...NEAR, 'src/a.ts': 'a\n' }, { ...SECOND, 'src/b.ts': 'b\n' });
      told(place, [{ ...verdictOn(one), task_id: 'P0.2' }, verdictOn(two)], { clock: 90, identity: 'erin' });
      mainMoves(place, NEARBY);
      land(place, 'squash');
      return inReview(place);
    },
  },
  {
    name: 'a merge of two thoughts, each of which lists its own files and is approved',
    async build(place) {
      policy(place, REVIEW);
      const { one, two } = await stacked(place, { 'src/a.ts': 'a\n' }, { 'src/b.ts': 'b\n' });
      told(place, [{ ...verdictOn(one), task_id: 'P0.2' }, verdictOn(two)], { clock: 90, identity: 'erin' });
    },
  },
  {
    name: 'a squash of what was built on a branch that was squashed before it, where main has changed lines nearby',
    async build(place) {
      const base = headOf(place.dir);
      branch(place, 'first');
      const start = code(place, { 'src/a.ts': 'a\n' }, 'first');
      told(place, [{ ...(await thoughtSince(place, base)), task_id: 'P0.2' }], { clock: 20 });
      branch(place, 'feature');
      code(place, NEAR);
      told(place, [IN_PROGRESS, await thoughtSince(place, start), DONE], { clock: 40 });
      checkout(place, 'main');
      squash(place, 'first', 'main');
      mainMoves(place, NEARBY);
      land(place, 'squash');
      return inReview(place);
    },
  },
  {
    name: 'a backport of a squash of a branch that had merged main',
    async build(place) {
      git(place.dir, 'branch', '--quiet', 'release');
      branch(place, 'feature');
      code(place, { 'src/a.ts': 'a\n' });
      mainMoves(place, { 'src/main.ts': 'main\n' });
      merge(place, 'main');
      code(place, { 'src/b.ts': 'b\n' });
      session(place, [START, IN_PROGRESS, await thoughtSince(place, 'main'), DONE, BATON]);
      const squashed = squash(place, 'feature', 'main');
      branch(place, 'backport', 'release');
      git(place.dir, 'cherry-pick', '--no-commit', squashed);
      staged(place, () => {}, 'backport');
      return { base: 'release', ...inReview(place) };
    },
  },
  {
    name: 'a rebase after somebody else had done the same and taken it back, both of which a maintainer waives',
    async build(place) {
      const base = headOf(place.dir);
      branch(place, 'feature');
      code(place, NEAR);
      code(place, { 'src/a.ts': 'a\n' });
      session(place, [START, IN_PROGRESS, await thoughtSince(place, base), DONE, BATON]);
      mainMoves(place, NEARBY);
      branch(place, 'other', 'main');
      code(place, { 'src/app.ts': edited({ 18: 'main\n', 20: 'feature\n' }) }, 'the same');
      git(place.dir, 'commit', '--quiet', '--amend', '--no-edit', '--author=Else <else@example.org>');
      const done = headOf(place.dir);
      const back = revert(place, done);
      const waivers = [done, back].map((commit_sha) => ({ kind: 'waiver' as const, commit_sha, reason: 'a try' }));
      const key = privateKey(place, 'maintainer');
      session(place, [START, ...waivers, BATON], { identity: 'maintainer', key, clock: 90 });
      branch(place, 'rebased', 'feature');
      git(place.dir, 'rebase', '--quiet', 'other');
      return inReview(place);
    },
  },
];
