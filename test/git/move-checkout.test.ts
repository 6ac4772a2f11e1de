import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { discoverRepository } from '../../src/git/discover.ts';
import { moveCheckout } from '../../src/git/index/move-checkout.ts';
import { nodeHost } from '../../src/host.ts';
import { git, isolatedEnv, temporaryDirectory } from '../temporary.ts';
import { commit, gitAt } from './fixture.ts';

interface Place {
  dir: string;
  from: string;
  to: string;
}

/** main is at `from`; `to` has left from the commit before it. */
function place(): Place {
  const dir = temporaryDirectory();
  git(dir, 'init', '--quiet', '--initial-branch=main');
  commit(dir, { kept: 'kept\n', both: 'first\n' }, 'first');
  git(dir, 'switch', '--quiet', '--create', 'theirs');
  const to = commit(dir, { both: 'theirs\n', added: 'theirs\n' }, 'theirs');
  git(dir, 'switch', '--quiet', 'main');
  return { dir, from: commit(dir, { both: 'ours\n', ours: 'ours\n' }, 'ours'), to };
}

function moved({ dir, from, to }: Place): Promise<boolean> {
  const checkout = { git: gitAt(dir), dirs: discoverRepository(dir, isolatedEnv), processes: nodeHost };
  return moveCheckout(checkout, { branch: 'main', from, to, derived: 'derived', reason: 'moving' });
}

function state({ dir }: Place): string[] {
  const left = readdirSync(join(dir, '.git')).filter((name) => /\.lock$|handoff-/.test(name));
  return [git(dir, 'rev-parse', 'main'), git(dir, 'status', '--porcelain'), ...left];
}

function hook({ dir }: Place, script: string): void {
  mkdirSync(join(dir, '.git/hooks'), { recursive: true });
  const path = join(dir, '.git/hooks/reference-transaction');
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
}

it('brings branch, index and files along, and says so in the log', async () => {
  const here = place();
  expect(await moved(here)).toBe(true);
  expect(state(here)).toEqual([here.to, '']);
  expect([readFileSync(join(here.dir, 'both'), 'utf8'), existsSync(join(here.dir, 'ours'))]).toEqual([
    'theirs\n',
    false,
  ]);
  expect(git(here.dir, 'reflog', '-1', '--format=%gs')).toBe('moving');
});

it('takes along what is staged, changed and unknown', async () => {
  const here = place();
  writeFileSync(join(here.dir, 'staged'), 'staged\n');
  git(here.dir, 'add', 'staged');
  for (const name of ['kept', 'loose']) writeFileSync(join(here.dir, name), 'changed\n');
  expect(await moved(here)).toBe(true);
  expect(state(here)).toEqual([here.to, ' M kept\nA  staged\n?? loose']);
});

it('stops where that is in the way, and all is as it was', async () => {
  const here = place();
  writeFileSync(join(here.dir, 'both'), 'changed\n');
  await expect(moved(here)).rejects.toMatchObject({ code: 'io', message: expect.stringContaining('both') });
  expect(state(here)).toEqual([here.from, ' M both']);
});

it('what is there already as it is to be is not in the way', async () => {
  const here = place();
  for (const name of ['both', 'added']) writeFileSync(join(here.dir, name), 'theirs\n');
  rmSync(join(here.dir, 'ours'));
  expect(await moved(here)).toBe(true);
  expect(state(here)).toEqual([here.to, '']);
});

it('nor is it taken for that where something else is staged', async () => {
  const here = place();
  writeFileSync(join(here.dir, 'both'), 'staged\n');
  git(here.dir, 'add', 'both');
  writeFileSync(join(here.dir, 'both'), 'theirs\n');
  await expect(moved(here)).rejects.toMatchObject({
    code: 'io',
    hint: expect.stringContaining('git stash push --include-untracked'),
  });
  expect(state(here)).toEqual([here.from, 'MM both']);
  expect(git(here.dir, 'cat-file', '-p', ':both')).toBe('staged');
});

it.each<[string, (path: string) => void]>([
  [
    'a folder',
    (path) => {
      mkdirSync(path);
      writeFileSync(join(path, 'mine'), 'mine\n');
    },
  ],
  ['a link', (path) => symlinkSync('elsewhere', path)],
  ['a file that nobody else has', (path) => writeFileSync(path, 'mine\n')],
])('%s in the place of a file that can be made again stays', async (_, put) => {
  const here = place();
  for (const name of ['derived/a', '"quoted']) commit(here.dir, { [name]: 'ours\n' }, name);
  const path = join(here.dir, 'derived/a');
  rmSync(path);
  put(path);
  const before = lstatSync(path).ino;
  const from = git(here.dir, 'rev-parse', 'HEAD');
  await expect(moved({ ...here, from })).rejects.toMatchObject({ hint: expect.stringContaining('git stash') });
  expect([lstatSync(path).ino, git(here.dir, 'rev-parse', 'main')]).toEqual([before, from]);
});

it('a file that can be made again, and is gone, is put back', async () => {
  const here = place();
  const from = commit(here.dir, { 'derived/a': 'ours\n', '"quoted': 'ours\n' }, 'more');
  rmSync(join(here.dir, 'derived/a'));
  expect(await moved({ ...here, from })).toBe(true);
  expect(state(here)).toEqual([here.to, '']);
});

it('a commit that was made before stays, with its file', async () => {
  const here = place();
  const made = commit(here.dir, { work: 'work\n' }, 'work');
  expect(await moved(here)).toBe(false);
  expect(state(here)).toEqual([made, '']);
  expect(readFileSync(join(here.dir, 'work'), 'utf8')).toBe('work\n');
});

it('nobody can commit while it moves', async () => {
  const here = place();
  hook(here, `[ "$1" = prepared ] && cp .git/index.lock seen\ntrue`);
  expect(await moved(here)).toBe(true);
  expect(existsSync(join(here.dir, 'seen'))).toBe(true);
  rmSync(join(here.dir, 'seen'));
  expect(state(here)).toEqual([here.to, '']);
});

it.each(['closed', 'cannot lock ref'])('where a hook refuses it with "%s", all is as it was', async (word) => {
  const here = place();
  hook(here, `echo "${word}" >&2\nexit 1`);
  await expect(moved(here)).rejects.toMatchObject({ code: 'io' });
  expect(state(here)).toEqual([here.from, '']);
});

it('where the branch is locked, all is as it was, and that is said', async () => {
  const here = place();
  const lock = join(here.dir, '.git/refs/heads/main.lock');
  writeFileSync(lock, 'theirs');
  await expect(moved(here)).rejects.toMatchObject({ code: 'io', message: expect.stringContaining('main.lock') });
  expect(state(here)).toEqual([here.from, '']);
  expect(readFileSync(lock, 'utf8')).toBe('theirs');
});

it('another branch that was checked out meanwhile is left as it is', async () => {
  const here = place();
  const lock = join(here.dir, '.git/index.lock');
  writeFileSync(lock, 'theirs');
  setTimeout(() => {
    rmSync(lock);
    git(here.dir, 'switch', '--quiet', 'theirs');
  }, 100);
  expect(await moved(here)).toBe(false);
  expect(state(here)).toEqual([here.from, '']);
  expect(git(here.dir, 'branch', '--show-current')).toBe('theirs');
});

it('files and index come first: what is cut off looks like something staged', async () => {
  const here = place();
  hook(here, `[ "$1" = prepared ] && git --git-dir=.git diff --cached --name-only > .git/staged\ntrue`);
  expect(await moved(here)).toBe(true);
  expect(readFileSync(join(here.dir, '.git/staged'), 'utf8')).toBe('added\nboth\nours\n');
});

it('without an index there is nothing to take along, and that is said', async () => {
  const here = place();
  rmSync(join(here.dir, '.git/index'));
  await expect(moved(here)).rejects.toMatchObject({ code: 'io', hint: expect.stringContaining('git reset') });
});

it('waits for whoever has the index', async () => {
  const here = place();
  const lock = join(here.dir, '.git/index.lock');
  writeFileSync(lock, 'theirs');
  setTimeout(() => rmSync(lock), 200);
  expect(await moved(here)).toBe(true);
  expect(state(here)).toEqual([here.to, '']);
});
