import { HandoffError } from '../../core/error.ts';
import { assertIdentityName } from '../../core/names.ts';
import type { KeyState } from '../../core/trust/key-standing.ts';
import { formatPublicKey } from '../../core/trust/sshsig.ts';
import type { Trust } from '../../core/trust/trust.ts';
import { keyDirectory, keyPath, makeKey, readKey } from '../../journal/keys/keys.ts';
import { keyRing } from '../../journal/keys/signers.ts';
import type { Repository } from '../../repository/repository.ts';
import { requireTrust } from '../../repository/trusted-now.ts';

export interface KeygenResult {
  identity: string;
  fingerprint: string;
  public_key: string;
  path: string;
  /** A maintainer has signed in this name: another key is rotated in, not added. */
  signed_in: boolean;
  /** What became of this very key, where it was signed in: null, and its line is still to be sent. */
  state: KeyState | null;
}

/** The key on this machine, made where there is none; nothing is signed in. Outside a repository it serves every repository. */
export async function identityKeygen(
  place: { repository: Repository | null; env: NodeJS.ProcessEnv },
  { name }: { name: string },
): Promise<KeygenResult> {
  assertIdentityName(name);
  const trust = place.repository && (await trustIfAny(place.repository));
  const repoId = trust?.repoId ?? null;
  const ring = place.repository ? keyRing(place.repository, repoId) : { directory: keyDirectory(place.env), repoId };
  const path = keyPath(ring, name);
  const { bytes, fingerprint } = (await readKey(path))?.publicKey ?? (await makeKey(path));
  const identity = trust?.identities.get(name);
  const state = identity?.keys.find((key) => key.fingerprint === fingerprint)?.state ?? null;
  const public_key = formatPublicKey(bytes, name);
  return { identity: name, fingerprint, public_key, path, signed_in: identity !== undefined, state };
}

async function trustIfAny(repository: Repository): Promise<Trust | null> {
  try {
    return await requireTrust(repository);
  } catch (error) {
    if (error instanceof HandoffError && error.code === 'not_initialised') return null;
    throw error;
  }
}
