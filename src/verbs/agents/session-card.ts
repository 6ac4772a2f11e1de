import type { Trust } from '../../core/trust/trust.ts';
import { describeWaiting, type WaitingBaton, waitingBatons } from '../../custody/baton/waiting-batons.ts';
import { openElsewhere } from '../../custody/elsewhere.ts';
import { readKnownSessions } from '../../custody/known-sessions.ts';
import { openSessionsHere } from '../../custody/sign-of-life.ts';
import { knownIdentity } from '../../journal/keys/identity-choice.ts';
import type { Session } from '../../journal/sessions/registry.ts';
import type { Repository } from '../../repository/repository.ts';
import { requireTrust } from '../../repository/trusted-now.ts';
import { type StatusResult, status } from '../session/status.ts';
import { type OwnRecord, ownRecords } from './own-records.ts';

/** What an agent is told when it begins: where its session stands, or what waits for it, or that there is nothing. */
export type SessionCard =
  | { kind: 'session'; status: StatusResult; records: OwnRecord[] }
  | { kind: 'batons'; identity: string | null; batons: WaitingBaton[] }
  | { kind: 'several'; identities: string[] }
  | { kind: 'elsewhere'; session_id: string; identity: string; cd: string }
  | { kind: 'nothing'; identity: string | null };

/** `isAfterCompaction`: what the agent wrote itself is told as well, because it has forgotten that. */
export async function sessionCard(
  repository: Repository,
  session: Session | null,
  as: string | undefined,
  isAfterCompaction: boolean,
): Promise<SessionCard> {
  if (session) {
    const records = isAfterCompaction ? ownRecords(repository, session) : [];
    return { kind: 'session', status: await status(repository, { session: session.session_id }), records };
  }
  const trust = await requireTrust(repository);
  const identity = await knownIdentity(repository, trust, as);
  const identities = openSessionsHere(repository).map((each) => each.identity);
  if (identity === null && identities.length > 0) return { kind: 'several', identities };
  return ofNoSession(repository, trust, identity);
}

async function ofNoSession(repository: Repository, trust: Trust, identity: string | null): Promise<SessionCard> {
  const elsewhere = identity === null ? undefined : openElsewhere(repository, trust, identity)[0];
  if (elsewhere) {
    const { session, cd } = elsewhere;
    return { kind: 'elsewhere', session_id: session.session_id, identity: session.identity, cd };
  }
  const known = await readKnownSessions(repository, trust);
  const waiting = describeWaiting(known, waitingBatons(known.history), repository.now());
  const batons = waiting.filter(({ next_agent }) => isFor(next_agent, identity));
  return batons.length > 0 ? { kind: 'batons', identity, batons } : { kind: 'nothing', identity };
}

/** Whoever has no name yet may be any of those that a baton can be for. */
function isFor(nextAgent: string | null, identity: string | null): boolean {
  return nextAgent === null || identity === null || nextAgent === identity;
}
