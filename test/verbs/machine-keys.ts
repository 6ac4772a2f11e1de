import type { KeyObject } from 'node:crypto';
import { toSigner } from '../../src/journal/keys/keys.ts';
import { formatLockCommit, lockBytes } from '../../src/journal/locks/lock-commit.ts';
import { type Place, privateKey } from '../handoff.ts';
import { HOLDER } from '../journal/forged-holders.ts';
import { git, gitInput } from '../temporary.ts';
import { done, type Machine, machines } from './machines.ts';

/** Two machines, one of which changes who is trusted, or by which key. */
export interface Pair {
  place: Place;
  left: Machine;
  right: Machine;
  /** That of donna from before. */
  key: KeyObject;
}

/** Right is on a branch that left the protected one before `change`. */
export function pair(place: Place, change: (left: Machine) => void, isFetched = true): Pair {
  const key = privateKey(place, 'donna');
  const [left, right] = machines(place, 'left', 'right') as [Machine, Machine];
  git(right.dir, 'switch', '--quiet', '-c', 'older');
  change(left);
  git(left.dir, 'push', '--quiet', 'origin', 'HEAD:main');
  if (isFetched) git(right.dir, 'fetch', '--quiet');
  return { place, left, right, key };
}

export function rotate(machine: Machine): void {
  done(machine, 'identity', 'rotate', 'donna', '--as', 'maintainer');
}

export function revokeOld(machine: Machine): void {
  const { identities } = done(machine, 'identity', 'list');
  const { keys } = identities.find((each: { identity: string }) => each.identity === 'donna');
  const { fingerprint } = keys.find((each: { state: string }) => each.state === 'active');
  rotate(machine);
  done(machine, 'identity', 'revoke', 'donna', '--key', fingerprint, '--as', 'maintainer');
}

/** A lock in the name of donna, signed with a key that may be hers. */
export async function lockBy(
  { root }: Place,
  { bare }: Machine,
  key: KeyObject,
  name: string,
  number = 1,
): Promise<void> {
  const ref = `refs/handoff/locks/${name}/0000000${number}`;
  const lock = { repo: root, ref, nonce: 'n', holder: { ...HOLDER, identity: 'donna' } };
  const signature = await toSigner(key).sign({ kind: 'lock', signedBytes: lockBytes(lock) });
  const bytes = formatLockCommit('sha1', lock, signature);
  git(bare, 'update-ref', ref, gitInput(bare, bytes, 'hash-object', '-t', 'commit', '-w', '--stdin'));
}
