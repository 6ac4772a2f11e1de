import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Place } from '../handoff.ts';
import { git } from '../temporary.ts';
import { findings, template } from '../threats/forge.ts';
import { changes, open, pathsOf, recordsOf, workAndWrap, worktree } from './agents.ts';

const fresh = template((place) => {
  writeFileSync(join(place.dir, 'code.txt'), 'one\n');
  git(place.dir, 'add', 'code.txt');
  git(place.dir, 'commit', '--quiet', '--message', 'code');
});

/** What git, or somebody, can do to records that are in no commit, staged or not. */
const LOSSES: [string, (dir: string) => void][] = [
  ['git reset --hard', (dir) => git(dir, 'reset', '--quiet', '--hard')],
  ['git checkout -f', (dir) => git(dir, 'checkout', '--quiet', '-f', '-B', 'other', 'HEAD')],
  [
    'git clean -fdx',
    (dir) => {
      git(dir, 'reset', '--quiet');
      git(dir, 'clean', '--quiet', '-fdx');
    },
  ],
  ['git restore', (dir) => git(dir, 'restore', '--staged', '--worktree', '--', '.handoff')],
  ['rm -r', (dir) => rmSync(join(dir, '.handoff/sessions'), { recursive: true })],
];

describe('what was recorded is not lost', () => {
  it.each(LOSSES)('to %s: the next verb puts every record back and says so', async (_, lose) => {
    const place = fresh();
    const { session_id } = await place.handoff.start({ as: 'donna' });
    await place.handoff.note({ text: 'before', stage: true });
    const before = recordsOf(place, session_id);
    lose(place.dir);
    expect(recordsOf(place, session_id)).toEqual([]);
    const { handoff, warnings } = open(place);
    await handoff.note({ text: 'after' });
    expect(recordsOf(place, session_id).slice(0, 2)).toEqual(before);
    expect(warnings).toEqual([expect.stringMatching(/^Restored from the journal.*0001-start\.yaml/)]);
    expect(changes(place).filter((line) => line.includes('D'))).toEqual([]);
    await handoff.wrap({ message: 'the end' });
    expect(pathsOf(place)).toEqual(recordsOf(place, session_id).map(({ path }) => path));
    expect(changes(place)).toEqual([]);
    expect(readFileSync(join(place.dir, '.git/info/exclude'), 'utf8')).not.toContain('.handoff');
    expect(await findings(place)).toEqual([]);
  });

  it.each([
    ['git stash', true, []],
    ['git stash -u', undefined, ['--include-untracked']],
  ])('to %s: what is stashed waits there, and comes back', async (_, stage, flags) => {
    const place = fresh();
    const { session_id } = await place.handoff.start({ as: 'donna' });
    await place.handoff.note({ text: 'before', ...(stage && { stage }) });
    const before = recordsOf(place, session_id);
    git(place.dir, 'stash', '--quiet', ...flags);
    const { handoff, warnings } = open(place);
    await handoff.note({ text: 'meanwhile' });
    expect(recordsOf(place, session_id).map(({ fields }) => fields.seq)).toEqual([3]);
    expect(warnings).toEqual([expect.stringMatching(/^In the stash.*0001-start\.yaml.*git stash pop/)]);
    git(place.dir, 'stash', 'pop', '--quiet');
    expect(recordsOf(place, session_id).slice(0, 2)).toEqual(before);
    await handoff.wrap({ message: 'the end' });
    expect(changes(place)).toEqual([]);
    expect(await findings(place)).toEqual([]);
  });

  it('to a stash that is dropped: the commit has the whole chain', async () => {
    const place = fresh();
    const { session_id } = await place.handoff.start({ as: 'donna' });
    await place.handoff.note({ text: 'before' });
    git(place.dir, 'stash', '--quiet', '--include-untracked');
    await open(place).handoff.wrap({ message: 'the end' });
    git(place.dir, 'stash', 'drop', '--quiet');
    expect(pathsOf(place)).toEqual(recordsOf(place, session_id).map(({ path }) => path));
    expect(recordsOf(place, session_id)).toHaveLength(3);
    expect(await findings(place)).toEqual([]);
  });

  it('to git rm --cached: the commit has the whole chain', async () => {
    const place = fresh();
    const { session_id } = await place.handoff.start({ as: 'donna' });
    await place.handoff.note({ text: 'before', stage: true });
    git(place.dir, 'rm', '-r', '--quiet', '--cached', '.handoff/sessions');
    await place.handoff.wrap({ message: 'the end' });
    expect(pathsOf(place)).toEqual(recordsOf(place, session_id).map(({ path }) => path));
    expect(changes(place)).toEqual([]);
    expect(await findings(place)).toEqual([]);
  });

  it('to a branch that is taken back to before the commit', async () => {
    const place = fresh();
    const first = await workAndWrap(place.handoff, 'donna', 'the last words');
    const records = recordsOf(place, first);
    git(place.dir, 'reset', '--quiet', '--hard', 'HEAD~1');
    const { handoff, warnings } = open(place);
    const picked = await handoff.pickup({ as: 'erin' });
    expect(picked).toMatchObject({ predecessor_session_id: first, baton: { body: 'the last words' } });
    expect(warnings.join()).toContain('Restored from the journal');
    expect(recordsOf(place, first)).toEqual(records);
    expect(changes(place)).toEqual([]);
    expect(await findings(place)).toEqual([]);
  });

  it('to a commit that takes it out again, while the file stays', async () => {
    const place = fresh();
    const first = await workAndWrap(place.handoff, 'donna', 'the last words');
    git(place.dir, 'reset', '--quiet', 'HEAD~1');
    await workAndWrap(open(place).handoff, 'erin');
    expect(changes(place)).toEqual([]);
    expect(pathsOf(place)).toEqual(expect.arrayContaining(recordsOf(place, first).map(({ path }) => path)));
    expect(await findings(place)).toEqual([]);
  });

  it('to the removal of a work tree: the next verb in another one takes its records in', async () => {
    const place = fresh();
    const side = worktree(place, 'side');
    const { session_id } = await side.handoff.start({ as: 'erin' });
    await side.handoff.note({ text: 'far away' });
    const records = recordsOf(side, session_id);
    git(place.dir, 'worktree', 'remove', '--force', side.dir);
    const { handoff, warnings } = open(place);
    await handoff.start({ as: 'donna' });
    expect(recordsOf(place, session_id)).toEqual(records);
    expect(warnings.join()).toContain('Restored from the journal');
    const after = open(place, { env: { HANDOFF_SESSION: session_id } });
    await after.handoff.note({ as: 'erin', text: 'nearer' });
    expect(recordsOf(place, session_id)).toHaveLength(3);
  });

  it('to a commit that a hook refuses: the session is wrapped, and the next commit has it', async () => {
    const place = fresh();
    const { session_id } = await place.handoff.start({ as: 'donna' });
    const hook = join(place.dir, '.git/hooks/commit-msg');
    writeFileSync(hook, '#!/bin/sh\necho "not today" >&2\nexit 1\n', { mode: 0o755 });
    await expect(place.handoff.wrap({ message: 'the end' })).rejects.toMatchObject({
      code: 'io',
      exitCode: 4,
      hint: expect.stringContaining('nothing is lost'),
    });
    expect((await place.handoff.sessions()).sessions).toMatchObject([{ session_id, state: 'wrapped' }]);
    git(place.dir, 'reset', '--quiet', '--hard');
    rmSync(hook);
    const { handoff, warnings } = open(place);
    const picked = await handoff.pickup({ as: 'erin' });
    expect(picked).toMatchObject({ predecessor_session_id: session_id, baton: { body: 'the end' } });
    expect(warnings.join()).toContain('Restored from the journal');
    expect(recordsOf(place, session_id)).toHaveLength(2);
    expect(changes(place)).toEqual([]);
    expect(await findings(place)).toEqual([]);
  });

  it('to an index that another process holds for a while', async () => {
    const place = fresh();
    const { session_id } = await place.handoff.start({ as: 'donna' });
    const lock = join(place.dir, '.git/index.lock');
    writeFileSync(lock, '');
    await place.handoff.note({ text: 'nobody asks the index' });
    const noted = place.handoff.note({ text: 'patience', stage: true });
    setTimeout(() => rmSync(lock), 300);
    await noted;
    expect(changes(place)).toEqual(recordsOf(place, session_id).map(({ path }) => `A  ${path}`));
  });

  it('and is put back where somebody has changed it, which is said', async () => {
    const place = fresh();
    const { session_id } = await place.handoff.start({ as: 'donna' });
    const { path } = await place.handoff.note({ text: 'mine' });
    const signed = readFileSync(join(place.dir, path), 'utf8');
    writeFileSync(join(place.dir, path), 'somebody edited this\n');
    const { handoff, warnings } = open(place);
    await handoff.note({ text: 'next' });
    expect(warnings).toEqual([expect.stringContaining(path)]);
    expect(readFileSync(join(place.dir, path), 'utf8')).toBe(signed);
    git(place.dir, 'reset', '--quiet', '--hard');
    await handoff.note({ text: 'and one more' });
    expect(recordsOf(place, session_id).map(({ fields }) => fields.text)).toEqual([
      undefined,
      'mine',
      'next',
      'and one more',
    ]);
  });
});

describe('branches and work trees', () => {
  it('a session that changes branches has its whole chain on each of them', async () => {
    const place = fresh();
    const { session_id } = await place.handoff.start({ as: 'donna' });
    await place.handoff.note({ text: 'on main', commit: true });
    git(place.dir, 'checkout', '--quiet', '-b', 'side', 'HEAD~1');
    expect(recordsOf(place, session_id)).toEqual([]);
    await place.handoff.note({ text: 'on side', commit: true });
    expect(recordsOf(place, session_id)).toHaveLength(3);
    expect(await findings(place, { rev: 'main' })).toEqual([]);
    expect(await findings(place, { rev: 'side' })).toEqual([]);
    git(place.dir, 'checkout', '--quiet', 'main');
    await place.handoff.wrap({ message: 'back on main' });
    expect(recordsOf(place, session_id)).toHaveLength(4);
    git(place.dir, 'merge', '--quiet', '-m', 'merge', 'side');
    expect(await findings(place)).toEqual([]);
    expect(recordsOf(place, session_id)).toHaveLength(4);
  });

  it('nothing is restored into another work tree', async () => {
    const place = fresh();
    const { session_id } = await place.handoff.start({ as: 'donna' });
    const side = worktree(place, 'side');
    git(place.dir, 'reset', '--quiet', '--hard');
    const own = await side.handoff.start({ as: 'erin' });
    await side.handoff.note({ text: 'here' });
    expect([recordsOf(side, session_id), recordsOf(side, own.session_id).length]).toEqual([[], 2]);
    expect(side.warnings).toEqual([]);
    await place.handoff.note({ as: 'donna', text: 'there' });
    expect(recordsOf(place, session_id)).toHaveLength(2);
    expect(recordsOf(place, own.session_id)).toEqual([]);
  });

  it('a session that was wrapped and committed on another branch stays there', async () => {
    const place = fresh();
    git(place.dir, 'checkout', '--quiet', '-b', 'side');
    const first = await workAndWrap(place.handoff, 'donna');
    git(place.dir, 'checkout', '--quiet', 'main');
    const { handoff, warnings } = open(place);
    await handoff.start({ as: 'erin' });
    expect(recordsOf(place, first)).toEqual([]);
    expect(warnings).toEqual([]);
  });

  it('a baton outlives its work tree', async () => {
    const place = fresh();
    const side = worktree(place, 'side');
    const { session_id } = await side.handoff.start({ as: 'donna' });
    await side.handoff.wrap({ message: 'from a work tree that is gone', commit: false });
    git(place.dir, 'worktree', 'remove', '--force', side.dir);
    expect(await open(place).handoff.pickup({ as: 'erin' })).toMatchObject({
      predecessor_session_id: session_id,
      baton: { body: 'from a work tree that is gone' },
    });
  });
});

describe('the state directory', () => {
  const stateOf = (place: Place) => join(place.dir, git(place.dir, 'rev-parse', '--git-common-dir'), 'handoff');
  const lockOf = (place: Place, file: string) => JSON.parse(readFileSync(join(stateOf(place), 'locks', file), 'utf8'));

  it('is laid out as SPEC §8.3 says: a session names its work tree, and the work tree points to it', async () => {
    const place = fresh();
    const side = worktree(place, 'side');
    const here = await place.handoff.start({ as: 'donna' });
    const there = await side.handoff.start({ as: 'erin' });
    for (const [{ session_id, identity }, tree] of [[here, '.'] as const, [there, 'worktrees/tree-side'] as const]) {
      const session = JSON.parse(readFileSync(join(stateOf(place), 'sessions', session_id, 'session.json'), 'utf8'));
      expect(session).toMatchObject({ session_id, identity, worktree: tree, inherited_from: null });
      expect(Object.keys(session).sort()).toEqual(
        ['folder', 'identity', 'inherited_from', 'opened_at', 'opener', 'session_id', 'worktree'].sort(),
      );
      const folder = createHash('sha256').update(tree).digest('hex').slice(0, 16);
      const pointer = join(stateOf(place), 'current', folder, identity);
      expect(readFileSync(pointer, 'utf8')).toBe(`${session_id}\n`);
    }
    const { path } = await place.handoff.note({ session: there.session_id, text: 'from elsewhere' });
    expect([existsSync(join(place.dir, path)), existsSync(join(side.dir, path))]).toEqual([false, false]);
    await side.handoff.note({ text: 'at home' });
    expect(existsSync(join(side.dir, path))).toBe(true);
  });

  it('has the locks of SPEC §8.1 and §8.4: wrap releases the identity, whoever takes a place says why', async () => {
    const place = fresh();
    const { session_id: wrapped } = await place.handoff.start({ as: 'donna' });
    await place.handoff.wrap({ message: 'done' });
    const own = { session_id: wrapped, identity: 'donna', at: expect.any(String), host: expect.any(String) };
    expect(lockOf(place, 'identity/donna/00000001.lock')).toEqual(own);
    expect(lockOf(place, 'identity/donna/00000001.released')).toEqual(own);
    const { session_id: picked } = await place.handoff.pickup({ as: 'erin' });
    expect(lockOf(place, `session/${wrapped}/00000002.lock`)).toMatchObject({
      session_id: picked,
      reason: 'picked_up',
    });
    await open(place).handoff.release({ target: picked, reason: 'it hangs', as: 'maintainer' });
    const end = { session_id: '', identity: 'maintainer', reason: 'it hangs' };
    expect(lockOf(place, `session/${picked}/00000002.lock`)).toMatchObject(end);
    const last = join(stateOf(place), 'sessions', picked, 'records/000002');
    expect(JSON.parse(readFileSync(last, 'utf8'))).toMatchObject(end);
    expect(existsSync(join(stateOf(place), 'locks/identity/erin/00000001.released'))).toBe(false);
    for (const n of [1, 2]) {
      const error = await place.handoff.note({ as: 'erin', text: `late ${n}` }).catch((thrown) => thrown);
      expect(error.data.draft).toBe(join(stateOf(place), 'drafts', `${picked.slice(0, 8)}-note-${n}.md`));
    }
  });

  it('keeps the journals of the newest 16 sessions that have ended and are in HEAD', async () => {
    const place = fresh();
    const ids: string[] = [];
    for (let n = 0; n < 18; n++) ids.push(await workAndWrap(place.handoff, 'donna'));
    await place.handoff.start({ as: 'erin' });
    const kept = new Set(readdirSync(join(stateOf(place), 'sessions')));
    expect(ids.filter((id) => !kept.has(id))).toEqual(ids.slice(0, 2));
    expect(ids.filter((id) => !existsSync(join(stateOf(place), 'locks/session', id)))).toEqual(ids.slice(0, 2));
  });

  it('may be elsewhere, for agents that cannot write to .git', async () => {
    const place = fresh();
    const state = join(place.dir, '..', 'state');
    const { handoff } = open(place, { env: { HANDOFF_STATE: state } });
    const { session_id } = await handoff.start({ as: 'donna', stage: false });
    await handoff.note({ text: 'from a sandbox', stage: false });
    await handoff.wrap({ message: 'the end', stage: false });
    expect(git(place.dir, 'diff', '--cached', '--name-only')).toBe('');
    expect(await open(place).handoff.sessions()).toEqual({ sessions: [] });
    commit(place);
    expect(await findings(place)).toEqual([]);
    expect((await open(place).handoff.sessions()).sessions).toMatchObject([{ session_id, state: 'wrapped' }]);
  });
});

/** As an operator does for an agent that may not. */
function commit({ dir }: Place): void {
  git(dir, 'add', '.handoff');
  git(dir, 'commit', '--quiet', '--message', 'records');
}

describe('a record of the journal that was damaged', () => {
  it.each([
    ['cut off', (bytes: Buffer) => bytes.subarray(0, 100)],
    ['overwritten', () => Buffer.from('\0\x01')],
  ])('because it was %s: takes no whole one’s place, and the hint brings it back', async (_, damage) => {
    const place = fresh();
    const { session_id } = await place.handoff.start({ as: 'donna' });
    for (const text of ['one', 'two']) await place.handoff.note({ text });
    const before = recordsOf(place, session_id);
    const path = join(place.dir, '.git/handoff/sessions', session_id, 'records/000002');
    writeFileSync(path, damage(readFileSync(path)));
    const damaged = { code: 'io', message: expect.stringContaining(path), hint: expect.stringMatching(/^Compare it/) };
    await expect(open(place).handoff.note({ text: 'three' })).rejects.toMatchObject(damaged);
    await open(place).handoff.start({ as: 'erin' });
    expect(recordsOf(place, session_id).slice(0, 3)).toEqual(before);
    const whole = before.find(({ path: name }) => name.includes('/0002-'))!;
    writeFileSync(path, readFileSync(join(place.dir, whole.path)));
    await open(place).handoff.note({ as: 'donna', text: 'four' });
    await open(place).handoff.wrap({ as: 'donna', message: 'the end' });
    expect(recordsOf(place, session_id).slice(0, 3)).toEqual(before);
    expect(await findings(place)).toEqual([]);
  });
});
