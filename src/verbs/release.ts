import { HandoffError } from '../core/error.ts';
import { isOpen, type SessionState } from '../journal/liveness.ts';
import { readSession } from '../journal/registry.ts';
import { BOT, namedIdentity, requireSigner } from './acting.ts';
import { append } from './append.ts';
import { requireTrust } from './current.ts';
import { holderOf, openHolds } from './holds.ts';
import { takeOver } from './open-session.ts';
import { publishRecords } from './publish-records.ts';
import type { RecordOptions } from './record-verbs.ts';
import type { Repository } from './repository.ts';
import { refuseSecrets } from './secret.ts';
import { currentSession, dirsOf, requireSession, withLiveness } from './session.ts';

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
  if (!isOpen(liveness)) return { session_id: target.session_id, state: liveness.state };
  const actor = await currentSession(repository, trust, options.as);
  const identity = (await namedIdentity(repository, options.as)) ?? actor?.identity ?? BOT;
  const holds = await openHolds(repository, options);
  const own = actor && actor.session_id !== target.session_id ? withLiveness(repository, trust, actor) : null;
  if (own && isOpen(own.liveness)) {
    const signer = await requireSigner(repository, trust, own.session.identity);
    const fields = {
      released_session_id: target.session_id,
      released_identity: target.identity,
      reason: options.reason,
    };
    const { path } = await append(
      { repository, session: own.session, trust, signer, holds },
      { kind: 'release', fields },
    );
    await publishRecords(repository, own.session, [path], options.commit ? 'handoff: release' : null, options);
  }
  const by = { session_id: own?.session.session_id ?? NOBODY, identity };
  await takeOver(
    repository,
    holds,
    target.session_id,
    await holds.read(`session/${target.session_id}`),
    holderOf(repository.host.name, by, repository.now().toISOString(), options.reason),
  );
  const after = readSession(dirsOf(repository), target.session_id);
  return { session_id: target.session_id, state: withLiveness(repository, trust, after!).liveness.state };
}

/** A person without a session of their own. */
const NOBODY = '';
