import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Place } from '../handoff.ts';
import { git } from '../temporary.ts';
import { findings, reopen, template } from '../threats/forge.ts';
import { changes, open, recordsOf, workAndWrap } from './agents.ts';
import { cloneOf, fetchAll, serverOf, workOn } from './clones.ts';
import { error } from './tasks.ts';

// One command, ready to work: the session is in the work tree of the baton's branch.

const fresh = template(({ handoff }) => handoff.identity.add({ name: 'lola' }));

const treeOf = ({ dir }: Place, name: string, identity = 'lola') => join(dir, '.worktrees', identity, name);

function twoMachines(): { place: Place; lola: Place } {
  const place = fresh();
  return { place, lola: cloneOf(place, serverOf(place), 'lola') };
}

function branchOf(dir: string): string {
  return git(dir, 'symbolic-ref', '--short', 'HEAD');
}

test('a branch that only a remote has is made here, with a work tree of its own, and the session is there', async () => {
  const { place, lola } = twoMachines();
  await workOn(place, 'work/first', 'donna');
  fetchAll(lola);
  const before = [branchOf(lola.dir), changes(lola)];
  const path = treeOf(lola, 'work-first');
  const picked = await lola.handoff.pickup({ as: 'lola', worktree: true });
  expect(picked).toMatchObject({
    work: { branch: 'work/first', worktree: path, remote: 'origin/work/first' },
    context: { branch: 'work/first' },
    ...{ cd: `cd ${path}`, commit: git(path, 'rev-parse', 'HEAD') },
  });
  expect([branchOf(lola.dir), changes(lola)]).toEqual(before);
  expect([branchOf(path), git(path, 'rev-parse', '--abbrev-ref', '@{upstream}')]).toEqual([
    'work/first',
    'origin/work/first',
  ]);
  const there = open(lola, { dir: path });
  expect(recordsOf(there, picked.session_id).map(({ fields }) => fields.kind)).toEqual(['pickup']);
  expect(recordsOf(there, picked.session_id)[0]!.fields.branch).toBe('work/first');
  await there.handoff.note({ text: 'here I am' });
  await there.handoff.wrap({ message: 'done' });
  expect([changes(there), await findings(there)]).toEqual([[], []]);
  expect((await lola.handoff.status()).session).toBeNull();
});

test('a branch that is here and nowhere checked out gets a work tree', async () => {
  const place = fresh();
  serverOf(place);
  await workOn(place, 'work', 'donna', { push: false });
  const { work, cd } = await open(place).handoff.pickup({ as: 'lola', worktree: true });
  expect([work!.worktree, cd]).toEqual([treeOf(place, 'work'), `cd ${treeOf(place, 'work')}`]);
});

describe('a branch that is checked out already', () => {
  test('in another work tree: that is entered, and what lies there stays', async () => {
    const place = fresh();
    serverOf(place);
    await workOn(place, 'work', 'donna');
    const tree = join(place.dir, '..', 'side');
    git(place.dir, 'worktree', 'add', '--quiet', tree, 'work');
    writeFileSync(join(tree, 'mine.txt'), 'mine\n');
    const { session_id, work, cd } = await open(place).handoff.pickup({ as: 'lola', worktree: true });
    expect([work!.worktree, cd]).toEqual([tree, `cd ${tree}`]);
    expect(existsSync(join(place.dir, '.worktrees'))).toBe(false);
    expect([changes(open(place, { dir: tree })), recordsOf({ ...place, dir: tree }, session_id).length]).toEqual([
      ['?? mine.txt'],
      1,
    ]);
  });

  test('here: there is nowhere to go', async () => {
    const place = fresh();
    await workAndWrap(place.handoff, 'donna');
    const { work, cd } = await open(place).handoff.pickup({ as: 'lola', worktree: true });
    expect([work!.worktree, cd]).toEqual([place.dir, null]);
  });

  test('in a work tree that somebody has deleted: it is made anew', async () => {
    const place = fresh();
    serverOf(place);
    await workOn(place, 'work', 'donna');
    const tree = join(place.dir, '..', 'side');
    git(place.dir, 'worktree', 'add', '--quiet', tree, 'work');
    rmSync(tree, { recursive: true });
    const { work } = await open(place).handoff.pickup({ as: 'lola', worktree: true });
    expect([work!.worktree, branchOf(work!.worktree!)]).toEqual([treeOf(place, 'work'), 'work']);
  });

  test('in a work tree that git names by a relative path', async () => {
    const place = fresh();
    serverOf(place);
    await workOn(place, 'work', 'donna');
    const tree = join(place.dir, '..', 'side');
    git(place.dir, 'worktree', 'add', '--quiet', tree, 'work');
    writeFileSync(join(place.dir, '.git/worktrees/side/gitdir'), '../../../../side/.git\n');
    expect((await open(place).handoff.pickup({ as: 'lola', worktree: true })).work!.worktree).toBe(tree);
  });

  test('in a work tree that somebody left half made: refused, with what to type, and the baton still waits', async () => {
    const place = fresh();
    serverOf(place);
    await workOn(place, 'work', 'donna');
    const tree = join(place.dir, '..', 'side');
    git(place.dir, 'worktree', 'add', '--quiet', tree, 'work');
    writeFileSync(join(place.dir, '.git/worktrees/side/locked'), 'initializing');
    const refused = await error(open(place).handoff.pickup({ as: 'lola', worktree: true }));
    expect(refused).toMatchObject({ code: 'io', data: { path: tree } });
    expect((await open(place).handoff.batons()).batons).toHaveLength(1);
    const [command = ''] = /git worktree remove .*?(?=, then)/.exec(String(refused.hint))!;
    git(place.dir, ...command.split(' ').slice(1));
    expect((await open(place).handoff.pickup({ as: 'lola', worktree: true })).work!.worktree).toBe(
      treeOf(place, 'work'),
    );
  });
});

describe('nothing is taken where there is no branch to go to', () => {
  test.each<[string, (machines: { place: Place; lola: Place }) => Promise<unknown> | unknown]>([
    [
      'it was merged and deleted',
      async ({ place, lola }) => {
        await workOn(place, 'work', 'donna');
        git(place.dir, 'push', '--quiet', 'origin', 'work:main', ':work');
        git(lola.dir, 'pull', '--quiet', '--prune');
      },
    ],
    [
      'it was wrapped on no branch',
      async ({ place, lola }) => {
        git(place.dir, 'switch', '--quiet', '--detach');
        await workAndWrap(place.handoff, 'donna');
        git(place.dir, 'push', '--quiet', 'origin', 'HEAD:main');
        git(lola.dir, 'pull', '--quiet');
      },
    ],
  ])('%s', async (_, happens) => {
    const both = twoMachines();
    await happens(both);
    const { handoff } = open(both.lola);
    expect(await error(handoff.pickup({ as: 'lola', worktree: true }))).toMatchObject({
      code: 'usage',
      hint: expect.stringContaining('git handoff pickup'),
    });
    expect((await handoff.batons()).batons).toHaveLength(1);
    expect((await handoff.pickup({ as: 'lola' })).baton).not.toBeNull();
  });

  test('no baton at all: one begins where one is, and is told', async () => {
    const place = fresh();
    const { baton, cd, warnings } = await place.handoff.pickup({ as: 'lola', worktree: true });
    expect([baton, cd, warnings.map(({ kind }) => kind)]).toEqual([null, null, ['no_baton', 'no_worktree']]);
  });

  test('a bare repository has no work tree to begin from', async () => {
    const place = fresh();
    const bare = serverOf(place);
    expect(await error(reopen(place, bare).handoff.pickup({ as: 'lola', worktree: true }))).toMatchObject({
      code: 'usage',
      message: expect.stringContaining('bare repository'),
    });
  });
});

describe('a place that is taken', () => {
  test('by a folder or a file: the next name', async () => {
    const place = fresh();
    serverOf(place);
    await workOn(place, 'work', 'donna');
    mkdirSync(treeOf(place, 'work'), { recursive: true });
    writeFileSync(join(treeOf(place, 'work'), 'mine.txt'), 'mine\n');
    writeFileSync(treeOf(place, 'work-2'), 'mine too\n');
    mkdirSync(treeOf(place, 'work-3'));
    const { work } = await open(place).handoff.pickup({ as: 'lola', worktree: true });
    expect(work!.worktree).toBe(treeOf(place, 'work-3'));
    expect(readFileSync(join(treeOf(place, 'work'), 'mine.txt'), 'utf8')).toBe('mine\n');
  });

  test('by a link out of the repository: refused before anything is taken', async () => {
    const place = fresh();
    serverOf(place);
    await workOn(place, 'work', 'donna');
    mkdirSync(join(place.dir, '..', 'elsewhere'));
    symlinkSync(join(place.dir, '..', 'elsewhere'), join(place.dir, '.worktrees'));
    expect(await error(open(place).handoff.pickup({ as: 'lola', worktree: true }))).toMatchObject({
      code: 'foreign_directory',
    });
    expect((await open(place).handoff.batons()).batons).toHaveLength(1);
  });

  test('git cannot make it: nothing is taken, and the same command works later', async () => {
    const place = fresh();
    serverOf(place);
    await workOn(place, 'work', 'donna');
    writeFileSync(join(place.dir, '.git/worktrees'), 'in the way');
    expect(await error(open(place).handoff.pickup({ as: 'lola', worktree: true }))).toMatchObject({ code: 'io' });
    rmSync(join(place.dir, '.git/worktrees'));
    expect((await open(place).handoff.sessions()).sessions.map(({ identity }) => identity)).toEqual(['donna']);
    expect((await open(place).handoff.pickup({ as: 'lola', worktree: true })).work!.worktree).not.toBeNull();
  });
});

test.each([
  ['with a space', 'a b'],
  ['with a line break', 'a\nb'],
  ['with a line break and more', 'a%s\\n\n100%'],
  ['with quotes', "it's"],
])('a repository whose folder has a name %s', async (_, name) => {
  const { place } = twoMachines();
  await workOn(place, 'work', 'donna');
  const lola = cloneOf(place, join(place.dir, '..', 'origin.git'), name);
  const { work, cd } = await lola.handoff.pickup({ as: 'lola', worktree: true });
  expect(branchOf(work!.worktree!)).toBe('work');
  for (const shell of ['sh', 'bash'])
    expect(execFileSync(shell, ['-c', `${cd} && pwd`], { encoding: 'utf8' })).toBe(`${work!.worktree}\n`);
  expect(cd).not.toContain('\n');
  const again = cloneOf(lola, lola.dir, 'again');
  expect((await open(again).handoff.verify()).findings).toEqual([]);
});

test('branches that are called alike, and one of no letters, have work trees of their own', async () => {
  const place = fresh();
  serverOf(place);
  const sessions: string[] = [];
  for (const branch of ['fix/a', 'fix-a', '次']) sessions.push(await workOn(place, branch, 'donna', { push: false }));
  const names: string[] = [];
  for (const fromSession of sessions) {
    const { work } = await open(place).handoff.pickup({ as: 'bot', fromSession, worktree: true });
    names.push(`${relative(place.dir, work!.worktree!)} ${branchOf(work!.worktree!)}`);
  }
  expect(names).toEqual(['.worktrees/bot/fix-a fix/a', '.worktrees/bot/fix-a-2 fix-a', '.worktrees/bot/work 次']);
});

test('two gits are started, and a commit is made there', async () => {
  const { place, lola } = twoMachines();
  await workOn(place, 'work', 'donna');
  fetchAll(lola);
  const trace = join(place.dir, '..', 'trace');
  const { handoff } = open(lola, { env: { GIT_TRACE: trace } });
  const { commit, work } = await handoff.pickup({ as: 'lola', worktree: true });
  await handoff.close();
  expect(git(work!.worktree!, 'rev-parse', 'HEAD')).toBe(commit);
  const started = [...readFileSync(trace, 'utf8').matchAll(/built-in: git (\S+)/g)].map(([, command]) => command);
  // git worktree starts some of its own
  const OURS = ['cat-file', 'for-each-ref', 'worktree'];
  expect(started.filter((command) => OURS.includes(command!)).sort()).toEqual(['cat-file', 'worktree']);
});
