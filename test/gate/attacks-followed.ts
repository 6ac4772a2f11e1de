import { type Place, writeBytes } from '../handoff.ts';
import { git } from '../temporary.ts';
import { rawTree } from '../threats/forge.ts';
import { edited } from './ground.ts';
import { mergeAsItIs } from './landing.ts';
import { branch, checkout, code, headOf, merge, policy, type Scenario, staged } from './scenario.ts';

// Git follows a file that one side renamed by looking for one that is alike. Whoever may write files that ask for no account can
// leave a copy of a file of code among them, on a commit from before that file, and let git take the one for the other.

const MISSING = 'writeback_missing';
const UNLISTED = ['files_uncovered', MISSING];
const CODE = 'src/app.ts';

/** The branch `decoy`: a copy of the code, on a commit that does not have the code yet. */
function leaveDecoy(place: Place, decoy: string): void {
  const [added] = git(place.dir, 'log', '--format=%H', '--diff-filter=A', 'main', '--', CODE).split('\n');
  branch(place, 'decoy', `${added}^`);
  code(place, { [decoy]: edited({}) });
}

/** What is checked out has the branch behind it, and nothing of it. */
function takeNothingOf({ dir }: Place, name: string, decoy: string): void {
  git(dir, 'merge', '--quiet', '--no-ff', '--no-commit', name);
  git(dir, 'rm', '--quiet', '-r', '--force', '--', decoy);
  git(dir, 'commit', '--quiet', '--message', `merge of ${name}`);
}

function isIn({ dir }: Place, text: string): void {
  if (!git(dir, 'show', `HEAD:${CODE}`).includes(text)) throw new Error(`git has not put ${text} there`);
}

function editDecoy(place: Place, decoy: string): void {
  leaveDecoy(place, decoy);
  branch(place, 'edited', 'decoy');
  code(place, { [decoy]: edited({ 5: 'evil\n' }) });
  branch(place, 'feature', 'main');
  takeNothingOf(place, 'decoy', decoy);
  merge(place, 'edited');
  isIn(place, 'evil');
}

/** The same copy decides what two branches have in common, and so which of two versions is the newer one. */
function takeBackByDecoy(place: Place, decoy: string): void {
  leaveDecoy(place, decoy);
  checkout(place, 'main');
  takeNothingOf(place, 'decoy', decoy);
  branch(place, 'old');
  branch(place, 'edited', 'decoy');
  code(place, { [decoy]: edited({ 5: 'fixed\n' }) });
  checkout(place, 'main');
  code(place, { [CODE]: edited({ 5: 'fixed\n' }) });
  for (const [name, from] of [
    ['feature', 'main'],
    ['other', 'old'],
  ] as const) {
    branch(place, `${name}-back`, 'edited');
    staged(
      place,
      () => {
        writeBytes(place.dir, decoy, edited({}));
        git(place.dir, 'add', '--', decoy);
      },
      `back for ${name}`,
    );
    branch(place, name, from);
    merge(place, `${name}-back`);
  }
  checkout(place, 'feature');
  merge(place, 'other');
  isIn(place, 'line 5\n');
}

/** Main removed the code once and brought it back; the copy comes in by one merge base, and the code goes by the other. */
function editByTwoBases(place: Place, decoy: string): void {
  const { dir } = place;
  const start = headOf(dir);
  const without = staged(place, () => git(dir, 'rm', '--quiet', CODE), 'revert the application');
  code(place, { [CODE]: edited({}) }, 'land it again');
  branch(place, 'decoy', start);
  code(place, { [decoy]: edited({}) }, 'docs');
  branch(place, 'edited', without);
  merge(place, '--no-ff', 'decoy');
  code(place, { [decoy]: edited({ 5: 'evil\n' }) }, 'docs: typo');
  branch(place, 'feature', 'main');
  merge(place, '--no-ff', 'decoy');
  staged(place, () => git(dir, 'rm', '--quiet', decoy), 'docs: not needed');
  merge(place, 'edited');
  isIn(place, 'evil');
}

/** The copy is a file where main has a folder by now, both of them exempt. */
function editBesideFolder(place: Place): void {
  const { dir } = place;
  policy(place, { exempt: ['docs'] });
  leaveDecoy(place, 'docs');
  branch(place, 'gone');
  staged(place, () => git(dir, 'rm', '--quiet', 'docs'));
  branch(place, 'edited', 'decoy');
  code(place, { docs: edited({ 5: 'evil\n' }) });
  checkout(place, 'main');
  code(place, { 'docs/guide.md': 'guide\n' });
  branch(place, 'feature', 'main');
  merge(place, 'gone');
  merge(place, 'edited');
  isIn(place, 'evil');
}

/** The same where git writes neither mode: it looks at the kind alone. */
function editOddDecoy(place: Place, mode: { file: string; folder: string }): void {
  policy(place, { exempt: ['docs/**'] });
  leaveDecoy(place, 'docs/app.ts');
  setModes(place, mode);
  branch(place, 'edited', 'decoy');
  code(place, { 'docs/app.ts': edited({ 5: 'evil\n' }) });
  setModes(place, mode);
  branch(place, 'feature', 'main');
  takeNothingOf(place, 'decoy', 'docs/app.ts');
  merge(place, 'edited');
  isIn(place, 'evil');
}

/** The commit at HEAD once more, with these modes for `docs` and `docs/app.ts`. */
function setModes({ dir }: Place, mode: { file: string; folder: string }): void {
  const oidOf = (rev: string) => git(dir, 'rev-parse', rev);
  const docs = rawTree(dir, [{ mode: mode.file, name: 'app.ts', oid: oidOf('HEAD:docs/app.ts') }]);
  const entries = git(dir, 'ls-tree', 'HEAD')
    .split('\n')
    .map((line) => /^0?(\d+) \w+ (\w+)\t(.*)$/.exec(line)!)
    .map(([, kind, oid, name]) =>
      name === 'docs' ? { mode: mode.folder, name, oid: docs } : { mode: kind!, name: name!, oid: oid! },
    );
  const parents = git(dir, 'rev-parse', 'HEAD^@')
    .split('\n')
    .filter(Boolean)
    .flatMap((oid) => ['-p', oid]);
  git(dir, 'reset', '--quiet', '--hard', git(dir, 'commit-tree', ...parents, '-m', 'docs', rawTree(dir, entries)));
}

const ODD = { '1777777777777777777777100644': '40000', '100664': '40000', '100600': '40000', '100644': '40755' };

export const FOLLOWED: Scenario[] = [
  ...Object.entries(ODD).map(
    ([file, folder]): Scenario => ({
      name: `code changed by way of an exempt file of mode ${file}, in a folder of mode ${folder}`,
      threat: 69,
      isVariant: true,
      expect: UNLISTED,
      build: (place) => editOddDecoy(place, { file, folder }),
    }),
  ),
  {
    name: 'code changed by way of a file in .handoff that git takes for it',
    threat: 44,
    expect: UNLISTED,
    build: (place) => editDecoy(place, '.handoff/app.ts'),
  },
  {
    name: 'code changed by way of an exempt file that git takes for it',
    threat: 69,
    expect: UNLISTED,
    build(place) {
      policy(place, { exempt: ['docs/**'] });
      editDecoy(place, 'docs/app.ts');
    },
  },
  {
    name: 'a fix taken back by way of a file in .handoff, where two branches have met twice',
    threat: 44,
    expect: UNLISTED,
    build: (place) => takeBackByDecoy(place, '.handoff/app.ts'),
  },
  {
    name: 'code changed by way of a file in .handoff, of which one of two merge bases knows',
    threat: 44,
    expect: UNLISTED,
    build: (place) => editByTwoBases(place, '.handoff/app.ts'),
  },
  {
    name: 'code changed by way of an exempt file, of which one of two merge bases knows',
    threat: 69,
    expect: UNLISTED,
    build(place) {
      policy(place, { exempt: ['docs/**'] });
      editByTwoBases(place, 'docs/app.ts');
    },
  },
  {
    name: 'code changed by way of an exempt file in whose place main has a folder',
    threat: 69,
    expect: UNLISTED,
    build: editBesideFolder,
  },
  {
    name: 'an exempt file that main has made code of, changed where it was',
    threat: 69,
    expect: UNLISTED,
    build(place) {
      policy(place, { exempt: ['docs/**'] });
      code(place, { 'docs/example.ts': `example\n${edited({})}` });
      branch(place, 'feature');
      code(place, { 'docs/example.ts': `example\n${edited({ 5: 'evil\n' })}` });
      checkout(place, 'main');
      staged(place, () => git(place.dir, 'mv', 'docs/example.ts', 'src/example.ts'));
      checkout(place, 'feature');
      merge(place, 'main');
    },
  },
  {
    name: 'a new file in a folder of .handoff that git takes for a folder of code',
    threat: 44,
    expect: UNLISTED,
    build(place) {
      const { dir } = place;
      const copies = {
        '.handoff/src/app.ts': edited({}),
        '.handoff/src/lib.ts': 'lib\n',
        '.handoff/src/old.ts': edited({}),
      };
      leaveDecoy(place, '.handoff/src/app.ts');
      code(place, { ...copies, '.handoff/src/more.ts': 'more\n' });
      branch(place, 'edited', 'decoy');
      code(place, { '.handoff/src/evil.ts': 'evil\n' });
      branch(place, 'feature', 'main');
      takeNothingOf(place, 'decoy', '.handoff/src/');
      mergeAsItIs(place, 'edited');
      staged(place, () => git(dir, 'rm', '--quiet', '-r', '--force', '--ignore-unmatch', '--', '.handoff/src'));
      if (!git(dir, 'ls-files', 'src').includes('evil')) throw new Error('git has not put it there');
    },
  },
];
