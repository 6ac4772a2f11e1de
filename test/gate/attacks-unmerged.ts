import type { Place } from '../handoff.ts';
import { git } from '../temporary.ts';
import { fixOnMain, renamedApp } from './attacks-lost.ts';
import { edited } from './ground.ts';
import { branch, type Change, checkout, code, merge, policy, type Scenario, staged } from './scenario.ts';

// A branch that does not have main behind it is judged in CI, and then a forge merges or squashes it, and nobody looks at what git makes of it.

/** A squash has the tree of the merge. */
const WAYS = [['--no-edit', '--no-ff'], ['--squash']];

/** What the forge is about to do to a file, whichever button is pressed. */
function assertLanded({ dir }: Place, head: string, path: string, isSo: (text: string) => boolean): void {
  for (const way of WAYS) {
    git(dir, 'checkout', '--quiet', '--detach', 'main');
    git(dir, 'merge', '--quiet', ...way, head);
    if (!isSo(git(dir, 'show', `:${path}`))) throw new Error(`the forge does not do it with ${way}`);
    git(dir, 'reset', '--quiet', '--hard');
  }
}

/** A copy of the code came to main and went, as files that ask for no account do. The branch has changed it. */
function changeByForge(place: Place, decoy: string): Change {
  const { dir } = place;
  const [added] = git(dir, 'log', '--format=%H', '--diff-filter=A', 'main', '--', 'src/app.ts').split('\n');
  branch(place, 'decoy', `${added}^`);
  code(place, { [decoy]: edited({}) }, 'docs');
  branch(place, 'edited');
  code(place, { [decoy]: edited({ 5: 'evil\n' }) }, 'docs: typo');
  checkout(place, 'main');
  merge(place, '--no-ff', 'decoy');
  staged(place, () => git(dir, 'rm', '--quiet', '--', decoy), 'docs: not needed');
  assertLanded(place, 'edited', 'src/app.ts', (text) => text.includes('evil'));
  return { head: 'edited' };
}

async function loseByForge(place: Place, copy: string): Promise<Change> {
  await renamedApp(place);
  fixOnMain(place);
  code(place, { [copy]: edited({}) }, 'docs');
  assertLanded(place, 'feature', 'src/core.ts', (text) => !text.includes('fix'));
  return { head: 'feature' };
}

const EXEMPT = { exempt: ['docs/**'] };

const MISSING = 'writeback_missing';

/** A server judges the merge itself: it is pushed as it is. */
const LOCAL = { isLocal: true };

export const UNMERGED: Scenario[] = [
  {
    name: 'code that the merge of a forge changes by way of a file in .handoff',
    threat: 44,
    expect: ['record_changed', MISSING],
    ...LOCAL,
    build: (place) => changeByForge(place, '.handoff/app.ts'),
  },
  {
    name: 'code that the merge of a forge changes by way of an exempt file',
    threat: 69,
    expect: MISSING,
    ...LOCAL,
    build(place) {
      policy(place, EXEMPT);
      return changeByForge(place, 'docs/app.md');
    },
  },
  {
    name: 'a fix that the merge of a forge puts into a file in .handoff',
    threat: 44,
    expect: ['path_mismatch', MISSING],
    ...LOCAL,
    build: (place) => loseByForge(place, '.handoff/x'),
  },
  {
    name: 'a fix that the merge of a forge puts into an exempt file',
    threat: 69,
    expect: MISSING,
    ...LOCAL,
    build(place) {
      policy(place, EXEMPT);
      return loseByForge(place, 'docs/x');
    },
  },
];
