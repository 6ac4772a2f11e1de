import { HandoffError } from '../error.ts';
import type { Suite } from '../record/verify.ts';
import { isRevoked } from './key-standing.ts';
import { assertSignedByMaintainer, type Identity, type Trust } from './trust.ts';

/**
 * Whom this branch and the protected one trust together, for what other branches say. A branch that is older than the protected one
 * does not know who was signed in since, nor whose key was revoked; a newer one knows identities that have not arrived there. What
 * the protected branch distrusts counts for nothing, whatever a branch says.
 */
export async function joinTrust(here: Trust, trunk: Trust, suite: Suite): Promise<Trust> {
  const identities = new Map(here.identities);
  const distrusted = new Map(here.distrusted);
  for (const [name, identity] of trunk.identities) {
    const own = identities.get(name);
    identities.set(name, own && isNewer(own, identity) ? own : identity);
    distrusted.delete(name);
  }
  for (const [name, identity] of trunk.distrusted) {
    identities.delete(name);
    distrusted.set(name, identity);
  }
  for (const identity of [...identities.values()]) {
    if (trunk.identities.has(identity.name) || !(await isSignedInByRevoked(identity, identities, suite))) continue;
    identities.delete(identity.name);
    distrusted.set(identity.name, identity);
  }
  return { ...here, identities, distrusted };
}

/** A newer version that forgets a revocation is no newer version. */
function isNewer(own: Identity, theirs: Identity): boolean {
  if (own.version <= theirs.version) return false;
  const revoked = new Set(own.keys.filter(isRevoked).map(({ fingerprint }) => fingerprint));
  return theirs.keys.filter(isRevoked).every(({ fingerprint }) => revoked.has(fingerprint));
}

/** An identity that only this branch has may hang on a maintainer whose key the protected branch has revoked since. */
async function isSignedInByRevoked(
  { role, document }: Identity,
  identities: ReadonlyMap<string, Identity>,
  suite: Suite,
): Promise<boolean> {
  if (role === 'maintainer') return false; // by principals of the policy, which has no revoked ones
  try {
    await assertSignedByMaintainer(document, identities, suite);
    return false;
  } catch (error) {
    if (error instanceof HandoffError && error.code === 'key_revoked') return true;
    throw error;
  }
}
