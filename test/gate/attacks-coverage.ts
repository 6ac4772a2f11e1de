import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Place, privateKey, writeBytes } from '../handoff.ts';
import { git, gitInput } from '../temporary.ts';
import { edited } from './ground.ts';
import { inReview, mainMoves, mergeAsItIs, mergeAsWritten, revert, squash, takeRecords } from './landing.ts';
import { usual } from './ready.ts';
import {
  BATON,
  branch,
  checkout,
  code,
  DONE,
  headOf,
  honestBranch,
  IN_PROGRESS,
  merge,
  policy,
  type Scenario,
  START,
  session,
  staged,
  thoughtSince,
} from './scenario.ts';

const MISSING = 'writeback_missing';
/** And what it changes no thought lists either. */
const UNLISTED = ['files_uncovered', MISSING];
const HALF = ['done_without_thought', ...UNLISTED];

/** A side of a conflict: what it does to the tree and the index before it is committed. */
type Side = (place: Place) => void;

const lines =
  (text: string): Side =>
  ({ dir }) =>
    writeBytes(dir, 'src/app.ts', edited({ 5: text }));
const gone: Side = ({ dir }) => rmSync(join(dir, 'src/app.ts'));
const bytes =
  (byte: number): Side =>
  ({ dir }) =>
    writeFileSync(join(dir, 'src/app.ts'), Buffer.from([0, byte, 0, 255]));
const link =
  (target: string): Side =>
  ({ dir }) => {
    rmSync(join(dir, 'src/app.ts'));
    symlinkSync(target, join(dir, 'src/app.ts'));
  };
const submodule =
  (digit: string): Side =>
  ({ dir }) => {
    git(dir, 'update-index', '--add', '--cacheinfo', `160000,${digit.repeat(40)},src/sub`);
    mkdirSync(join(dir, 'src/sub'), { recursive: true });
  };
const added =
  (text: string): Side =>
  ({ dir }) =>
    writeBytes(dir, 'src/added.ts', text);
const renamed =
  (to: string): Side =>
  ({ dir }) =>
    void git(dir, 'mv', 'src/app.ts', to);
const folder: Side = ({ dir }) => {
  rmSync(join(dir, 'src/app.ts'));
  mkdirSync(join(dir, 'src/app.ts'));
  writeFileSync(join(dir, 'src/app.ts/index.ts'), 'x\n');
};

function commitSide(place: Place, side: Side): string {
  return staged(place, () => {
    side(place);
    git(place.dir, 'add', '--all', '--', 'src');
  });
}

/** An honest branch that does one thing, and main that does another to the same. */
async function conflicting(place: Place, theirs: Side, ours: Side): Promise<void> {
  const start = headOf(place.dir);
  branch(place, 'feature', start);
  commitSide(place, theirs);
  session(place, [START, IN_PROGRESS, await thoughtSince(place, start), DONE, BATON]);
  checkout(place, 'main');
  commitSide(place, ours);
  checkout(place, 'feature');
}

const CONFLICTS: readonly [string, Side, Side][] = [
  ['a file that main removed and the branch changed', lines('feature\n'), gone],
  ['a file that main changed and the branch removed', gone, lines('fixed\n')],
  ['two contents of a binary file', bytes(1), bytes(2)],
  ['two links', link('here'), link('there')],
  ['a link where main has a file', link('here'), lines('fixed\n')],
  ['two commits of a submodule', submodule('1'), submodule('2')],
  ['two files of one name', added('feature\n'), added('main\n')],
  ['two new names of one file', renamed('src/new-a.ts'), renamed('src/new-b.ts')],
  ['a folder where main has a file', folder, lines('fixed\n')],
  ['a new name for a file that main removed', renamed('src/new-a.ts'), gone],
];

/** What git leaves to a person, and nobody decided. */
export const UNDECIDED: Scenario[] = [
  ...CONFLICTS.map(([name, theirs, ours], at) => ({
    name: `a merge that leaves as git left it: ${name}`,
    threat: 44,
    // git has moved one of the sides to a name that no thought lists
    expect: name.endsWith('where main has a file') ? UNLISTED : MISSING,
    isVariant: at > 2,
    async build(place: Place) {
      await conflicting(place, theirs, ours);
      mergeAsItIs(place, 'main');
    },
  })),
  {
    name: 'a merge with the very marks that git writes',
    threat: 44,
    expect: MISSING,
    async build(place) {
      await conflicting(place, lines('feature\n'), lines('fixed\n'));
      mergeAsWritten(place, 'main');
    },
  },
  ...[
    { name: 'a merge whose histories never met, which drops what main has', order: [1, 0, 2], isVariant: false },
    { name: 'the same with the branch as the first of its parents', order: [0, 1, 2], isVariant: true },
  ].map(({ name, order, isVariant }) => ({
    name,
    threat: 44,
    expect: UNLISTED,
    isVariant,
    async build(place: Place) {
      await usual(place);
      const tree = git(place.dir, 'mktree'); // of a commit that changes nothing, so that only the merge is left to refuse
      const alone = git(place.dir, 'commit-tree', tree, '-m', 'another history');
      mainMoves(place, { 'src/app.ts': edited({ 5: 'fixed\n' }) });
      const parents = [headOf(place.dir), alone, git(place.dir, 'rev-parse', 'main')];
      commitMerge(
        place,
        'HEAD^{tree}',
        order.map((at) => parents[at]!),
      );
    },
  })),
  {
    name: 'an octopus of which two sides conflict, as git left it',
    threat: 44,
    expect: MISSING,
    async build(place) {
      const start = headOf(place.dir);
      await conflicting(place, lines('feature\n'), gone);
      const feature = headOf(place.dir);
      branch(place, 'third', start);
      const third = staged(place, () => {}, 'nothing');
      checkout(place, 'feature');
      mergeAsWritten(place, 'main');
      commitMerge(place, 'HEAD^{tree}', [feature, git(place.dir, 'rev-parse', 'main'), third]);
    },
  },
  {
    name: 'a file in a folder that main has renamed to two, left where git left it',
    threat: 44,
    expect: MISSING,
    async build(place) {
      const names = ['a', 'b', 'c', 'd'];
      code(place, Object.fromEntries(names.map((name, n) => [`lib/${name}.ts`, edited({ 1: `${n}\n` })])));
      await honestBranch(place, 'feature', { 'lib/new.ts': 'new\n' });
      checkout(place, 'main');
      staged(place, () => {
        for (const folder of ['left', 'right']) mkdirSync(join(place.dir, folder));
        git(place.dir, 'mv', 'lib/a.ts', 'lib/b.ts', 'left');
        git(place.dir, 'mv', 'lib/c.ts', 'lib/d.ts', 'right');
      });
      checkout(place, 'feature');
      mergeAsWritten(place, 'main');
    },
  },
];

/** A merge that nobody else would make. */
function commitMerge({ dir }: Place, tree: string, parents: readonly string[]): void {
  const id = git(dir, 'rev-parse', tree);
  const made = git(dir, 'commit-tree', id, ...parents.flatMap((oid) => ['-p', oid]), '-m', 'merge');
  git(dir, 'reset', '--quiet', '--hard', made);
}

/** HEAD with another commit merged so many times, of which nothing comes. */
function mergedAgain({ dir }: Place, other: string, times: number): void {
  const commit = 'commit refs/heads/merged\ncommitter Ada <ada@example.org> 1800000000 +0000\ndata 0\n';
  const [first, theirs] = git(dir, 'rev-parse', 'HEAD', other).split('\n');
  const from = (at: number) => (at === 0 ? `from ${first}\n` : '');
  const stream = Array.from({ length: times }, (_, at) => `${commit}${from(at)}merge ${theirs}\n\n`);
  gitInput(dir, stream.join(''), 'fast-import', '--quiet');
  if (times > 0) git(dir, 'reset', '--quiet', '--hard', 'merged');
}

/** Squashed, and taken back by somebody who says so. */
async function takenBack(place: Place): Promise<string> {
  await usual(place);
  const landed = squash(place);
  const back = revert(place, landed);
  session(place, [START, { ...(await thoughtSince(place, landed, back)), task_id: 'P0.2' }, BATON], { clock: 90 });
  branch(place, 'again', 'feature');
  return landed;
}

/** What was there, and was taken back. */
export const BACK_AGAIN: Scenario[] = [
  {
    name: 'a branch that was squashed and reverted, merged once more',
    threat: 46,
    expect: UNLISTED,
    async build(place) {
      await takenBack(place);
      merge(place, '--no-ff', 'main');
    },
  },
  {
    name: 'the same without a merge, to be merged by the server',
    threat: 46,
    expect: UNLISTED,
    isVariant: true,
    build: async (place) => void (await takenBack(place)),
  },
  {
    name: 'the same where only half was taken back',
    threat: 46,
    expect: UNLISTED,
    async build(place) {
      await honestBranch(place, 'feature', { 'src/a.ts': 'a\n', 'src/b.ts': 'b\n' });
      const landed = squash(place);
      rmSync(join(place.dir, 'src/b.ts'));
      git(place.dir, 'add', '--all');
      const back = staged(place, () => {}, 'half of it back');
      session(place, [START, { ...(await thoughtSince(place, landed, back)), task_id: 'P0.2' }, BATON], { clock: 90 });
      branch(place, 'again', 'feature');
      merge(place, '--no-ff', 'main');
    },
  },
  {
    name: 'the same where it came and went on a side of a merge that shows neither',
    threat: 46,
    expect: UNLISTED,
    async build(place) {
      const { base } = await usual(place);
      branch(place, 'side', base);
      takeRecords(place, 'feature');
      squash(place, 'feature', 'side');
      revert(place, 'HEAD');
      checkout(place, 'main');
      code(place, { 'src/main.ts': 'main\n' }); // to git, this side alone tells what became of the file
      merge(place, '--no-ff', 'side');
      branch(place, 'again', 'feature');
    },
  },
  ...[0, 300].map((others) => ({
    name: `the same where a merge brought it and one took it back${others ? `, before ${others} that only look as if` : ''}`,
    threat: 46,
    expect: UNLISTED,
    async build(place: Place) {
      const [before, after] = [{ 5: 'main\n' }, { 5: 'main\n', 20: 'feature\n' }];
      branch(place, 'old');
      code(place, { 'src/old-only.ts': 'old\n' });
      checkout(place, 'main');
      code(place, { 'src/app.ts': edited(before) });
      await honestBranch(place, 'feature', { 'src/app.ts': edited(after) });
      checkout(place, 'main');
      takeRecords(place, 'feature');
      for (const changes of [after, before]) {
        code(place, { 'src/app.ts': edited(changes) });
        commitMerge(place, 'HEAD^{tree}', ['HEAD^', 'old']);
      }
      mergedAgain(place, 'old', others);
      branch(place, 'again', 'feature');
      merge(place, '--no-ff', 'main');
    },
  })),
  {
    name: 'a commit that was waived, squashed and reverted, merged once more',
    threat: 46,
    expect: UNLISTED,
    async build(place) {
      branch(place, 'feature');
      const commit = code(place, { 'src/a.ts': 'a\n' });
      const waiver = { kind: 'waiver' as const, commit_sha: commit, reason: 'urgent' };
      const key = privateKey(place, 'maintainer');
      session(place, [START, waiver, BATON], { identity: 'maintainer', key });
      const landed = squash(place);
      revert(place, landed);
      branch(place, 'again', 'feature');
    },
  },
  {
    name: 'a file whose name ends in a carriage return, squashed, reverted and merged once more',
    threat: 46,
    expect: UNLISTED,
    async build(place) {
      await honestBranch(place, 'feature', { 'src/a.ts\r': 'a\n' });
      revert(place, squash(place));
      branch(place, 'again', 'feature');
    },
  },
  {
    name: 'what was reverted since, in a squash onto a main from before it',
    threat: 46,
    expect: UNLISTED,
    async build(place) {
      const old = headOf(place.dir);
      const bad = code(place, { 'src/lib.ts': 'bad\n' });
      const { commit } = await honestBranch(place, 'feature', { 'src/app.ts': edited({ 5: 'feature\n' }) });
      checkout(place, 'main');
      revert(place, bad);
      const tree = git(place.dir, 'rev-parse', `${commit}^{tree}`);
      const squashed = git(place.dir, 'commit-tree', tree, '-p', old, '-m', 'squash of feature');
      branch(place, 'again');
      merge(place, squashed);
      takeRecords(place, 'feature');
      return inReview(place);
    },
  },
  {
    name: 'a force push that brings back by an older patch what was reverted twice',
    threat: 46,
    expect: MISSING,
    async build(place) {
      const bad = { 'src/app.ts': edited({ 20: 'bad\n' }) };
      const good = { 'src/app.ts': edited({}) };
      const first = code(place, bad);
      const fixed = code(place, good);
      const again = code(place, bad);
      code(place, good);
      git(place.dir, 'checkout', '--quiet', '--detach', first);
      code(place, good, 'the same fix');
      session(place, [START, IN_PROGRESS, await thoughtSince(place, first), DONE, BATON]);
      merge(place, fixed);
      merge(place, again);
      return { replaces: true };
    },
  },
  {
    name: 'what main has reverted, brought again with a late account of the first time',
    threat: 46,
    expect: UNLISTED,
    async build(place) {
      const start = headOf(place.dir);
      const landed = code(place, { 'src/a.ts': 'a\n' });
      revert(place, landed);
      branch(place, 'again');
      session(place, [START, await thoughtSince(place, start, landed), BATON]);
      git(place.dir, 'cherry-pick', landed);
    },
  },
  {
    name: 'a squash that was reverted, rebased and brought again',
    threat: 46,
    expect: UNLISTED,
    async build(place) {
      const landed = await takenBack(place);
      branch(place, 'rebased', 'main');
      git(place.dir, 'cherry-pick', landed);
    },
  },
];

/** A branch of two commits under one thought. */
async function twoCommits(
  place: Place,
  first: Record<string, string>,
  second: Record<string, string>,
): Promise<string[]> {
  const base = headOf(place.dir);
  branch(place, 'feature');
  const commits = [code(place, first), code(place, second)];
  session(place, [START, IN_PROGRESS, await thoughtSince(place, base), DONE, BATON]);
  branch(place, 'half', base);
  return commits;
}

/** Part of what somebody accounted for, as if it were all. */
export const HALVES: Scenario[] = [
  {
    name: 'the first of two commits, with the records of both',
    threat: 47,
    expect: HALF,
    async build(place) {
      const [first] = await twoCommits(place, { 'src/a.ts': 'a\n' }, { 'src/b.ts': 'b\n' });
      git(place.dir, 'cherry-pick', first!);
      takeRecords(place, 'feature');
    },
  },
  {
    name: 'the second of two commits, with the records of both',
    threat: 47,
    expect: HALF,
    isVariant: true,
    async build(place) {
      const [, second] = await twoCommits(place, { 'src/a.ts': 'a\n' }, { 'src/b.ts': 'b\n' });
      git(place.dir, 'cherry-pick', second!);
      takeRecords(place, 'feature');
    },
  },
  {
    name: 'a commit without the next one, which took the dangerous half of it back',
    threat: 47,
    expect: HALF,
    async build(place) {
      const open = edited({ 5: 'open the door\n', 30: 'feature\n' });
      const [first] = await twoCommits(place, { 'src/app.ts': open }, { 'src/app.ts': edited({ 30: 'feature\n' }) });
      git(place.dir, 'cherry-pick', first!);
      takeRecords(place, 'feature');
      return inReview(place);
    },
  },
  {
    name: 'a commit picked where half of it was there, which main has taken back since',
    threat: 47,
    expect: HALF,
    async build(place) {
      const guarded = code(place, { 'src/lib.ts': 'guard\n' });
      code(place, { 'src/lib.ts': 'lib\n' });
      const files = { 'src/lib.ts': 'guard\n', 'src/app.ts': edited({ 5: 'needs the guard\n' }) };
      const { commit } = await honestBranch(place, 'feature', files);
      branch(place, 'half', guarded);
      git(place.dir, 'cherry-pick', commit);
      merge(place, 'main');
      takeRecords(place, 'feature');
      return inReview(place);
    },
  },
  {
    name: 'a squash that leaves a file out',
    threat: 47,
    expect: HALF,
    async build(place) {
      await twoCommits(place, { 'src/a.ts': 'a\n' }, { 'src/b.ts': 'b\n' });
      git(place.dir, 'merge', '--quiet', '--squash', 'feature');
      git(place.dir, 'rm', '--quiet', '--force', 'src/b.ts');
      git(place.dir, 'commit', '--quiet', '--message', 'squash');
      return inReview(place);
    },
  },
  {
    name: 'a squash with a line more than git makes of it',
    threat: 47,
    expect: MISSING,
    async build(place) {
      await honestBranch(place, 'feature', { 'src/app.ts': edited({ 30: 'feature\n' }) });
      mainMoves(place, { 'src/app.ts': edited({ 28: 'main\n' }) });
      squashOnto(place, 'squashed');
      writeBytes(place.dir, 'src/app.ts', edited({ 2: 'evil\n', 28: 'main\n', 30: 'feature\n' }));
      git(place.dir, 'commit', '--quiet', '--all', '--amend', '--no-edit');
      return inReview(place);
    },
  },
  {
    name: 'a squash that keeps what main has removed, as git left it',
    threat: 47,
    expect: MISSING,
    async build(place) {
      await honestBranch(place, 'feature', { 'src/app.ts': edited({ 30: 'feature\n' }) });
      checkout(place, 'main');
      commitSide(place, gone);
      branch(place, 'squashed');
      git(place.dir, 'checkout', '--quiet', 'feature', '--', 'src/app.ts', '.handoff');
      staged(place, () => {});
      return inReview(place);
    },
  },
  {
    name: 'the first of two commits with its own thought, and done by the thought about both',
    threat: 47,
    expect: 'done_without_thought',
    async build(place) {
      const base = headOf(place.dir);
      branch(place, 'feature');
      const first = code(place, { 'src/a.ts': 'a\n' });
      const ofFirst = await thoughtSince(place, base);
      code(place, { 'src/b.ts': 'b\n' });
      const both = { ...(await thoughtSince(place, base)), task_id: 'P0.2' };
      session(place, [START, ofFirst, both, { ...DONE, task_id: 'P0.2' }, BATON]);
      branch(place, 'half', base);
      git(place.dir, 'cherry-pick', first);
      takeRecords(place, 'feature');
    },
  },
  {
    name: 'a squash of a conflict that somebody decided',
    threat: 47,
    expect: MISSING,
    async build(place) {
      await honestBranch(place, 'feature', { 'src/app.ts': edited({ 30: 'feature\n' }) });
      mainMoves(place, { 'src/app.ts': edited({ 30: 'fixed\n' }) });
      branch(place, 'squashed', 'main');
      writeBytes(place.dir, 'src/app.ts', edited({ 30: 'feature\n' }));
      git(place.dir, 'checkout', '--quiet', 'feature', '--', '.handoff');
      staged(place, () => git(place.dir, 'add', '--all'));
      return inReview(place);
    },
  },
];

/** As a forge squashes onto main, on a branch of its own. */
function squashOnto(place: Place, name: string): void {
  branch(place, name, 'main');
  squash(place, 'feature', name);
}

const SAME = Array(9).fill('same\n').join('');
const twice = (first: string, second: string) => ({ 'src/twice.ts': `${SAME}${first}${SAME}${second}${SAME}` });

/** One account for the first of two places that look alike. */
async function firstOfTwo(place: Place): Promise<void> {
  code(place, twice('old\n', 'old\n'));
  await honestBranch(place, 'feature', twice('new\n', 'old\n'));
}

/** The same patch at another place. */
export const ELSEWHERE: Scenario[] = [
  {
    name: 'the same patch at another place of the file, in place of the first',
    threat: 55,
    expect: HALF,
    async build(place) {
      await firstOfTwo(place);
      branch(place, 'other', 'main');
      code(place, twice('old\n', 'new\n'));
      takeRecords(place, 'feature');
    },
  },
  {
    name: 'the same where the one who judges has the branch',
    threat: 55,
    expect: HALF,
    async build(place) {
      await firstOfTwo(place);
      branch(place, 'other', 'main');
      code(place, twice('old\n', 'new\n'));
      takeRecords(place, 'feature');
      return inReview(place);
    },
  },
  {
    name: 'the same patch at another place, on a branch beside it, and both merged',
    threat: 55,
    expect: MISSING,
    async build(place) {
      await firstOfTwo(place);
      branch(place, 'other', 'main');
      code(place, twice('old\n', 'new\n'));
      checkout(place, 'feature');
      merge(place, '--no-ff', 'other');
    },
  },
  {
    name: 'the same patch, as the squash of two commits, where main has a second place by now',
    threat: 55,
    expect: HALF,
    async build(place) {
      code(place, { 'src/twice.ts': `${SAME}old\n${SAME}` });
      const base = headOf(place.dir);
      branch(place, 'feature');
      for (const text of ['half\n', 'new\n']) code(place, { 'src/twice.ts': `${SAME}${text}${SAME}` }, text);
      session(place, [START, IN_PROGRESS, await thoughtSince(place, base), DONE, BATON]);
      mainMoves(place, twice('old\n', 'old\n'));
      branch(place, 'other', 'main');
      code(place, twice('old\n', 'new\n'));
      takeRecords(place, 'feature');
      return inReview(place);
    },
  },
  {
    name: 'the same patch once more after it was merged, among lines that are all the same',
    threat: 55,
    expect: UNLISTED,
    async build(place) {
      code(place, { 'src/twice.ts': `${SAME}end\n` });
      await honestBranch(place, 'feature', { 'src/twice.ts': `${SAME}same\nend\n` });
      checkout(place, 'main');
      merge(place, '--no-ff', 'feature');
      branch(place, 'other');
      code(place, { 'src/twice.ts': `${SAME}same\nsame\nend\n` });
    },
  },
  {
    name: 'the same patch once more on top of its thought, among lines that are all the same',
    threat: 55,
    expect: MISSING,
    async build(place) {
      code(place, { 'src/twice.ts': `${SAME}end\n` });
      await honestBranch(place, 'feature', { 'src/twice.ts': `${SAME}same\nend\n` });
      code(place, { 'src/twice.ts': `${SAME}same\nsame\nend\n` });
    },
  },
  {
    name: 'the same patch where the first place is gone, and the second is the only one',
    threat: 55,
    expect: HALF,
    async build(place) {
      await firstOfTwo(place);
      mainMoves(place, { 'src/twice.ts': `other\n${SAME}old\n${SAME}` });
      branch(place, 'other', 'main');
      code(place, { 'src/twice.ts': `other\n${SAME}new\n${SAME}` });
      takeRecords(place, 'feature');
      return inReview(place);
    },
  },
];

const DRIVER = '[merge "evil"]\n\tdriver = true\n';

/** A merge that drops what main has mended, as a driver that keeps one side would make it. */
async function oneSided(place: Place, attributes = ''): Promise<void> {
  const files = { 'src/app.ts': edited({ 5: 'feature\n' }) };
  await honestBranch(place, 'feature', attributes === '' ? files : { ...files, '.gitattributes': attributes });
  mainMoves(place, { 'src/app.ts': edited({ 20: 'fixed\n' }) });
  merge(place, '--no-ff', '--strategy=ours', 'main');
}

/** Two sides of the same line, of which a merge keeps both, as a driver of git's own would: nobody has decided that. */
async function bothKept(place: Place): Promise<void> {
  await honestBranch(place, 'feature', { 'src/app.ts': edited({ 5: 'feature\n' }) });
  mainMoves(place, { 'src/app.ts': edited({ 5: 'main\n' }) });
  git(place.dir, '-c', 'merge.default=union', 'merge', '--quiet', '--no-ff', '--no-edit', 'main');
}

/** A folder is moved, and main brings a new file into it: git asks where that belongs, unless it is configured not to. */
async function takenAlong(place: Place): Promise<void> {
  code(place, { 'lib/a.ts': edited({ 1: 'a\n' }), 'lib/b.ts': edited({ 2: 'b\n' }) });
  const base = headOf(place.dir);
  branch(place, 'feature');
  const commit = staged(place, () => git(place.dir, 'mv', 'lib', 'core'));
  session(place, [START, IN_PROGRESS, await thoughtSince(place, base, commit), DONE, BATON]);
  mainMoves(place, { 'lib/check.ts': 'a check\n' });
  git(place.dir, '-c', 'merge.directoryRenames=true', 'merge', '--quiet', '--no-ff', '--no-edit', 'main');
}

/** Main writes a file with other line ends. A merge that keeps the old ones drops that, and only who normalises them sees none. */
async function otherLineEnds(place: Place): Promise<void> {
  await honestBranch(place, 'feature', { 'src/app.ts': edited({ 5: 'feature\n' }) });
  mainMoves(place, { 'src/app.ts': edited({}).replaceAll('\n', '\r\n') });
  merge(place, '--no-ff', '--strategy=ours', 'main');
}

const setAttributes = (gitDir: string, text: string): void => {
  mkdirSync(join(gitDir, 'info'), { recursive: true });
  writeFileSync(join(gitDir, 'info/attributes'), text);
};

/** What else would have a say in how a merge is made again. */
export const DRIVERS: Scenario[] = [
  {
    name: 'attributes of the branch that name a driver of the server',
    threat: 54,
    expect: MISSING,
    async build(place) {
      await oneSided(place, '* merge=evil\n');
      return { environment: (gitDir) => writeFileSync(join(gitDir, 'config'), DRIVER, { flag: 'a' }) };
    },
  },
  {
    name: 'attributes of the one who judges',
    threat: 54,
    expect: MISSING,
    async build(place) {
      await oneSided(place);
      return {
        environment: (gitDir) => {
          writeFileSync(join(gitDir, 'config'), DRIVER, { flag: 'a' });
          setAttributes(gitDir, '* merge=evil\n');
        },
      };
    },
  },
  {
    name: 'attributes of the one who judges that keep both sides, without a driver of anybody',
    threat: 54,
    expect: MISSING,
    async build(place) {
      await bothKept(place);
      return { environment: (gitDir) => setAttributes(gitDir, '* merge=union\n') };
    },
  },
  {
    name: 'attributes in a file that the configuration names',
    threat: 54,
    expect: MISSING,
    async build(place) {
      await bothKept(place);
      return {
        environment: (gitDir) => {
          const path = join(gitDir, 'attributes-of-all');
          writeFileSync(path, '* merge=union\n');
          git(gitDir, 'config', 'core.attributesFile', path);
        },
      };
    },
  },
  {
    name: 'a configuration that lets new files follow a folder unasked: merge.directoryRenames',
    threat: 76,
    expect: UNLISTED,
    async build(place) {
      await takenAlong(place);
      return { environment: (gitDir) => git(gitDir, 'config', 'merge.directoryRenames', 'true') };
    },
  },
  {
    name: 'a configuration that takes line ends for equal: merge.renormalize',
    threat: 76,
    expect: MISSING,
    async build(place) {
      await otherLineEnds(place);
      return {
        environment: (gitDir) => {
          git(gitDir, 'config', 'merge.renormalize', 'true');
          setAttributes(gitDir, '* text\n');
        },
      };
    },
  },
  ...[
    ['merge.default', 'evil'],
    ['merge.renames', 'false'],
    ['merge.renameLimit', '1'],
    ['diff.renameLimit', '1'],
  ].map(([key, value], at) => ({
    name: `a configuration that merges otherwise: ${key}`,
    threat: 76,
    expect: MISSING,
    isVariant: at > 1,
    async build(place: Place) {
      await oneSided(place);
      return {
        environment: (gitDir: string) => {
          writeFileSync(join(gitDir, 'config'), DRIVER, { flag: 'a' });
          git(gitDir, 'config', key!, value!);
        },
      };
    },
  })),
];

/** Under a name that is exempt. */
function exempted(place: Place, stage: () => void): void {
  policy(place, { exempt: ['docs/**', 'NOTES.md'] });
  code(place, { 'NOTES.md': 'notes\n', 'docs/a.md': 'a\n' });
  branch(place, 'feature');
  staged(place, () => {
    stage();
    git(place.dir, 'add', '--all');
  });
}

export const EXEMPT: Scenario[] = [
  {
    name: 'a submodule among what is exempt',
    threat: 69,
    expect: UNLISTED,
    build: (place) => {
      exempted(place, () => {});
      git(place.dir, 'update-index', '--add', '--cacheinfo', `160000,${'1'.repeat(40)},docs/sub`);
      git(place.dir, 'commit', '--quiet', '--message', 'submodule');
    },
  },
  {
    name: 'a link among what is exempt',
    threat: 69,
    expect: UNLISTED,
    isVariant: true,
    build: (place) => exempted(place, () => symlinkSync('../src/app.ts', join(place.dir, 'docs/link.md'))),
  },
  {
    name: 'an exempt file that becomes a link',
    threat: 69,
    expect: UNLISTED,
    isVariant: true,
    build: (place) =>
      exempted(place, () => {
        rmSync(join(place.dir, 'NOTES.md'));
        symlinkSync('src/app.ts', join(place.dir, 'NOTES.md'));
      }),
  },
  {
    name: 'an exempt file that becomes a folder of code',
    threat: 69,
    expect: UNLISTED,
    build: (place) =>
      exempted(place, () => {
        rmSync(join(place.dir, 'NOTES.md'));
        writeBytes(place.dir, 'NOTES.md/evil.ts', 'evil\n');
      }),
  },
  {
    name: 'an exempt file that is removed, and then a folder of its name',
    threat: 69,
    expect: UNLISTED,
    isVariant: true,
    build(place) {
      exempted(place, () => rmSync(join(place.dir, 'NOTES.md')));
      code(place, { 'NOTES.md/evil.ts': 'evil\n' });
    },
  },
  {
    name: 'a folder under the name of an exempt file, which was removed in a change before',
    threat: 69,
    expect: UNLISTED,
    build(place) {
      exempted(place, () => rmSync(join(place.dir, 'NOTES.md')));
      const base = headOf(place.dir);
      code(place, { 'NOTES.md/evil.ts': 'evil\n' });
      return { base };
    },
  },
  {
    name: 'a folder under the name of an exempt file that has never been there',
    threat: 69,
    isVariant: true,
    expect: UNLISTED,
    build(place) {
      policy(place, { exempt: ['LICENSE'] });
      branch(place, 'feature');
      code(place, { 'LICENSE/evil.ts': 'evil\n' });
    },
  },
  {
    name: 'a folder under a name that is exempt in every folder',
    threat: 69,
    isVariant: true,
    expect: UNLISTED,
    build(place) {
      policy(place, { exempt: ['**/package-lock.json'] });
      branch(place, 'feature');
      code(place, { 'x/package-lock.json/evil.test.ts': 'evil\n' });
    },
  },
  {
    name: 'a file in a folder that is exempt, which becomes a folder',
    threat: 69,
    expect: UNLISTED,
    isVariant: true,
    build: (place) =>
      exempted(place, () => {
        rmSync(join(place.dir, 'docs/a.md'));
        writeBytes(place.dir, 'docs/a.md/evil.ts', 'evil\n');
      }),
  },
  {
    name: 'a folder that is exempt and becomes a link',
    threat: 69,
    expect: UNLISTED,
    isVariant: true,
    build: (place) =>
      exempted(place, () => {
        rmSync(join(place.dir, 'docs'), { recursive: true });
        symlinkSync('src', join(place.dir, 'docs'));
      }),
  },
];
