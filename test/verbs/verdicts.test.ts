import { expect, it } from 'vitest';
import { commitAll, type Draft, type Place, writeSession } from '../handoff.ts';
import { template } from '../threats/forge.ts';
import { open } from './agents.ts';

// THREATS 52: what a verb decides, it decides by all records. A history forgets what enough junk comes after.

const fresh = template(async ({ handoff }) => {
  await handoff.task.add({ id: 'P0.1', title: 'Reader' });
  await handoff.task.add({ id: 'P0.2', title: 'Writer', depends: ['P0.1'] });
});

const START: Draft = { kind: 'start' };
const change = (status: string): Draft => ({ kind: 'task', task_id: 'P0.1', status });
const thought = (commit_sha: string): Draft => ({
  ...{ kind: 'thought' as const, task_id: 'P0.1', branch: 'main', commit_sha, tests_run: [], summary: 'done' },
  ...{ blockers: [], files_changed: [], related_thought_records: [] },
});
const many = (draft: Draft): Draft[] => Array.from({ length: 20 }, () => draft);

function told(place: Place, drafts: Draft[], clock: number): void {
  writeSession(place, [START, ...drafts], { clock, identity: 'erin' });
  commitAll(place);
}

async function started(place: Place): Promise<Place> {
  const here = open(place, { env: { HANDOFF_IDENTITY: 'donna' } });
  await here.handoff.start();
  return here;
}

it('nothing is done by a thought from before it was begun again, whatever was said since', async () => {
  const place = fresh();
  const head = commitAll(place);
  told(place, [change('in_progress'), thought(head), change('done'), change('todo'), change('in_progress')], 10);
  told(place, many(change('blocked')), 30);
  const { handoff } = await started(place);
  await expect(handoff.task.update({ id: 'P0.1', status: 'done' })).rejects.toMatchObject({
    code: 'writeback_required',
  });
});

it('what was done stays done for whoever waits for it, and is reviewed, however many thoughts come later', async () => {
  const place = fresh();
  const head = commitAll(place);
  told(place, [change('in_progress'), thought(head), change('done')], 10);
  told(place, many(thought(head)), 30);
  const { handoff } = await started(place);
  expect(await handoff.claim({ id: 'P0.2' })).toMatchObject({ task_id: 'P0.2' });
});

it('a number that others have used is not taken, although they have used many higher ones', async () => {
  const place = fresh();
  const under = (token: number): Draft => ({ kind: 'note', text: 'mine', lock: { task: 'P0.1', token } });
  told(place, [under(1), ...Array.from({ length: 20 }, (_, n) => under(1000 + n))], 10);
  const { handoff } = await started(place);
  expect(await handoff.claim({ id: 'P0.1' })).toMatchObject({ token: 2 });
});

it('what is invented and said to be done is nothing that a revert could bring back', async () => {
  const place = fresh();
  const head = commitAll(place);
  const invented = { task_id: 'X9' };
  told(
    place,
    [
      { ...thought(head), ...invented },
      { ...change('done'), ...invented },
    ],
    10,
  );
  const { handoff } = await started(place);
  expect(await handoff.reconcile({ dryRun: true })).toMatchObject({ reverted: [] });
});
