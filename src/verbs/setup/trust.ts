import { loadTrust } from '../../audit/trust/trust.ts';
import { HandoffError } from '../../core/error.ts';
import { nodeSuite } from '../../crypto.ts';
import { forgetSeen } from '../../repository/pins/rollbacks.ts';
import { pinRoot } from '../../repository/pins/root-pin.ts';
import { assertPinned, assertRoot, type Repository } from '../../repository/repository.ts';
import { currentSource } from '../../repository/trusted-now.ts';

export interface TrustResult {
  root: string;
  /** The root is pinned in this clone's configuration: any other is refused from now on. */
  pinned: true;
  /** Whether this very call pinned it. */
  first_use: boolean;
  /** Whether the root was given. */
  given: boolean;
  policy_version: number | null;
  /** Whether what this clone had seen was forgotten. */
  forgotten: boolean;
}

export interface TrustOptions {
  root?: string;
  /** What was seen before no longer counts: the way out where it was never accepted. */
  forget?: boolean;
}

/** Pins the root of trust, or compares it with the pin. A server is pinned before its first push. SPEC §5.8 */
export async function trust(repository: Repository, { root, forget = false }: TrustOptions = {}): Promise<TrustResult> {
  if (root !== undefined) assertRoot(root);
  if (forget && root === undefined) throw forgetsWithoutRoot();
  const pin = await pinOrCompare(repository, root, forget);
  if (forget) forgetSeen(repository);
  return { ...pin, forgotten: forget };
}

type Pinned = Omit<TrustResult, 'forgotten'>;

async function pinOrCompare(repository: Repository, root: string | undefined, forget: boolean): Promise<Pinned> {
  const found = await readRoot(repository);
  if (!found) return pinGiven(repository, root);
  await assertPinned(repository, found.root, root);
  // with --forget the root was given, and is what the policy here has: a pin that somebody set by mistake goes as well
  if (forget) await repository.setConfig('handoff.root', found.root);
  else await assertPinned(repository, found.root);
  const given = root !== undefined;
  const firstUse = await pinRoot(repository, found.root, given);
  return { root: found.root, pinned: true, first_use: firstUse, given, policy_version: found.version };
}

/** Whoever forgets has asked a maintainer, and so has been told the root. */
function forgetsWithoutRoot(): HandoffError {
  return new HandoffError('usage', 'Expected --root with --forget, found none.', {
    hint: 'Ask a maintainer for the root and for the newest policy, then: git handoff trust --root ROOT --forget',
  });
}

async function readRoot(repository: Repository): Promise<{ root: string; version: number } | null> {
  try {
    const found = await loadTrust(await currentSource(repository), nodeSuite, () => {});
    return found && { root: found.repoId, version: found.policy.version };
  } catch (error) {
    if (error instanceof HandoffError && (error.code === 'not_initialised' || error.code === 'usage')) return null;
    throw error;
  }
}

/** An empty server has no policy to read yet: only what a maintainer says can be pinned. */
async function pinGiven(repository: Repository, root: string | undefined): Promise<Pinned> {
  const pin = (await repository.config()).get('handoff.root');
  if (root !== undefined && pin === undefined) await repository.setConfig('handoff.root', root);
  if (root !== undefined && pin !== undefined) await assertPinned(repository, root);
  const pinned = root ?? pin;
  const given = root !== undefined;
  if (pinned) return { root: pinned, pinned: true, first_use: pin === undefined, given, policy_version: null };
  throw new HandoffError('not_initialised', 'There is no policy here and no pinned root.', {
    hint: 'git handoff init, or pin the root a maintainer gave you: git handoff trust --root ROOT',
  });
}
