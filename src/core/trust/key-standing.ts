import type { IdentityDocument } from '../generated/types.ts';
import type { PublicKey } from '../record/verify.ts';

// SPEC §5.5: what the signature of a key is worth. Nothing else compares the states of keys.

export type KeyState = IdentityDocument['keys'][number]['state'];

export interface IdentityKey extends PublicKey {
  state: KeyState;
  /** Only for a revoked key: how many seals the ledger had then. What was sealed by then stays valid. */
  cutoff?: number;
}

type Key = Pick<IdentityKey, 'state'>;

interface KeyHolder {
  role: string;
  keys: readonly IdentityKey[];
}

/** It may sign something new. */
export function isActive({ state }: Key): boolean {
  return state === 'active';
}

/** It signs nothing new, and what it signed stands. */
export function isRetired({ state }: Key): boolean {
  return state === 'retired';
}

/** What it signed counts for nothing, but for what the ledger had sealed by then. */
export function isRevoked({ state }: Key): boolean {
  return state === 'revoked';
}

export function stands(key: Key): boolean {
  return !isRevoked(key);
}

/** The keys of an identity whose signatures count; none for somebody who is not signed in. */
export function standingKeys(identity: KeyHolder | undefined): IdentityKey[] {
  return identity?.keys.filter(stands) ?? [];
}

/** Whether a record by this key counts. `vouched`: for revoked keys, up to which record of the session the ledger vouches. */
export function standsAt(key: IdentityKey, seq: number, vouched: ReadonlyMap<string, number>): boolean {
  return stands(key) || seq <= (vouched.get(key.fingerprint) ?? 0);
}

/** The keys of all maintainers that are as wanted. */
export function maintainerKeys(
  { identities }: { identities: ReadonlyMap<string, KeyHolder> },
  isWanted: (key: Key) => boolean,
): IdentityKey[] {
  const maintainers = [...identities.values()].filter(({ role }) => role === 'maintainer');
  return maintainers.flatMap(({ keys }) => keys.filter(isWanted));
}

/** From the best to the worst. */
const ORDER: readonly KeyState[] = ['active', 'retired', 'revoked'];

/** SPEC §10.3.2: a key never gets better. */
export function isBetter(key: Key, before: Key): boolean {
  return ORDER.indexOf(key.state) < ORDER.indexOf(before.state);
}
