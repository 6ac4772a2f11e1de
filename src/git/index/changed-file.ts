import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ifThere } from '../../disk/if-there.ts';
import type { RepositoryDirs } from '../discover.ts';
import { objectFormat, objectId } from '../objects/loose-object.ts';
import type { GitStore, Oid } from '../objects/store.ts';
import { type Git, readGit } from '../run.ts';
import { hasOtherHalf } from './index-folder.ts';
import { lookUp } from './index-lookup.ts';

interface Place {
  git: Git;
  dirs: RepositoryDirs;
  store: GitStore;
}

/** Whether a file at the top of the work tree is another one than HEAD has, or the index. git is asked only where its bytes are. */
export async function isChanged({ git, dirs, store }: Place, name: string): Promise<boolean> {
  const bytes = ifThere(() => readFileSync(join(dirs.topLevel ?? '.', name)));
  const format = objectFormat(dirs.commonDir);
  const here = bytes && objectId(format, 'blob', bytes);
  const committed = (await store.resolve('HEAD')) === null ? null : await store.readTree('HEAD');
  const there = committed?.entries.find((entry) => entry.name === name)?.oid ?? null;
  if (here === there && indexed(dirs, name, format === 'sha256' ? 32 : 20) === there) return false;
  return (await readGit(git, ['status', '--porcelain', '--', name])).length > 0;
}

/** Undefined where only git can tell. */
function indexed({ gitDir }: RepositoryDirs, name: string, width: number): Oid | null | undefined {
  const path = join(gitDir, 'index');
  const index = ifThere(() => readFileSync(path));
  if (index === null) return null;
  if (hasOtherHalf(path) || index.toString('latin1', 0, 4) !== 'DIRC') return undefined;
  return [2, 3].includes(index.readUInt32BE(4)) ? (lookUp(index, [name], width).get(name)?.oid ?? null) : undefined;
}
