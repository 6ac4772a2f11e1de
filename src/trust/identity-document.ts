import type { IdentityDocument } from '../core/generated/types.ts';
import { type PublicKey, recordId, type Suite } from '../core/record/verify.ts';
import type { IdentityKey } from '../core/trust/key-standing.ts';
import type { Identity, Role } from '../core/trust/trust.ts';
import { keyLine } from '../journal/keys/signers.ts';

/** The first version of an identity. */
export function identityFields(
  repo: string,
  name: string,
  role: Role,
  keys: readonly PublicKey[],
  at: string,
): IdentityDocument {
  const active = keys.map((key) => ({ key: keyLine(key), state: 'active' as const }));
  return { handoff: 1, kind: 'identity', repo, version: 1, prev: null, at, name, role, keys: active };
}

/** The next version, with other keys; everything else stays. SPEC §5.5 */
export function nextVersion(
  identity: Identity,
  keys: readonly IdentityKey[],
  at: string,
  suite: Suite,
): IdentityDocument {
  const { fields, signedBytes } = identity.document;
  return {
    ...fields,
    version: fields.version + 1,
    prev: recordId(signedBytes, suite),
    at,
    keys: keys.map(({ state, cutoff, ...key }) => ({
      key: keyLine(key),
      state,
      ...(cutoff === undefined ? {} : { cutoff }),
    })),
  };
}
