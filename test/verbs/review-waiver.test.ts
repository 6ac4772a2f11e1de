import { describe, expect, test } from 'vitest';
import { commitAll, type Place } from '../handoff.ts';
import { git } from '../temporary.ts';
import { template } from '../threats/forge.ts';
import { open, recordsOf } from './agents.ts';
import { changeTask, defineTask, error, work } from './tasks.ts';

const fresh = template(async (place) => {
  defineTask(place, 'P0.1', { acceptance: ['it reads', 'it writes', '1'] });
  defineTask(place, 'P0.2');
  commitAll(place, 'tasks');
});

/** donna has written back what she did, and erin is about to look at it. */
async function underReview(): Promise<Place & { thought: string; sha: string; session: string }> {
  const place = fresh();
  await place.handoff.start({ as: 'donna' });
  const sha = work(place, { 'src/a.ts': 'one\n' });
  const { delta_id } = await place.handoff.thought({ id: 'P0.1', summary: 's', as: 'donna' });
  await place.handoff.wrap({ as: 'donna', message: 'over to erin' });
  const reviewer = open(place);
  const { session_id } = await reviewer.handoff.start({ as: 'erin' });
  return { ...reviewer, thought: delta_id, sha, session: session_id };
}

const reviewOf = (place: Place & { session: string }) => recordsOf(place, place.session).at(-1)!.fields;

describe('a review', () => {
  test('names the thought and the commit it is about, and what was checked, in words', async () => {
    const place = await underReview();
    const { delta_id } = await place.handoff.review({
      id: 'P0.1',
      verdict: 'approve',
      checked: ['2', 'it reads', '1', 'it reads'],
      text: 'fine',
    });
    expect(recordsOf(place, place.session).at(-1)!.id).toBe(delta_id);
    expect(reviewOf(place)).toMatchObject({
      kind: 'review',
      identity: 'erin',
      task_id: 'P0.1',
      verdict: 'approve',
      thought: place.thought,
      commit_sha: place.sha,
      checked: ['it reads', 'it writes', '1'],
      text: 'fine',
    });
    expect(place.warnings).toEqual([]);
    expect((await open(place).handoff.verify({ staged: true })).findings).toEqual([]);
  });

  test('that approves with items unchecked names them; one that rejects need not', async () => {
    const place = await underReview();
    await place.handoff.review({ id: 'P0.1', verdict: 'reject' });
    expect(place.warnings).toEqual([]);
    await place.handoff.review({ id: 'P0.1', verdict: 'approve', checked: ['it reads'] });
    expect(place.warnings.join()).toMatch(/it writes; 1$/);
  });

  test("of one's own thought is written, and said not to count", async () => {
    const place = fresh();
    await place.handoff.start({ as: 'donna' });
    await place.handoff.thought({ id: 'P0.2', summary: 's' });
    place.warnings.length = 0;
    await place.handoff.review({ id: 'P0.2', verdict: 'approve' });
    expect(place.warnings.join()).toMatch(/donna's own/);
  });

  test('of an item that is not on the list is refused, and the list is shown', async () => {
    const place = await underReview();
    for (const item of ['it sings', '4', '0'])
      expect(await error(place.handoff.review({ id: 'P0.1', verdict: 'approve', checked: [item] }))).toMatchObject({
        code: 'usage',
        message: expect.stringMatching(/1\. it reads; 2\. it writes/),
      });
    expect(recordsOf(place, place.session)).toHaveLength(1);
  });

  test('is about the newest thought that counts: one from before the task was begun again does not', async () => {
    const place = await underReview();
    await changeTask(place, 'P0.1', 'in_progress', 'erin');
    expect(await error(place.handoff.review({ id: 'P0.1', verdict: 'approve' }))).toMatchObject({
      code: 'unknown_record',
    });
    const { delta_id } = await place.handoff.thought({ id: 'P0.1', summary: 'again' });
    await place.handoff.review({ id: 'P0.1', verdict: 'reject' });
    expect(reviewOf(place).thought).toBe(delta_id);
  });

  test('asks which thought is meant, where the newest is about a commit that HEAD does not have', async () => {
    const place = await underReview();
    const theirs = git(place.dir, 'commit-tree', '-p', 'HEAD~', '-m', 'theirs', 'HEAD^{tree}');
    await open(place).handoff.start({ as: 'maintainer' });
    const options = { id: 'P0.1', summary: 'theirs', as: 'maintainer', commit: theirs, branch: 'theirs' };
    git(place.dir, 'branch', 'theirs', theirs);
    const { delta_id } = await open(place).handoff.thought(options);
    const approve = { id: 'P0.1', verdict: 'approve' as const, as: 'erin' };
    const failure = await error(place.handoff.review(approve));
    expect(failure).toMatchObject({
      code: 'usage',
      message: expect.stringMatching(
        /HEAD has the commit of donna's .* the newest is maintainer's .* HEAD does not have/,
      ),
      hint: expect.stringContaining(`--thought ${place.thought.slice(7, 19)}`),
      data: { thoughts: [place.thought, delta_id] },
    });
    expect(recordsOf(place, place.session)).toHaveLength(1);
    const reviewed = await place.handoff.review({ ...approve, thought: place.thought.slice(7, 19) });
    expect(reviewed.thought).toEqual({ delta_id: place.thought, identity: 'donna', commit_sha: place.sha });
    expect(reviewOf(place)).toMatchObject({ thought: place.thought, commit_sha: place.sha });
    for (const named of ['feedfeed', 'sha256:', place.sha])
      expect(await error(place.handoff.review({ ...approve, thought: named }))).toMatchObject({
        code: 'unknown_record',
      });
  });

  test('of a task without a thought, or of no task, is refused', async () => {
    const { handoff } = await underReview();
    expect(await error(handoff.review({ id: 'P0.2', verdict: 'approve' }))).toMatchObject({
      code: 'unknown_record',
      hint: expect.stringContaining('git handoff thought P0.2'),
    });
    expect(await error(handoff.review({ id: 'P9', verdict: 'approve' }))).toMatchObject({ code: 'unknown_task' });
  });
});

describe('a waiver', () => {
  async function maintainer(): Promise<Place & { session: string; sha: string }> {
    const place = fresh();
    const sha = work(place, { 'fix.ts': 'x\n' });
    const { session_id } = await place.handoff.start({ as: 'maintainer' });
    return { ...place, session: session_id, sha };
  }

  test('names the whole commit, and why', async () => {
    const place = await maintainer();
    const { commit_sha, path } = await place.handoff.waiver({
      sha: place.sha.slice(0, 7),
      reason: 'urgent',
      task: 'P0.1',
    });
    expect(commit_sha).toBe(place.sha);
    expect(recordsOf(place, place.session).at(-1)).toMatchObject({
      path,
      fields: { kind: 'waiver', commit_sha: place.sha, reason: 'urgent', task_id: 'P0.1' },
    });
    expect((await open(place).handoff.verify({ staged: true })).findings).toEqual([]);
  });

  test('by anybody but a maintainer is refused before anything is written', async () => {
    const place = await maintainer();
    const { session_id } = await open(place).handoff.start({ as: 'donna' });
    const failure = await error(open(place).handoff.waiver({ as: 'donna', sha: place.sha, reason: 'please' }));
    expect(failure).toMatchObject({ code: 'not_entitled', exitCode: 1, hint: expect.stringContaining('maintainer') });
    expect(recordsOf(place, session_id)).toHaveLength(1);
  });

  test('after a wrap nobody writes it as the one whose session has ended', async () => {
    const place = await maintainer();
    await open(place).handoff.wrap({ message: 'done', as: 'maintainer' });
    await open(place).handoff.start({ as: 'donna' });
    await open(place).handoff.wrap({ message: 'done', as: 'donna' });
    const failure = await error(open(place).handoff.waiver({ sha: place.sha, reason: 'please' }));
    expect(failure).toMatchObject({ code: 'session_ended', hint: expect.stringContaining('git handoff start') });
  });

  test.each([
    ['a commit that is none', { sha: 'feedfeed' }, 'unknown_commit'],
    ['a tree', { sha: 'HEAD^{tree}' }, 'unknown_commit'],
    ['no reason', { reason: ' ' }, 'usage'],
    ['a task that is none', { task: 'P9' }, 'unknown_task'],
  ])('of %s is refused', async (_, options, code) => {
    const place = await maintainer();
    const all = { sha: git(place.dir, 'rev-parse', 'HEAD'), reason: 'r', ...options };
    expect(await error(place.handoff.waiver(all))).toMatchObject({ code });
    expect(recordsOf(place, place.session)).toHaveLength(1);
  });
});
