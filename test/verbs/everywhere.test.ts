import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { commitAll, initialised, newKey, type Place, STORY, writeBytes, writeSession } from '../handoff.ts';
import { git, gitInput } from '../temporary.ts';
import { blob, rawTree, reopen, template } from '../threats/forge.ts';
import { cloneOf, fetchAll, serverOf, workOn } from './clones.ts';

const fresh = template();

/** Kept state is used between runs, as the program does: the answers must be the same without. */
const BUILD = 'test';

/** A place with a server, and another machine that has pinned the root. */
async function twoMachines(build?: string): Promise<{ place: Place; bare: string; lola: () => Place }> {
  const place = fresh();
  const bare = serverOf(place);
  const first = cloneOf(place, bare, 'lola', build);
  await first.handoff.trust();
  return { place, bare, lola: () => reopen(place, first.dir, place.env, build) };
}

async function sessionsOf({ handoff }: Place): Promise<string[]> {
  return (await handoff.sessions()).sessions.map(({ session_id }) => session_id).sort();
}

/** A commit of its own branch with a session that somebody wrote there. */
function branchWith(place: Place, branch: string, write: () => void): void {
  git(place.dir, 'switch', '--quiet', '-c', branch, 'main');
  write();
  commitAll(place);
  git(place.dir, 'push', '--quiet', 'origin', branch);
  git(place.dir, 'switch', '--quiet', 'main');
}

describe.each([undefined, BUILD])('what is kept: %s', (build) => {
  it('a session on a branch that was fetched is known on another machine', async () => {
    const { place, lola } = await twoMachines(build);
    const session_id = await workOn(place, 'work', 'donna');
    expect(await sessionsOf(lola())).toEqual([]);
    fetchAll(lola());
    for (const _ of ['cold', 'warm']) {
      const machine = lola();
      const { sessions } = await machine.handoff.sessions();
      expect(sessions.map((each) => [each.session_id, each.state])).toEqual([[session_id, 'wrapped']]);
      expect(machine.warnings).toEqual([]);
    }
  });

  it('a session that two branches have is one session, and the longer one counts', async () => {
    const { place, lola } = await twoMachines(build);
    git(place.dir, 'switch', '--quiet', '-c', 'one');
    const { session_id } = await place.handoff.start({ as: 'donna', commit: true });
    git(place.dir, 'branch', 'two');
    git(place.dir, 'branch', 'a-copy');
    await place.handoff.wrap({ as: 'donna', message: 'later' });
    git(place.dir, 'push', '--quiet', '--all', 'origin');
    fetchAll(lola());
    const { sessions } = await lola().handoff.sessions();
    expect(sessions.map((each) => [each.session_id, each.state])).toEqual([[session_id, 'wrapped']]);
    // what is checked out may be the shorter one
    const other = lola();
    git(other.dir, 'switch', '--quiet', 'two');
    expect((await other.handoff.sessions()).sessions.map(({ state }) => state)).toEqual(['wrapped']);
    expect(other.warnings).toEqual([]);
  });

  it('forged records of another branch are left out, with one warning that names it, and spoil nothing', async () => {
    const { place, lola } = await twoMachines(build);
    const session_id = await workOn(place, 'work', 'donna');
    branchWith(place, 'evil', () => {
      for (let at = 0; at < 3; at++) writeSession(place, STORY, { identity: 'donna', key: newKey() });
      writeSession(place, STORY, { identity: 'nobody', key: newKey() });
      writeBytes(place.dir, '.handoff/sessions/donna/20260220T143025-7c1f09aa/0001-start.yaml', 'junk');
      writeBytes(place.dir, '.handoff/tasks/T9.yaml', 'junk');
    });
    fetchAll(lola());
    for (const _ of ['cold', 'warm']) {
      const machine = lola();
      expect(await sessionsOf(machine)).toEqual([session_id]);
      expect(machine.warnings).toHaveLength(2); // sessions and tasks
      for (const warning of machine.warnings) expect(warning).toMatch(/origin\/evil.*does not hold/);
      expect((await machine.handoff.task.list()).tasks).toEqual([]);
      expect((await machine.handoff.next()).actions).toEqual([]);
    }
    const machine = lola();
    const { session_id: own } = await machine.handoff.start({ as: 'erin' });
    expect(await sessionsOf(machine)).toEqual([session_id, own].sort());
  });

  it('somebody else adds a forged record to an honest session: the honest version of another branch counts', async () => {
    const { place, lola } = await twoMachines(build);
    const session_id = await workOn(place, 'work', 'donna');
    git(place.dir, 'switch', '--quiet', 'work');
    const [folder] = git(place.dir, 'ls-files', '.handoff/sessions/donna/*').split('\n');
    branchWith(place, 'evil', () => {
      git(place.dir, 'checkout', '--quiet', 'work', '--', '.handoff/sessions');
      writeBytes(place.dir, folder!.replace(/[^/]*$/, '0003-note.yaml'), readFileSync(join(place.dir, folder!)));
    });
    fetchAll(lola());
    const machine = lola();
    const { sessions } = await machine.handoff.sessions();
    expect(sessions.map((each) => [each.session_id, each.state])).toEqual([[session_id, 'wrapped']]);
    expect(machine.warnings).toEqual([expect.stringContaining('origin/evil')]);
  });

  it('of two records of one number, what is checked out stays, and the branch that says something else is named', async () => {
    const { place, lola } = await twoMachines(build);
    const options = { identity: 'donna', sessionId: randomUUID() };
    branchWith(place, 'one', () => writeSession(place, STORY, options));
    branchWith(place, 'two', () =>
      writeSession(place, [STORY[0]!, { kind: 'baton', summary: 'other', body: 'other\n' }], options),
    );
    fetchAll(lola());
    for (const [branch, other, summary] of [
      ['one', 'two', 'half way'],
      ['two', 'one', 'other'],
    ]) {
      const machine = lola();
      git(machine.dir, 'switch', '--quiet', '--detach', `origin/${branch}`);
      expect((await machine.handoff.status()).baton?.summary).toBe(summary);
      expect(machine.warnings).toEqual([expect.stringMatching(new RegExp(`On origin/${other}, .*something else`))]);
    }
  });

  it('the copy of a session in another folder hides nothing', async () => {
    const { place, lola } = await twoMachines(build);
    const options = { identity: 'donna', sessionId: randomUUID() };
    branchWith(place, 'honest', () => writeSession(place, STORY, options));
    branchWith(place, 'a-copy', () => {
      const records = writeSession(place, STORY.slice(0, 2), { ...options });
      for (const { path, bytes } of records)
        writeBytes(place.dir, path.replace('20260220T143025', '20200220T143025'), bytes);
      git(place.dir, 'clean', '-fdq', '--', records[0]!.path.replace(/\/[^/]*$/, ''));
    });
    fetchAll(lola());
    const { sessions } = await lola().handoff.sessions();
    expect(sessions.map((each) => [each.session_id, each.state])).toEqual([[options.sessionId, 'wrapped']]);
  });

  it('a branch that was deleted is forgotten, and one that came back is known again', async () => {
    const { place, lola, bare } = await twoMachines(build);
    const one = await workOn(place, 'one', 'donna');
    const two = await workOn(place, 'two', 'erin');
    fetchAll(lola());
    expect(await sessionsOf(lola())).toEqual([one, two].sort());
    git(bare, 'update-ref', '-d', 'refs/heads/one');
    fetchAll(lola());
    expect(await sessionsOf(lola())).toEqual([two]);
    git(place.dir, 'push', '--quiet', 'origin', 'one');
    fetchAll(lola());
    expect(await sessionsOf(lola())).toEqual([one, two].sort());
    git(bare, 'update-ref', '-d', 'refs/heads/one');
    git(bare, 'update-ref', '-d', 'refs/heads/two');
    fetchAll(lola());
    expect(await sessionsOf(lola())).toEqual([]);
  });

  it('a session of this machine on a branch that is not checked out is neither lost nor written here again', async () => {
    const { place } = await twoMachines(build);
    const here = reopen(place, place.dir, place.env, build);
    const session_id = await workOn(here, 'work', 'donna', { push: false });
    expect(await sessionsOf(here)).toEqual([session_id]);
    await here.handoff.start({ as: 'erin', commit: true });
    git(place.dir, 'switch', '--quiet', 'work');
    expect(git(place.dir, 'status', '--porcelain')).toBe('');
    expect((await reopen(here).handoff.verify()).valid).toBe(true);
  });

  it('tasks that only another branch defines are listed, and can be claimed and done', async () => {
    const { place, lola } = await twoMachines(build);
    git(place.dir, 'switch', '--quiet', '-c', 'plan');
    await place.handoff.task.add({ id: 'T1', title: 'count' });
    git(place.dir, 'push', '--quiet', 'origin', 'plan');
    fetchAll(lola());
    for (const _ of ['cold', 'warm']) {
      expect((await lola().handoff.task.list()).tasks.map(({ task_id }) => task_id)).toEqual(['T1']);
      expect((await lola().handoff.next()).actions.map(({ task_id }) => task_id)).toEqual(['T1']);
    }
    const { handoff } = lola();
    const { context: _, todos } = await handoff.start({ as: 'erin' });
    expect(todos.open_count).toBe(1);
    expect((await handoff.claim({ id: 'T1' })).token).toBe(1);
    expect((await handoff.task.show({ id: 'T1' })).title).toBe('count');
    expect((await handoff.next()).actions).toEqual([]);
  });

  it('a task that is done on another branch is done', async () => {
    const { place, lola } = await twoMachines(build);
    await place.handoff.task.add({ id: 'T1', title: 'count' });
    git(place.dir, 'push', '--quiet', 'origin', 'main');
    git(lola().dir, 'pull', '--quiet');
    git(place.dir, 'switch', '--quiet', '-c', 'work');
    await place.handoff.start({ as: 'donna' });
    await place.handoff.claim({ id: 'T1' });
    await place.handoff.task.update({ id: 'T1', status: 'cancelled', notes: 'no need', commit: true });
    git(place.dir, 'push', '--quiet', 'origin', 'work');
    expect((await lola().handoff.next()).actions).toHaveLength(1);
    fetchAll(lola());
    expect((await lola().handoff.next()).actions).toEqual([]);
    expect((await lola().handoff.task.list()).tasks[0]?.status).toBe('cancelled');
  });

  it('identities that are new on the protected branch are trusted on an older one', async () => {
    const { place, lola } = await twoMachines(build);
    await place.handoff.identity.add({ name: 'frida' });
    git(place.dir, 'push', '--quiet', 'origin', 'main');
    const session_id = await workOn(place, 'work', 'frida');
    fetchAll(lola());
    const machine = lola(); // main there is as it was
    expect(await sessionsOf(machine)).toEqual([session_id]);
    expect(machine.warnings).toEqual([]);
  });

  it('a key that the protected branch has revoked counts for nothing on a branch that does not know', async () => {
    const { place, lola } = await twoMachines(build);
    await workOn(place, 'work', 'donna');
    await place.handoff.identity.revoke({ name: 'donna' });
    git(place.dir, 'push', '--quiet', 'origin', 'main');
    git(lola().dir, 'fetch', '--quiet', 'origin', 'work');
    git(lola().dir, 'fetch', '--quiet', 'origin', 'work:refs/remotes/origin/work');
    expect(await sessionsOf(lola())).toHaveLength(1);
    fetchAll(lola());
    const machine = lola();
    expect(await sessionsOf(machine)).toEqual([]);
    expect((await machine.handoff.status()).warnings.map(({ kind }) => kind)).toContain('key_revoked');
  });

  /** As `git fetch` leaves them: thousands of branches of which each has a commit of its own. */
  function manyBranches({ dir }: Place, count: number): void {
    const from = git(dir, 'rev-parse', 'HEAD');
    const commits = Array.from(
      { length: count },
      (_, n) =>
        `commit refs/remotes/origin/a/${n}\ncommitter x <x@x.invalid> ${1_700_000_000 + n} +0000\ndata 0\nfrom ${from}\n\n`,
    );
    gitInput(dir, commits.join(''), 'fast-import', '--quiet');
    git(dir, 'pack-refs', '--all');
  }

  it('more branches than are looked at, under names that come first, hide neither a revocation nor what is followed', async () => {
    const { place, lola } = await twoMachines(build);
    await workOn(place, 'work', 'donna');
    const session_id = await workOn(place, 'other', 'erin');
    await place.handoff.identity.revoke({ name: 'donna' });
    git(place.dir, 'push', '--quiet', 'origin', 'main');
    fetchAll(lola());
    git(lola().dir, 'branch', '--quiet', 'other', 'origin/main~1'); // as it was once
    git(lola().dir, 'branch', '--quiet', 'work', 'origin/work');
    manyBranches(lola(), 4200);
    const machine = lola(); // main there is as it was
    expect(await sessionsOf(machine)).toEqual([session_id]);
    expect(machine.warnings.join()).toMatch(/too many branches.*git fetch --prune/);
  });

  it('thousands of branches at one commit are as good as one', async () => {
    const { place, lola } = await twoMachines(build);
    const session_id = await workOn(place, 'work', 'donna');
    fetchAll(lola());
    const { dir } = lola();
    const oid = git(dir, 'rev-parse', 'HEAD');
    const lines = Array.from({ length: 5000 }, (_, n) => `create refs/remotes/origin/a/${n} ${oid}\n`);
    gitInput(dir, lines.join(''), 'update-ref', '--stdin');
    git(dir, 'pack-refs', '--all');
    const machine = lola();
    expect(await sessionsOf(machine)).toEqual([session_id]);
    expect(machine.warnings).toEqual([]);
  });

  it('branches with thousands of folders are left out, the largest first, and that is said', async () => {
    const { place, lola } = await twoMachines(build);
    const session_id = await workOn(place, 'work', 'donna');
    fetchAll(lola());
    const { dir } = lola();
    const junk = rawTree(dir, [{ mode: '100644', name: '0001-start.yaml', oid: blob(dir, 'x') }]);
    const inFolder = (name: string, oid: string) => rawTree(dir, [{ mode: '40000', name, oid }]);
    for (let n = 10; n < 20; n++) {
      const names = Array.from({ length: 1000 }, (_, at) => `20260220T143025-${n}${String(at).padStart(6, '0')}`);
      const owner = rawTree(
        dir,
        names.map((name) => ({ mode: '40000', name, oid: junk })),
      );
      const tree = inFolder('.handoff', inFolder('sessions', inFolder('donna', owner)));
      git(dir, 'update-ref', `refs/remotes/origin/a${n}`, git(dir, 'commit-tree', tree, '-m', 'junk'));
    }
    for (const _ of ['cold', 'warm']) {
      const machine = lola();
      expect(await sessionsOf(machine)).toEqual([session_id]);
      expect(machine.warnings.join()).toMatch(/has 1000 sessions or tasks that are nowhere else: too many/);
    }
  });

  it('tips that are no commits, folders that are files and huge names harm nobody', async () => {
    const { place, lola } = await twoMachines(build);
    const session_id = await workOn(place, 'work', 'donna');
    fetchAll(lola());
    const { dir } = lola();
    const file = blob(dir, 'x');
    const wrap = (sessions: string, mode = '40000') =>
      rawTree(dir, [
        { mode: '40000', name: '.handoff', oid: rawTree(dir, [{ mode, name: 'sessions', oid: sessions }]) },
      ]);
    const commit = (tree: string) => git(dir, 'commit-tree', tree, '-m', 'junk');
    const junk = {
      blob: file,
      tree: wrap(file, '100644'),
      file: commit(wrap(file, '100644')),
      liar: commit(wrap(file)),
      names: commit(
        wrap(
          rawTree(dir, [
            { mode: '40000', name: 'donna', oid: file },
            { mode: '40000', name: '..', oid: file },
          ]),
        ),
      ),
      missing: commit(wrap(rawTree(dir, [{ mode: '40000', name: 'donna', oid: 'ab'.repeat(20) }]))),
    };
    for (const [name, oid] of Object.entries(junk)) writeBytes(dir, `.git/refs/remotes/origin/${name}`, `${oid}\n`);
    for (const _ of ['cold', 'warm']) {
      const machine = lola();
      expect(await sessionsOf(machine)).toEqual([session_id]);
      for (const warning of machine.warnings) expect(warning).toMatch(/origin\/(names|missing)/);
    }
  });
});

it('an unborn branch knows what was fetched', async () => {
  const { place, bare } = await twoMachines();
  const session_id = await workOn(place, 'work', 'donna');
  const dir = join(place.dir, '..', 'unborn');
  git('/', 'clone', '--quiet', bare, dir);
  git(dir, 'switch', '--quiet', '--orphan', 'new');
  git(dir, 'checkout', '--quiet', 'origin/main', '--', '.handoff');
  git(dir, 'rm', '--quiet', '-r', '--cached', '.handoff');
  expect(await sessionsOf(reopen(place, dir))).toEqual([session_id]);
  expect((await reopen(place, dir).handoff.next()).actions).toEqual([]);
});

it('a bare repository answers too', async () => {
  const { place, bare } = await twoMachines();
  const session_id = await workOn(place, 'work', 'donna');
  expect(await sessionsOf(reopen(place, bare))).toEqual([session_id]);
});

it('a partial clone leaves out what it has not, and says so', async () => {
  const { place, bare } = await twoMachines();
  await workOn(place, 'work', 'donna');
  git(bare, 'config', 'uploadpack.allowFilter', 'true');
  const dir = join(place.dir, '..', 'partial');
  git('/', 'clone', '--quiet', '--filter=blob:none', `file://${bare}`, dir);
  const machine = reopen(place, dir, place.env, BUILD);
  expect(await sessionsOf(machine)).toEqual([]);
  expect(machine.warnings.filter((text) => !text.startsWith('Pinned'))).toEqual([
    expect.stringMatching(/origin\/work cannot be read here.*git fetch --refetch --no-filter/),
  ]);
  git(dir, 'fetch', '--quiet', '--refetch', '--no-filter');
  expect(await sessionsOf(reopen(place, dir, place.env, BUILD))).toHaveLength(1);
});

it('SHA-256: a session on another branch is known', async () => {
  const place = await initialised('--object-format=sha256');
  serverOf(place);
  const session_id = await workOn(place, 'work', 'donna');
  for (const _ of ['cold', 'warm'])
    expect(await sessionsOf(reopen(place, place.dir, place.env, BUILD))).toEqual([session_id]);
});

it('what is left out does not grow the warnings: ten bad branches are five lines and a count', async () => {
  const { place, lola } = await twoMachines();
  for (let at = 0; at < 10; at++)
    branchWith(place, `evil-${at}`, () => writeSession(place, STORY, { identity: 'donna', key: newKey() }));
  fetchAll(lola());
  const machine = lola();
  await machine.handoff.sessions();
  expect(machine.warnings).toHaveLength(6);
  expect(machine.warnings.at(-1)).toMatch(/^5 more branches/);
});
