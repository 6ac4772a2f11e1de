import type { PublicKey } from '../../core/record/verify.ts';
import { formatPublicKey } from '../../core/trust/sshsig.ts';
import type { KeyState, Role } from '../../core/trust/trust.ts';
import type { Repository } from '../../repository/repository.ts';
import { requireTrust } from '../../repository/trusted-now.ts';

export interface IdentityListing {
  identities: { identity: string; role: Role; keys: { fingerprint: string; state: KeyState }[] }[];
}

export async function identityList(repository: Repository): Promise<IdentityListing> {
  const { identities } = await requireTrust(repository);
  return {
    identities: [...identities.values()].map(({ name, role, keys }) => ({
      identity: name,
      role,
      keys: keys.map(({ fingerprint, state }) => ({ fingerprint, state })),
    })),
  };
}

/** OpenSSH allowed_signers: the same identities verify records and signed commits. Revoked keys are left out. SPEC §5.10 */
export async function identityExport(repository: Repository): Promise<{ allowed_signers: string }> {
  const { identities } = await requireTrust(repository);
  const lines = [...identities.values()].flatMap(({ name, keys }) =>
    keys.filter(({ state }) => state !== 'revoked').map((key) => `${allowedSigner(name, key)}\n`),
  );
  return { allowed_signers: lines.join('') };
}

export function allowedSigner(name: string, key: PublicKey): string {
  return `${name} namespaces="git,git-handoff/v1/*" ${formatPublicKey(key.bytes)}`;
}
