import { readOldSession } from '../audit/delta/old-session.ts';
import type { Source } from '../audit/source/source.ts';
import { nodeSuite } from '../crypto.ts';
import { type Choice, chooseSession, type Waiting } from './baton/waiting-batons.ts';
import { refuseDistrusted } from './distrust-warning.ts';
import type { Entering } from './enter.ts';
import { findPredecessor, type Predecessor, predecessorActive, requireKnownSession } from './predecessor.ts';

/** What a pickup was asked to continue. */
interface Choosing {
  /** A session by its id, or the beginning of it. */
  fromSession?: string;
  /** Also one that is at work, or whose baton is meant for somebody else. */
  force?: boolean;
}

/** The session that is continued, and the batons that only others may take. */
export interface Chosen {
  predecessor: Predecessor | null;
  forOthers: Waiting[];
}

/** The session that is continued: the one that was named, else SPEC §8.5 says which. One that is at work only by force. */
export async function choosePredecessor(
  source: Source,
  { fromSession, force = false }: Choosing,
  { knownSessions, identity, locks }: Pick<Entering, 'knownSessions' | 'identity' | 'locks'>,
): Promise<Chosen> {
  const readOld = async (prefix: string) => {
    const old = await readOldSession(source, knownSessions.trust, nodeSuite, prefix);
    if (!old) await refuseDistrusted(source, knownSessions.distrusted, prefix);
    return old;
  };
  const named =
    fromSession === undefined ? null : await requireKnownSession(knownSessions, fromSession, locks, readOld);
  const { session, forOthers }: Choice = named
    ? { session: null, forOthers: [] }
    : chooseSession(knownSessions, identity, force);
  const predecessor = await findPredecessor(knownSessions, named ?? session, locks);
  if (predecessor?.active && !force) throw predecessorActive(predecessor, identity);
  return { predecessor, forOthers };
}
