import { requireSession, type SessionChoice } from '../../custody/chosen-session.ts';
import { beat } from '../../journal/append.ts';
import { assertWritable } from '../../journal/sessions/session-state.ts';
import type { Repository } from '../../repository/repository.ts';
import { requireTrust } from '../../repository/trusted-now.ts';
import { authorOf } from './record-verbs.ts';
import type { SessionStateResult } from './release.ts';

/** A sign of life, without a record. A session that was taken over gets none. */
export async function heartbeat(repository: Repository, options: SessionChoice = {}): Promise<SessionStateResult> {
  const trust = await requireTrust(repository, 'files');
  const live = await requireSession(repository, trust, options);
  assertWritable(live);
  beat(repository, live.session);
  return { ...authorOf(live.session), state: 'active' };
}
