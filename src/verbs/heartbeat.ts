import { beat } from './append.ts';
import { requireTrust } from './current.ts';
import type { SessionStateResult } from './release.ts';
import type { Repository } from './repository.ts';
import { requireSession, type SessionChoice } from './session.ts';
import { assertWritable } from './session-state.ts';

/** A sign of life, without a record. A session that was taken over gets none. */
export async function heartbeat(repository: Repository, options: SessionChoice = {}): Promise<SessionStateResult> {
  const trust = await requireTrust(repository);
  const live = await requireSession(repository, trust, options);
  assertWritable(live);
  beat(repository, live.session);
  return { session_id: live.session.session_id, state: 'active' };
}
