import { openCache } from '../../audit/tree/cache.ts';
import { isSameSession, type SessionKey } from '../../core/task/state.ts';
import type { Trust } from '../../core/trust/trust.ts';
import { cachePath, type Repository } from '../../repository/repository.ts';
import { requireSigner } from '../keys/identity-choice.ts';
import { stateDirs } from '../sessions/registry.ts';
import type { Holder } from './holder.ts';
import { type Hold, type LockName, readHold, releaseHold, takeHold, wasHeldBy } from './local-locks.ts';
import type { LockRemote, RemoteHold } from './remote-locks.ts';

/** A lock as it stands, on this machine and on the remote: each counts by itself. */
export interface LockState {
  name: LockName;
  holder: Holder;
  released: boolean;
  local: Hold | null;
  remote: RemoteHold | null;
  /** The holder took it, by this number or an earlier one, on this machine. */
  isFromHere: boolean;
}

/** Locks as verbs see them: on this machine, and on the remote where one is configured. */
export interface Locks {
  /** Null where locks are only on this machine. */
  remote: LockRemote | null;
  read(name: LockName): Promise<LockState | null>;
  /**
   * Takes the number after `prior`, which was read before. False when somebody else was faster. Whoever holds `prior` may go
   * on by several `steps`: all others meet at the number after it.
   */
  take(name: LockName, prior: LockState | null, holder: Holder, steps?: number): Promise<boolean>;
  /** Takes the half on the remote that a crash, or a verb with `--local`, left out. False when somebody else has it. */
  complete(held: LockState): Promise<boolean>;
  /** Ends the halves that are its own; what has ended already, or is somebody else's by now, stays as it is. */
  release(held: LockState, by: Holder): Promise<void>;
}

export interface LockOptions {
  /** Go on without the remote that is configured. */
  local?: boolean;
}

export async function openLocks(repository: Repository, trust: Trust, { local }: LockOptions): Promise<Locks> {
  const { locks } = stateDirs(repository.stateDir);
  const name = (await repository.config()).get('handoff.remote');
  if (name !== undefined && local)
    repository.warn(`Going on without ${name}: what is locked there is not looked at, and nobody there sees this.`);
  return joinLocks(locks, name === undefined || local ? null : await lockRemote(repository, trust, name));
}

/** Loaded where there is a remote: most have none. */
const there = () => import('./remote-locks.ts');

async function lockRemote(repository: Repository, trust: Trust, name: string): Promise<LockRemote> {
  const { lockKeys } = await import('./lock-keys.ts');
  return {
    git: repository.git,
    name,
    repo: trust.repoId,
    ...lockKeys(repository, trust, name),
    signerOf: (identity) => requireSigner(repository, trust, identity),
    ...(repository.build === null ? {} : { noise: openCache<true>(cachePath(repository, 'noise'), MOST_NOISE) }),
  };
}

const MOST_NOISE = 10_000;

function joinLocks(locks: string, remote: LockRemote | null): Locks {
  const takeRemote = async (name: LockName, prior: LockState | null, holder: Holder, steps = 1): Promise<boolean> =>
    remote === null ||
    (await (await there()).takeRemoteHold(remote, name, prior?.remote ?? null, holder, steps)) === 'taken';
  return {
    remote,
    async read(name) {
      const held = combine(readHold(locks, name), remote && (await (await there()).readRemoteHold(remote, name)));
      return held && { name, ...held, isFromHere: wasHeldBy(locks, name, held.holder) };
    },
    async take(name, prior, holder, steps = 1) {
      const before = prior?.local?.number ?? 0;
      // the number that counts is the one on the remote, if there is one
      const number = before + (remote ? 1 : steps);
      if (!takeInTurn(locks, name, before, number, holder)) return false;
      // both halves or none: what cannot be taken there is not kept here, whatever the reason
      const taken = await takeRemote(name, prior, holder, steps).catch((error: Error) => error);
      if (taken === true) return true;
      releaseHold(locks, name, number, holder);
      if (taken === false) return false;
      throw taken;
    },
    async complete(held) {
      return !lacksRemote(held) || takeRemote(held.name, held, held.holder);
    },
    async release({ name, local, remote: half }, by) {
      if (local && isSameSession(local.holder, by)) releaseHold(locks, name, local.number, by);
      if (remote && half && isSameSession(half.holder, by))
        await (await there()).releaseRemoteHold(remote, name, half, by);
    },
  };
}

/** On this machine a number is a file: to take each of them costs little, and nobody else can have one in between. */
function takeInTurn(locks: string, name: LockName, before: number, last: number, holder: Holder): boolean {
  for (let number = before + 1; number <= last; number++) if (!takeHold(locks, name, number, holder)) return false;
  return true;
}

/** It is held on this machine, and there is nobody whom the remote would show in its place. */
function lacksRemote({ holder, released, local, remote }: LockState): boolean {
  if (released || !local || !isSameSession(local.holder, holder)) return false;
  return remote === null || !isSameSession(remote.holder, holder);
}

/** Another machine's hold counts, unless it has ended; the same session's hold has ended when either has. */
function combine(local: Hold | null, remote: RemoteHold | null): Omit<LockState, 'name' | 'isFromHere'> | null {
  const isSame = local && remote && isSameSession(local.holder, remote.holder);
  if (isSame) return { holder: local.holder, released: local.released || !!remote.released, local, remote };
  const chosen = remote && (!local || !remote.released) ? remote : local;
  return chosen && { holder: chosen.holder, released: !!chosen.released, local, remote };
}

/** By its identity too: anybody who may hold a lock can write somebody else's session into it. */
export function isHeldBy(held: LockState | null, session: SessionKey): held is LockState {
  return held !== null && !held.released && isSameSession(held.holder, session);
}

/** Whether a session has a half of it left to release: whoever was cut off while releasing has ended only the other. */
export function hasHalf({ local, remote }: LockState, session: SessionKey): boolean {
  const isOpen = (half: Hold | RemoteHold | null) => !!half && !half.released && isSameSession(half.holder, session);
  return isOpen(local) || isOpen(remote);
}

/** Held, and not by a session of this clone: two clones on one machine are as good as two machines. */
export function isElsewhere({ released, isFromHere }: LockState): boolean {
  return !released && !isFromHere;
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
