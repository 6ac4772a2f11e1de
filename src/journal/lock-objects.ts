import { randomUUID } from 'node:crypto';
import { HandoffError } from '../core/error.ts';
import { CatFile, type GitObject } from '../git/cat-file.ts';
import { discoverRepository } from '../git/discover.ts';
import { objectFormat } from '../git/loose-object.ts';
import { fetchObjects, type Remote, remoteFailure } from '../git/remote.ts';
import { type Git, readGit } from '../git/run.ts';
import type { Oid, Ref } from '../git/store.ts';
import { formatLockCommit, type Holder, parseLockCommit } from './lock-commit.ts';

const LIMIT = 16_384;

/** The commit for a ref of the namespace, in this repository only. The empty tree needs no writing: git knows it. */
export async function writeLock(git: Git, ref: string, holder: Holder): Promise<Oid> {
  const bytes = formatLockCommit(objectFormat(discoverRepository(git.dir, git.env).commonDir), {
    ref,
    nonce: randomUUID(),
    holder,
  });
  if (bytes.length > LIMIT) throw new HandoffError('usage', `A lock may have ${LIMIT} bytes, this one ${bytes.length}`);
  const out = await readGit(git, ['hash-object', '-t', 'commit', '-w', '--stdin'], { input: bytes });
  return out.toString('latin1').trim();
}

/** Who wrote each of these refs; what is not here yet is fetched, all of it at once. */
export async function readLocks(remote: Remote, refs: readonly Ref[]): Promise<Holder[]> {
  const catFile = new CatFile(remote.git);
  const read = () => Promise.all(refs.map((ref) => readObject(remote, catFile, ref)));
  try {
    let objects = await read();
    if (objects.includes(null)) {
      const names = refs.map((ref) => ref.name);
      await fetchObjects(remote, names);
      objects = await read();
    }
    return objects.map((object, i) => holderIn(remote, refs[i]!, object));
  } finally {
    await catFile.close();
  }
}

export function foreignRef(remote: Remote, ref: string): HandoffError {
  return remoteFailure(remote, `${ref} is not a lock of git-handoff: someone else uses its namespace`);
}

async function readObject(remote: Remote, catFile: CatFile, ref: Ref): Promise<GitObject | null> {
  try {
    return await catFile.contents(ref.oid, LIMIT);
  } catch (error) {
    if (error instanceof HandoffError && error.code === 'too_large') throw foreignRef(remote, ref.name);
    throw error;
  }
}

function holderIn(remote: Remote, ref: Ref, object: GitObject | null): Holder {
  const holder = object?.type === 'commit' ? parseLockCommit(ref.name, ref.oid, object.bytes) : null;
  if (!holder) throw foreignRef(remote, ref.name);
  return holder;
}
