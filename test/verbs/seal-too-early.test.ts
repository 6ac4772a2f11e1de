import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { commitAll, type Place } from '../handoff.ts';
import { git } from '../temporary.ts';
import { findings, template } from '../threats/forge.ts';
import { open, recordsOf, worktree } from './agents.ts';
import { defineTask, work } from './tasks.ts';

// The final thought comes before the seal: every commit of code that a session leaves behind is accounted for.

const fresh = template((place) => {
  defineTask(place, 'P0.1');
  work(place, { 'code.ts': 'one\ntwo\nthree\n' });
  commitAll(place, 'tasks');
});

type Opened = Place & { session: string };

async function atWork(place = fresh(), as = 'donna'): Promise<Opened> {
  const { session_id } = await place.handoff.start({ as });
  return { ...place, session: session_id };
}

function think({ handoff }: Place, as = 'donna') {
  return handoff.thought({ as, id: 'P0.1', summary: 'made it' });
}

/** Refused because of that commit, and nothing is written. */
async function expectTooEarly(place: Opened, commit: string): Promise<void> {
  const { handoff } = open(place);
  const before = recordsOf(place, place.session);
  const tip = git(place.dir, 'rev-parse', 'HEAD');
  await expect(handoff.seal({ session: place.session })).rejects.toMatchObject({
    code: 'seal_too_early',
    exitCode: 1,
    message: expect.stringContaining(commit.slice(0, 12)),
    hint: expect.stringContaining('git handoff thought'),
    data: { session_id: place.session, commit },
  });
  expect(recordsOf(place, place.session)).toEqual(before);
  expect(git(place.dir, 'rev-parse', 'HEAD')).toBe(tip);
}

async function expectSealed(place: Opened): Promise<void> {
  const { tree_size } = await open(place).handoff.seal({ session: place.session });
  expect(recordsOf(place, place.session).at(-1)!.fields).toMatchObject({ kind: 'seal', seq: tree_size + 1 });
  expect(await findings(place)).toEqual([]);
}

/** A clone's view of the protected branch, without a server. */
function tracked({ dir }: Place, commit = 'HEAD'): void {
  if (git(dir, 'remote') === '') git(dir, 'remote', 'add', 'origin', 'nowhere');
  git(dir, 'update-ref', 'refs/remotes/origin/main', commit);
}

describe('too early', () => {
  test('code on the branch that it was begun on, when another is checked out by now', async () => {
    const place = fresh();
    git(place.dir, 'switch', '--quiet', '--create', 'feature');
    const opened = await atWork(place);
    const commit = work(place, { 'a.ts': 'one\n' });
    git(place.dir, 'switch', '--quiet', 'main');
    await expectTooEarly(opened, commit);
  });

  test('code in a work tree that was removed, whose branch is there', async () => {
    const place = fresh();
    const tree = worktree(place, 'feature');
    const opened = await atWork(tree);
    const commit = work(tree, { 'a.ts': 'one\n' });
    git(place.dir, 'worktree', 'remove', '--force', tree.dir);
    await expect(open(place).handoff.seal({ session: opened.session })).rejects.toMatchObject({
      code: 'seal_too_early',
      data: { commit },
    });
  });

  test('code and no thought at all', async () => {
    const place = await atWork();
    await expectTooEarly(place, work(place, { 'a.ts': 'one\n' }));
    await think(place);
    await expectSealed(place);
  });

  test('a commit after the thought', async () => {
    const place = await atWork();
    work(place, { 'a.ts': 'one\n' });
    await think(place);
    await expectTooEarly(place, work(place, { 'b.ts': 'two\n' }));
    await think(place);
    await expectSealed(place);
  });

  test('a commit before the one that the thought names, on another line', async () => {
    const place = await atWork();
    git(place.dir, 'add', '.handoff');
    git(place.dir, 'commit', '--quiet', '--message', 'records');
    git(place.dir, 'switch', '--quiet', '--create', 'side');
    const side = work(place, { 'side.ts': 's\n' });
    git(place.dir, 'switch', '--quiet', 'main');
    work(place, { 'a.ts': 'one\n' });
    await think(place);
    git(place.dir, 'add', '.handoff');
    git(place.dir, 'commit', '--quiet', '--message', 'records');
    git(place.dir, 'merge', '--quiet', '--no-edit', 'side');
    await expectTooEarly(place, side);
  });

  test('a commit that was amended since', async () => {
    const place = await atWork();
    work(place, { 'a.ts': 'one\n' });
    await think(place);
    writeFileSync(join(place.dir, 'a.ts'), 'two\n');
    git(place.dir, 'commit', '--quiet', '--amend', '--no-edit', '--', 'a.ts');
    await expectTooEarly(place, git(place.dir, 'rev-parse', 'HEAD'));
    await think(place);
    await expectSealed(place);
  });

  test('a commit after the last seal', async () => {
    const place = await atWork();
    await expectSealed(place);
    const commit = work(place, { 'a.ts': 'one\n' });
    await expectTooEarly(place, commit);
    await place.handoff.note({ text: 'went on' });
    await expectTooEarly(place, commit);
  });

  test('a merge that brings what neither side had', async () => {
    const place = await atWork();
    git(place.dir, 'add', '.handoff');
    git(place.dir, 'commit', '--quiet', '--message', 'records');
    git(place.dir, 'switch', '--quiet', '--create', 'side');
    work(place, { 'side.ts': 's\n' });
    git(place.dir, 'switch', '--quiet', 'main');
    work(place, { 'a.ts': 'one\n' });
    await place.handoff.thought({ id: 'P0.1', commit: 'side', summary: 'the side' });
    await think(place);
    git(place.dir, 'add', '.handoff');
    git(place.dir, 'commit', '--quiet', '--message', 'records');
    git(place.dir, 'merge', '--quiet', '--no-commit', '--no-ff', 'side');
    writeFileSync(join(place.dir, 'evil.ts'), 'slipped in\n');
    git(place.dir, 'add', 'evil.ts');
    git(place.dir, 'commit', '--quiet', '--message', 'merge');
    await expectTooEarly(place, git(place.dir, 'rev-parse', 'HEAD'));
    await think(place);
    await expectSealed(place);
  });

  test('on a branch, in a detached HEAD, with a name that is hard to write', async () => {
    const place = await atWork();
    git(place.dir, 'switch', '--quiet', '--create', 'feature/ünï');
    await expectTooEarly(place, work(place, { 'sub dir/日本.ts': 'one\n' }));
    git(place.dir, 'switch', '--quiet', '--detach');
    await expectTooEarly(place, work(place, { 'b.ts': 'two\n' }));
    git(place.dir, 'branch', 'found');
    await think(place);
    await expectSealed(place);
  });

  test('in the work tree of the session, wherever one asks', async () => {
    const main = fresh();
    const there = await atWork(worktree(main, 'other'));
    const here = open(main);
    const commit = work(there, { 'a.ts': 'one\n' });
    const asked = { session: there.session };
    await expect(here.handoff.seal(asked)).rejects.toMatchObject({ code: 'seal_too_early', data: { commit } });
    await think(there);
    work(here, { 'mine.ts': 'not of that session\n' });
    expect(await here.handoff.seal(asked)).toMatchObject({ already_sealed: false });
    // and the main work tree, asked about from another one
    const mine = await atWork(here, 'erin');
    const own = work(mine, { 'b.ts': 'two\n' });
    await expect(open(there).handoff.seal({ session: mine.session })).rejects.toMatchObject({
      code: 'seal_too_early',
      data: { commit: own },
    });
  });

  test('what was wrapped without a thought, up to where it was wrapped', async () => {
    const place = await atWork();
    const commit = work(place, { 'a.ts': 'one\n' });
    await place.handoff.wrap({ message: 'in a hurry' });
    await expectTooEarly(place, commit);
  });

  test('a session that began where nothing was committed yet', async () => {
    const place = fresh();
    git(place.dir, 'switch', '--quiet', '--orphan', 'anew');
    git(place.dir, 'checkout', '--quiet', 'main', '--', '.handoff');
    const opened = await atWork(open(place));
    writeFileSync(join(place.dir, 'a.ts'), 'one\n');
    await expectTooEarly(opened, commitAll(opened));
    await think(opened);
    await expectSealed(opened);
  });
});

describe('not too early', () => {
  test('nothing was committed, or only records', async () => {
    const place = await atWork();
    await place.handoff.note({ text: 'one', commit: true });
    await place.handoff.task.add({ id: 'P0.2', title: 'another' });
    await expectSealed(place);
  });

  test('the thought itself is committed after the code, and records after it', async () => {
    const place = await atWork();
    work(place, { 'a.ts': 'one\n' });
    await think(place);
    git(place.dir, 'add', '.handoff');
    git(place.dir, 'commit', '--quiet', '--message', 'records');
    await place.handoff.note({ text: 'more', commit: true });
    await expectSealed(place);
  });

  test.each(['without a remote', 'not pushed yet'])('what was there before the session, %s', async (how) => {
    const place = fresh();
    if (how === 'not pushed yet') tracked(place);
    work(place, { 'early.ts': 'e\n' });
    await expectSealed(await atWork(place));
  });

  test('paths that the policy exempts', async () => {
    const place = fresh();
    await place.handoff.policy.set({ key: 'exempt', value: 'docs/, guide, *.md' });
    work(place, { 'guide/a.txt': 'a\n' });
    const opened = await atWork(open(place));
    work(opened, { 'docs/a.txt': 'a\n', 'guide/b.txt': 'b\n', 'README.md': 'r\n' });
    await expectSealed(opened);
    await opened.handoff.note({ text: 'and now' });
    await expectTooEarly(opened, work(opened, { 'docs/b.txt': 'b\n', 'a.ts': 'one\n' }));
  });

  test('but no link under such a name: to the gate that is code', async () => {
    const place = fresh();
    await place.handoff.policy.set({ key: 'exempt', value: 'docs/' });
    const opened = await atWork(open(place));
    mkdirSync(join(place.dir, 'docs'));
    symlinkSync('../code.ts', join(place.dir, 'docs/link'));
    git(place.dir, 'add', 'docs/link');
    git(place.dir, 'commit', '--quiet', '--message', 'a link', '--', 'docs/link');
    await expectTooEarly(opened, git(place.dir, 'rev-parse', 'HEAD'));
  });

  test("what came with a pull of the protected branch's remote", async () => {
    const place = fresh();
    tracked(place);
    const opened = await atWork(place);
    git(place.dir, 'add', '.handoff');
    git(place.dir, 'commit', '--quiet', '--message', 'records');
    work(opened, { 'theirs.ts': 't\n' });
    tracked(place);
    await expectSealed(opened);
    await opened.handoff.note({ text: 'my turn' });
    await expectTooEarly(opened, work(opened, { 'mine.ts': 'm\n' }));
  });

  test('what came with a merge of it', async () => {
    const place = await atWork();
    git(place.dir, 'add', '.handoff');
    git(place.dir, 'commit', '--quiet', '--message', 'records');
    git(place.dir, 'switch', '--quiet', '--create', 'feature');
    git(place.dir, 'switch', '--quiet', 'main');
    tracked(place, work(place, { 'theirs.ts': 't\n' }));
    git(place.dir, 'switch', '--quiet', 'feature');
    work(place, { 'mine.ts': 'm\n' });
    await think(place);
    git(place.dir, 'add', '.handoff');
    git(place.dir, 'commit', '--quiet', '--message', 'records');
    git(place.dir, 'merge', '--quiet', '--no-edit', 'origin/main');
    await expectSealed(place);
  });

  test('a commit that was amended or rebased and does what it did', async () => {
    const place = await atWork();
    work(place, { 'a.ts': 'one\n' });
    await think(place);
    git(place.dir, 'commit', '--quiet', '--amend', '--only', '--message', 'better words');
    await expectSealed(place);
  });

  test("somebody else's thought", async () => {
    const place = await atWork();
    work(place, { 'a.ts': 'one\n' });
    const erin = worktree(place, 'other');
    await erin.handoff.start({ as: 'erin' });
    await think(erin, 'erin');
    await expectSealed(place);
  });

  test('a commit that a maintainer waived', async () => {
    const place = await atWork();
    const commit = work(place, { 'a.ts': 'one\n' });
    await expectTooEarly(place, commit);
    await place.handoff.start({ as: 'maintainer' });
    await place.handoff.waiver({ as: 'maintainer', sha: commit, reason: 'generated' });
    await expectSealed(place);
  });

  test('a wrapped session, whatever was committed after it', async () => {
    const place = await atWork();
    work(place, { 'a.ts': 'one\n' });
    await think(place);
    await place.handoff.wrap({ message: 'done' });
    work(place, { 'later.ts': 'l\n' });
    await expectSealed(place);
  });

  test('a wrapped session whose commits nobody has any more', async () => {
    const place = await atWork();
    git(place.dir, 'switch', '--quiet', '--create', 'feature');
    work(place, { 'a.ts': 'one\n' });
    await place.handoff.wrap({ message: 'done' });
    git(place.dir, 'switch', '--quiet', 'main');
    git(place.dir, 'branch', '--quiet', '-D', 'feature');
    git(place.dir, 'reflog', 'expire', '--expire=now', '--all');
    git(place.dir, 'gc', '--quiet', '--prune=now');
    await expectSealed(place);
  });

  test('an unborn branch', async () => {
    const place = fresh();
    git(place.dir, 'switch', '--quiet', '--orphan', 'anew');
    git(place.dir, 'checkout', '--quiet', 'main', '--', '.handoff');
    const { handoff } = await atWork(open(place));
    expect(await handoff.seal()).toMatchObject({ tree_size: 1, commit: git(place.dir, 'rev-parse', 'HEAD') });
    expect(await handoff.audit.verify()).toMatchObject({ valid: true, record_count: 2 });
  });
});
