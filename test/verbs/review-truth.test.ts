import { describe, expect, test } from 'vitest';
import { BATON, START, session, thoughtSince } from '../gate/scenario.ts';
import { commitAll, type Draft, type Place } from '../handoff.ts';
import { git } from '../temporary.ts';
import { template } from '../threats/forge.ts';
import { open, recordsOf } from './agents.ts';
import { defineTask, error, work } from './tasks.ts';

// A reviewer approves what a thought says of its commit. Later the commit may be gone, and then nobody can compare the two.

const fresh = template(async (place) => {
  defineTask(place, 'P0.1');
  work(place, { 'src/b.ts': 'before\n' });
  commitAll(place, 'tasks');
});

/** Donna's thought about two commits and a merge, changed by somebody who writes records by hand; Erin is about to look. */
async function underReview(lie: (thought: Draft) => Draft): Promise<Place & { session: string }> {
  const place = fresh();
  const base = git(place.dir, 'rev-parse', 'HEAD');
  git(place.dir, 'checkout', '--quiet', '-b', 'feature');
  work(place, { 'src/a.ts': 'a\n' });
  work(place, { 'src/b.ts': 'b\n' });
  session(place, [START, lie(await thoughtSince(place, base)), BATON]);
  const reviewer = open(place);
  const { session_id } = await reviewer.handoff.start({ as: 'erin' });
  return { ...reviewer, session: session_id };
}

const approve = { id: 'P0.1', verdict: 'approve' as const };
const ids = (thought: Draft) => thought.commit_patch_ids as string[];
const OTHER = 'a'.repeat(64);

describe('a review that approves', () => {
  test.each<[string, (thought: Draft) => Draft]>([
    ['all of it', (thought) => thought],
    ['one that lists no ids of commits', ({ commit_patch_ids: _, ...thought }) => thought],
  ])('is written where the thought tells the truth: %s', async (_, change) => {
    const place = await underReview(change);
    await place.handoff.review(approve);
    expect(place.warnings).toEqual([]);
    expect(recordsOf(place, place.session)).toHaveLength(2);
  });

  test.each<[string, (thought: Draft) => Draft, string]>([
    ['the patch id of the whole', (thought) => ({ ...thought, patch_id: OTHER }), 'patch_id'],
    ['the patch id of a commit', (t) => ({ ...t, commit_patch_ids: [ids(t)[0]!, OTHER] }), 'commit_patch_ids'],
    [
      'a patch id more often than it is there',
      (t) => ({ ...t, commit_patch_ids: [...ids(t), ids(t)[0]!] }),
      'commit_patch_ids',
    ],
    ['fewer files', (thought) => ({ ...thought, files_changed: ['src/a.ts'] }), 'files_changed'],
    ['more files', (t) => ({ ...t, files_changed: ['README.md', 'src/a.ts', 'src/b.ts'] }), 'files_changed'],
  ])('is refused where it does not: %s', async (_, lie, field) => {
    const place = await underReview(lie);
    expect(await error(place.handoff.review(approve))).toMatchObject({
      code: field === 'files_changed' ? 'files_uncovered' : 'writeback_missing',
      message: expect.stringContaining(field),
      hint: expect.stringContaining('--verdict reject'),
    });
    expect(recordsOf(place, place.session)).toHaveLength(1);
    await place.handoff.review({ ...approve, verdict: 'reject' });
  });

  test('of a commit that is not here says that nothing was compared', async () => {
    const place = await underReview((thought) => ({ ...thought, commit_sha: 'f'.repeat(40) }));
    await place.handoff.review(approve);
    expect(place.warnings.join()).toMatch(/ffffffffffff.*fetch/);
  });

  test('of work that has merged main meanwhile, and was landed before it was reviewed, is written', async () => {
    const place = fresh();
    git(place.dir, 'checkout', '--quiet', '-b', 'feature');
    work(place, { 'src/a.ts': 'a\n' });
    git(place.dir, 'checkout', '--quiet', 'main');
    work(place, { 'src/main.ts': 'main\n' });
    git(place.dir, 'checkout', '--quiet', 'feature');
    git(place.dir, 'merge', '--quiet', '--no-edit', 'main');
    work(place, { 'src/b.ts': 'b\n' });
    session(place, [START, await thoughtSince(place, 'main'), BATON]);
    git(place.dir, 'checkout', '--quiet', 'main');
    git(place.dir, 'merge', '--quiet', '--no-edit', 'feature');
    const reviewer = open(place);
    await reviewer.handoff.start({ as: 'erin' });
    await reviewer.handoff.review(approve);
    expect(reviewer.warnings).toEqual([]);
  });
});
