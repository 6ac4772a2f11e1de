import { isSameSession, type SessionKey } from '../../core/task/state.ts';
import { shortRef } from '../../repository/everywhere/left-out-lines.ts';
import type { Warning } from '../bundle.ts';
import type { KnownSessions } from '../known-sessions.ts';

/**
 * Two machines that share no locks can pick up one baton, and neither can know. Once git has fetched what the other one did, both are
 * told; of the two nobody is wrong. SPEC §8.5
 */
export function pickedUpTwice({ history, refOf }: KnownSessions, own: SessionKey): Warning[] {
  const pickup = history.pickups.find((each) => isSameSession(each, own));
  const isOfSame = (each: (typeof history.pickups)[number]): boolean =>
    each.predecessor_session_id === pickup?.predecessor_session_id && !isSameSession(each, own);
  return history.pickups.filter(isOfSame).map(({ identity, session_id }) => {
    const folder = history.sessions.find((each) => isSameSession(each, { identity, session_id }))?.folder;
    const ref = folder === undefined ? null : refOf(folder);
    const where = ref === null ? '' : `, on ${shortRef(ref)}`;
    return {
      kind: 'picked_up_twice',
      message: `${identity} picked up the same work as you (session ${session_id.slice(0, 8)}${where}). Agree who goes on; whoever stops wraps, and whoever goes on claims the task anew: git handoff claim TASK`,
    };
  });
}
