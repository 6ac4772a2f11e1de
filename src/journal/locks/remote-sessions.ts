import type { Ref } from '../../git/objects/store.ts';
import { listRemote } from '../../git/refs/remote.ts';
import { LOCKS, type LockRef, parseAnyLockRef } from './lock-ref.ts';
import { type LockRemote, readHolders, readRemoteHold } from './remote-locks.ts';

/** A session that this clone knows only by its locks on the remote. */
export interface RemoteSession {
  session_id: string;
  identity: string;
  /** Since when it is known to hold something. */
  at: string;
}

/** Sessions whose id begins so: those that took their own lock, else those that got no further than their identity's. */
export async function findRemoteSessions(at: LockRemote, prefix: string): Promise<RemoteSession[]> {
  if (!/^[0-9a-f-]+$/.test(prefix)) return [];
  const own = await ownLocks(at, prefix);
  return own.length > 0 ? own : identityHolders(at, prefix);
}

/** Number 1 is that of the session itself: nobody else knows its id before. */
async function ownLocks(at: LockRemote, prefix: string): Promise<RemoteSession[]> {
  const refs = await listRemote(at, `${LOCKS}session/${prefix}`);
  const first = refs.map(parseNamed).filter((lock) => lock !== null && lock.number === 1 && !lock.released);
  const holders = await readHolders(
    at,
    first.map((lock) => lock!),
  );
  return holders
    .filter((holder, i) => holder !== null && first[i]!.lock === `session/${holder.session_id}`)
    .map((holder) => ({ session_id: holder!.session_id, identity: holder!.identity, at: holder!.at }));
}

async function identityHolders(at: LockRemote, prefix: string): Promise<RemoteSession[]> {
  const refs = await listRemote(at, `${LOCKS}identity/`);
  const names = new Set(refs.map((ref) => parseNamed(ref)?.lock).filter((name) => name !== undefined));
  const withKeys: string[] = [];
  for (const name of names) if ((await at.keysOf(name.slice('identity/'.length))).length > 0) withKeys.push(name);
  const remoteHolds = await Promise.all(withKeys.map((name) => readRemoteHold(at, name)));
  return remoteHolds
    .filter((hold) => hold !== null && !hold.released && hold.holder.session_id.startsWith(prefix))
    .map((hold) => ({ session_id: hold!.holder.session_id, identity: hold!.holder.identity, at: hold!.holder.at }));
}

function parseNamed(ref: Ref): (Ref & LockRef & { lock: string }) | null {
  const parsed = parseAnyLockRef(ref.name);
  return parsed && { ...ref, number: parsed.number, released: parsed.released, lock: parsed.name };
}
