import { execFileSync } from 'node:child_process';
import { mkdirSync, realpathSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { discoverRepository } from '../../src/git/discover.ts';
import { git, isolatedEnv, temporaryDirectory } from '../temporary.ts';
import { history } from './fixture.ts';

const PLACES: Record<string, (root: string) => string> = {
  'a plain repository': (root) => history(join(root, 'r')),
  'a subdirectory': (root) => join(history(join(root, 'r')), 'ünï'),
  'a path with a space and a newline': (root) => join(history(join(root, 'a b\nc')), 'with space'),
  'a bare repository': (root) => bare(root),
  'a directory inside a bare repository': (root) => join(bare(root), 'refs/heads'),
  'the git directory': (root) => join(history(join(root, 'r')), '.git'),
  'a directory inside the git directory': (root) => join(history(join(root, 'r')), '.git/refs'),
  'a linked worktree': (root) => worktree(history(join(root, 'r'))),
  'a subdirectory of a linked worktree': (root) => join(worktree(history(join(root, 'r'))), 'ünï'),
  'the git directory of a linked worktree': (root) => {
    worktree(history(join(root, 'r')));
    return join(root, 'r/.git/worktrees/linked');
  },
  'a linked worktree of a bare repository': (root) => worktree(bare(root)),
  'a linked worktree of a bare repository with its own configuration': (root) => {
    const dir = bare(root);
    git(dir, 'config', 'extensions.worktreeConfig', 'true');
    git(dir, 'config', '--unset', 'core.bare');
    git(dir, 'config', '--file', 'config.worktree', 'core.bare', 'true');
    return worktree(dir);
  },
  'a submodule': (root) => submodule(root),
  'the git directory of a submodule': (root) => join(submodule(root), '../.git/modules/sub'),
  'a separate git directory': (root) => history(join(root, 'r'), `--separate-git-dir=${join(root, 'elsewhere')}`),
  'a symbolic link to a repository': (root) => link(history(join(root, 'r')), join(root, 'link')),
  'a symbolic link into a repository': (root) => link(join(history(join(root, 'r')), 'ünï'), join(root, 'link')),
  '.git as a symbolic link': (root) => {
    const dir = history(join(root, 'r'));
    renameSync(join(dir, '.git'), join(root, 'real'));
    link(join(root, 'real'), join(dir, '.git'));
    return dir;
  },
  'a repository in which .git says it is bare': (root) => {
    const dir = history(join(root, 'r'));
    git(dir, 'config', 'core.bare', 'true');
    return dir;
  },
  'core.worktree elsewhere': (root) => {
    const dir = history(join(root, 'r'));
    mkdirSync(join(root, 'tree'));
    git(dir, 'config', 'core.worktree', '../../tree');
    return dir;
  },
  'an empty .git directory inside a repository': (root) => {
    const dir = join(history(join(root, 'r')), 'inner');
    mkdirSync(join(dir, '.git'), { recursive: true });
    return dir;
  },
  'an unborn SHA-256 repository': (root) => {
    git(root, 'init', '--quiet', '--object-format=sha256', 'r');
    return join(root, 'r');
  },
};

describe('discovery agrees with git rev-parse in', () => {
  test.each(Object.entries(PLACES))('%s', (_, make) => {
    const dir = make(temporaryDirectory());
    expect(discoverRepository(dir, isolatedEnv)).toEqual(oracle(dir));
  });
});

describe('discovery stops', () => {
  test('where there is no repository', () => {
    const dir = temporaryDirectory();
    expect(() => discoverRepository(dir, {})).toThrow(expect.objectContaining({ code: 'not_a_repository' }));
    expect(() => discoverRepository(join(dir, 'nope'), {})).toThrow(/no directory/);
  });

  test.each([
    ['at the parent', (root: string) => join(root, 'r'), false],
    ['above the repository', (root: string) => root, true],
    ['at the start, which does not count', (root: string) => join(root, 'r/ünï'), true],
    ['through a symbolic link', (root: string) => link(join(root, 'r'), join(root, 'link')), false],
    ['through a symbolic link taken as spelt', (root: string) => `:${link(join(root, 'r'), join(root, 'link'))}`, true],
    ['at a relative path, which does not count', () => '..', true],
  ])('at a ceiling %s, as git does', (_, ceiling, finds) => {
    const root = temporaryDirectory();
    const dir = join(history(join(root, 'r')), 'ünï');
    const env = { ...isolatedEnv, GIT_CEILING_DIRECTORIES: ceiling(root) };
    const found = (find: () => unknown) => {
      try {
        return Boolean(find());
      } catch {
        return false;
      }
    };
    expect(found(() => discoverRepository(dir, env))).toBe(finds);
    expect(found(() => execFileSync('git', ['rev-parse', '--git-dir'], { cwd: dir, env, stdio: 'pipe' }))).toBe(finds);
  });

  test('at a .git file that leads nowhere', () => {
    const dir = join(history(join(temporaryDirectory(), 'r')), 'inner');
    mkdirSync(dir);
    writeFileSync(join(dir, '.git'), 'gitdir: ../gone\n');
    expect(() => discoverRepository(dir, {})).toThrow(/does not lead to a git directory/);
  });
});

test('an inherited GIT_DIR does not redirect discovery', () => {
  const root = temporaryDirectory();
  const [a, b] = [history(join(root, 'a')), history(join(root, 'b'))];
  expect(discoverRepository(a, { GIT_DIR: join(b, '.git') }).topLevel).toBe(a);
});

function oracle(dir: string) {
  const ask = (...args: string[]) => git(dir, 'rev-parse', ...args);
  const isTree = ask('--is-bare-repository') === 'false' && hasTopLevel(dir);
  return {
    topLevel: isTree ? realpathSync(ask('--show-toplevel')) : null,
    gitDir: realpathSync(ask('--absolute-git-dir')),
    commonDir: realpathSync(resolve(realpathSync(dir), ask('--git-common-dir'))),
  };
}

function hasTopLevel(dir: string): boolean {
  try {
    git(dir, 'rev-parse', '--show-toplevel');
    return true;
  } catch {
    return false;
  }
}

function bare(root: string): string {
  git(root, 'clone', '--quiet', '--bare', history(join(root, 'origin')), 'bare');
  return join(root, 'bare');
}

function worktree(dir: string): string {
  git(dir, 'worktree', 'add', '--quiet', '--detach', join(dir, '../linked'), 'main');
  return join(dir, '../linked');
}

function submodule(root: string): string {
  const dir = history(join(root, 'super'));
  git(dir, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', history(join(root, 'origin')), 'sub');
  return join(dir, 'sub');
}

function link(target: string, path: string): string {
  symlinkSync(target, path);
  return path;
}
