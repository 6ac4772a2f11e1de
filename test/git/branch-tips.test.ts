import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { discoverRepository } from '../../src/git/discover.ts';
import { readBranchTips } from '../../src/git/refs/branch-tips.ts';
import { readRefFiles } from '../../src/git/refs/ref-files.ts';
import { git, isolatedEnv, temporaryDirectory } from '../temporary.ts';
import { gitAt, history, REPOSITORIES } from './fixture.ts';

const FOLDERS = ['refs/heads/', 'refs/remotes/'];

const listed = (dir: string): string[] =>
  git(dir, 'for-each-ref', '--format=%(refname) %(objectname)', ...FOLDERS)
    .split('\n')
    .filter((line) => line !== '' && !/^refs\/remotes\/[^/]+\/HEAD /.test(line));

async function tipsOf(dir: string): Promise<string[]> {
  const tips = await readBranchTips(gitAt(dir), discoverRepository(dir, isolatedEnv));
  return tips.map(({ name, oid }) => `${name} ${oid}`);
}

function fromFiles(dir: string) {
  return readRefFiles(discoverRepository(dir, isolatedEnv), FOLDERS, () => true);
}

describe('branches are those that git lists', () => {
  it.each(Object.keys(REPOSITORIES))('%s', async (kind) => {
    const dir = REPOSITORIES[kind]!(temporaryDirectory());
    expect(await tipsOf(dir)).toEqual(listed(dir));
    expect((await tipsOf(dir)).length).toBeGreaterThan(0);
  });

  it('packed ones, some of which have moved since, in folders, and a remote with a HEAD', async () => {
    const from = history(join(temporaryDirectory(), 'from'));
    for (const name of ['a/b/c', 'a-b', 'a.b', 'z', 'ü/ö']) git(from, 'branch', name);
    const dir = join(temporaryDirectory(), 'clone');
    git('/', 'clone', '--quiet', from, dir);
    git(dir, 'pack-refs', '--all');
    git(dir, 'branch', '--force', 'other', 'HEAD~1');
    git(dir, 'update-ref', 'refs/remotes/origin/z', 'HEAD~1');
    git(dir, 'branch', '--quiet', '--delete', 'other');
    writeFileSync(join(dir, '.git/refs/heads/main.lock'), '');
    mkdirSync(join(dir, '.git/refs/heads/empty/folder'), { recursive: true });
    expect(await tipsOf(dir)).toEqual(listed(dir));
    expect(listed(dir)).toHaveLength(8);
  });

  const ODD: Record<string, (dir: string) => unknown> = {
    'one that is another name': (dir) => git(dir, 'symbolic-ref', 'refs/heads/alias', 'refs/heads/main'),
    'one that leads nowhere': (dir) => git(dir, 'symbolic-ref', 'refs/heads/alias', 'refs/heads/none'),
    'one that is broken': (dir) => writeFileSync(join(dir, '.git/refs/heads/broken'), 'junk\n'),
    'one that is empty': (dir) => writeFileSync(join(dir, '.git/refs/heads/broken'), ''),
    'one of zeros': (dir) => writeFileSync(join(dir, '.git/refs/heads/broken'), `${'0'.repeat(40)}\n`),
    'a link': (dir) => symlinkSync('main', join(dir, '.git/refs/heads/alias')),
    'a name that git takes for none': (dir) =>
      writeFileSync(join(dir, '.git/refs/heads/a b'), `${git(dir, 'rev-parse', 'HEAD')}\n`),
  };

  it.each(Object.keys(ODD))('%s: git is asked', async (kind) => {
    const dir = history(join(temporaryDirectory(), 'r'));
    ODD[kind]!(dir);
    expect(fromFiles(dir)).toBeNull();
    expect(await tipsOf(dir)).toEqual(listed(dir));
  });

  it('no branch at all, and no folder of them', async () => {
    const dir = join(temporaryDirectory(), 'r');
    git('/', 'init', '--quiet', dir);
    rmSync(join(dir, '.git/refs/remotes'), { recursive: true, force: true });
    expect(fromFiles(dir)).toEqual([]);
  });

  it('refs that are kept in another form: git is asked', () => {
    const dir = history(join(temporaryDirectory(), 'r'));
    writeFileSync(join(dir, '.git/HEAD'), 'ref: refs/heads/.invalid\n');
    expect(fromFiles(dir)).toBeNull();
  });
});
