import { listRemote, pushNewRef, type Remote, remoteFailure } from '../git/remote.ts';
import type { Oid } from '../git/store.ts';
import type { Holder } from './lock-commit.ts';
import { foreignRef, readLocks, writeLock } from './lock-objects.ts';
import { lockPrefix, lockRef, parseLockRef, releaseRef } from './lock-ref.ts';

export interface RemoteHold {
  number: number;
  holder: Holder;
  /** Who ended it and why; null while it holds. */
  released: Holder | null;
}

interface Locks {
  highest: number;
  /** Object ids by full name. */
  refs: ReadonlyMap<string, Oid>;
}

/** The highest number, which is the hold; null when the name was never held. */
export async function readRemoteHold(remote: Remote, name: string): Promise<RemoteHold | null> {
  const { highest, refs } = await listLocks(remote, name);
  if (highest === 0) return null;
  const wanted = [lockRef(name, highest), releaseRef(name, highest)].filter((ref) => refs.has(ref));
  const found = wanted.map((ref) => ({ name: ref, oid: refs.get(ref)! }));
  const [holder, released] = await readLocks(remote, found);
  return { number: highest, holder: holder!, released: released ?? null };
}

/**
 * `number` is one above the one that `readRemoteHold` returned, or 1: with a gap, two could take different numbers at
 * once, and the higher would supersede a hold that it has not seen.
 *
 * After an `io` error the hold may be there all the same (the answer was lost); `readRemoteHold` tells.
 */
export async function takeRemoteHold(
  remote: Remote,
  name: string,
  number: number,
  holder: Holder,
): Promise<'taken' | 'lost'> {
  const ref = lockRef(name, number);
  const oid = await writeLock(remote.git, ref, holder);
  const { flags, summary } = await pushNewRef(remote, oid, ref);
  const { highest, refs } = await listUntil(remote, name, ref, summary);
  // A ref that was updated (or equal) existed before. A refusal can be a lost answer, so what the remote has decides.
  const isNew = /^[*!]+$/.test(flags) && refs.get(ref) === oid;
  return isNew && highest === number && !refs.has(releaseRef(name, number)) ? 'taken' : 'lost';
}

/** Ends a hold for good; again, it does nothing. A number that the remote never had holds nothing there. */
export async function releaseRemoteHold(remote: Remote, name: string, number: number, holder: Holder): Promise<void> {
  const ref = releaseRef(name, number);
  const { refs } = await listLocks(remote, name);
  // Released before it is taken, the number would be free under the hands of whoever takes it.
  if (refs.has(ref) || !refs.has(lockRef(name, number))) return;
  const { flags, summary } = await pushNewRef(remote, await writeLock(remote.git, ref, holder), ref);
  if (!/^\*+$/.test(flags)) await listUntil(remote, name, ref, summary);
}

async function listLocks(remote: Remote, name: string): Promise<Locks> {
  const prefix = lockPrefix(name);
  const refs = await listRemote(remote, prefix);
  const numbers = refs.map((ref) => {
    const lock = parseLockRef(prefix, ref.name);
    if (!lock) throw foreignRef(remote, ref.name);
    return lock.released ? 0 : lock.number;
  });
  const highest = numbers.reduce((a, b) => Math.max(a, b), 0);
  return { highest, refs: new Map(refs.map((ref) => [ref.name, ref.oid])) };
}

const ATTEMPTS = 4;

/** Who lost the race can look before the winner's ref is in place, and a replica may lag: it looks again for a second. */
async function listUntil(remote: Remote, name: string, ref: string, summary: string): Promise<Locks> {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const locks = await listLocks(remote, name);
    if (locks.refs.has(ref)) return locks;
    if (attempt < ATTEMPTS) await new Promise((resolve) => setTimeout(resolve, attempt * 150));
  }
  throw remoteFailure(remote, `it does not have ${ref} after the push, which it answered with ${summary}`);
}
