import type { Session } from '../journal/registry.ts';
import { isActive, type Predecessor, predecessorActive } from './custody.ts';
import { type Holds, holderOf } from './holds.ts';
import {
  identityConflict,
  type Prior,
  register,
  releaseIdentity,
  takeIdentity,
  takeOver,
  takeOwn,
  unregister,
} from './open-session.ts';
import type { Repository } from './repository.ts';

export interface Entered {
  session: Session;
  /** Sessions that were alive and were taken over by force. */
  released: { session_id: string; identity: string; reason: string }[];
}

const PREEMPTED = 'preempted_by_pickup';

/** The identity, then custody of the predecessor: whoever loses either has changed nothing. SPEC §8.5 */
export async function enterCustody(
  repository: Repository,
  holds: Holds,
  identity: string,
  prior: Prior,
  predecessor: Predecessor | null,
): Promise<Entered> {
  const session = await register(repository, identity, predecessor?.session.session_id ?? null);
  try {
    await takeIdentity(holds, session, prior.held);
    await takeOwn(holds, session);
    return { session, released: await replace(repository, holds, session, victims(prior, predecessor)) };
  } catch (error) {
    await releaseIdentity(holds, session);
    await unregister(repository, session);
    throw error;
  }
}

interface Victim {
  session_id: string;
  identity: string;
  active: boolean;
  /** What to say when somebody else takes its place first. */
  lost(): Error;
}

/** Whose place is taken: the predecessor's, and that of the identity's own last session if it is still open. */
function victims(prior: Prior, predecessor: Predecessor | null): Victim[] {
  const found = new Map<string, Victim>();
  const isOpen = prior.live ? ['active', 'stale'].includes(prior.live.liveness.state) : prior.active;
  if (isOpen) {
    const { holder } = prior.held!;
    const lost = () => identityConflict(holder.identity, holder);
    found.set(holder.session_id, {
      session_id: holder.session_id,
      identity: holder.identity,
      active: prior.active,
      lost,
    });
  }
  if (predecessor) {
    const { session_id, identity } = predecessor.session;
    const active = isActive(predecessor) || (found.get(session_id)?.active ?? false);
    found.set(session_id, { session_id, identity, active, lost: () => predecessorActive(predecessor) });
  }
  return [...found.values()];
}

async function replace(
  repository: Repository,
  holds: Holds,
  session: Session,
  all: readonly Victim[],
): Promise<Entered['released']> {
  const released: Entered['released'] = [];
  for (const { session_id, identity, active, lost } of all) {
    const reason = active ? PREEMPTED : 'picked_up';
    const holder = holderOf(repository.host.name, session, session.opened_at, reason);
    if (!(await takeOver(repository, holds, session_id, holder))) throw lost();
    if (active) released.push({ session_id, identity, reason });
  }
  return released;
}
