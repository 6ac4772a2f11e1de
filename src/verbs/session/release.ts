import { HandoffError } from '../../core/error.ts';
import type { Trust } from '../../core/trust/trust.ts';
import { isAtWorkElsewhere } from '../../custody/at-work.ts';
import { sessionsCalled, workTreeSession } from '../../custody/chosen-session.ts';
import { takeOver } from '../../custody/open-session.ts';
import { requireElsewhere } from '../../custody/predecessor.ts';
import { append } from '../../journal/append.ts';
import { publishRecords } from '../../journal/commits/publish-records.ts';
import { refuseSecrets } from '../../journal/drafts/secret.ts';
import { BOT, knownIdentity, requireSigner } from '../../journal/keys/identity-choice.ts';
import { NO_SESSION } from '../../journal/locks/holder.ts';
import { holderOf, type Locks, openLocks } from '../../journal/locks/open-locks.ts';
import { isOpen, type SessionState } from '../../journal/sessions/liveness.ts';
import type { Session } from '../../journal/sessions/registry.ts';
import { withLiveness } from '../../journal/sessions/session-state.ts';
import type { Repository } from '../../repository/repository.ts';
import { requireTrust } from '../../repository/trusted-now.ts';
import { unknownSession } from '../../repository/unknown-session.ts';
import type { RecordOptions } from './record-verbs.ts';

export interface SessionStateResult {
  session_id: string;
  state: SessionState;
  /** The identity that wrote the release. */
  identity: string;
}

export interface ReleaseResult extends SessionStateResult {
  /** Whose session it was. */
  released_identity: string;
}

export interface ReleaseOptions extends Omit<RecordOptions, 'session'> {
  target: string;
  reason: string;
}

/**
 * Ends a session that its holder does not end. Whoever has a session of its own here records it there; the released
 * session's next write fails and says why.
 */
export async function release(repository: Repository, options: ReleaseOptions): Promise<ReleaseResult> {
  if (options.reason.trim() === '')
    throw new HandoffError('usage', 'A release needs a reason.', { hint: '--reason TEXT' });
  refuseSecrets({ fields: { reason: options.reason } });
  const trust = await requireTrust(repository);
  const identity = await knownIdentity(repository, trust, options.as);
  const locks = await openLocks(repository, trust, options);
  const target = await findTarget(repository, trust, locks, options.target);
  const { session_id } = target;
  const said = { session_id, released_identity: target.identity };
  if (!target.isOpen) return { ...said, identity: identity ?? BOT, state: target.state }; // nobody writes anything
  const actor = await releasingSession(repository, trust, options.as, session_id);
  const author = identity ?? actor?.identity ?? BOT;
  if (actor) await recordRelease(repository, trust, locks, actor, target, options);
  const by = { session_id: actor?.session_id ?? NO_SESSION, identity: author };
  const holder = holderOf(repository.host.name, by, repository.now().toISOString(), options.reason);
  await takeOver(repository, locks, session_id, await locks.read(`session/${session_id}`), holder);
  return { ...said, identity: author, state: (await findTarget(repository, trust, locks, session_id)).state };
}

/** A session that is to end. */
interface Target {
  session_id: string;
  identity: string;
  state: SessionState;
  isOpen: boolean;
}

/** On this machine; else on the remote, where a machine that is gone may hold an identity and tasks for ever. */
async function findTarget(repository: Repository, trust: Trust, locks: Locks, prefix: string): Promise<Target> {
  const here = sessionsCalled(repository, prefix);
  if (here.length > 1) throw unknownSession(prefix, here);
  if (here[0]) {
    const { liveness } = withLiveness(repository, trust, here[0]);
    return { ...here[0], state: liveness.state, isOpen: isOpen(liveness) };
  }
  const session = await requireElsewhere(locks, prefix);
  const isAtWork = await isAtWorkElsewhere(locks, session);
  return { ...session, state: isAtWork ? 'active' : 'released', isOpen: isAtWork };
}

/** The session of whoever releases, if it is open and another one. */
async function releasingSession(
  repository: Repository,
  trust: Trust,
  as: string | undefined,
  target: string,
): Promise<Session | null> {
  const actor = await workTreeSession(repository, trust, as, target);
  if (!actor || actor.session_id === target) return null;
  return isOpen(withLiveness(repository, trust, actor).liveness) ? actor : null;
}

async function recordRelease(
  repository: Repository,
  trust: Trust,
  locks: Locks,
  session: Session,
  target: Target,
  options: ReleaseOptions,
): Promise<void> {
  const signer = await requireSigner(repository, trust, session.identity);
  const { session_id: released_session_id, identity: released_identity } = target;
  const fields = { released_session_id, released_identity, reason: options.reason };
  const { path } = await append({ repository, session, trust, signer, locks }, { kind: 'release', fields });
  await publishRecords(repository, session, [path], options.commit ? 'handoff: release' : null, options);
}
