import type { Remote } from '../git/remote.ts';
import type { Holder } from '../journal/lock-commit.ts';
import { type Hold, type LockName, readHold, releaseHold, takeHold } from '../journal/locks.ts';
import { stateDirs } from '../journal/registry.ts';
import { type RemoteHold, readRemoteHold, releaseRemoteHold, takeRemoteHold } from '../journal/remote-locks.ts';
import type { Repository } from './repository.ts';

/** A lock as it stands, on this machine and on the remote: each counts by itself. */
export interface Held {
  holder: Holder;
  released: boolean;
  local: Hold | null;
  remote: RemoteHold | null;
}

/** Locks as verbs see them: on this machine, and on the remote where one is configured. */
export interface Holds {
  read(name: LockName): Promise<Held | null>;
  /** Takes the number after `prior`, which was read before. False when somebody else was faster. */
  take(name: LockName, prior: Held | null, holder: Holder): Promise<boolean>;
  release(name: LockName, held: Held, by: Holder): Promise<void>;
}

export interface HoldOptions {
  /** Go on without the remote that is configured. */
  local?: boolean;
}

export async function openHolds(repository: Repository, { local }: HoldOptions): Promise<Holds> {
  const { locks } = stateDirs(repository.stateDir);
  const name = (await repository.config()).get('handoff.remote');
  if (name !== undefined && local)
    repository.warn(`Going on without ${name}: what is locked there is not looked at, and nobody there sees this.`);
  return createHolds(locks, name === undefined || local ? null : { git: repository.git, name });
}

function createHolds(locks: string, remote: Remote | null): Holds {
  return {
    async read(name) {
      return combine(readHold(locks, name), remote && (await readRemoteHold(remote, name)));
    },
    async take(name, prior, holder) {
      const number = (prior?.local?.number ?? 0) + 1;
      if (!takeHold(locks, name, number, holder)) return false;
      if (!remote) return true;
      const taken = await takeRemote(remote, name, (prior?.remote?.number ?? 0) + 1, holder);
      if (taken === true) return true;
      releaseHold(locks, name, number, holder);
      if (taken === false) return false;
      throw taken;
    },
    async release(name, held, by) {
      if (held.local) releaseHold(locks, name, held.local.number, by);
      if (remote && held.remote) await releaseRemoteHold(remote, name, held.remote.number, by);
    },
  };
}

async function takeRemote(remote: Remote, name: LockName, number: number, holder: Holder): Promise<boolean | Error> {
  try {
    return (await takeRemoteHold(remote, name, number, holder)) === 'taken';
  } catch (error) {
    return error as Error;
  }
}

/** Another machine's hold counts, unless it has ended; the same session's hold has ended when either has. */
function combine(local: Hold | null, remote: RemoteHold | null): Held | null {
  const isSame = local && remote && local.holder.session_id === remote.holder.session_id;
  if (isSame) return { holder: local.holder, released: local.released || !!remote.released, local, remote };
  const chosen = remote && (!local || !remote.released) ? remote : local;
  return chosen && { holder: chosen.holder, released: !!chosen.released, local, remote };
}

/** Held, and not by a session of this clone: two clones on one machine are as good as two machines. */
export function isElsewhere({ holder, released, local }: Held): boolean {
  return !released && local?.holder.session_id !== holder.session_id;
}

export function holderOf(
  host: string,
  session: { session_id: string; identity: string },
  at: string,
  reason?: string,
): Holder {
  const { session_id, identity } = session;
  return { session_id, identity, at, host, ...(reason === undefined ? {} : { reason }) };
}
