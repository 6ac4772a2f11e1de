import { git } from '../temporary.ts';
import { asking, PASSED, ran, STRICT, treeOf, withRuns } from './runs.ts';
import { branch, code, DONE, policy, type Scenario, thoughtSince } from './scenario.ts';
import { remark, told, WORK } from './tasks.ts';

const BOTH = asking({ runs: 'error', evidence: 'passed' });

/** What ran, and passed in the end. */
export const RUNS: Scenario[] = [
  {
    name: 'a run that passed',
    async build(place) {
      policy(place, BOTH);
      branch(place, 'feature');
      code(place, { 'src/new.ts': 'new\n' });
      told(place, [WORK, withRuns(await thoughtSince(place, 'main'), ran(0, treeOf(place))), DONE], { clock: 20 });
    },
  },
  {
    name: 'a run that failed, and passed after it was mended',
    async build(place) {
      policy(place, BOTH);
      branch(place, 'feature');
      code(place, { 'src/new.ts': 'new\n' });
      told(place, [WORK, withRuns(await thoughtSince(place, 'main'), ran(1, treeOf(place)))], { clock: 20 });
      code(place, { 'src/new.ts': 'mended\n' });
      told(place, [withRuns(await thoughtSince(place, 'main'), ran(0, treeOf(place))), DONE], { clock: 30 });
    },
  },
  {
    name: 'a run that failed, and passed when it was run again on the same commit',
    async build(place) {
      policy(place, BOTH);
      branch(place, 'feature');
      code(place, { 'src/new.ts': 'new\n' });
      const thought = await thoughtSince(place, 'main');
      const tree = treeOf(place);
      told(place, [WORK, withRuns(thought, ran(1, tree)), withRuns(thought, ran(0, tree)), DONE], { clock: 20 });
    },
  },
  {
    name: 'a run by somebody else, on the same code with more records',
    async build(place) {
      policy(place, BOTH);
      branch(place, 'feature');
      code(place, { 'src/new.ts': 'new\n' });
      told(place, [WORK, await thoughtSince(place, 'main')], { clock: 20 });
      const checked = withRuns(await remark(place), ran(0, treeOf(place)));
      told(place, [checked, DONE], { clock: 30, identity: 'erin' });
    },
  },
  {
    name: 'a run that passed, squashed by a forge',
    async build(place) {
      policy(place, BOTH);
      branch(place, 'feature');
      code(place, { 'src/new.ts': 'new\n' });
      code(place, { 'src/more.ts': 'more\n' });
      told(place, [WORK, withRuns(await thoughtSince(place, 'main'), ran(0, treeOf(place))), DONE], { clock: 20 });
      git(place.dir, 'checkout', '--quiet', '-b', 'squashed', 'main');
      git(place.dir, 'merge', '--quiet', '--squash', 'feature');
      git(place.dir, 'commit', '--quiet', '--message', 'squashed');
    },
  },
  {
    name: 'a task without code, which says so',
    async build(place) {
      policy(place, BOTH);
      branch(place, 'feature');
      told(place, [WORK, { ...(await remark(place)), no_code: true }, DONE], { clock: 20 });
    },
  },
  {
    name: 'a thought about nothing, where no evidence is asked for',
    async build(place) {
      policy(place, STRICT);
      branch(place, 'feature');
      told(place, [WORK, await remark(place), DONE], { clock: 20 });
    },
  },
  {
    name: 'a run that failed for a task that is not done',
    async build(place) {
      policy(place, BOTH);
      branch(place, 'feature');
      code(place, { 'src/new.ts': 'new\n' });
      told(place, [WORK, withRuns(await thoughtSince(place, 'main'), ran(1, treeOf(place)))], { clock: 20 });
    },
  },
  {
    name: 'a run that failed, where the policy says nothing about runs',
    async build(place) {
      branch(place, 'feature');
      code(place, { 'src/new.ts': 'new\n' });
      told(place, [WORK, withRuns(await thoughtSince(place, 'main'), ran(1, treeOf(place))), DONE], { clock: 20 });
    },
  },
  {
    name: 'a task that was done before the policy asked for runs',
    async build(place) {
      told(place, [WORK, await remark(place), DONE], { clock: 20 });
      policy(place, PASSED);
      branch(place, 'feature');
      told(place, [{ kind: 'note', text: 'later' }], { clock: 30 });
    },
  },
];
