import { HandoffError } from '../core/error.ts';
import type { Trust } from '../core/trust.ts';
import { isOpen, type SessionState } from '../journal/liveness.ts';
import type { Session } from '../journal/registry.ts';
import { BOT, knownIdentity, requireSigner } from './acting.ts';
import { append } from './append.ts';
import { requireTrust } from './current.ts';
import { type Holds, holderOf, openHolds } from './holds.ts';
import { takeOver } from './open-session.ts';
import { publishRecords } from './publish-records.ts';
import type { RecordOptions } from './record-verbs.ts';
import type { Repository } from './repository.ts';
import { refuseSecrets } from './secret.ts';
import { currentSession, requireSession, withLiveness } from './session.ts';

export interface SessionStateResult {
  session_id: string;
  state: SessionState;
}

export interface ReleaseOptions extends Omit<RecordOptions, 'session'> {
  target: string;
  reason: string;
}

/**
 * Ends a session that its holder does not end. Whoever has a session of its own here records it there; the released
 * session's next write fails and says why.
 */
export async function release(repository: Repository, options: ReleaseOptions): Promise<SessionStateResult> {
  if (options.reason.trim() === '')
    throw new HandoffError('usage', 'A release needs a reason.', { hint: '--reason TEXT' });
  refuseSecrets({ kind: 'release', fields: { reason: options.reason } });
  const trust = await requireTrust(repository);
  const { session: target, liveness } = await requireSession(repository, trust, { session: options.target });
  const identity = await knownIdentity(repository, trust, options.as);
  if (!isOpen(liveness)) return { session_id: target.session_id, state: liveness.state };
  const holds = await openHolds(repository, options);
  const actor = await actingSession(repository, trust, options.as, target);
  if (actor) await recordRelease(repository, trust, holds, actor, target, options);
  const by = { session_id: actor?.session_id ?? NOBODY, identity: identity ?? actor?.identity ?? BOT };
  const holder = holderOf(repository.host.name, by, repository.now().toISOString(), options.reason);
  const held = await holds.read(`session/${target.session_id}`);
  await takeOver(repository, holds, target.session_id, held, holder);
  return { session_id: target.session_id, state: withLiveness(repository, trust, target).liveness.state };
}

/** The session of whoever releases, if it is open and another one. */
async function actingSession(
  repository: Repository,
  trust: Trust,
  as: string | undefined,
  target: Session,
): Promise<Session | null> {
  const actor = await currentSession(repository, trust, as);
  if (!actor || actor.session_id === target.session_id) return null;
  return isOpen(withLiveness(repository, trust, actor).liveness) ? actor : null;
}

async function recordRelease(
  repository: Repository,
  trust: Trust,
  holds: Holds,
  session: Session,
  target: Session,
  options: ReleaseOptions,
): Promise<void> {
  const signer = await requireSigner(repository, trust, session.identity);
  const { session_id: released_session_id, identity: released_identity } = target;
  const fields = { released_session_id, released_identity, reason: options.reason };
  const { path } = await append({ repository, session, trust, signer, holds }, { kind: 'release', fields });
  await publishRecords(repository, session, [path], options.commit ? 'handoff: release' : null, options);
}

/** A person without a session of their own. */
const NOBODY = '';
