import { join } from 'node:path';
import type { GitConfig } from '../config.ts';
import { discoverRepository } from '../discover.ts';
import { type Git, readGit } from '../run.ts';
import { type ObjectFormat, type ObjectType, objectFormat, writeLooseObject } from './loose-object.ts';
import type { Oid } from './store.ts';

/** Writes objects at once, without a process. */
export interface ObjectWriter {
  format: ObjectFormat;
  write(type: ObjectType, bytes: Uint8Array): Oid;
}

/** Settings that say how objects are written: git knows what each of them means, and writes. */
const HOW_TO_WRITE = /^core\.(?:sharedrepository|fsync|fsyncmethod|fsyncobjectfiles)$/;

/** Null where it was configured how objects are written: then git has to write them. */
export function objectWriterFor(git: Git, config: GitConfig): ObjectWriter | null {
  if (config.keys().some((key) => HOW_TO_WRITE.test(key))) return null;
  const { commonDir } = discoverRepository(git.dir, git.env);
  const objects = git.set?.GIT_OBJECT_DIRECTORY ?? join(commonDir, 'objects');
  const format = objectFormat(commonDir);
  return { format, write: (type, bytes) => writeLooseObject(objects, format, type, bytes) };
}

/** Slower by a process, and right whatever is configured. */
export async function writeByGit(git: Git, type: ObjectType, bytes: Uint8Array): Promise<Oid> {
  const args = ['hash-object', '-t', type, '-w', '--stdin'];
  return (await readGit(git, args, { input: bytes })).toString('latin1').trim();
}
