import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { openPlace, type Place } from '../handoff.ts';
import { git } from '../temporary.ts';
import { edited } from './ground.ts';
import { usual } from './ready.ts';
import {
  BATON,
  branch,
  checkout,
  code,
  commitRecords,
  headOf,
  honestBranch,
  merge,
  policy,
  type Scenario,
  START,
  session,
  staged,
  thoughtSince,
  write,
} from './scenario.ts';

/** Records for everything since a commit. */
async function accountFor(place: Place, base: string, clock = 30, task = 'P0.1'): Promise<void> {
  session(place, [START, { ...(await thoughtSince(place, base)), task_id: task }, BATON], { clock });
}

/** Main goes on while the branch is away. */
function mainMoves(place: Place, files: Record<string, string> = { 'src/main.ts': 'main\n' }, back = 'feature'): void {
  checkout(place, 'main');
  code(place, files, 'meanwhile');
  checkout(place, back);
}

/** The ways in which a branch gets onto the protected one. */
export const ROUTES: Scenario[] = [
  { name: 'a branch, fast-forward', build: async (place) => void (await usual(place)) },
  {
    name: 'a merge commit',
    async build(place) {
      const { base } = await usual(place);
      checkout(place, 'main');
      merge(place, '--no-ff', 'feature');
      return { base };
    },
  },
  {
    name: 'a squash',
    async build(place) {
      const { base } = await usual(place);
      checkout(place, 'main');
      git(place.dir, 'merge', '--quiet', '--squash', 'feature');
      git(place.dir, 'commit', '--quiet', '--message', 'squashed');
      return { base };
    },
  },
  {
    name: 'a squash of several commits',
    async build(place) {
      const base = headOf(place.dir);
      branch(place, 'feature');
      code(place, { 'src/a.ts': 'a\n' });
      code(place, { 'src/a.ts': 'a\nb\n', 'src/b.ts': 'b\n' });
      await accountFor(place, base);
      checkout(place, 'main');
      git(place.dir, 'merge', '--quiet', '--squash', 'feature');
      git(place.dir, 'commit', '--quiet', '--message', 'squashed');
      return { base };
    },
  },
  {
    name: 'a rebase onto changes in other files',
    async build(place) {
      await usual(place);
      mainMoves(place);
      git(place.dir, 'rebase', '--quiet', 'main');
    },
  },
  {
    name: 'a rebase onto changes far away in the same file',
    async build(place) {
      await honestBranch(place, 'feature', { 'src/app.ts': edited({ 35: 'feature\n' }) });
      mainMoves(place, { 'src/app.ts': edited({ 2: 'main\n' }) });
      git(place.dir, 'rebase', '--quiet', 'main');
    },
  },
  {
    name: 'a rebase that puts commits in another order',
    async build(place) {
      const base = headOf(place.dir);
      branch(place, 'feature');
      const [a, b] = [code(place, { 'src/a.ts': 'a\n' }), code(place, { 'src/b.ts': 'b\n' })];
      await accountFor(place, base);
      const records = headOf(place.dir);
      branch(place, 'reordered', base);
      git(place.dir, 'cherry-pick', b, a, records);
    },
  },
  {
    name: 'a merge of the protected branch into this one',
    async build(place) {
      await usual(place);
      mainMoves(place);
      merge(place, 'main');
    },
  },
  {
    name: 'a merge of changes far apart in the same file',
    isVariant: true,
    async build(place) {
      await honestBranch(place, 'feature', { 'src/app.ts': edited({ 35: 'feature\n' }) });
      mainMoves(place, { 'src/app.ts': edited({ 2: 'main\n', 20: 'main too\n' }) });
      merge(place, 'main');
    },
  },
  {
    name: 'the same change on both sides',
    async build(place) {
      await honestBranch(place, 'feature', { 'src/app.ts': edited({ 2: 'same\n', 35: 'feature\n' }) });
      mainMoves(place, { 'src/app.ts': edited({ 2: 'same\n' }) });
      merge(place, 'main');
    },
  },
  {
    name: 'a file that one side renamed and the other changed',
    async build(place) {
      const base = headOf(place.dir);
      branch(place, 'feature');
      staged(place, () => git(place.dir, 'mv', 'src/old.ts', 'src/new.ts'));
      await accountFor(place, base);
      mainMoves(place, { 'src/old.ts': edited({ 2: 'main\n' }) });
      merge(place, 'main');
    },
  },
  {
    name: 'a branch behind the protected one',
    isVariant: true,
    async build(place) {
      await usual(place);
      mainMoves(place);
    },
  },
  {
    name: 'a branch behind the protected one, which has new records',
    async build(place) {
      await usual(place);
      checkout(place, 'main');
      session(place, [START, BATON], { identity: 'erin' });
      session(place, [START, BATON], { identity: 'donna', clock: 50 });
      checkout(place, 'feature');
    },
  },
  {
    name: 'merges in both directions, criss-cross',
    async build(place) {
      await usual(place);
      const ours = headOf(place.dir);
      mainMoves(place);
      const theirs = git(place.dir, 'rev-parse', 'main');
      checkout(place, 'main');
      merge(place, '--no-ff', ours);
      checkout(place, 'feature');
      merge(place, '--no-ff', theirs);
      const base = headOf(place.dir);
      code(place, { 'src/b.ts': 'b\n' });
      await accountFor(place, base);
    },
  },
  {
    name: 'an octopus',
    async build(place) {
      const base = headOf(place.dir);
      for (const name of ['one', 'two', 'three']) {
        checkout(place, 'main');
        await honestBranch(place, name, { [`src/${name}.ts`]: `${name}\n` });
      }
      checkout(place, 'main');
      merge(place, '--no-ff', 'one', 'two', 'three');
      return { base };
    },
  },
  ...[
    ['one', 'two'],
    ['two', 'one'],
  ].map((order) => ({
    name: `two parallel branches, ${order[0]} first`,
    async build(place: Place) {
      const base = headOf(place.dir);
      for (const name of order) {
        branch(place, name, base);
        code(place, { [`src/${name}.ts`]: `${name}\n` });
        await accountFor(place, base, 30, `P0.${name}`);
      }
      checkout(place, 'main');
      merge(place, '--no-ff', order[0]!);
      checkout(place, order[1]!);
    },
  })),
  {
    name: 'a conflict that a merge resolves, and a later thought accounts for',
    async build(place) {
      await honestBranch(place, 'feature', { 'src/app.ts': edited({ 5: 'feature\n' }) });
      mainMoves(place, { 'src/app.ts': edited({ 5: 'main\n' }) });
      const base = git(place.dir, 'rev-parse', 'main');
      git(place.dir, 'merge', '--quiet', '--no-commit', '--strategy-option=ours', 'main');
      write(place, 'src/app.ts', edited({ 5: 'main and feature\n' }));
      staged(place, () => git(place.dir, 'add', '--all'));
      await accountFor(place, base);
    },
  },
  {
    name: 'a side of a merge that is chosen, and a later thought accounts for',
    async build(place) {
      await honestBranch(place, 'feature', { 'src/app.ts': edited({ 5: 'feature\n' }) });
      mainMoves(place, { 'src/app.ts': edited({ 5: 'main\n' }) });
      const base = git(place.dir, 'rev-parse', 'main');
      merge(place, '--strategy=ours', 'main');
      await accountFor(place, base);
    },
  },
  {
    name: 'a cherry-pick of code and its records to another branch',
    async build(place) {
      await usual(place);
      branch(place, 'release', 'main');
      code(place, { 'RELEASE.md': '1.0\n' });
      const base = headOf(place.dir);
      git(place.dir, 'cherry-pick', 'feature~1', 'feature');
      return { base };
    },
  },
  {
    name: 'a cherry-pick of what the protected branch has by now',
    async build(place) {
      const { base, commit } = await usual(place);
      branch(place, 'other', base);
      git(place.dir, 'cherry-pick', commit);
      const mine = headOf(place.dir);
      code(place, { 'src/b.ts': 'b\n' });
      await accountFor(place, mine, 60, 'P0.2');
      checkout(place, 'main');
      merge(place, '--no-ff', 'feature');
      checkout(place, 'other');
      merge(place, 'main');
    },
  },
  {
    name: 'a revert of code that has its own thought and keeps the records',
    async build(place) {
      const { commit } = await usual(place);
      checkout(place, 'main');
      merge(place, '--no-ff', 'feature');
      const base = headOf(place.dir);
      branch(place, 'back');
      git(place.dir, 'revert', '--no-edit', commit);
      await accountFor(place, base);
    },
  },
  {
    name: 'a revert of a merge, with the records put back',
    isVariant: true,
    async build(place) {
      await usual(place);
      checkout(place, 'main');
      merge(place, '--no-ff', 'feature');
      const base = headOf(place.dir);
      branch(place, 'back');
      git(place.dir, 'revert', '--no-commit', '--mainline', '1', 'HEAD');
      git(place.dir, 'checkout', '--quiet', base, '--', '.handoff');
      git(place.dir, 'commit', '--quiet', '--message', 'revert');
      await accountFor(place, base);
    },
  },
  {
    name: 'a branch that goes on after it was squashed',
    async build(place) {
      await usual(place);
      checkout(place, 'main');
      git(place.dir, 'merge', '--quiet', '--squash', 'feature');
      git(place.dir, 'commit', '--quiet', '--message', 'squashed');
      const base = headOf(place.dir);
      checkout(place, 'feature');
      merge(place, 'main');
      code(place, { 'src/b.ts': 'b\n' });
      await accountFor(place, base);
    },
  },
  {
    name: 'a fork: another clone, another remote',
    async build(place) {
      const dir = join(place.dir, '..', 'fork');
      git('/', 'clone', '--quiet', '--template=', place.dir, dir);
      const fork = openPlace(dir, place.keys, place.root);
      await honestBranch(fork);
      git(place.dir, 'fetch', '--quiet', dir, 'feature');
      return { head: 'FETCH_HEAD' };
    },
  },
  {
    name: 'a tag as head',
    isVariant: true,
    async build(place) {
      await usual(place);
      git(place.dir, 'tag', 'v1');
      return { head: 'v1' };
    },
  },
  {
    name: 'an annotated tag as head',
    isVariant: true,
    async build(place) {
      await usual(place);
      git(place.dir, 'tag', '--annotate', '--message', 'one', 'v1');
      return { head: 'v1' };
    },
  },
  {
    name: 'a detached HEAD',
    isVariant: true,
    async build(place) {
      await usual(place);
      git(place.dir, 'checkout', '--quiet', '--detach');
    },
  },
  {
    name: 'nothing new at all',
    build: () => ({ head: 'main' }),
  },
];

/** What a change can be made of. */
export const CONTENTS: Scenario[] = [
  {
    name: 'a rename',
    async build(place) {
      branch(place, 'feature');
      staged(place, () => git(place.dir, 'mv', 'src/lib.ts', 'src/index.ts'));
      await accountFor(place, 'main');
    },
  },
  {
    name: 'an executable bit',
    async build(place) {
      branch(place, 'feature');
      chmodSync(join(place.dir, 'src/lib.ts'), 0o755);
      staged(place, () => git(place.dir, 'add', '--all'));
      await accountFor(place, 'main');
    },
  },
  {
    name: 'a binary file, rebased',
    async build(place) {
      await honestBranch(place, 'feature', { 'logo.bin': '\0\x01\x02\xff\n\0' });
      mainMoves(place);
      git(place.dir, 'rebase', '--quiet', 'main');
    },
  },
  {
    name: 'a submodule',
    async build(place) {
      branch(place, 'feature');
      staged(place, () => {
        git(place.dir, 'update-index', '--add', '--cacheinfo', `160000,${headOf(place.dir)},vendor/lib`);
        write(place, '.gitmodules', '[submodule "vendor/lib"]\n\tpath = vendor/lib\n\turl = ../lib\n');
        git(place.dir, 'add', '.gitmodules');
      });
      await accountFor(place, 'main');
    },
  },
  {
    name: 'a file that becomes a folder',
    isVariant: true,
    async build(place) {
      branch(place, 'feature');
      git(place.dir, 'rm', '--quiet', 'src/lib.ts');
      code(place, { 'src/lib.ts/index.ts': 'lib\n' });
      await accountFor(place, 'main');
    },
  },
  {
    name: 'an empty commit, and one without a word',
    build(place) {
      branch(place, 'feature');
      git(place.dir, 'commit', '--quiet', '--allow-empty', '--message', 'again');
      git(place.dir, 'commit', '--quiet', '--allow-empty', '--allow-empty-message', '--message', '');
    },
  },
  {
    name: 'a commit of code without a word',
    isVariant: true,
    async build(place) {
      branch(place, 'feature');
      write(place, 'src/lib.ts', 'more\n');
      git(place.dir, 'commit', '--quiet', '--all', '--allow-empty-message', '--message', '');
      await accountFor(place, 'main');
    },
  },
  {
    name: 'paths with spaces, line breaks, quotes and letters of any kind',
    async build(place) {
      await honestBranch(place, 'feature', {
        'src/sp ace.ts': 'a\n',
        'src/new\nline.ts': 'a\n',
        'src/"quo\\te".ts': 'a\n',
        'src/ünï/漢字.ts': 'a\n',
        '-dash': 'a\n',
        ':colon': 'a\n',
        'src/tab\t': 'a\n',
      });
    },
  },
  {
    name: 'an update of dependencies by a bot, in what is exempt',
    build(place) {
      policy(place, { exempt: ['package-lock.json', 'vendor/**', '*.lock', 'docs/'] });
      branch(place, 'bump');
      code(place, {
        'package-lock.json': '{}\n',
        'vendor/a/b/c.js': 'x\n',
        'yarn.lock': 'x\n',
        'docs/deep/page.md': 'x\n',
      });
    },
  },
  {
    name: 'a merge of what is exempt, by "ours"',
    async build(place) {
      policy(place, { exempt: ['package-lock.json'] });
      await honestBranch(place, 'feature', { 'src/a.ts': 'a\n', 'package-lock.json': 'feature\n' });
      mainMoves(place, { 'package-lock.json': 'main\n' });
      merge(place, '--strategy-option=ours', 'main');
    },
  },
  {
    name: 'no writeback where the policy asks for none',
    build(place) {
      policy(place, { writeback: { required: false, review: false, open_sessions: 'warning' } });
      branch(place, 'feature');
      code(place, { 'src/a.ts': 'a\n' });
    },
  },
  {
    name: 'two tasks in one branch',
    async build(place) {
      const base = headOf(place.dir);
      branch(place, 'feature');
      code(place, { 'src/a.ts': 'a\n' });
      await accountFor(place, base, 30, 'P0.1');
      const next = headOf(place.dir);
      code(place, { 'src/b.ts': 'b\n' });
      await accountFor(place, next, 60, 'P0.2');
    },
  },
  {
    name: 'records and nothing else',
    build(place) {
      branch(place, 'feature');
      session(place, [START, { kind: 'note', text: 'looked around' }, BATON]);
    },
  },
  {
    name: 'a thought before the code arrives',
    async build(place) {
      const { base } = await usual(place);
      const records = headOf(place.dir);
      git(place.dir, 'checkout', '--quiet', '--detach', base);
      git(place.dir, 'checkout', '--quiet', records, '--', '.handoff');
      git(place.dir, 'rm', '--quiet', '--cached', '-r', '.handoff');
      git(place.dir, 'add', '.handoff');
      const thoughts = commitRecords(place);
      git(place.dir, 'branch', '--force', 'main', thoughts);
      checkout(place, 'feature');
    },
  },
];
