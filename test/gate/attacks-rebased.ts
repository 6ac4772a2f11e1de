import { spawnSync } from 'node:child_process';
import { type Place, writeBytes } from '../handoff.ts';
import { git, isolatedEnv } from '../temporary.ts';
import { edited } from './ground.ts';
import { mainMoves } from './landing.ts';
import {
  BATON,
  branch,
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

// A forge that rebases picks each commit by itself, and nobody looks at what comes of it. What a branch does as a whole can be
// nothing at all, and one of its commits can still be put where the file was moved to.

const MISSING = 'writeback_missing';
/** A server judges what is pushed, and that is rebased already. */
const LOCAL = { isLocal: true, expect: MISSING, threat: 69 };

const EXEMPT = { exempt: ['docs/**'] };
const OLD = 'docs/x.sh';
const NEW = 'scripts/x.sh';
const EVIL = { 25: 'evil\n' };

/** Main has made code of an exempt file, and has changed its first lines, so that what both have is the rest. */
const MOVED = edited(Object.fromEntries(Array.from({ length: 16 }, (_, at) => [at, `main ${at}\n`])));

export function moveOnMain(place: Place, from = OLD): void {
  checkout(place, 'main');
  move(place, from);
}

function move(place: Place, from = OLD): string {
  const { dir } = place;
  return staged(place, () => {
    git(dir, 'rm', '--quiet', from);
    writeBytes(dir, NEW, MOVED);
    git(dir, 'add', NEW);
  });
}

async function accountedMove(place: Place): Promise<void> {
  const base = headOf(place.dir);
  const commit = move(place);
  session(place, [START, IN_PROGRESS, await thoughtSince(place, base, commit), DONE, BATON]);
}

export function edit(place: Place, text: string, message = 'docs: typo'): void {
  code(place, { [OLD]: text }, message);
}

function remove(place: Place, path: string): void {
  staged(place, () => git(place.dir, 'rm', '--quiet', path), 'docs: not needed');
}

/** Whether git really does it: some commit that comes of a rebase has it in code, or its end has. */
function assertRebased({ dir }: Place, where: 'history' | 'end', text = 'evil', path = NEW): void {
  const head = headOf(dir);
  git(dir, 'checkout', '--quiet', '--detach');
  git(dir, 'rebase', '--quiet', 'main');
  const commits = where === 'end' ? ['HEAD'] : git(dir, 'rev-list', 'main..HEAD').split('\n');
  const isThere = commits.some((oid) => hasText(dir, oid, path, text));
  git(dir, 'checkout', '--quiet', '-B', 'feature', head);
  if (!isThere) throw new Error('the rebase of the forge does not do it');
}

function hasText(dir: string, oid: string, path: string, text: string): boolean {
  const { stdout } = spawnSync('git', ['-C', dir, 'show', `${oid}:${path}`], { env: isolatedEnv, encoding: 'utf8' });
  return stdout.includes(text);
}

/** What merging it, or squashing it, gives is what main has. */
function assertNotMerged({ dir }: Place): void {
  const tree = git(dir, 'merge-tree', '--write-tree', 'main', 'HEAD');
  if (git(dir, 'diff', '--name-only', 'main', tree, '--', 'scripts', 'src') !== '')
    throw new Error('the merge shows it');
}

export function begin(place: Place): void {
  policy(place, EXEMPT);
  edit(place, edited({}), 'docs: an example');
}

/** So much of the file goes along with the change that git no longer knows what it was moved to; then it comes back as it was. */
function editAndHide(place: Place): void {
  const lines = edited(EVIL).split('\n');
  edit(place, `${[...lines.slice(0, 20), 'evil', ...lines.slice(-2)].join('\n')}`);
  remove(place, OLD);
  edit(place, edited({}), 'docs: back');
}

export const REBASED: Scenario[] = [
  {
    name: 'code that a rebase changes and changes back, by way of an exempt file that main has moved',
    ...LOCAL,
    build(place) {
      begin(place);
      branch(place, 'feature');
      edit(place, edited(EVIL));
      edit(place, edited({}));
      moveOnMain(place);
      checkout(place, 'feature');
      assertRebased(place, 'history');
      assertNotMerged(place);
    },
  },
  {
    name: 'code that a rebase changes and leaves so, where the branch as a whole does nothing',
    ...LOCAL,
    build(place) {
      begin(place);
      branch(place, 'feature');
      editAndHide(place);
      moveOnMain(place);
      checkout(place, 'feature');
      assertRebased(place, 'end');
      assertNotMerged(place);
    },
  },
  {
    name: 'code that a rebase changes by way of a file in .handoff',
    ...LOCAL,
    build(place) {
      const beside = '.handoff/x.sh';
      code(place, { [beside]: edited({}) }, 'a copy');
      branch(place, 'feature');
      code(place, { [beside]: edited(EVIL) });
      code(place, { [beside]: edited({}) });
      moveOnMain(place, beside);
      checkout(place, 'feature');
      assertRebased(place, 'history');
    },
  },
  {
    name: 'code that a rebase changes after it has left out a commit that main has too',
    ...LOCAL,
    build(place) {
      policy(place, EXEMPT);
      const start = headOf(place.dir);
      edit(place, edited({}), 'docs: an example');
      moveOnMain(place);
      branch(place, 'feature', start);
      edit(place, edited({}), 'docs: the same example');
      edit(place, edited(EVIL));
      assertRebased(place, 'end');
      assertNotMerged(place);
    },
  },
  {
    name: 'code that a rebase changes, of a branch that has main as it was after it moved the file',
    ...LOCAL,
    build(place) {
      begin(place);
      branch(place, 'feature');
      edit(place, edited(EVIL));
      edit(place, edited({}));
      moveOnMain(place);
      checkout(place, 'feature');
      merge(place, 'main');
      checkout(place, 'main');
      code(place, { 'docs/other.md': 'other\n' }, 'meanwhile');
      checkout(place, 'feature');
      assertRebased(place, 'history');
      assertNotMerged(place);
    },
  },
  {
    name: 'code that a rebase changes, where two lines of a branch were merged: one moved the file, the other changed it and took that back',
    ...LOCAL,
    async build(place) {
      begin(place);
      branch(place, 'edited');
      edit(place, edited(EVIL));
      edit(place, edited({}));
      branch(place, 'feature', 'main');
      await accountedMove(place);
      merge(place, '--no-ff', 'edited');
      checkout(place, 'main');
      code(place, { 'src/other.ts': 'other\n' }, 'meanwhile');
      checkout(place, 'feature');
      assertRebased(place, 'history');
    },
  },
  {
    name: 'code that a rebase changes by way of an exempt file that a merge brought, and no commit that is picked',
    ...LOCAL,
    build(place) {
      const { dir } = place;
      policy(place, EXEMPT);
      branch(place, 'other');
      code(place, { 'docs/a.md': 'a\n' }, 'docs: a');
      branch(place, 'feature', 'main');
      code(place, { 'docs/b.md': 'b\n' }, 'docs: b');
      git(dir, 'merge', '--quiet', '--no-ff', '--no-commit', 'other');
      edit(place, edited({}), 'merge, and an example');
      edit(place, edited(EVIL));
      checkout(place, 'main');
      code(place, { [NEW]: edited({}) });
      checkout(place, 'feature');
      assertRebased(place, 'end');
      assertNotMerged(place);
    },
  },
  {
    ...LOCAL,
    name: 'what main has taken back, taken back, done and taken back once more: a rebase leaves that it was done',
    async build(place) {
      const bad = { 'src/app.ts': edited({ 20: 'hole\n' }) };
      code(place, bad);
      await changed(place, [{ 'src/app.ts': edited({}) }, bad, { 'src/app.ts': edited({}) }]);
      mainMoves(place, { 'src/lib.ts': 'newer lib\n' }, 'main');
      code(place, { 'src/app.ts': edited({}) });
      checkout(place, 'feature');
      assertRebased(place, 'end', 'hole', 'src/app.ts');
    },
  },
  {
    ...LOCAL,
    name: 'what main has picked, done, taken back and done again: a rebase leaves that it was taken back',
    async build(place) {
      const guard = { 'src/app.ts': edited({ 20: 'guard\n' }) };
      await changed(place, [guard, { 'src/app.ts': edited({}) }, guard]);
      mainMoves(place, { 'src/lib.ts': 'newer lib\n' }, 'main');
      code(place, guard);
      checkout(place, 'feature');
      assertRebased(place, 'end', 'line 20', 'src/app.ts');
    },
  },
  {
    ...LOCAL,
    name: 'what builds on a commit that main has picked and taken back since: a rebase leaves half of it',
    async build(place) {
      const guard = { 'src/guard.ts': 'guard\n' };
      await changed(place, [guard, { 'src/app.ts': edited({ 20: 'guarded\n' }) }]);
      mainMoves(place, { 'src/lib.ts': 'newer lib\n' }, 'main');
      code(place, guard);
      staged(place, () => git(place.dir, 'rm', '--quiet', 'src/guard.ts'));
      checkout(place, 'feature');
      assertRebased(place, 'end', 'guarded', 'src/app.ts');
    },
  },
];

/** A branch of some commits that one thought is about. */
async function changed(place: Place, steps: readonly Record<string, string>[]): Promise<void> {
  const base = headOf(place.dir);
  branch(place, 'feature');
  for (const files of steps) code(place, files);
  session(place, [START, await thoughtSince(place, base), BATON]);
}
