import { openTree } from '../audit/source/tree-source.ts';
import { loadTrust } from '../audit/trust/trust.ts';
import { groupBy } from '../core/group-by.ts';
import { standingKeys } from '../core/trust/key-standing.ts';
import type { Trust } from '../core/trust/trust.ts';
import { nodeSuite } from '../crypto.ts';
import { isNullOid } from '../git/objects/asked-name.ts';
import { CatFile } from '../git/objects/cat-file.ts';
import type { Oid, Ref } from '../git/objects/store.ts';
import type { Holder } from '../journal/locks/holder.ts';
import { readLock } from '../journal/locks/lock-objects.ts';
import { LOCKS, lockRef, parseAnyLockRef, REACH } from '../journal/locks/lock-ref.ts';
import { isLock } from '../journal/locks/lock-signature.ts';
import type { GitAccess } from '../repository/parts.ts';
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

/** Judges the locks of one push. There may be thousands, so what they share is read once. */
export interface LockJudge {
  judge(update: Update): Promise<Judgement>;
  close(): Promise<void>;
}

/** Judges pushed locks by whom the trunk's commit trusts. Nothing is read before the first lock is judged. */
export function openLockJudge({ store, git }: GitAccess, trunk: Oid, refs: Refs): LockJudge {
  const locks = new CatFile(git);
  let loading: Promise<Trust | null> | undefined;
  let taken: Map<string, Taken[]> | undefined;
  return {
    async judge(update) {
      loading ??= openTree(store, trunk).then((tree) => loadTrust(tree, nodeSuite, () => {}));
      const trust = await loading;
      if (!trust) return refused(update.ref, 'nobody can be trusted here: the policy does not hold');
      taken ??= takenIn(refs);
      const holderAt = (name: string, oid: Oid) => readHolder(locks, trust, { name, oid });
      return judgeLock({ refs, taken, holderAt }, update);
    },
    close: () => locks.close(),
  };
}

/** What is there, and who holds it. */
interface Ground {
  refs: Refs;
  taken: ReadonlyMap<string, readonly Taken[]>;
  /** Null where it is no lock. */
  holderAt(name: string, oid: Oid): Promise<Holder | null>;
}

/**
 * SPEC §8.7: a server takes only what readers would count, by the word of whoever is trusted on the trunk, and keeps what
 * counts: nobody can delete it, or put something else in its place. What is noise may go.
 */
async function judgeLock(ground: Ground, { old, now, ref }: Update): Promise<Judgement> {
  const standing = old === null ? null : await ground.holderAt(ref, old);
  if (isNullOid(now))
    return standing ? refused(ref, 'it is a lock, and locks are never deleted') : passed(ref, 'it is no lock');
  if (standing) return refused(ref, `it is a lock of ${standing.identity}, and stays what it is`);
  const holder = await ground.holderAt(ref, now);
  if (!holder) return refused(ref, NO_LOCK);
  const reason = await outOfPlace(ground, ref, holder);
  return reason ? refused(ref, reason) : passed(ref, `it is a lock of ${holder.identity}`);
}

const NO_LOCK =
  'it is no lock: a lock is made by git handoff, and signed by its holder, who must be signed in on the protected branch';

async function readHolder(locks: CatFile, trust: Trust, ref: Ref): Promise<Holder | null> {
  const lock = await readLock(locks, ref);
  const readers = { repo: trust.repoId, keysOf: async (name: string) => standingKeys(trust.identities.get(name)) };
  return lock && (await isLock(lock, readers)) ? lock.holder : null;
}

/** Why a lock that holds by itself cannot stand there; null when it can. */
async function outOfPlace(ground: Ground, ref: string, holder: Holder): Promise<string | null> {
  const { name, number, released } = parseAnyLockRef(ref)!;
  if (released) {
    const ended = ground.refs.get(lockRef(name, number));
    const whose = ended ? await ground.holderAt(lockRef(name, number), ended) : null;
    return whose?.identity === holder.identity ? null : 'it ends a lock that is not its own';
  }
  const highest = await highestBelow(ground, name, number);
  return number - highest > REACH ? `its number is far above ${highest}, the last one that is taken` : null;
}

async function highestBelow({ taken, holderAt }: Ground, name: string, limit: number): Promise<number> {
  for (const { number, ref, oid } of taken.get(name) ?? [])
    if (number < limit && (await holderAt(ref, oid))) return number;
  return 0;
}

/** A number of a lock that some ref has: a lock, or noise. */
interface Taken {
  number: number;
  ref: string;
  oid: Oid;
}

/** By the name of the lock, the highest first. */
function takenIn(refs: Refs): Map<string, Taken[]> {
  const numbers = [...refs].flatMap(([ref, oid]) => {
    const lock = isLockRef(ref) ? parseAnyLockRef(ref) : null;
    return lock && !lock.released ? [{ name: lock.name, number: lock.number, ref, oid }] : [];
  });
  return groupBy(
    numbers.sort((a, b) => b.number - a.number),
    ({ name }) => name,
  );
}
