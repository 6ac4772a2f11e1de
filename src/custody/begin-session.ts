import type { OwnFields } from '../core/record/kinds.ts';
import type { Trust } from '../core/trust/trust.ts';
import { append, assertDraft, type Writer } from '../journal/append.ts';
import { writeTrailers } from '../journal/commits/trailers.ts';
import type { Signer } from '../journal/keys/keys.ts';
import { holderOf, type Locks } from '../journal/locks/open-locks.ts';
import { pointTo } from '../journal/sessions/pointers.ts';
import type { Session } from '../journal/sessions/registry.ts';
import { dirsOf } from '../journal/sessions/session-state.ts';
import { positionFields, readPosition } from '../repository/position.ts';
import type { Repository } from '../repository/repository.ts';
import { type HolderState, tidyHolder } from './at-work.ts';
import type { KnownSessions } from './known-sessions.ts';
import { identityConflict, identityHolder, openSession, takeOver } from './open-session.ts';
import { tidyKnownSessions } from './tidy.ts';

/** Who opens a session for fresh work, and what was read before. */
export interface Opener {
  repository: Repository;
  trust: Trust;
  knownSessions: KnownSessions;
  locks: Locks;
  identity: string;
  signer: Signer;
}

export interface Begun {
  writer: Writer;
  /** The first record. */
  delta_id: string;
  path: string;
}

/**
 * Opens a session that continues nobody's. SPEC §8.5. What `takePlaces` takes besides is taken before the first record, so
 * whoever loses there has left nothing behind.
 */
export async function beginSession(
  opener: Opener,
  about: Pick<OwnFields<'start'>, 'intent' | 'task'>,
  takePlaces: (session: Session) => Promise<void> = async () => {},
): Promise<Begun> {
  const { repository, trust, identity, signer, locks } = opener;
  const fields = { ...about, ...positionFields(await readPosition(repository)) };
  assertDraft(trust, identity, { kind: 'start', fields });
  const session = await enter(opener, takePlaces);
  const writer: Writer = { repository, session, trust, signer, locks };
  pointTo(dirsOf(repository), session);
  writeTrailers(repository, session, about.task ?? null);
  const { delta_id, path } = await append(writer, { kind: 'start', fields });
  return { writer, delta_id, path };
}

/** Whoever held the identity last. Refuses while that session is at work. */
async function requireFreeIdentity({
  repository,
  trust,
  knownSessions,
  locks,
  identity,
}: Opener): Promise<HolderState> {
  const prior = await identityHolder(repository, trust, knownSessions, locks, identity);
  if (prior.active) throw identityConflict(repository, identity, prior.held!.holder);
  return prior;
}

/** Takes the identity. An older session of it that shows no sign of life any more is superseded. */
async function enter(opener: Opener, takePlaces: (session: Session) => Promise<void>): Promise<Session> {
  const { repository, trust, knownSessions, locks, identity } = opener;
  const prior = await requireFreeIdentity(opener);
  const { held, live } = prior;
  await tidyKnownSessions(repository, trust, knownSessions);
  tidyHolder(repository, prior);
  return openSession(repository, locks, { identity, inherited_from: null, prior: held }, async (session) => {
    await takePlaces(session); // first, as nothing takes back that a session was superseded
    if (live?.liveness.state !== 'stale') return;
    const { session_id } = live.session;
    const holder = holderOf(repository.host.name, session, session.opened_at, 'superseded_while_stale');
    await takeOver(repository, locks, session_id, await locks.read(`session/${session_id}`), holder);
  });
}
