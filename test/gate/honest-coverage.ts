import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Place, privateKey, writeBytes } from '../handoff.ts';
import { git } from '../temporary.ts';
import { edited } from './ground.ts';
import { inReview, mainMoves, mergeAsItIs, revert, squash, takeRecords } from './landing.ts';
import { usual } from './ready.ts';
import {
  BATON,
  branch,
  type Change,
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

/** Records for everything since a commit. */
async function accountFor(place: Place, base: string, clock = 60, task = 'P0.2'): Promise<void> {
  session(place, [START, { ...(await thoughtSince(place, base)), task_id: task }, BATON], { clock });
}

/** The file of the ground with lines put in, after those of these numbers. */
function grown(changes: Record<number, string>, after: Record<number, string>): string {
  const lines = edited(changes).split('\n').slice(0, -1);
  return lines.map((line, at) => `${line}\n${after[at] ?? ''}`).join('');
}

/** A change near line 20 by the branch, and one by main that leaves git nothing to decide, but moves the lines around it. */
const NEARBY: readonly [string, string, string][] = [
  ['two lines above', edited({ 20: 'feature\n' }), edited({ 18: 'main\n' })],
  ['three lines above', edited({ 20: 'feature\n' }), edited({ 17: 'main\n' })],
  ['two lines below', edited({ 20: 'feature\n' }), edited({ 22: 'main\n' })],
  ['three lines below', edited({ 20: 'feature\n' }), edited({ 23: 'main\n' })],
  ['on both sides', edited({ 20: 'feature\n' }), edited({ 18: 'main\n', 22: 'main\n' })],
  ['a line more above', edited({ 20: 'feature\n' }), grown({}, { 17: 'more\n' })],
  ['a line more below', edited({ 20: 'feature\n' }), grown({}, { 22: 'more\n' })],
  ['a line less above', edited({ 20: 'feature\n' }), edited({ 18: '' })],
  ['a line less below', edited({ 20: 'feature\n' }), edited({ 22: '' })],
  ['lines put in by the branch', grown({}, { 20: 'feature\n' }), edited({ 18: 'main\n' })],
  ['lines taken out by the branch', edited({ 20: '' }), edited({ 22: 'main\n' })],
  [
    'two places of the branch, near one of which main has changed',
    edited({ 5: 'f\n', 30: 'f\n' }),
    edited({ 28: 'main\n' }),
  ],
  ['the first lines', edited({ 0: 'feature\n' }), edited({ 2: 'main\n' })],
  ['the last lines', edited({ 39: 'feature\n' }), edited({ 37: 'main\n' })],
];

/** Main changes lines near by, and git merges it all the same. */
async function nearby(place: Place, theirs: string, ours: string): Promise<void> {
  await honestBranch(place, 'feature', { 'src/app.ts': theirs });
  mainMoves(place, { 'src/app.ts': ours });
}

/** What a forge pushes after its merge button: main as it will be. */
function squashed(place: Place): Change {
  branch(place, 'squashed', 'main');
  squash(place, 'feature', 'squashed');
  return inReview(place);
}

function rebased(place: Place): Change {
  branch(place, 'rebased', 'feature');
  git(place.dir, 'rebase', '--quiet', 'main');
  return inReview(place);
}

/** The moved context: what git does cleanly passes. */
export const MOVED: Scenario[] = [
  ...NEARBY.map(([name, theirs, ours], at) => ({
    name: `a squash where main has changed lines nearby: ${name}`,
    isVariant: at > 1,
    async build(place: Place) {
      await nearby(place, theirs, ours);
      return squashed(place);
    },
  })),
  ...NEARBY.map(([name, theirs, ours], at) => ({
    name: `a rebase where main has changed lines nearby: ${name}`,
    isVariant: at > 0,
    async build(place: Place) {
      await nearby(place, theirs, ours);
      return rebased(place);
    },
  })),
  ...NEARBY.slice(0, 4).map(([name, theirs, ours], at) => ({
    name: `a backport to a release that has other lines nearby: ${name}`,
    isVariant: at > 0,
    async build(place: Place) {
      const { commit } = await honestBranch(place, 'feature', { 'src/app.ts': theirs });
      branch(place, 'release', 'main');
      code(place, { 'src/app.ts': ours });
      const base = headOf(place.dir);
      git(place.dir, 'cherry-pick', '-x', commit);
      takeRecords(place, 'feature');
      return { base, ...inReview(place) };
    },
  })),
  {
    name: 'a squash onto a main that has renamed the file',
    async build(place) {
      await honestBranch(place, 'feature', { 'src/app.ts': edited({ 20: 'feature\n' }) });
      checkout(place, 'main');
      staged(place, () => git(place.dir, 'mv', 'src/app.ts', 'src/main.ts'));
      checkout(place, 'feature');
      return squashed(place);
    },
  },
  {
    name: 'a rebase of three commits, of which one has other lines nearby',
    async build(place) {
      const base = headOf(place.dir);
      branch(place, 'feature');
      for (const at of [5, 20, 35]) code(place, { 'src/app.ts': edited(upTo(at)) }, `line ${at}`);
      await accountFor(place, base);
      mainMoves(place, { 'src/app.ts': edited({ 18: 'main\n' }) });
      return rebased(place);
    },
  },
  {
    name: 'a rebase that drops a commit which main has by now',
    async build(place) {
      const base = headOf(place.dir);
      branch(place, 'feature');
      const first = code(place, { 'src/a.ts': 'a\n' });
      code(place, { 'src/b.ts': 'b\n' });
      await accountFor(place, base);
      checkout(place, 'main');
      git(place.dir, 'cherry-pick', first);
      checkout(place, 'feature');
      return rebased(place);
    },
  },
  {
    name: 'a squash of a branch that has merged main meanwhile',
    async build(place) {
      await honestBranch(place, 'feature', { 'src/app.ts': edited({ 20: 'feature\n' }) });
      mainMoves(place, { 'src/app.ts': edited({ 2: 'main\n' }) });
      merge(place, 'main');
      mainMoves(place, { 'src/app.ts': edited({ 2: 'main\n', 18: 'main\n' }) });
      return squashed(place);
    },
  },
  {
    name: 'a squash of two tasks, each with its thought',
    async build(place) {
      const base = headOf(place.dir);
      branch(place, 'feature');
      code(place, { 'src/a.ts': 'a\n' });
      session(place, [START, IN_PROGRESS, await thoughtSince(place, base), DONE, BATON]);
      code(place, { 'src/b.ts': 'b\n' });
      await accountFor(place, base);
      return squashed(place);
    },
  },
  {
    name: 'a squash of a change between lines that look alike',
    async build(place) {
      const same = Array(9).fill('same\n').join('');
      const text = (first: string) => ({ 'src/twice.ts': `${same}${first}${same}old\n${same}` });
      code(place, text('old\n'));
      await honestBranch(place, 'feature', text('new\n'));
      mainMoves(place, { 'src/main.ts': 'main\n' });
      return squashed(place);
    },
  },
];

/** What the branch has done to the lines up to one. */
function upTo(last: number): Record<number, string> {
  return Object.fromEntries([5, 20, 35].filter((at) => at <= last).map((at) => [at, `feature ${at}\n`]));
}

/** More files than a limit for renames of one allows, each with something else changed on either side. */
async function renamedByMain(place: Place): Promise<void> {
  const names = Array.from({ length: 12 }, (_, n) => `file${n}.ts`);
  const all = (files: readonly string[], more: Record<number, string> = {}) =>
    Object.fromEntries(files.map((name, n) => [`lib/${name}`, edited({ 1: `${n}\n`, ...more })]));
  code(place, all(names));
  await honestBranch(place, 'feature', all(names.slice(0, 6), { 30: 'feature\n' }));
  checkout(place, 'main');
  code(place, all(names, { 10: 'main\n' }));
  staged(place, () => git(place.dir, 'mv', 'lib', 'library'));
  checkout(place, 'feature');
  merge(place, 'main');
}

/** Merges that were decided, and code that comes back with an account of its own. */
export const DECIDED: Scenario[] = [
  {
    name: 'a file that main removed and the branch keeps, accounted for',
    async build(place) {
      await honestBranch(place, 'feature', { 'src/app.ts': edited({ 20: 'feature\n' }) });
      checkout(place, 'main');
      rmSync(join(place.dir, 'src/app.ts'));
      staged(place, () => git(place.dir, 'add', '--all'));
      const base = headOf(place.dir);
      checkout(place, 'feature');
      mergeAsItIs(place, 'main');
      await accountFor(place, base);
    },
  },
  {
    name: 'a conflict in what is exempt',
    async build(place) {
      policy(place, { exempt: ['package-lock.json'] });
      await honestBranch(place, 'feature', { 'src/a.ts': 'a\n', 'package-lock.json': 'feature\n' });
      mainMoves(place, { 'package-lock.json': 'main\n' });
      mergeAsItIs(place, 'main');
    },
  },
  {
    name: 'a merge of a branch whose files main has renamed, all of them',
    build: renamedByMain,
  },
  ...[
    ['merge.renames', 'false'],
    ['merge.renameLimit', '1'],
    ['diff.renameLimit', '1'],
  ].map(([key, value], at) => ({
    name: `the same where the configuration would not find them: ${key}`,
    isVariant: at > 0,
    async build(place: Place) {
      await renamedByMain(place);
      return { environment: (gitDir: string) => void git(gitDir, 'config', key!, value!) };
    },
  })),
  {
    name: 'a merge of a branch that changed code and exempt files, all of which main has renamed',
    async build(place) {
      policy(place, { exempt: ['docs/**', 'manual/**'] });
      code(place, {
        'docs/a.md': edited({ 1: 'a\n' }),
        'docs/b.md': edited({ 1: 'b\n' }),
        'src/new.ts': edited({ 1: 'new\n' }),
      });
      const docs = { 'docs/a.md': edited({ 1: 'a\n', 30: 'feature\n' }) };
      await honestBranch(place, 'feature', { ...docs, 'src/app.ts': edited({ 30: 'feature\n' }) });
      checkout(place, 'main');
      staged(place, () => {
        git(place.dir, 'mv', 'docs', 'manual');
        git(place.dir, 'mv', 'src/new.ts', 'src/newer.ts');
      });
      checkout(place, 'feature');
      merge(place, 'main');
    },
  },
  {
    name: 'merges in a project with attributes of its own',
    async build(place) {
      const attributes = '* text=auto\n*.sh text eol=lf\n*.png binary\n*.ts diff=javascript\n';
      code(place, { '.gitattributes': attributes, 'logo.png': '\u0000\u0001', 'run.sh': 'true\n' });
      await honestBranch(place, 'feature', { 'src/app.ts': edited({ 20: 'feature\n' }), 'run.sh': 'false\n' });
      mainMoves(place, { 'src/app.ts': edited({ 2: 'main\n' }), 'logo.png': '\u0000\u0002' });
      merge(place, 'main');
    },
  },
  {
    name: 'an octopus of branches that change one file in three places',
    async build(place) {
      const base = headOf(place.dir);
      for (const [name, at, clock] of [
        ['one', 2, 20],
        ['two', 20, 40],
        ['three', 36, 60],
      ] as const) {
        branch(place, name, base);
        code(place, { 'src/app.ts': edited({ [at]: `${name}\n` }) });
        await accountFor(place, base, clock, `P0.${at}`);
      }
      git(place.dir, 'merge', '--quiet', '--no-edit', 'one', 'two');
    },
  },
  {
    name: 'a revert of a revert, with a thought of its own',
    async build(place) {
      await usual(place);
      const landed = squash(place);
      const back = revert(place, landed);
      branch(place, 'again');
      revert(place, back);
      await accountFor(place, back);
    },
  },
  {
    name: 'a partial cherry-pick with a thought of its own',
    async build(place) {
      const base = headOf(place.dir);
      branch(place, 'feature');
      const first = code(place, { 'src/a.ts': 'a\n' });
      code(place, { 'src/b.ts': 'b\n' });
      await accountFor(place, base, 30, 'P0.3');
      branch(place, 'half', base);
      git(place.dir, 'cherry-pick', first);
      await accountFor(place, base);
    },
  },
  {
    name: 'a branch that was squashed, merged once more where it changes nothing',
    async build(place) {
      await usual(place);
      squash(place);
      code(place, { 'src/main.ts': 'main\n' });
      branch(place, 'again', 'feature');
      merge(place, '--no-ff', 'main');
    },
  },
  {
    name: 'a release with a backport, merged back into main',
    async build(place) {
      const { commit } = await usual(place);
      branch(place, 'release', 'main');
      code(place, { 'RELEASE.md': '1.0\n' });
      await accountFor(place, 'main', 70);
      checkout(place, 'main');
      merge(place, '--no-ff', 'feature');
      checkout(place, 'release');
      git(place.dir, 'cherry-pick', commit);
      merge(place, '--no-ff', 'main');
    },
  },
  {
    name: 'a waiver on main before the code arrives',
    build(place) {
      branch(place, 'feature');
      const commit = code(place, { 'src/a.ts': 'a\n' });
      checkout(place, 'main');
      const waiver = { kind: 'waiver' as const, commit_sha: commit, reason: 'urgent' };
      session(place, [START, waiver, BATON], { identity: 'maintainer', key: privateKey(place, 'maintainer') });
      checkout(place, 'feature');
    },
  },
  {
    name: 'files of any kind in a folder that is exempt, and one that is run',
    build(place) {
      policy(place, { exempt: ['docs'] });
      code(place, { 'docs/guide.md': 'guide\n' });
      branch(place, 'feature');
      writeBytes(place.dir, 'docs/build.sh', 'true\n');
      staged(place, () => {
        git(place.dir, 'add', '--all');
        git(place.dir, 'update-index', '--chmod=+x', 'docs/build.sh');
      });
    },
  },
];
