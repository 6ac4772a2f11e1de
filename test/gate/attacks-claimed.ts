import type { YamlValue } from '../../src/core/bytes/yaml.ts';
import type { Draft, Place } from '../handoff.ts';
import { git } from '../temporary.ts';
import { edited, folderOf } from './ground.ts';
import { inReview, mainMoves, revert, squash, takeRecords } from './landing.ts';
import { usual } from './ready.ts';
import {
  BATON,
  branch,
  type Change,
  checkout,
  code,
  commitRecords,
  DONE,
  type Honest,
  headOf,
  honestBranch,
  IN_PROGRESS,
  merge,
  policy,
  type Scenario,
  START,
  session,
  thoughtSince,
} from './scenario.ts';
import { REVIEW, told, verdictOn } from './tasks.ts';

const MISSING = 'writeback_missing';
const NOT_DONE = 'done_without_thought';
const UNLISTED = ['files_uncovered', MISSING];
const HALF = [NOT_DONE, ...UNLISTED];

type Files = Record<string, string>;

/** The ids that thoughts about the good code and about the other code have. */
type Ids = Record<'good' | 'evil', Draft>;

/** A branch that somebody approved; and, checked out, other code with its records. */
async function swapped(place: Place, lie: (ids: Ids) => Draft, others: readonly Files[] = [EVIL], files = GOOD) {
  policy(place, REVIEW);
  const base = headOf(place.dir);
  branch(place, 'evil');
  for (const each of others) code(place, each, 'something else');
  const evil = await thoughtSince(place, base);
  branch(place, 'feature', base);
  code(place, files);
  const good = await thoughtSince(place, base);
  const records = session(place, [START, IN_PROGRESS, lie({ good, evil }), DONE, BATON]);
  told(place, [verdictOn(records[2]!.id)], { clock: 100, identity: 'erin' });
  checkout(place, 'evil');
  takeRecords(place, 'feature');
  return inReview(place);
}

const GOOD: Files = { 'src/a.ts': 'good\n' };
const EVIL: Files = { 'src/a.ts': 'evil\n' };
const logged = (times: number): Files => ({ 'src/log.ts': 'log\n'.repeat(times) });

function listed({ commit_patch_ids }: Draft): YamlValue[] {
  return commit_patch_ids as YamlValue[];
}

/** A thought that names the good commit, and ids of other code. */
export const FALSE_IDS: Scenario[] = [
  {
    name: 'an approved thought with the patch ids of other code, and that code',
    expect: HALF,
    build: (place) =>
      swapped(place, ({ good, evil }) => ({
        ...good,
        patch_id: evil.patch_id!,
        commit_patch_ids: evil.commit_patch_ids!,
      })),
  },
  {
    name: 'the same where only the id of the whole is false',
    expect: HALF,
    build: (place) => swapped(place, ({ good, evil }) => ({ ...good, patch_id: evil.patch_id! })),
  },
  {
    name: 'the same where only the ids of the commits are false',
    expect: HALF,
    isVariant: true,
    build: (place) => swapped(place, ({ good, evil }) => ({ ...good, commit_patch_ids: evil.commit_patch_ids! })),
  },
  {
    name: 'the same where the id of the whole is all there is',
    expect: HALF,
    isVariant: true,
    build: (place) =>
      swapped(place, ({ good: { commit_patch_ids: _, ...good }, evil }) => ({ ...good, patch_id: evil.patch_id! })),
  },
  {
    name: 'an approved thought that lists the id of other code beside its own, and both',
    expect: MISSING,
    build: (place) =>
      swapped(place, ({ good, evil }) => ({ ...good, commit_patch_ids: listed(evil) }), [
        GOOD,
        { 'src/a.ts': 'good\nand evil\n' },
      ]),
  },
  {
    name: 'a patch twice, under a thought that lists it twice and has done it once',
    expect: MISSING,
    async build(place) {
      code(place, logged(5));
      const twice = ({ good }: Ids): Draft => ({ ...good, commit_patch_ids: [...listed(good), ...listed(good)] });
      return swapped(place, twice, [logged(6), logged(7)], logged(6));
    },
  },
];

/** As a forge squashes onto a branch: all the code of another, and of its records one session. */
function squashWith(place: Place, name: string, onto: string, folder: string): void {
  branch(place, 'landed', onto);
  git(place.dir, 'merge', '--quiet', '--squash', name);
  git(place.dir, 'reset', '--quiet', '--', '.handoff');
  git(place.dir, 'checkout', '--quiet', onto, '--', '.handoff');
  git(place.dir, 'checkout', '--quiet', name, '--', folder);
  git(place.dir, 'clean', '--force', '-d', '--quiet');
  git(place.dir, 'commit', '--quiet', '--message', `squash of ${name}`);
}

/** A branch whose first commit nobody accounts for, and whose second one somebody does. */
async function onTop(place: Place, below: Files, above: Files = { 'src/small.ts': 'small\n' }): Promise<Change> {
  branch(place, 'feature');
  const start = code(place, below, 'nobody accounts for this');
  code(place, above);
  session(place, [START, IN_PROGRESS, await thoughtSince(place, start), DONE, BATON]);
  branch(place, 'landed', 'main');
  squash(place, 'feature', 'landed');
  return inReview(place);
}

/** A squash brings what a thought is about, and something else that was behind it. */
export const CARRIED: Scenario[] = [
  {
    name: 'a squash that carries along what the thought does not list',
    expect: UNLISTED,
    build: (place) => onTop(place, { 'src/evil.ts': 'evil\n', 'src/lib.ts': 'evil lib\n' }),
  },
  {
    name: 'the same in a file that the thought lists, and one that it does not',
    expect: UNLISTED,
    isVariant: true,
    build: (place) => onTop(place, { 'src/evil.ts': 'evil\n', 'src/small.ts': 'tiny\n' }),
  },
  {
    name: 'the same where main has renamed the file that is carried along',
    expect: UNLISTED,
    async build(place) {
      const start = headOf(place.dir);
      git(place.dir, 'mv', 'src/app.ts', 'src/main.ts');
      git(place.dir, 'commit', '--quiet', '--message', 'another name');
      git(place.dir, 'branch', '--quiet', 'moved');
      git(place.dir, 'reset', '--quiet', '--hard', start);
      branch(place, 'feature');
      const evil = code(place, { 'src/app.ts': edited({ 20: 'evil\n' }) });
      code(place, { 'src/small.ts': 'small\n' });
      session(place, [START, IN_PROGRESS, await thoughtSince(place, evil), DONE, BATON]);
      branch(place, 'landed', 'moved');
      squash(place, 'feature', 'landed');
      return { base: 'moved', ...inReview(place) };
    },
  },
  {
    name: 'a fix for a release that brings what main tries along',
    expect: UNLISTED,
    async build(place) {
      git(place.dir, 'branch', '--quiet', 'release');
      const start = headOf(place.dir);
      code(place, { 'src/experimental.ts': 'experiment\n', 'src/lib.ts': 'experimental lib\n' });
      session(place, [START, { ...(await thoughtSince(place, start)), task_id: 'P0.9' }, BATON], { clock: 30 });
      const before = headOf(place.dir);
      branch(place, 'fix');
      code(place, { 'src/fix.ts': 'fix\n' });
      const drafts = [START, IN_PROGRESS, await thoughtSince(place, before), DONE, BATON];
      squashWith(place, 'fix', 'release', folderOf(session(place, drafts, { clock: 50 })));
      return { base: 'release', ...inReview(place, 'fix') };
    },
  },
  {
    name: 'a rebased commit that its thought lists by its id, and whose file it does not list',
    expect: 'files_uncovered',
    async build(place) {
      const start = headOf(place.dir);
      branch(place, 'feature');
      code(place, { 'src/app.ts': edited({ 20: 'evil\n' }) });
      code(place, { 'src/small.ts': 'small\n' });
      const thought = { ...(await thoughtSince(place, start)), files_changed: ['src/small.ts'] };
      session(place, [START, IN_PROGRESS, thought, DONE, BATON]);
      mainMoves(place, { 'src/app.ts': edited({ 18: 'main\n' }) });
      branch(place, 'landed', 'feature');
      git(place.dir, 'rebase', '--quiet', 'main');
      return inReview(place);
    },
  },
];

/** The records up to a thought come first, and what says that it is done comes in a second push. */
function recordsFirst(place: Place, from: string, later: readonly string[]): void {
  branch(place, 'one', 'main');
  git(place.dir, 'checkout', '--quiet', from, '--', '.handoff');
  if (later.length > 0) git(place.dir, 'rm', '--quiet', '--cached', '--', ...later);
  git(place.dir, 'commit', '--quiet', '--message', 'records');
  git(place.dir, 'clean', '--force', '-d', '--quiet');
  branch(place, 'two', 'one');
}

/** No code comes in either push. */
function inTwoPushes(place: Place, { records }: Honest): Change {
  const later = records.slice(3).map(({ path }) => path);
  recordsFirst(place, 'feature', later);
  git(place.dir, 'checkout', '--quiet', 'feature', '--', '.handoff');
  commitRecords(place);
  return { base: 'one', head: 'two' };
}

/** A task that is done in a second push, without what its thought is about. */
export const DONE_LATER: Scenario[] = [
  {
    name: 'the records up to a thought without its code, and done in a second push',
    expect: NOT_DONE,
    build: async (place) => inTwoPushes(place, await usual(place)),
  },
  {
    name: 'the same where the one who judges could tell by the branch',
    expect: NOT_DONE,
    build: async (place) => ({ ...inTwoPushes(place, await usual(place)), ...inReview(place) }),
  },
  {
    name: 'the same by somebody else, of an approved thought',
    expect: NOT_DONE,
    async build(place) {
      policy(place, REVIEW);
      const base = headOf(place.dir);
      branch(place, 'feature');
      code(place, { 'src/a.ts': 'a\n' });
      const [, thought] = told(place, [IN_PROGRESS, await thoughtSince(place, base)], { clock: 20 });
      told(place, [verdictOn(thought!.id)], { clock: 40, identity: 'erin' });
      recordsFirst(place, 'feature', []);
      told(place, [DONE], { clock: 60, identity: 'erin' });
      return { base: 'one', head: 'two' };
    },
  },
  {
    name: 'the same where half of the code has landed under an account of its own',
    expect: NOT_DONE,
    async build(place) {
      const honest = await honestBranch(place, 'feature', { 'src/a.ts': 'a\n', 'src/b.ts': 'b\n' });
      checkout(place, 'main');
      const start = headOf(place.dir);
      code(place, { 'src/a.ts': 'a\n' });
      session(place, [START, { ...(await thoughtSince(place, start)), task_id: 'P0.2' }, BATON], { clock: 90 });
      return { ...inTwoPushes(place, honest), ...inReview(place) };
    },
  },
];

/** Records of two commits came first, without their code. */
async function twoToCome(place: Place): Promise<string[]> {
  const base = headOf(place.dir);
  branch(place, 'feature');
  const commits = [code(place, { 'src/a.ts': 'a\n' }, 'one'), code(place, { 'src/b.ts': 'b\n' }, 'two')];
  told(place, [IN_PROGRESS, await thoughtSince(place, base)], { clock: 20 });
  branch(place, 'one', 'main');
  takeRecords(place, 'feature');
  return commits;
}

/** The records came first, and something else than their code comes afterwards. */
export const CODE_LATER: Scenario[] = [
  ...['../x', '/x', './x', 'src//x', 'src/..'].map((path) => ({
    name: `code that somebody's older thought names together with a file ${path}`,
    threat: 48,
    expect: UNLISTED,
    async build(place: Place) {
      const base = headOf(place.dir);
      branch(place, 'feature');
      code(place, { 'src/a.ts': 'a\n' });
      const thought = { ...(await thoughtSince(place, base)), files_changed: ['src/a.ts', path] };
      checkout(place, 'main');
      told(place, [thought], { clock: 20, identity: 'erin' });
      return { base: 'main', head: 'feature', ...inReview(place) };
    },
  })),
  {
    name: 'records without their code, and then half of it',
    threat: 47,
    expect: UNLISTED,
    async build(place) {
      const [first] = await twoToCome(place);
      branch(place, 'two', 'one');
      git(place.dir, 'cherry-pick', first!);
      return { base: 'one', head: 'two', ...inReview(place) };
    },
  },
  {
    name: 'records without their code, which lands and is taken back, and then comes again',
    threat: 46,
    expect: UNLISTED,
    async build(place) {
      await twoToCome(place);
      const landed = squash(place, 'feature', 'one');
      revert(place, landed);
      branch(place, 'two', 'one');
      git(place.dir, 'cherry-pick', landed);
      return { base: 'one', head: 'two', ...inReview(place) };
    },
  },
  {
    name: 'records without their code, and then other code under the id that they give it',
    expect: UNLISTED,
    async build(place) {
      const base = headOf(place.dir);
      branch(place, 'evil');
      code(place, EVIL, 'something else');
      const { patch_id } = await thoughtSince(place, base);
      branch(place, 'feature', base);
      code(place, GOOD);
      told(place, [IN_PROGRESS, { ...(await thoughtSince(place, base)), patch_id: patch_id! }], { clock: 20 });
      branch(place, 'one', base);
      takeRecords(place, 'feature');
      branch(place, 'two', 'one');
      git(place.dir, 'cherry-pick', 'evil');
      return { base: 'one', head: 'two', ...inReview(place) };
    },
  },
];

/** Code whose thought nobody approved, under another one that somebody did. */
export const REFUSED: Scenario[] = [
  {
    name: 'code whose thought was refused, behind an approved one that does not list it',
    expect: 'review_missing',
    async build(place) {
      policy(place, REVIEW);
      const base = headOf(place.dir);
      branch(place, 'feature');
      const first = code(place, { 'src/backdoor.ts': 'backdoor\n' });
      const refused = await thoughtSince(place, base);
      code(place, { 'src/small.ts': 'small\n' });
      const [, one] = told(place, [IN_PROGRESS, refused], { clock: 20 });
      const [, two] = told(place, [IN_PROGRESS, await thoughtSince(place, first), DONE], { clock: 40 });
      told(place, [verdictOn(one!.id, 'reject')], { clock: 60, identity: 'erin' });
      told(place, [verdictOn(two!.id)], { clock: 80, identity: 'erin' });
    },
  },
  {
    name: 'the same where nobody has looked at the one below',
    expect: 'review_missing',
    isVariant: true,
    async build(place) {
      policy(place, REVIEW);
      const base = headOf(place.dir);
      branch(place, 'feature');
      const first = code(place, { 'src/backdoor.ts': 'backdoor\n' });
      told(place, [IN_PROGRESS, await thoughtSince(place, base)], { clock: 20 });
      code(place, { 'src/small.ts': 'small\n' });
      const [, two] = told(place, [IN_PROGRESS, await thoughtSince(place, first), DONE], { clock: 40 });
      told(place, [verdictOn(two!.id)], { clock: 80, identity: 'erin' });
    },
  },
  {
    name: 'the same, squashed',
    expect: ['files_uncovered', 'review_missing'],
    async build(place) {
      policy(place, REVIEW);
      const base = headOf(place.dir);
      branch(place, 'feature');
      const first = code(place, { 'src/backdoor.ts': 'backdoor\n' });
      const [, one] = told(place, [IN_PROGRESS, await thoughtSince(place, base)], { clock: 20 });
      code(place, { 'src/small.ts': 'small\n' });
      const [, two] = told(place, [IN_PROGRESS, await thoughtSince(place, first), DONE], { clock: 40 });
      told(place, [verdictOn(one!.id, 'reject')], { clock: 60, identity: 'erin' });
      told(place, [verdictOn(two!.id)], { clock: 80, identity: 'erin' });
      branch(place, 'landed', 'main');
      squash(place, 'feature', 'landed');
      return inReview(place);
    },
  },
];

/** What was there when a commit was picked is gone again where it is merged. */
export const PICKED_EARLIER: Scenario[] = [
  {
    name: 'a squash put where half of it was there, and main has taken that half back since',
    threat: 47,
    expect: HALF,
    async build(place) {
      const files = { 'src/lib.ts': 'guard\n', 'src/app.ts': edited({ 5: 'needs the guard\n' }) };
      await honestBranch(place, 'feature', files);
      checkout(place, 'main');
      const guarded = code(place, { 'src/lib.ts': 'guard\n' });
      code(place, { 'src/lib.ts': 'lib\n' });
      branch(place, 'half', guarded);
      squash(place, 'feature', 'half');
      git(place.dir, 'commit', '--quiet', '--amend', '--no-edit', '--author=Forge <forge@example.org>');
      merge(place, 'main');
      return inReview(place);
    },
  },
  {
    name: 'a commit picked where half of it was there, by a branch that left before, and main has taken that half back since',
    threat: 47,
    expect: HALF,
    async build(place) {
      const files = { 'src/lib.ts': 'guard\n', 'src/app.ts': edited({ 5: 'needs the guard\n' }) };
      const { commit } = await honestBranch(place, 'feature', files);
      checkout(place, 'main');
      const guarded = code(place, { 'src/lib.ts': 'guard\n' });
      code(place, { 'src/lib.ts': 'lib\n' });
      branch(place, 'half', guarded);
      git(place.dir, 'cherry-pick', commit);
      merge(place, 'main');
      takeRecords(place, 'feature');
      return inReview(place);
    },
  },
  {
    name: 'what the same change takes back, brought again by somebody else, and only a thought about the first time lists it',
    threat: 46,
    expect: MISSING,
    async build(place) {
      const base = headOf(place.dir);
      const near = { 'src/app.ts': edited({ 18: 'main\n', 20: 'feature\n' }) };
      branch(place, 'feature');
      const first = code(place, { 'src/app.ts': edited({ 20: 'feature\n' }) });
      const second = code(place, { 'src/b.ts': 'b\n' });
      told(place, [await thoughtSince(place, base, second)], { clock: 20 });
      mainMoves(place, { 'src/app.ts': edited({ 18: 'main\n' }) });
      const main = git(place.dir, 'rev-parse', 'main');
      branch(place, 'side', main);
      git(place.dir, 'cherry-pick', second);
      told(place, [{ ...(await thoughtSince(place, main)), task_id: 'P0.2' }], { clock: 40 });
      branch(place, 'line', main);
      git(place.dir, 'cherry-pick', first);
      revert(place, 'HEAD');
      told(place, [{ ...(await thoughtSince(place, main)), task_id: 'P0.3', files_changed: ['src/app.ts'] }], {
        clock: 60,
      });
      code(place, near, 'once more');
      git(place.dir, 'commit', '--quiet', '--amend', '--no-edit', '--author=Else <else@example.org>');
      merge(place, '--no-ff', 'side');
      takeRecords(place, 'feature');
      return inReview(place);
    },
  },
];
