import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RepositoryDirs } from '../discover.ts';
import { objectFormat, objectId } from '../objects/loose-object.ts';
import type { GitStore } from '../objects/store.ts';
import { orNull } from '../or-null.ts';
import { type Git, readGit } from '../run.ts';
import type { IndexFile } from './index-file.ts';

interface CheckedOutTree {
  git: Git;
  dirs: RepositoryDirs;
  store: GitStore;
  index: IndexFile;
}

/** Whether a file at the top of the work tree is another one than HEAD has, or the index. git is asked only where its bytes are. */
export async function isChanged({ git, dirs, store, index }: CheckedOutTree, name: string): Promise<boolean> {
  const bytes = orNull(() => readFileSync(join(dirs.topLevel ?? '.', name)));
  const here = bytes && objectId(objectFormat(dirs.commonDir), 'blob', bytes);
  const committed = (await store.resolve('HEAD')) === null ? null : await store.readTree('HEAD');
  const there = committed?.entries.find((entry) => entry.name === name)?.oid ?? null;
  if (here === there && index.oid(name) === there) return false;
  return (await readGit(git, ['status', '--porcelain', '--', name])).length > 0;
}
