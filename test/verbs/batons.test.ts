import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { commitAll, type Draft, type Place, writeBytes, writeSession } from '../handoff.ts';
import { git, gitInput } from '../temporary.ts';
import { reopen, template } from '../threats/forge.ts';
import { workAndWrap } from './agents.ts';
import { cloneOf, fetchAll, serverOf, workOn } from './clones.ts';

const fresh = template(({ handoff }) => handoff.identity.add({ name: 'lola' }));

async function twoMachines(): Promise<{ place: Place; lola: Place }> {
  const place = fresh();
  const lola = cloneOf(place, serverOf(place), 'lola');
  return { place, lola };
}

it('a baton on a branch that was fetched is picked up on another machine, and leads to its branch', async () => {
  const { place, lola } = await twoMachines();
  const session_id = await workOn(place, 'work', 'donna', { message: 'half of it' });
  fetchAll(lola);
  const { batons } = await lola.handoff.batons();
  expect(batons).toEqual([
    {
      delta_id: expect.stringMatching(/^sha256:/),
      session_id,
      identity: 'donna',
      next_agent: null,
      task_ids: [],
      branch: 'work',
      found_on: 'origin/work',
      at: expect.any(String),
      summary: 'half of it',
      age: expect.any(Number),
    },
  ]);
  const picked = await lola.handoff.pickup({ as: 'lola' });
  expect(picked).toMatchObject({
    predecessor_session_id: session_id,
    baton: { delta_id: batons[0]!.delta_id, body: 'half of it', branch: 'work' },
    work: { branch: 'work', worktree: null, remote: 'origin/work', ahead: null, behind: null },
    waiting: [],
  });
  expect((await lola.handoff.batons()).batons).toEqual([]);
});

it('what was picked up on another machine waits for nobody, once that is known', async () => {
  const { place, lola } = await twoMachines();
  await workOn(place, 'work', 'donna');
  fetchAll(lola);
  await lola.handoff.pickup({ as: 'lola' });
  git(lola.dir, 'push', '--quiet', 'origin', 'main:lolas');
  expect((await place.handoff.batons()).batons).toHaveLength(1);
  fetchAll(place);
  expect((await place.handoff.batons()).batons).toEqual([]);
});

it('a baton that two branches have is one baton', async () => {
  const { place, lola } = await twoMachines();
  await workOn(place, 'work', 'donna');
  git(place.dir, 'push', '--quiet', 'origin', 'work:copy', 'work:main');
  fetchAll(lola);
  expect((await lola.handoff.batons()).batons).toHaveLength(1);
  git(lola.dir, 'pull', '--quiet');
  expect((await lola.handoff.batons()).batons.map(({ found_on }) => found_on)).toEqual([null]);
});

it('a baton meant for lola is not given to erin, who is told; lola gets it though others are newer', async () => {
  const place = fresh();
  const { handoff } = place;
  await handoff.start({ as: 'donna' });
  await handoff.wrap({ as: 'donna', message: 'for lola', nextAgent: 'lola' });
  const erin = await handoff.pickup({ as: 'erin' });
  expect(erin).toMatchObject({ predecessor_session_id: null, baton: null, work: null });
  expect(erin.warnings.map(({ kind }) => kind)).toEqual(['no_baton', 'not_for_you']);
  expect(erin.warnings[1]!.message).toContain('lola');
  expect(erin.waiting.map(({ next_agent }) => next_agent)).toEqual(['lola']);
  await handoff.wrap({ as: 'erin', message: 'for anybody' });
  const lola = await handoff.pickup({ as: 'lola' });
  expect(lola.baton?.body).toBe('for lola');
  expect(lola.waiting.map(({ summary }) => summary)).toEqual(['for anybody']);
  expect(lola.warnings).toEqual([]);
});

it.each([{ force: true }, { fromSession: true }])(
  'one that is meant for somebody else is taken on purpose only, and that is said: %o',
  async ({ force, fromSession }) => {
    const { handoff } = fresh();
    const { session_id } = await handoff.start({ as: 'donna' });
    await handoff.wrap({ as: 'donna', message: 'for lola', nextAgent: 'lola' });
    const named = fromSession ? { fromSession: session_id } : {};
    const { baton, warnings } = await handoff.pickup({ as: 'erin', ...(force ? { force } : {}), ...named });
    expect(baton?.body).toBe('for lola');
    expect(warnings).toEqual([{ kind: 'not_for_you', message: expect.stringContaining('meant for lola') }]);
  },
);

it('the newest that is meant for nobody in particular comes before older ones; one for nobody that exists stays', async () => {
  const place = fresh();
  await workAndWrap(place.handoff, 'donna', 'older');
  await workAndWrap(place.handoff, 'erin', 'newer');
  writeSession(
    place,
    [{ kind: 'start' }, { kind: 'baton', summary: 'for nobody there is', next_agent: 'zoe', body: 'x\n' }],
    {
      clock: 100,
    },
  );
  commitAll(place);
  const { handoff } = reopen(place);
  expect((await handoff.pickup({ as: 'lola' })).baton?.body).toBe('newer');
  expect((await handoff.batons()).batons.map(({ summary }) => summary)).toEqual(['for nobody there is', 'older']);
});

it('the tasks of a baton are those in focus, and those that its session left in progress', async () => {
  const { handoff } = fresh();
  for (const id of ['T1', 'T2', 'T3', 'T4']) await handoff.task.add({ id, title: id });
  await handoff.start({ as: 'donna', task: 'T2' });
  await handoff.claim({ id: 'T3' });
  await handoff.task.update({ id: 'T4', status: 'cancelled', notes: 'no' });
  await handoff.wrap({ as: 'donna', message: 'x', focus: ['T1'] });
  expect((await handoff.batons()).batons[0]!.task_ids).toEqual(['T1', 'T2', 'T3']);
});

it('the work is where its branch is checked out, and how far that is from the remote is said', async () => {
  const { place } = await twoMachines();
  await workOn(place, 'work', 'donna');
  const tree = join(place.dir, '..', 'tree');
  git(place.dir, 'worktree', 'add', '--quiet', tree, 'work');
  git(tree, 'commit', '--quiet', '--allow-empty', '--message', 'more');
  const { work } = await reopen(place).handoff.pickup({ as: 'lola' });
  expect(work).toMatchObject({ branch: 'work', worktree: tree, remote: 'origin/work', ahead: 1, behind: 0 });
});

it('a branch that is gone is named, and nothing else is said of it', async () => {
  const { place, lola } = await twoMachines();
  await workOn(place, 'work', 'donna');
  git(place.dir, 'push', '--quiet', 'origin', 'work:main', ':work');
  git(lola.dir, 'pull', '--quiet', '--prune');
  const { work } = await lola.handoff.pickup({ as: 'lola' });
  expect(work).toEqual({ branch: 'work', worktree: null, remote: null, ahead: null, behind: null, is_here: false });
});

it('of 500 branches with a baton each, the oldest is found if it is meant for whoever asks', async () => {
  const { place, lola } = await twoMachines();
  const commits = Array.from({ length: 500 }, (_, at) => {
    const next = at === 0 ? { next_agent: 'lola' } : {};
    const baton: Draft = { kind: 'baton', summary: `number ${at}`, body: 'x\n', ...next };
    const files = writeSession(place, [{ kind: 'start' }, baton], { clock: 10 * at });
    return [
      `commit refs/remotes/origin/work-${at}`,
      'committer Ada <ada@example.org> 1767323045 +0000\ndata 1\nx',
      'from refs/heads/main^0',
      ...files.map(({ path, bytes }) => `M 100644 inline ${path}\ndata ${bytes.length}\n${Buffer.from(bytes)}`),
    ].join('\n');
  });
  gitInput(lola.dir, `${commits.join('\n')}\n`, 'fast-import', '--quiet');
  for (const _ of ['cold', 'warm'])
    expect((await reopen(lola, lola.dir, lola.env, 'test').handoff.batons()).batons).toHaveLength(500);
  const { baton, waiting } = await reopen(lola, lola.dir, lola.env, 'test').handoff.pickup({ as: 'lola' });
  expect([baton?.summary, waiting.length]).toEqual(['number 0', 10]);
});

it('branches at more commits than anybody works on are not looked at, and that is said', async () => {
  const { place, lola } = await twoMachines();
  const session_id = await workOn(place, 'aaa', 'donna');
  fetchAll(lola);
  const head = git(lola.dir, 'rev-parse', 'HEAD');
  const commits = Array.from(
    { length: 4200 },
    (_, at) => `commit refs/remotes/origin/b${at}\ncommitter x <x@x.invalid> ${at} +0000\ndata 0\nfrom ${head}\n\n`,
  );
  gitInput(lola.dir, commits.join(''), 'fast-import', '--quiet');
  const machine = reopen(lola);
  expect((await machine.handoff.batons()).batons.map((each) => each.session_id)).toEqual([session_id]);
  expect(machine.warnings).toContainEqual(
    expect.stringMatching(/^There are too many branches here: 10[0-9] of remotes/),
  );
});

it('what was not committed is brought back by a baton that only another branch has', async () => {
  const { place } = await twoMachines();
  git(place.dir, 'switch', '--quiet', '-c', 'work');
  const { session_id } = await place.handoff.start({ as: 'donna' });
  writeBytes(place.dir, 'half.txt', 'half of it\n');
  await place.handoff.wrap({ as: 'donna', message: 'x' });
  git(place.dir, 'clean', '--quiet', '-fd');
  git(place.dir, 'switch', '--quiet', 'main');
  rmSync(join(place.dir, '.git/handoff'), { recursive: true }); // the journal has it too
  expect((await reopen(place).handoff.restore({ target: session_id })).paths).toEqual(['half.txt']);
});
