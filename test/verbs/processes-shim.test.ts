import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { nodeHost } from '../../src/host.ts';
import { openRepositoryAt } from '../../src/repository/repository.ts';
import { VERBS } from '../../src/verbs/table.ts';
import { commitAll, emptyPlace, type Place } from '../handoff.ts';
import { git } from '../temporary.ts';
import { template } from '../threats/forge.ts';
import { open } from './agents.ts';
import { type Call, expectStarted, shim } from './git-calls.ts';
import { defineTask, work } from './tasks.ts';

const fresh = template(async (place) => {
  for (const id of ['T1', 'T2', 'T3', 'T4']) defineTask(place, id);
  commitAll(place, 'tasks');
});

const run = { command: ['true'] };
const NONE: string[] = [];
const READS = ['cat-file'];
const COMPARES = ['cat-file', 'diff-tree'];
const LOOKS = ['cat-file', 'diff-tree', 'status'];
const COMMITS = ['cat-file', 'commit'];

it('no verb of the loop, of writeback and of documents starts more than three git processes', async () => {
  const place = fresh();
  const calls: [string, Call, string[]][] = [
    ['start', (handoff) => handoff.start({ as: 'donna' }), READS],
    ['claim', (handoff) => handoff.claim({ id: 'T1' }), READS],
    ['thought', (handoff) => handoff.thought({ id: 'T1', summary: 'x' }), COMPARES],
    ['thought --run', (handoff) => handoff.thought({ id: 'T1', summary: 'x', run }), LOOKS],
    ['task update', (handoff) => handoff.task.update({ id: 'T1', status: 'done' }), ['cat-file', 'rev-list']],
    ['done --run', (handoff) => handoff.done({ id: 'T2', summary: 'x', run }), LOOKS],
    ['done', (handoff) => handoff.done({ id: 'T3', summary: 'x' }), COMPARES],
    ['done once more', (handoff) => handoff.done({ id: 'T3', summary: 'x' }), COMPARES],
    ['done --no-code', (handoff) => handoff.done({ id: 'T4', summary: 'x', code: false }), READS],
    ['review', (handoff) => handoff.review({ id: 'T2', verdict: 'approve' }), [...COMPARES, 'rev-list']],
    ['escalate', (handoff) => handoff.escalate({ id: 'T2' }), COMPARES],
    ['gate', (handoff) => handoff.gate({ base: 'main', head: 'HEAD' }), COMPARES],
    ['reconcile', (handoff) => handoff.reconcile(), ['cat-file', 'merge-base', 'rev-list']],
    ['decisions', (handoff) => handoff.decisions(), ['cat-file', 'diff-index']],
    ['batons', (handoff) => handoff.batons(), READS],
    ['wip list', (handoff) => handoff.wip.list(), READS],
    ['policy show', (handoff) => handoff.policy.show(), READS],
    ['identity list', (handoff) => handoff.identity.list(), READS],
    ['trust', (handoff) => handoff.trust(), NONE],
    ['task edit', (handoff) => handoff.task.edit({ id: 'T1', title: 'more' }), COMMITS],
    ['identity add', (handoff) => handoff.identity.add({ name: 'lola' }), COMMITS],
    ['policy set', (handoff) => handoff.policy.set({ key: 'writeback.evidence', value: 'passed' }), COMMITS],
    ['done, held to a run that passed', (handoff) => handoff.done({ id: 'T1', summary: 'y', run }), LOOKS],
    [
      'waiver',
      (handoff) =>
        handoff.start({ as: 'maintainer' }).then(() => handoff.waiver({ sha: 'HEAD', reason: 'x', as: 'maintainer' })),
      READS,
    ],
  ];
  for (const [name, call, processes] of calls) {
    if (name === 'thought') {
      git(place.dir, 'switch', '--quiet', '--create', 'work');
      work(place, { 'src/a.ts': 'one\n' });
    }
    if (name === 'gate') git(place.dir, 'commit', '--quiet', '--allow-empty', '--message', 'records');
    if (name.startsWith('done, held')) work(place, { 'src/a.ts': 'two\n' });
    await expectStarted(place, name, call, processes);
  }
});

it('where the protected branch has moved on, a writeback asks no other process for the range', async () => {
  const place = fresh();
  git(place.dir, 'switch', '--quiet', '--create', 'work');
  work(place, { 'src/a.ts': 'one\n' });
  git(place.dir, 'switch', '--quiet', 'main');
  git(place.dir, 'remote', 'add', 'origin', 'nowhere');
  git(place.dir, 'update-ref', 'refs/remotes/origin/main', work(place, { 'theirs.txt': 't\n' }));
  git(place.dir, 'switch', '--quiet', 'work');
  await expectStarted(place, 'claim', (handoff) => handoff.claim({ id: 'T1', as: 'donna' }), READS);
  await expectStarted(place, 'done --run', (handoff) => handoff.done({ id: 'T1', summary: 'x', run }), LOOKS);
});

it('restore starts three, and two where all of it is there', async () => {
  const place = fresh();
  const { handoff } = open(place);
  await handoff.start({ as: 'donna' });
  writeFileSync(join(place.dir, 'more.txt'), 'not committed\n');
  const { session_id } = await handoff.wrap({ message: 'x' });
  rmSync(join(place.dir, 'more.txt'));
  const call: Call = (again) => again.restore({ target: session_id });
  await expectStarted(place, 'restore', call, ['cat-file', 'restore', 'update-index']);
  await expectStarted(place, 'restore once more', call, ['cat-file', 'update-index']);
});

it.each([
  ['a new repository', () => {}],
  [
    'one with commits, and files that git ignores',
    (place: Place) => {
      writeFileSync(join(place.dir, '.gitignore'), 'node_modules/\n*.log\n/dist\n');
      writeFileSync(join(place.dir, '.gitattributes'), '* text=auto\n');
      commitAll(place);
    },
  ],
])('init starts three, hooks and all: %s', async (_, prepare) => {
  const place = emptyPlace();
  prepare(place);
  const { env, started } = shim(place);
  const program = { node: process.execPath, hook: join(place.dir, '../hook.sh') };
  const repository = openRepositoryAt(place.dir, { env: { ...place.env, ...env }, host: nodeHost, program });
  const { hooks, created } = await (await VERBS.init())(repository, {});
  await repository.close();
  expect([hooks.length > 0, created.includes('.gitattributes')]).toEqual([true, true]);
  expect(started()).toHaveLength(3);
});
