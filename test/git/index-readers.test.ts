import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openIndex } from '../../src/audit/source/index-source.ts';
import { folderInIndex } from '../../src/git/index/index-folder.ts';
import { openNativeStore } from '../../src/git/objects/native-store.ts';
import { git, gitInput, isolatedEnv } from '../temporary.ts';
import { gitAt } from './fixture.ts';
import { compareFolders, FOLDER, workTree } from './index-readers.ts';

describe('the index, read without git', () => {
  it('a folder has the id that `git write-tree` gives it, or none', () => {
    expect(compareFolders({ count: 60, seed: 5 })).toBeGreaterThan(10);
  });

  it('what is only intended to be added is not there yet', () => {
    const dir = workTree();
    const staged = git(dir, 'hash-object', '-w', '/dev/null');
    git(dir, 'update-index', '--add', '--cacheinfo', `100644,${staged},${FOLDER}/checkpoint`);
    const before = folderInIndex(join(dir, '.git/index'), FOLDER, 'sha1');
    expect(before).toBe(git(dir, 'write-tree', `--prefix=${FOLDER}/`));
    spawnSync('sh', ['-c', `mkdir -p ${FOLDER} && echo x > ${FOLDER}/new && git add -N ${FOLDER}/new`], {
      cwd: dir,
      env: isolatedEnv,
    });
    expect(folderInIndex(join(dir, '.git/index'), FOLDER, 'sha1')).toBeNull();
  });

  it('lists what `git ls-files` does, each path once and names that are no UTF-8 apart', async () => {
    const dir = workTree();
    const oid = gitInput(dir, 'one', 'hash-object', '-w', '--stdin');
    const listing = ['\xff', '\xfe', 'a'].map((name) => Buffer.from(`100644 ${oid} 0\t.handoff/${name}\0`, 'latin1'));
    gitInput(dir, Buffer.concat(listing), 'update-index', '-z', '--index-info');
    const store = openNativeStore(gitAt(dir));
    const source = await openIndex(gitAt(dir), store);
    const top = (await source.root()).find(({ name }) => name === '.handoff')!;
    expect((await source.list(top)).map(({ name }) => name)).toEqual(['a', '\ufffdfe', '\ufffdff']);
    await store.close();
  });
});
