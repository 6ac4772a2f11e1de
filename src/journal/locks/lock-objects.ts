import { join } from 'node:path';
import type { Cache } from '../../audit/tree/cache.ts';
import { HandoffError } from '../../core/error.ts';
import { discoverRepository } from '../../git/discover.ts';
import { CatFile, type GitObject } from '../../git/objects/cat-file.ts';
import { objectFormat, writeLooseObject } from '../../git/objects/loose-object.ts';
import type { Oid, Ref } from '../../git/objects/store.ts';
import { withFetched } from '../../git/refs/fetch-aside.ts';
import type { Remote } from '../../git/refs/remote.ts';
import { type Git, readGit } from '../../git/run.ts';
import type { Holder } from './holder.ts';
import { formatLockCommit, parseLockCommit, type UncheckedLock } from './lock-commit.ts';
import { type LockWriters, signLock } from './lock-signature.ts';

/** No lock is larger than this: a larger object is not a lock. */
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

/** Where locks are read from. */
export interface LockSource extends Remote {
  /** What is known to be no lock, by ref and object. It need not be fetched again: an object never changes. */
  noise?: Cache<true>;
}

/** The lock that each of these refs holds, null where it holds none. Objects that are not here yet are fetched together. */
export async function readLocks(source: LockSource, refs: readonly Ref[]): Promise<(UncheckedLock | null)[]> {
  const here = await readObjects(source.git, refs);
  const missing = refs.filter((ref, i) => here[i] === null && !source.noise?.get(noiseKey(ref)));
  const fetched = missing.length === 0 ? new Map<Ref, Found>() : await fetchLocks(source, missing);
  return refs.map((ref, i) => parseLock(ref, here[i] ?? fetched.get(ref) ?? null));
}

/** A lock is kept, so that it is fetched once. Nothing else that was fetched gets into the user's repository. */
async function fetchLocks(source: LockSource, refs: readonly Ref[]): Promise<Map<Ref, Found>> {
  const objects = await fetchObjects(source, refs);
  for (const ref of refs) {
    const object = objects.get(ref.oid) ?? null;
    if (object === null) continue; // the ref has moved on since it was listed
    if (object !== 'too large' && parseLock(ref, object)) writeCommit(source.git, object.bytes);
    else source.noise?.set(noiseKey(ref), true);
  }
  source.noise?.save();
  return new Map(refs.map((ref) => [ref, objects.get(ref.oid) ?? null]));
}

/** The time that git takes grows with the square of how many refs it is asked for: 4000 at once take some ten seconds. */
const AT_ONCE = 512;

async function fetchObjects(source: LockSource, refs: readonly Ref[]): Promise<Map<Oid, Found>> {
  const objects = new Map<Oid, Found>();
  const distinct = [...new Map(refs.map((ref) => [ref.oid, ref])).values()];
  for (let from = 0; from < distinct.length; from += AT_ONCE) {
    const batch = distinct.slice(from, from + AT_ONCE);
    const found = await withFetched(source, batch, (aside) => readObjects(aside, batch));
    for (const [i, { oid }] of batch.entries()) objects.set(oid, found[i]!);
  }
  return objects;
}

function noiseKey({ name, oid }: Ref): string {
  return `${name} ${oid}`;
}

function writeCommit(git: Git, bytes: Uint8Array): void {
  const { commonDir } = discoverRepository(git.dir, git.env);
  writeLooseObject(join(commonDir, 'objects'), objectFormat(commonDir), 'commit', bytes);
}

async function readObjects(git: Git, refs: readonly Ref[]): Promise<Found[]> {
  const catFile = new CatFile(git);
  try {
    return await Promise.all(refs.map((ref) => readObject(catFile, ref)));
  } finally {
    await catFile.close();
  }
}

type Found = GitObject | 'too large' | null;

/** What one of them holds, where all objects are at hand. */
export async function readLock(catFile: CatFile, ref: Ref): Promise<UncheckedLock | null> {
  return parseLock(ref, await readObject(catFile, ref));
}

async function readObject(catFile: CatFile, { oid }: Ref): Promise<Found> {
  try {
    return await catFile.contents(oid, LOCK_LIMIT);
  } catch (error) {
    if (error instanceof HandoffError && error.code === 'too_large') return 'too large';
    throw error;
  }
}

function parseLock(ref: Ref, object: Found): UncheckedLock | null {
  if (object === null || object === 'too large' || object.type !== 'commit') return null;
  return parseLockCommit(ref.name, ref.oid, object.bytes);
}
