import { spawnSync } from 'node:child_process';
import fs, {
  existsSync,
  linkSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openDiscards } from '../../src/git/discards.ts';
import { discoverRepository } from '../../src/git/discover.ts';
import { clearLeft } from '../../src/git/own-file.ts';
import { type BranchMove, type BranchMover, isPlainBranch, moveBranchFile } from '../../src/git/refs/branch-file.ts';
import { nodeHost } from '../../src/host.ts';
import { git, gitInput, isolatedEnv, temporaryDirectory } from '../temporary.ts';
import { withFs } from '../with-fs.ts';
import { commit } from './fixture.ts';

interface Place {
  dir: string;
  move: BranchMove;
  at: BranchMover;
}

const BY = 'Ada <ada@example.org> 1767323045 +0100';

/** A branch, and a commit that it could be moved to. */
function place(branch = 'main', ...init: string[]): Place {
  const dir = temporaryDirectory();
  git(dir, 'init', '--quiet', `--initial-branch=${branch}`, ...init);
  commit(dir, { file: 'one\n' }, 'first');
  return placeAt(dir, branch);
}

function placeAt(dir: string, branch: string): Place {
  const from = git(dir, 'rev-parse', 'HEAD');
  const to = git(dir, 'commit-tree', '-p', from, '-m', 'next', `${from}^{tree}`);
  const move = { branch, from, to, by: BY, reason: 'commit: next' };
  const at = { dirs: discoverRepository(dir, isolatedEnv), processes: nodeHost, discards: openDiscards() };
  return { dir, move, at };
}

/** Everything that names a commit, and what tells how it came to that. */
function refsOf({ at: { dirs } }: Place, branch: string): string[] {
  const logs = [join(dirs.commonDir, 'logs/refs/heads', branch), join(dirs.gitDir, 'logs/HEAD')];
  return [join(dirs.commonDir, 'refs/heads', branch), join(dirs.gitDir, 'HEAD'), ...logs].map((path) =>
    readFileSync(path, 'utf8'),
  );
}

function leftIn({ at: { dirs } }: Place): string[] {
  const names = [...new Set([dirs.gitDir, dirs.commonDir])].flatMap(
    (dir) => readdirSync(dir, { recursive: true }) as string[],
  );
  return names.filter((name) => /\.lock$|handoff-/.test(name));
}

function byGit({ dir }: Place, { branch, from, to, reason }: BranchMove): void {
  const env = {
    GIT_COMMITTER_NAME: 'Ada',
    GIT_COMMITTER_EMAIL: 'ada@example.org',
    GIT_COMMITTER_DATE: '1767323045 +0100',
  };
  const args = ['-C', dir, 'update-ref', '-m', reason, '-z', '--stdin'];
  const input = `update refs/heads/${branch}\0${to}\0${from}\0`;
  expect(spawnSync('git', args, { input, env: { ...isolatedEnv, ...env } }).status).toBe(0);
}

function restore({ at: { dirs } }: Place, branch: string, [ref, , ...logs]: string[]): void {
  writeFileSync(join(dirs.commonDir, 'refs/heads', branch), ref!);
  writeFileSync(join(dirs.commonDir, 'logs/refs/heads', branch), logs[0]!);
  writeFileSync(join(dirs.gitDir, 'logs/HEAD'), logs[1]!);
}

function broken(): never {
  throw Object.assign(new Error('broken'), { code: 'EIO' });
}

describe('a branch whose ref is a file', () => {
  it.each([
    ['sha1', 'main', 'commit: next'],
    ['sha256', 'feature/a.b/ç', 'commit: next'],
    ['sha1', 'main', 'commit:  white \t space '],
    ['sha1', 'main', '\v commit: next\f\u00a0'],
  ])('is moved as git would, to the byte: %s, %s, %j', (format, branch, reason) => {
    const here = place(branch, `--object-format=${format}`);
    const move = { ...here.move, reason };
    const before = refsOf(here, branch);
    byGit(here, move);
    const expected = refsOf(here, branch);
    restore(here, branch, before);
    expect(isPlainBranch(here.at.dirs, branch)).toBe(true);
    expect(moveBranchFile(here.at, move)).toBe('moved');
    expect(refsOf(here, branch)).toEqual(expected);
    expect(git(here.dir, 'rev-parse', 'HEAD@{0}', `${branch}@{0}`)).toBe(`${move.to}
${move.to}`);
    expect(git(here.dir, 'fsck', '--no-dangling')).toBe('');
    expect(leftIn(here)).toEqual([]);
  });

  it('is moved in a linked work tree, whose own log says so', () => {
    const main = place();
    const dir = join(temporaryDirectory(), 'linked');
    git(main.dir, 'worktree', 'add', '--quiet', '-b', 'side', dir);
    commit(dir, { file: 'two\n' }, 'second');
    const here = placeAt(dir, 'side');
    const others = readFileSync(join(main.dir, '.git/logs/HEAD'), 'utf8');
    expect(moveBranchFile(here.at, here.move)).toBe('moved');
    expect(git(dir, 'rev-parse', 'HEAD', 'side')).toBe(`${here.move.to}\n${here.move.to}`);
    expect(git(dir, 'reflog', '-1', '--format=%gs')).toBe('commit: next');
    expect(readFileSync(join(main.dir, '.git/logs/HEAD'), 'utf8')).toBe(others);
    expect(leftIn(here)).toEqual([]);
  });

  it('leaves the old ref to another thread while that removes a large index', async () => {
    const here = place();
    const discards = openDiscards();
    const added: string[] = [];
    const add = (path: string): void => {
      added.push(readFileSync(path, 'utf8'));
      discards.add(path);
    };
    const large = join(here.dir, '.git/large');
    writeFileSync(large, 'large');
    add(large);
    expect(moveBranchFile({ ...here.at, discards: { ...discards, add } }, here.move)).toBe('moved');
    await discards.settled();
    expect(added).toEqual(['large', `${here.move.from}\n`]);
    expect(git(here.dir, 'rev-parse', 'main')).toBe(here.move.to);
    expect([existsSync(large), ...leftIn(here)]).toEqual([false]);
  });

  it.each<[string, (here: Place) => void]>([
    ['has moved on', ({ dir }) => commit(dir, { file: 'two\n' }, 'faster')],
    ['is no longer checked out', ({ dir }) => git(dir, 'switch', '--quiet', '--create', 'other')],
    ['is not where HEAD is', ({ dir }) => git(dir, 'checkout', '--quiet', '--detach')],
  ])('stays where it is when it %s', (_, happen) => {
    const here = place();
    happen(here);
    const before = refsOf(here, 'main');
    expect(moveBranchFile(here.at, here.move)).toBe('elsewhere');
    expect(refsOf(here, 'main')).toEqual(before);
    expect(leftIn(here)).toEqual([]);
  });

  it.each(['HEAD.lock', 'refs/heads/main.lock'])(
    'stays where it is while somebody has %s, which stays theirs',
    (name) => {
      const here = place();
      const lock = join(here.dir, '.git', name);
      writeFileSync(lock, 'theirs');
      const before = refsOf(here, 'main');
      expect(moveBranchFile(here.at, here.move)).toBe('locked');
      expect(refsOf(here, 'main')).toEqual(before);
      expect(readFileSync(lock, 'utf8')).toBe('theirs');
      expect(leftIn(here)).toEqual([name]);
    },
  );

  it('is told of in no log when it cannot be moved: git tells of it when it does it', () => {
    const here = place();
    const before = refsOf(here, 'main');
    withFs({ renameSync: broken }, () => expect(moveBranchFile(here.at, here.move)).toBe('git'));
    expect(refsOf(here, 'main')).toEqual(before);
    expect(leftIn(here)).toEqual([]);
  });

  it('is unlocked even where the logs cannot be brought back', () => {
    const here = place();
    here.at.discards.add(join(here.dir, '.git/large')); // so that the old ref has another name as well
    withFs({ renameSync: broken, truncateSync: broken }, () => expect(moveBranchFile(here.at, here.move)).toBe('git'));
    expect(leftIn(here).filter((name) => name.endsWith('.lock'))).toEqual([]);
  });

  it.each(['HEAD.lock', 'refs/heads/main.lock'])('leaves %s to the next command where it cannot be removed', (name) => {
    const here = place();
    const dead = { ...nodeHost, pid: spawnSync(process.execPath, ['-e', '0']).pid };
    const lock = join(here.dir, '.git', name);
    const remove = fs.rmSync;
    const rmSync: typeof remove = (path, options) => (path === lock ? broken() : remove(path, options));
    const fails = name === 'HEAD.lock' ? { rmSync } : { rmSync, renameSync: broken };
    withFs(fails, () => expect(moveBranchFile({ ...here.at, processes: dead }, here.move)).toBe('git'));
    expect(existsSync(lock)).toBe(true);
    clearLeft(here.at.dirs, nodeHost);
    expect(leftIn(here)).toEqual([]);
  });

  it('does not remove the lock that somebody takes right after', () => {
    const here = place();
    const lock = join(here.dir, '.git/refs/heads/main.lock');
    const rename = fs.renameSync;
    const renameSync: typeof rename = (from, to) => {
      rename(from, to);
      writeFileSync(lock, 'theirs');
    };
    withFs({ renameSync }, () => expect(moveBranchFile(here.at, here.move)).toBe('moved'));
    expect(readFileSync(lock, 'utf8')).toBe('theirs');
  });

  it('is freed of the locks of a process that was killed, and of nobody else’s', () => {
    const here = place();
    const dead = spawnSync(process.execPath, ['-e', '0']).pid;
    const left = join(here.dir, `.git/HEAD.handoff-${nodeHost.space}-${dead}-0123456789ab`);
    writeFileSync(left, `${here.move.to}\n`);
    for (const name of ['HEAD.lock', 'refs/heads/main.lock']) linkSync(left, join(here.dir, '.git', name));
    expect(moveBranchFile(here.at, here.move)).toBe('moved');
    expect(leftIn(here)).toEqual([]);
    const alive = join(here.dir, `.git/HEAD.handoff-${nodeHost.space}-${process.pid}-0123456789ab`);
    writeFileSync(alive, 'theirs');
    linkSync(alive, join(here.dir, '.git/HEAD.lock'));
    const next = placeAt(here.dir, 'main');
    expect(moveBranchFile(next.at, next.move)).toBe('locked');
    expect(leftIn(next).sort()).toEqual([basename(alive), 'HEAD.lock']);
  });

  it('is freed of a lock that was left on it while another branch is checked out', () => {
    const here = place();
    git(here.dir, 'switch', '--quiet', '--create', 'deep/other');
    const dead = spawnSync(process.execPath, ['-e', '0']).pid;
    const left = join(here.dir, `.git/HEAD.handoff-${nodeHost.space}-${dead}-0123456789ab`);
    writeFileSync(left, `${here.move.to}\n`);
    linkSync(left, join(here.dir, '.git/refs/heads/main.lock'));
    clearLeft(here.at.dirs, nodeHost);
    expect(leftIn(here)).toEqual([]);
  });

  it('is freed of the locks of a work tree that was removed', () => {
    const main = place();
    const dir = join(temporaryDirectory(), 'linked');
    git(main.dir, 'worktree', 'add', '--quiet', '-b', 'side', dir);
    const here = placeAt(dir, 'side');
    const dead = { ...nodeHost, pid: spawnSync(process.execPath, ['-e', '0']).pid };
    const kept: string[] = [];
    withFs(
      {
        renameSync: () => {
          kept.push(...leftIn(main).filter((name) => name.includes('handoff-')));
          for (const name of kept) linkSync(join(main.dir, '.git', name), join(main.dir, '.git', `${name}.copy`));
          broken();
        },
      },
      () => expect(moveBranchFile({ ...here.at, processes: dead }, here.move)).toBe('git'),
    );
    expect(kept).toEqual([expect.stringMatching(/^HEAD\.handoff-/)]); // beside HEAD of the main work tree, which stays
    renameSync(join(main.dir, '.git', `${kept[0]}.copy`), join(main.dir, '.git', kept[0]!));
    linkSync(join(main.dir, '.git', kept[0]!), join(main.dir, '.git/refs/heads/side.lock'));
    git(main.dir, 'worktree', 'remove', '--force', dir);
    clearLeft(main.at.dirs, nodeHost);
    expect(leftIn(main)).toEqual([]);
  });

  it.each<[string, (here: Place) => void]>([
    ['is packed', ({ dir }) => git(dir, 'pack-refs', '--all')],
    ['has no log', ({ dir }) => rmSync(join(dir, '.git/logs/refs/heads/main'))],
    ['has no log of HEAD', ({ dir }) => rmSync(join(dir, '.git/logs/HEAD'))],
    [
      'has a log that is a link',
      ({ dir }) => {
        renameSync(join(dir, '.git/logs/HEAD'), join(dir, 'elsewhere'));
        symlinkSync(join(dir, 'elsewhere'), join(dir, '.git/logs/HEAD'));
      },
    ],
    [
      'is a link',
      ({ dir }) => {
        git(dir, 'branch', 'other');
        rmSync(join(dir, '.git/refs/heads/main'));
        symlinkSync('refs/heads/other', join(dir, '.git/refs/heads/main'));
      },
    ],
  ])('is left to git where it %s', (_, happen) => {
    const here = place();
    happen(here);
    const before = git(here.dir, 'rev-parse', 'main');
    expect(isPlainBranch(here.at.dirs, 'main')).toBe(false);
    expect(moveBranchFile(here.at, here.move)).toBe('git'); // nor would it get any further
    expect([git(here.dir, 'rev-parse', 'main'), ...leftIn(here)]).toEqual([before]);
  });

  it('that is a symbolic ref is left to git', () => {
    const here = place();
    git(here.dir, 'branch', 'other');
    git(here.dir, 'symbolic-ref', 'refs/heads/main', 'refs/heads/other');
    expect(moveBranchFile(here.at, here.move)).toBe('git');
    expect(leftIn(here)).toEqual([]);
  });

  it('does not forget whose index.lock it is that somebody left', () => {
    const here = place();
    const dead = spawnSync(process.execPath, ['-e', '0']).pid;
    const left = join(here.dir, `.git/index.handoff-${nodeHost.space}-${dead}-0123456789ab`);
    writeFileSync(left, 'half');
    linkSync(left, join(here.dir, '.git/index.lock'));
    writeFileSync(join(here.dir, '.git/HEAD.lock'), 'theirs');
    expect(moveBranchFile(here.at, here.move)).toBe('locked');
    expect(leftIn(here)).toEqual(['HEAD.lock']);
  });
});

it('of twenty moves from one commit, one after the other, the first counts, and nothing of the others is seen', () => {
  const here = place();
  const tips = Array.from({ length: 20 }, (_, number) =>
    gitInput(here.dir, `tip ${number}`, 'commit-tree', '-p', here.move.from, `${here.move.from}^{tree}`),
  );
  const outcomes = tips.map((to) => moveBranchFile(here.at, { ...here.move, to }));
  expect(outcomes.filter((outcome) => outcome === 'moved')).toHaveLength(1);
  expect(outcomes.filter((outcome) => outcome === 'elsewhere')).toHaveLength(19);
  expect(git(here.dir, 'reflog', '--format=%H').split('\n')).toEqual([tips[0], here.move.from]);
});
