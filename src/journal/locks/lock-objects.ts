import { HandoffError } from '../../core/error.ts';
import { discoverRepository } from '../../git/discover.ts';
import { CatFile, type GitObject } from '../../git/objects/cat-file.ts';
import { objectFormat } from '../../git/objects/loose-object.ts';
import type { Oid, Ref } from '../../git/objects/store.ts';
import { fetchObjects, type Remote } from '../../git/refs/remote.ts';
import { type Git, readGit } from '../../git/run.ts';
import type { Holder } from './holder.ts';
import { formatLockCommit, parseLockCommit, type UncheckedLock } from './lock-commit.ts';
import { type LockWriters, signLock } from './lock-signature.ts';

/** More than any lock has: what is larger is none. */
const LOCK_LIMIT = 16_384;

/** The commit for a ref of the namespace, in this repository only. The empty tree needs no writing: git knows it. */
export async function writeLock(git: Git, writers: LockWriters, ref: string, holder: Holder): Promise<Oid> {
  const { document, signature } = await signLock(writers, ref, holder);
  const format = objectFormat(discoverRepository(git.dir, git.env).commonDir);
  const bytes = formatLockCommit(format, document, signature);
  if (bytes.length > LOCK_LIMIT)
    throw new HandoffError('usage', `A lock may have ${LOCK_LIMIT} bytes, this one ${bytes.length}`);
  const out = await readGit(git, ['hash-object', '-t', 'commit', '-w', '--stdin'], { input: bytes });
  return out.toString('latin1').trim();
}

/** What each of these refs holds, null for what is no lock; what is not here yet is fetched, all of it at once. */
export async function readLocks(remote: Remote, refs: readonly Ref[]): Promise<(UncheckedLock | null)[]> {
  const catFile = new CatFile(remote.git);
  const read = () => Promise.all(refs.map((ref) => readObject(catFile, ref)));
  try {
    let objects = await read();
    const missing = refs.filter((_, i) => objects[i] === null).map((ref) => ref.name);
    if (missing.length > 0) {
      await fetchObjects(remote, missing);
      objects = await read();
    }
    return objects.map((object, i) => parseLock(refs[i]!, object));
  } finally {
    await catFile.close();
  }
}

/** What one of them holds, where all objects are at hand. */
export async function readLock(catFile: CatFile, ref: Ref): Promise<UncheckedLock | null> {
  return parseLock(ref, await readObject(catFile, ref));
}

async function readObject(catFile: CatFile, { oid }: Ref): Promise<GitObject | 'too large' | null> {
  try {
    return await catFile.contents(oid, LOCK_LIMIT);
  } catch (error) {
    if (error instanceof HandoffError && error.code === 'too_large') return 'too large';
    throw error;
  }
}

function parseLock(ref: Ref, object: GitObject | 'too large' | null): UncheckedLock | null {
  if (object === null || object === 'too large' || object.type !== 'commit') return null;
  return parseLockCommit(ref.name, ref.oid, object.bytes);
}
