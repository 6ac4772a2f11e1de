import { HandoffError } from '../core/error.ts';
import type { Trust } from '../core/trust/trust.ts';
import { type Begun, beginSession } from '../custody/begin-session.ts';
import {
  chosenIdentity,
  chosenSession,
  isSessionNamed,
  requireSession,
  type SessionChoice,
} from '../custody/chosen-session.ts';
import { requireSigner } from '../journal/keys/identity-choice.ts';
import type { Signer } from '../journal/keys/keys.ts';
import { releaseClaim } from '../journal/locks/task-lock.ts';
import type { Session } from '../journal/sessions/registry.ts';
import { assertWritable, withLiveness } from '../journal/sessions/session-state.ts';
import type { StateDirectory, TimeAndHost } from '../repository/parts.ts';
import type { Repository } from '../repository/repository.ts';
import { takeLock } from './take-lock.ts';
import type { Wanted } from './wanted-task.ts';

/** Who wants a task. */
export interface Claimant {
  identity: string;
  /** Null where one is to be opened for it. */
  session: Session | null;
  signer: Signer;
}

/** A session that was taken over stops. A claim opens no new one for it: only `start` does. SPEC §8.4 */
export async function findClaimant(repository: Repository, trust: Trust, options: SessionChoice): Promise<Claimant> {
  const found = await chosenSession(repository, trust, options);
  if (found && (isSessionNamed(repository, options) || !isOver(repository, trust, found))) {
    const live = await requireSession(repository, trust, options);
    assertWritable(live);
    const { session } = live;
    const { identity } = session;
    return { identity, session, signer: await requireSigner(repository, trust, identity) };
  }
  const identity = await chosenIdentity(repository, trust, options.as);
  return { identity, session: null, signer: await requireSigner(repository, trust, identity) };
}

function isOver(repository: StateDirectory & TimeAndHost, trust: Trust, session: Session): boolean {
  return withLiveness(repository, trust, session).liveness.state === 'wrapped';
}

/** SPEC §8.5: as `start` opens one, and with the task's lock. */
export async function beginWithTask(
  repository: Repository,
  trust: Trust,
  { identity, signer }: Claimant,
  wanted: Wanted & { reason?: string | undefined },
): Promise<Begun & { token: number }> {
  const { board, task, locks } = wanted;
  const taken: { token: number; session: Session }[] = [];
  const opener = { repository, trust, knownSessions: board.knownSessions, locks, identity, signer };
  try {
    const begun = await beginSession(opener, { task: task.task_id }, async (session) => {
      taken.push({ token: await takeLock(repository, session, wanted), session });
    });
    return { ...begun, token: taken[0]!.token };
  } catch (error) {
    for (const { session } of taken) await releaseClaim(repository, locks, session, { task: task.task_id });
    throw error;
  }
}

export function toStarted({ session_id, identity }: Session) {
  return { session_id, identity, started: true as const };
}

/** The session has its first record by now, so it stays open: the error says so. */
export function withStarted(error: unknown, session: Session): unknown {
  if (!(error instanceof HandoffError)) return error;
  const message = `${error.message} Session ${session.session_id} of ${session.identity} was opened for it, and is open.`;
  const data = { ...error.data, ...toStarted(session) };
  return new HandoffError(error.code, message, { ...(error.hint && { hint: error.hint }), data, cause: error });
}
