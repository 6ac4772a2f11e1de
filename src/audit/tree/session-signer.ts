import { HandoffError } from '../../core/error.ts';
import type { RecordKind } from '../../core/record/kinds.ts';
import { quoteWord } from '../../core/text/quote.ts';
import { type IdentityKey, standsAt } from '../../core/trust/key-standing.ts';
import { type Identity, keyRevoked, type Trust } from '../../core/trust/trust.ts';

/** Whose session it is, and how far their keys count. */
export interface SessionSigner {
  /** Undefined when nobody signed such an identity in. */
  identity: Identity | undefined;
  /** Whether only a key that was revoked has signed it in. */
  isDistrusted: boolean;
  /** By revoked key, up to which record the ledger vouches for it. */
  vouched: ReadonlyMap<string, number>;
}

/** Whose keys the records of a folder are checked with. One whose own document is distrusted still tells forged from distrusted. */
export function signerOf(owner: string, { identities, distrusted }: Trust): Identity | undefined {
  return identities.get(owner) ?? distrusted.get(owner);
}

/** SPEC §6.1: whose document is the first of its kind was never a maintainer. */
export function assertMayWrite(kind: RecordKind, { name, role, version }: Identity): void {
  if (kind === 'waiver' && role !== 'maintainer' && version === 1) throw notEntitled(name, kind);
}

/**
 * SPEC §5.5: why a record is distrusted: it may have been right when it came, but its signer may not sign any more. It counts for
 * nothing and keeps its place in the chain, since later records name it as `prev`. Null for a record that counts.
 */
export function whyDistrusted(
  { kind, seq, key }: { kind: RecordKind; seq: number; key: IdentityKey },
  { identity, isDistrusted, vouched }: SessionSigner,
): HandoffError | null {
  const { name, role } = identity!;
  if (isDistrusted) return signedInByRevoked(name);
  if (!standsAt(key, seq, vouched)) return keyRevoked(key.fingerprint);
  return kind === 'waiver' && role !== 'maintainer' ? notEntitled(name, kind) : null;
}

export function unknownSigner(name: string): HandoffError {
  return new HandoffError('signer_unknown', `No maintainer has signed in an identity called ${name}.`, {
    hint: `git handoff identity add ${quoteWord(name)} --key FILE.pub`,
    data: { expected: `.handoff/identities/${name}/identity.yaml signed by a maintainer`, found: 'none that holds' },
  });
}

function signedInByRevoked(name: string): HandoffError {
  return new HandoffError('key_revoked', `Only a key that was revoked has signed ${name} in.`, {
    hint: `If ${name} is who it should be, a maintainer signs it anew: git handoff identity resign ${quoteWord(name)}`,
    data: { expected: 'an identity signed in by a key that is not revoked', found: name },
  });
}

function notEntitled(name: string, kind: string): HandoffError {
  return new HandoffError('signer_not_entitled', `A ${kind} needs a maintainer; ${name} is none.`, {
    hint: 'Ask a maintainer to write it.',
    data: { expected: 'role maintainer', found: name },
  });
}
