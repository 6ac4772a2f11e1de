import { git, gitInput } from '../temporary.ts';
import { asking, PASSED, ran, STRICT, treeOf, withRuns } from './runs.ts';
import { branch, code, DONE, headOf, policy, type Scenario, thoughtSince } from './scenario.ts';
import { remark, told, WORK } from './tasks.ts';

const BOTH = asking({ runs: 'error', evidence: 'passed' });

/** What ran, and passed in the end. */
export const RUNS: Scenario[] = [
  {
    name: 'a run that passed, where an older thought of somebody else names a commit that git would not write',
    async build(place) {
      policy(place, BOTH);
      const twice = git(place.dir, 'cat-file', 'commit', 'HEAD').replace('\n\n', `\nparent ${headOf(place.dir)}\n\n`);
      const odd = gitInput(place.dir, `${twice}\n`, 'hash-object', '-t', 'commit', '-w', '--stdin', '--literally');
      const thought = { ...(await remark(place)), commit_sha: odd, files_changed: ['src/new.ts'] };
      told(place, [withRuns(thought, ran(1))], { clock: 10, identity: 'erin' });
      branch(place, 'feature');
      code(place, { 'src/new.ts': 'new\n' });
      told(place, [WORK, withRuns(await thoughtSince(place, 'main'), ran(0, treeOf(place))), DONE], { clock: 20 });
    },
  },
  {
    name: 'the same, begun before that thought',
    async build(place) {
      policy(place, BOTH);
      told(place, [WORK], { clock: 5 });
      const odd = gitInput(place.dir, 'tree 1\n', 'hash-object', '-t', 'commit', '-w', '--stdin', '--literally');
      const thought = { ...(await remark(place)), commit_sha: odd, tree: odd, files_changed: ['src/new.ts'] };
      told(place, [withRuns(thought, ran(1, odd))], { clock: 10, identity: 'erin' });
      branch(place, 'feature');
      code(place, { 'src/new.ts': 'new\n' });
      told(place, [withRuns(await thoughtSince(place, 'main'), ran(0, treeOf(place))), DONE], { clock: 20 });
    },
  },
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
