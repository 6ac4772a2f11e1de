import { openTree } from '../audit/source/tree-source.ts';
import { loadTrust } from '../audit/trust/trust.ts';
import { standingKeys } from '../core/trust/key-standing.ts';
import type { Trust } from '../core/trust/trust.ts';
import { nodeSuite } from '../crypto.ts';
import { CatFile } from '../git/objects/cat-file.ts';
import { isNullOid, type Oid, type Ref } from '../git/objects/store.ts';
import type { Holder } from '../journal/locks/holder.ts';
import { readLock } from '../journal/locks/lock-objects.ts';
import { LOCKS, lockPrefix, lockRef, parseAnyLockRef, parseLockRef, REACH } from '../journal/locks/lock-ref.ts';
import { isLock } from '../journal/locks/lock-signature.ts';
import type { Repository } from '../repository/repository.ts';
import { type Judgement, passed, refused } from './judgement.ts';
import type { Refs } from './server-refs.ts';

interface Update {
  old: Oid | null;
  now: Oid;
  ref: string;
}

/** Whether locks are all that may be there: the folder itself, and what is in it. */
export function isLockRef(ref: string): boolean {
  return `${ref}/`.startsWith(LOCKS);
}

/**
 * SPEC §8.7: a server takes only what readers would count, by the word of whoever is trusted on the trunk, and keeps what
 * counts: nobody can delete it, or put something else in its place. What is noise may go.
 */
export async function judgeLock(
  repository: Repository,
  trunk: Oid,
  refs: Refs,
  { old, now, ref }: Update,
): Promise<Judgement> {
  const trust = await trustAt(repository, trunk);
  if (!trust) return refused(ref, 'nobody can be trusted here: the policy does not hold');
  const locks = new CatFile(repository.git);
  try {
    const holderAt = (name: string, oid: Oid) => readHolder(locks, trust, { name, oid });
    const standing = old === null ? null : await holderAt(ref, old);
    if (isNullOid(now))
      return standing ? refused(ref, 'it is a lock, and locks are never deleted') : passed(ref, 'it is no lock');
    if (standing) return refused(ref, `it is a lock of ${standing.identity}, and stays what it is`);
    const holder = await holderAt(ref, now);
    if (!holder) return refused(ref, NO_LOCK);
    const reason = await outOfPlace(refs, ref, holder, holderAt);
    return reason ? refused(ref, reason) : passed(ref, `it is a lock of ${holder.identity}`);
  } finally {
    await locks.close();
  }
}

/** One push may bring many locks: who is trusted is read once. */
const TRUSTS = new WeakMap<Repository, Promise<Trust | null>>();

function trustAt(repository: Repository, trunk: Oid): Promise<Trust | null> {
  const known = TRUSTS.get(repository);
  const trust = known ?? openTree(repository.store, trunk).then((tree) => loadTrust(tree, nodeSuite, () => {}));
  if (!known) TRUSTS.set(repository, trust);
  return trust;
}

const NO_LOCK =
  'it is no lock: a lock is made by git handoff, and signed by its holder, who must be signed in on the protected branch';

async function readHolder(locks: CatFile, trust: Trust, ref: Ref): Promise<Holder | null> {
  const lock = await readLock(locks, ref);
  const readers = { repo: trust.repoId, keysOf: async (name: string) => standingKeys(trust.identities.get(name)) };
  return lock && (await isLock(lock, readers)) ? lock.holder : null;
}

/** Why a lock that holds by itself cannot stand there; null when it can. */
async function outOfPlace(
  refs: Refs,
  ref: string,
  holder: Holder,
  holderAt: (name: string, oid: Oid) => Promise<Holder | null>,
): Promise<string | null> {
  const { name, number, released } = parseAnyLockRef(ref)!;
  if (released) {
    const ended = refs.get(lockRef(name, number));
    const whose = ended ? await holderAt(lockRef(name, number), ended) : null;
    return whose?.identity === holder.identity ? null : 'it ends a lock that is not its own';
  }
  const highest = await highestBelow(refs, lockPrefix(name), number, holderAt);
  return number - highest > REACH ? `its number is far above ${highest}, the last one that is taken` : null;
}

async function highestBelow(
  refs: Refs,
  prefix: string,
  limit: number,
  holderAt: (name: string, oid: Oid) => Promise<Holder | null>,
): Promise<number> {
  const taken = [...refs.keys()]
    .filter((ref) => ref.startsWith(prefix))
    .map((ref) => ({ ref, lock: parseLockRef(prefix, ref) }))
    .filter(({ lock }) => lock && !lock.released && lock.number < limit)
    .sort((a, b) => b.lock!.number - a.lock!.number);
  for (const { ref, lock } of taken) if (await holderAt(ref, refs.get(ref)!)) return lock!.number;
  return 0;
}
