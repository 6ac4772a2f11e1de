import { HandoffError } from '../core/error.ts';
import type { Trust } from '../core/trust.ts';
import type { Signer } from '../journal/keys.ts';
import type { Repository } from './repository.ts';
import { activeSigner } from './signing.ts';

/** Who acts when nobody is named: it may have any number of sessions. */
export const BOT = 'bot';

/** Flag, environment, configuration: null when none of them names anybody. */
export async function namedIdentity(repository: Repository, as: string | undefined): Promise<string | null> {
  return as ?? (repository.env.HANDOFF_IDENTITY || (await repository.config()).get('handoff.identity') || null);
}

/** The key an identity writes records with: an active one, so never one that was retired. SPEC §5.5 */
export async function requireSigner(repository: Repository, trust: Trust, name: string): Promise<Signer> {
  const signer = await activeSigner(repository, trust, name);
  if (signer) return signer;
  throw new HandoffError('no_key', `No active private key of ${name} is on this machine.`, {
    hint: `On its own machine: git handoff identity keygen ${name}, and a maintainer signs it in with identity add.`,
    data: { identity: name },
  });
}
