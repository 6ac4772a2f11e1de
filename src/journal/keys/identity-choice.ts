import { HandoffError } from '../../core/error.ts';
import { assertIdentityName } from '../../core/names.ts';
import { quoteWord } from '../../core/text/quote.ts';
import type { Trust } from '../../core/trust/trust.ts';
import type { Directories, GitAccess, Settings } from '../../repository/parts.ts';
import type { Signer } from './keys.ts';
import { activeSigner, requireIdentity } from './signers.ts';

/** Who acts when nobody is named: it may have any number of sessions. */
export const BOT = 'bot';

/** Flag, environment, configuration: null when none of them names anybody. What can be no name goes no further. */
export async function namedIdentity(repository: Settings, as: string | undefined): Promise<string | null> {
  return givenIdentity(repository, as) ?? configuredIdentity(repository);
}

/** Whom the caller names, by flag or environment. */
export function givenIdentity({ env }: Settings, as: string | undefined): string | null {
  if (as !== undefined) return checkedName(as, '--as');
  return env.HANDOFF_IDENTITY ? checkedName(env.HANDOFF_IDENTITY, 'HANDOFF_IDENTITY') : null;
}

/** Who acts in this repository where nothing else says who. */
export async function configuredIdentity(repository: Settings): Promise<string | null> {
  const configured = (await repository.config()).get('handoff.identity');
  return configured ? checkedName(configured, 'git config handoff.identity') : null;
}

function checkedName(name: string, source: string): string {
  assertIdentityName(name, source);
  return name;
}

/** The same, for verbs that only read: whoever misspells a name is not shown the card of nobody. */
export async function knownIdentity(
  repository: Settings,
  trust: Trust,
  as: string | undefined,
): Promise<string | null> {
  const name = await namedIdentity(repository, as);
  return name === null ? null : requireIdentity(trust, name).name;
}

/** Nobody was named: whoever is new here has no key at all. */
const NEWCOMER =
  'Say who you are, if your key is here: --as NAME, or git config handoff.identity NAME. If you have none yet: git handoff identity keygen NAME, and send the line that it prints to a maintainer.';

/** The key an identity writes records with: an active one, so never one that was retired. SPEC §5.5 */
export async function requireSigner(
  repository: GitAccess & Directories & Settings,
  trust: Trust,
  name: string,
): Promise<Signer> {
  const signer = await activeSigner(repository, trust, name);
  if (signer) return signer;
  throw new HandoffError('no_key', `No active private key of ${name} is on this machine.`, {
    hint:
      name === BOT
        ? NEWCOMER
        : `Act as somebody whose key is here (--as NAME). Or give ${name} a new key: git handoff identity rotate ${quoteWord(name)} on its own machine (identity keygen, if the old key is not there), then a maintainer runs git handoff identity rotate ${quoteWord(name)} --key ${quoteWord(name)}.pub`,
    data: { identity: name },
  });
}
