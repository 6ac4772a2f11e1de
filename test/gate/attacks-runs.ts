import { type Draft, newKey, type Place } from '../handoff.ts';
import { asking, PASSED, ran, STRICT, treeOf, withRuns } from './runs.ts';
import { branch, code, DONE, policy, type Scenario, thoughtSince } from './scenario.ts';
import { CHANGE, remark, told, WORK } from './tasks.ts';

/** A commit on a branch, and what a thought says of it. */
async function coded(place: Place, rules: Parameters<typeof policy>[1]): Promise<{ thought: Draft; tree: string }> {
  policy(place, rules);
  branch(place, 'feature');
  code(place, { 'src/new.ts': 'new\n' });
  return { thought: await thoughtSince(place, 'main'), tree: treeOf(place) };
}

/** Done, and what was run for it did not pass. */
export const FAILED_RUNS: Scenario[] = [
  {
    name: 'a run that failed, and done all the same',
    expect: 'run_failed',
    async build(place) {
      const { thought, tree } = await coded(place, STRICT);
      told(place, [WORK, withRuns(thought, ran(1, tree)), DONE], { clock: 20 });
    },
  },
  {
    name: 'a run that failed after one that passed, in the same thought',
    expect: 'run_failed',
    async build(place) {
      const { thought, tree } = await coded(place, STRICT);
      told(place, [WORK, withRuns(thought, ran(0, tree), ran(1, tree)), DONE], { clock: 20 });
    },
  },
  {
    name: 'a run that failed, and a newer thought that says nothing of it',
    expect: 'run_failed',
    async build(place) {
      const { thought, tree } = await coded(place, STRICT);
      told(place, [WORK, withRuns(thought, ran(1, tree)), thought, DONE], { clock: 20 });
    },
  },
  {
    name: 'the same, with a commit of records in between',
    expect: 'run_failed',
    async build(place) {
      const { thought, tree } = await coded(place, STRICT);
      told(place, [WORK, withRuns(thought, ran(1, tree))], { clock: 20 });
      told(place, [await thoughtSince(place, 'main'), DONE], { clock: 30 });
    },
  },
  {
    name: 'the same, where the task was given back and begun again in between',
    expect: 'run_failed',
    async build(place) {
      const { thought, tree } = await coded(place, STRICT);
      told(place, [WORK, withRuns(thought, ran(1, tree)), CHANGE('todo'), WORK, thought, DONE], { clock: 20 });
    },
  },
  {
    name: 'a remark on the commit before, written after the run that failed',
    expect: 'run_failed',
    async build(place) {
      const { thought, tree } = await coded(place, STRICT);
      const none: Draft = { ...(await thoughtSince(place, 'main', 'main')), no_code: true };
      told(place, [WORK, withRuns(thought, ran(1, tree)), none, DONE], { clock: 20 });
    },
  },
  {
    name: 'a run that failed on what was not committed',
    expect: 'run_failed',
    async build(place) {
      const { thought } = await coded(place, STRICT);
      told(place, [WORK, withRuns(thought, ran(1)), thought, DONE], { clock: 20 });
    },
  },
  {
    name: 'a thought that names another tree than its commit has',
    expect: 'run_failed',
    async build(place) {
      const { thought, tree } = await coded(place, STRICT);
      const other = treeOf(place, 'main');
      told(place, [WORK, withRuns(thought, ran(1, tree)), { ...thought, tree: other }, DONE], { clock: 20 });
    },
  },
  {
    name: 'a run that failed in a first push, done in a second',
    expect: 'run_failed',
    async build(place) {
      const { thought, tree } = await coded(place, STRICT);
      told(place, [WORK, withRuns(thought, ran(1, tree))], { clock: 20 });
      branch(place, 'more');
      told(place, [DONE], { clock: 30, identity: 'erin' });
      return { base: 'feature' };
    },
  },
];

/** The policy asks for evidence, and there is something else. */
export const NO_EVIDENCE: Scenario[] = [
  {
    name: 'tests that are only claimed',
    expect: 'evidence_missing',
    async build(place) {
      const { thought } = await coded(place, asking({ evidence: 'run' }));
      told(place, [WORK, thought, DONE], { clock: 20 });
    },
  },
  {
    name: 'a run on another tree',
    expect: 'evidence_missing',
    async build(place) {
      const { thought } = await coded(place, asking({ evidence: 'run' }));
      told(place, [WORK, withRuns(thought, ran(0, treeOf(place, 'main'))), DONE], { clock: 20 });
    },
  },
  {
    name: 'a run on the tree before the last change',
    expect: 'evidence_missing',
    async build(place) {
      const { thought, tree } = await coded(place, PASSED);
      told(place, [WORK, withRuns(thought, ran(0, tree))], { clock: 20 });
      code(place, { 'src/new.ts': 'newer\n' });
      told(place, [await thoughtSince(place, 'main'), DONE], { clock: 30 });
    },
  },
  {
    name: 'a run that passed on what was not committed, where one must have passed',
    expect: 'evidence_missing',
    async build(place) {
      const { thought } = await coded(place, PASSED);
      told(place, [WORK, withRuns(thought, ran(0)), DONE], { clock: 20 });
    },
  },
  {
    name: 'a run that failed, where one must have passed',
    expect: 'evidence_missing',
    async build(place) {
      const { thought, tree } = await coded(place, PASSED);
      told(place, [WORK, withRuns(thought, ran(0, tree), ran(1, tree)), DONE], { clock: 20 });
    },
  },
  {
    name: 'a run in the thought of another task, which this one names as related',
    expect: 'evidence_missing',
    async build(place) {
      const { thought, tree } = await coded(place, PASSED);
      const other = { ...withRuns(thought, ran(0, tree)), task_id: 'P0.2' };
      const [related] = told(place, [other], { clock: 20, identity: 'erin' });
      told(place, [WORK, { ...thought, related_thought_records: [related!.id] }, DONE], { clock: 30 });
    },
  },
  {
    name: 'evidence of somebody whose key does not hold',
    expect: ['evidence_missing', 'signature_invalid'],
    async build(place) {
      const { thought, tree } = await coded(place, PASSED);
      told(place, [WORK, thought, DONE], { clock: 30 });
      told(place, [withRuns(thought, ran(0, tree))], { clock: 20, identity: 'erin', key: newKey() });
    },
  },
  {
    name: 'a thought about nothing',
    expect: 'done_without_thought',
    async build(place) {
      policy(place, PASSED);
      branch(place, 'feature');
      told(place, [WORK, withRuns(await remark(place), ran(0, treeOf(place))), DONE], { clock: 20 });
    },
  },
  {
    name: 'no code, by the word of whoever has written code for the task',
    expect: 'evidence_missing',
    async build(place) {
      const { thought } = await coded(place, asking({ evidence: 'run' }));
      told(place, [WORK, thought, CHANGE('todo'), WORK, { ...(await remark(place)), no_code: true }, DONE], {
        clock: 20,
      });
    },
  },
  {
    name: 'no code, by a thought that lists files',
    expect: 'evidence_missing',
    async build(place) {
      const { thought } = await coded(place, asking({ evidence: 'run' }));
      told(place, [WORK, { ...thought, no_code: true }, DONE], { clock: 20 });
    },
  },
];
