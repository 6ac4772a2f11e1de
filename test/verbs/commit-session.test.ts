import { appendFileSync, chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openDiscards } from '../../src/git/discards.ts';
import { discoverRepository } from '../../src/git/discover.ts';
import type { Oid } from '../../src/git/objects/store.ts';
import { nodeHost } from '../../src/host.ts';
import { commitTree } from '../../src/journal/commits/commit-tree.ts';
import { moveBranch } from '../../src/journal/commits/direct-commit.ts';
import { publishRecords } from '../../src/journal/commits/publish-records.ts';
import { listSessions } from '../../src/journal/sessions/registry.ts';
import { dirsOf } from '../../src/journal/sessions/session-state.ts';
import { openRepositoryAt } from '../../src/repository/repository.ts';
import { initialised, type Place, writeBytes } from '../handoff.ts';
import { git } from '../temporary.ts';
import { open } from './agents.ts';

async function working(...flags: string[]): Promise<Place> {
  const place = await initialised(...flags);
  await place.handoff.start({ as: 'donna' });
  return place;
}

const subjects = ({ dir }: Place) => git(dir, 'log', '--format=%s').split('\n');
const changed = ({ dir }: Place) => git(dir, 'show', '--format=', '--name-only', 'HEAD').split('\n');

function hook({ dir }: Place, name: string, script: string): void {
  mkdirSync(join(dir, '.git/hooks'), { recursive: true });
  writeFileSync(join(dir, '.git/hooks', name), `#!/bin/sh\n${script}\n`);
  chmodSync(join(dir, '.git/hooks', name), 0o755);
}

describe('the commit of a session', () => {
  it.each([['sha1'], ['sha256']])('holds its records and nothing else, in %s', async (format) => {
    const place = await working(`--object-format=${format}`);
    writeBytes(place.dir, 'staged.txt', 'a');
    git(place.dir, 'add', 'staged.txt');
    writeBytes(place.dir, '.gitattributes', 'changed, not staged');
    const { commit } = await place.handoff.wrap({ message: 'done' });
    expect(commit).toBe(git(place.dir, 'rev-parse', 'HEAD'));
    expect(changed(place).every((path) => path.startsWith('.handoff/sessions/donna/'))).toBe(true);
    expect(git(place.dir, 'status', '--porcelain')).toBe(' M .gitattributes\nA  staged.txt');
    expect(git(place.dir, 'log', '-1', '--format=%an <%ae> %at|%cn')).toBe('Ada <ada@example.org> 1767323045|Ada');
    expect((await place.handoff.verify()).valid).toBe(true);
    expect(git(place.dir, 'fsck', '--strict', '--no-dangling')).toBe('');
  });

  it('is by whom git would say it is, who takes signs off the ends of a name', async () => {
    const place = await working();
    const env = { GIT_AUTHOR_NAME: 'Sammy Davis, Jr.', GIT_COMMITTER_NAME: '"Sammy"' };
    await open(place, { env }).handoff.note({ text: 'one', commit: true });
    expect(git(place.dir, 'log', '-1', '--format=%an|%cn')).toBe('Sammy Davis, Jr|Sammy');
  });

  it('runs the hooks that are there, but for those that change content', async () => {
    const place = await working();
    hook(place, 'pre-commit', 'exit 1');
    hook(place, 'post-commit', 'echo ran >> ran.log');
    hook(place, 'commit-msg', 'echo "Reviewed-by: nobody" >> "$1"');
    await place.handoff.wrap({ message: 'done' });
    expect(readFileSync(join(place.dir, 'ran.log'), 'utf8')).toBe('ran\n');
    expect(git(place.dir, 'log', '-1', '--format=%B')).toContain('Reviewed-by: nobody');
  });

  it('is heard of by a reference-transaction hook of somebody else, and by git where it is said how files are written', async () => {
    const place = await working();
    hook(place, 'reference-transaction', 'cat >> heard.log');
    await place.handoff.note({ text: 'one', commit: true });
    expect(readFileSync(join(place.dir, 'heard.log'), 'utf8')).toContain('refs/heads/main');
    rmSync(join(place.dir, '.git/hooks/reference-transaction'));
    git(place.dir, 'config', 'core.sharedRepository', 'group');
    const { handoff } = open(place, { env: { GIT_TRACE: join(place.dir, 'trace.log') } });
    await handoff.note({ text: 'two', commit: true });
    await handoff.close();
    expect(readFileSync(join(place.dir, 'trace.log'), 'utf8')).toContain('built-in: git update-ref');
  });

  it('waits for whoever has the lock of the branch', async () => {
    const place = await working();
    const lock = join(place.dir, '.git/refs/heads/main.lock');
    writeFileSync(lock, '');
    setTimeout(() => rmSync(lock), 50);
    await place.handoff.note({ text: 'one', commit: true });
    expect(subjects(place)[0]).toBe('handoff: donna, note');
    expect(
      git(place.dir, 'reflog', '--format=%gs')
        .split('\n')
        .filter((line) => line.includes('donna, note')),
    ).toHaveLength(1);
  });

  it('is refused by a hook that says no; nothing is lost, and the records go in later', async () => {
    const place = await working();
    hook(place, 'commit-msg', 'exit 1');
    await expect(place.handoff.wrap({ message: 'done' })).rejects.toMatchObject({ code: 'io' });
    hook(place, 'commit-msg', 'exit 0');
    git(place.dir, 'commit', '--quiet', '--message', 'by hand');
    expect((await place.handoff.verify()).records).toBe(2);
  });

  it('goes on a detached HEAD, an unborn branch and a branch with slashes', async () => {
    const place = await working();
    git(place.dir, 'checkout', '--quiet', '--detach');
    await place.handoff.note({ text: 'detached', commit: true });
    expect(subjects(place)[0]).toBe('handoff: donna, note');
    git(place.dir, 'checkout', '--quiet', '-b', 'feature/a.b/c');
    await place.handoff.note({ text: 'branch', commit: true });
    expect(subjects(place).slice(0, 2)).toEqual(['handoff: donna, note', 'handoff: donna, note']);
    expect(git(place.dir, 'rev-parse', 'feature/a.b/c')).toBe(git(place.dir, 'rev-parse', 'HEAD'));
    git(place.dir, 'checkout', '--quiet', '--orphan', 'fresh');
    await place.handoff.note({ text: 'unborn', commit: true });
    expect(subjects(place)).toEqual(['handoff: donna, note']);
  });

  it('does not wait for the end of a merge, which begins from it', async () => {
    const place = await working();
    git(place.dir, 'checkout', '--quiet', '-b', 'side');
    git(place.dir, 'commit', '--quiet', '--allow-empty', '--message', 'side');
    git(place.dir, 'checkout', '--quiet', 'main');
    git(place.dir, 'merge', '--quiet', '--no-ff', '--no-commit', 'side');
    const { commit } = await place.handoff.wrap({ message: 'done' });
    expect(changed(place).every((path) => path.startsWith('.handoff/sessions/donna/'))).toBe(true);
    git(place.dir, 'commit', '--quiet', '--no-edit');
    expect(git(place.dir, 'log', '-1', '--format=%P')).toBe(`${commit} ${git(place.dir, 'rev-parse', 'side')}`);
  });

  it('never takes the place of a commit that came in between', async () => {
    const place = await working();
    const head = git(place.dir, 'rev-parse', 'HEAD');
    git(place.dir, 'commit', '--quiet', '--allow-empty', '--message', 'faster');
    const oid = git(place.dir, 'commit-tree', '-p', head, '-m', 'late', `${head}^{tree}`);
    const late = { branch: 'main', from: head, to: oid, by: 'a <a@b> 0 +0000', reason: 'late' };
    const at = { dirs: discoverRepository(place.dir, place.env), processes: nodeHost, discards: openDiscards() };
    for (const here of [null, at]) expect(await moveBranch({ dir: place.dir, env: place.env }, late, here)).toBe(false);
    await place.handoff.wrap({ message: 'done' });
    expect(subjects(place).slice(0, 2)).toEqual(['handoff: donna wraps', 'faster']);
  });

  it('never goes to a branch that is no longer checked out', async () => {
    const place = await working();
    const head = git(place.dir, 'rev-parse', 'HEAD');
    const to = git(place.dir, 'commit-tree', '-p', head, '-m', 'late', `${head}^{tree}`);
    git(place.dir, 'switch', '--quiet', '--create', 'other');
    git(place.dir, 'commit', '--quiet', '--allow-empty', '--message', 'other');
    const late = { branch: 'main', from: head, to, by: 'a <a@b> 0 +0000', reason: 'late' };
    const at = { dirs: discoverRepository(place.dir, place.env), processes: nodeHost, discards: openDiscards() };
    for (const here of [null, at]) expect(await moveBranch({ dir: place.dir, env: place.env }, late, here)).toBe(false);
    expect(git(place.dir, 'rev-parse', 'main')).toBe(head);
  });

  describe('while somebody else changes the index after it was staged', () => {
    /** A note, whose commit is made by hand: `meddle` comes between what is staged and what is committed. */
    async function commitWhile(place: Place, meddle: () => void): Promise<string | null> {
      const { path } = await place.handoff.note({ text: 'late' });
      const repository = openRepositoryAt(place.dir, { env: place.env, host: nodeHost });
      const session = listSessions(dirsOf(repository)).find(({ identity }) => identity === 'donna')!;
      const { store } = repository;
      const addToFolder = store.addToFolder.bind(store);
      store.addToFolder = (...args) => {
        store.addToFolder = addToFolder;
        meddle();
        return addToFolder(...args);
      };
      const commit = await publishRecords(repository, session, [path], 'handoff: late', {});
      await repository.close();
      return commit;
    }

    it.each([
      ['git reset --hard', ['reset', '--quiet', '--hard']],
      ['git reset', ['reset', '--quiet']],
      ['git rm --cached', ['rm', '--quiet', '-r', '--cached', '.handoff/sessions']],
      ['git stash', ['stash', '--quiet']],
    ])('%s, its records are in the index and in the work tree all the same', async (_, args) => {
      const place = await working();
      await place.handoff.note({ text: 'one', commit: true });
      const commit = await commitWhile(place, () => void git(place.dir, ...args));
      expect([git(place.dir, 'rev-parse', 'HEAD'), git(place.dir, 'status', '--porcelain')]).toEqual([commit, '']);
      expect((await place.handoff.verify()).valid).toBe(true);
    });

    it('git checkout, they are whole on the branch that is checked out now', async () => {
      const place = await working();
      git(place.dir, 'branch', 'other');
      await place.handoff.note({ text: 'one', commit: true });
      await commitWhile(place, () => void git(place.dir, 'checkout', '--quiet', 'other'));
      expect(subjects(place)[0]).toBe('handoff: late');
      expect(git(place.dir, 'status', '--porcelain')).toBe('');
      git(place.dir, 'checkout', '--quiet', 'main');
      expect(git(place.dir, 'status', '--porcelain')).toBe('');
    });
  });

  it('is that of somebody else who took along what was staged: git is not asked to make another', async () => {
    const { dir, env } = await working();
    const repository = openRepositoryAt(dir, { env, host: nodeHost });
    const stage = async (isAgain: boolean) => {
      if (isAgain) return;
      writeBytes(dir, 'new.txt', 'a');
      git(dir, 'add', 'new.txt');
      git(dir, 'commit', '--quiet', '--message', 'by hand');
    };
    const edit = (tree: Oid) => repository.store.editTree(tree, new Map([['new.txt', Buffer.from('a')]]));
    const { commit } = await commitTree(repository, {
      identity: 'donna',
      message: 'late',
      paths: () => ['new.txt'],
      edit,
      stage,
    });
    await repository.close();
    expect(git(dir, 'log', '-1', '--format=%H %s')).toBe(`${commit} by hand`);
    // A second git at work would read its message from there.
    expect(readFileSync(join(dir, '.git/COMMIT_EDITMSG'), 'utf8')).toBe('by hand\n');
  });

  it('does not pass a record through a filter', async () => {
    const place = await working();
    appendFileSync(join(place.dir, '.git/config'), '[filter "spoil"]\n\tclean = tr a-z A-Z\n');
    writeBytes(place.dir, '.git/info/attributes', '.handoff/** filter=spoil\n');
    await place.handoff.wrap({ message: 'done' });
    expect((await place.handoff.verify()).valid).toBe(true);
  });
});
