import { createHash } from 'node:crypto';
import type { Trust } from '../../core/trust/trust.ts';
import type { GitConfig } from '../../git/config.ts';
import type { Oid } from '../../git/objects/store.ts';
import type { TrackedBranch } from '../../git/refs/fetch-forward.ts';
import type { GitAccess, Settings } from '../../repository/parts.ts';
import { protectedRefs, remoteNames, remoteOf, tipOf } from '../../repository/tracking.ts';

/** A protected branch of a remote, and the ref that keeps it here. */
export interface KeyBranch extends TrackedBranch {
  remote: string;
  /** Where the remote had it when it was last asked; null before that. */
  oid: Oid | null;
  /** The ref is for locks alone: this clone does not track the branch, as after `git clone --single-branch`. */
  isOurs: boolean;
}

/** The protected branches that say by which keys locks are signed: of the remote that each belongs to, and of the one that has the locks. */
export async function keyBranches(
  repository: GitAccess & Settings,
  trust: Trust,
  lockRemote: string,
): Promise<KeyBranch[]> {
  const config = await repository.config();
  const branches = protectedRefs(trust).flatMap((ref) =>
    remotesOf(config, ref, lockRemote).map((remote) => keptBranch(repository, config, remote, ref)),
  );
  return Promise.all(branches);
}

function remotesOf(config: GitConfig, ref: string, lockRemote: string): string[] {
  const own = remoteOf(config, shortName(ref));
  return [...new Set(remoteNames(config).includes(own) ? [own, lockRemote] : [lockRemote])];
}

async function keptBranch(repository: GitAccess, config: GitConfig, remote: string, ref: string): Promise<KeyBranch> {
  const isNamed = remoteNames(config).includes(remote);
  const tracking = `refs/remotes/${remote}/${shortName(ref)}`;
  const oid = isNamed ? await tipOf(repository, tracking) : null;
  if (oid !== null) return { ref, remote, tracking, oid, isOurs: false };
  const ours = `${KEPT}${isNamed ? remote : digest(remote)}/${shortName(ref)}`;
  return { ref, remote, tracking: ours, oid: await tipOf(repository, ours), isOurs: true };
}

/** Where nothing but a verb that asks for keys looks: what `git fetch` does not bring up to date must not look as if it did. */
const KEPT = 'refs/handoff/protected/';

function shortName(ref: string): string {
  return ref.slice('refs/heads/'.length);
}

/** An address is no part of a ref's name. */
function digest(address: string): string {
  return createHash('sha256').update(address).digest('hex').slice(0, 16);
}
