import { type Host, heartbeatAge, type Moment } from '../../disk/moment.ts';
import { readHold } from '../locks/local-locks.ts';
import { readHeartbeat } from './heartbeat.ts';
import { type End, isWrapped, readTip } from './records.ts';
import { heartbeatFile, type Session, type StateDirs } from './registry.ts';

export type SessionState = 'active' | 'stale' | 'wrapped' | 'released';

export interface Liveness {
  state: SessionState;
  /** Seconds since its last sign of life; null when there is none. */
  heartbeat_age: number | null;
  /** For a released session: who did it and why. */
  end: End | null;
  /** False until it has a record. */
  opened: boolean;
  /** An opening that was cut off before its first record: as good as never opened. */
  dead: boolean;
}

/** Nobody has ended it, whether or not it shows signs of life. */
export function isOpen({ state }: Liveness): boolean {
  return state === 'active' || state === 'stale';
}

/** It shows signs of life. */
export function isActive({ state }: Liveness): boolean {
  return state === 'active';
}

/** It has a record, or somebody is about to write its first. */
export function hasBegun(liveness: Liveness): boolean {
  return liveness.opened || isActive(liveness);
}

/** What a session on this machine is doing. SPEC §8.2 */
export function readLiveness(dirs: StateDirs, session: Session, host: Host, now: Moment, staleAfter: number): Liveness {
  const { session_id } = session;
  const tip = readTip(dirs, session_id);
  const beat = readHeartbeat(heartbeatFile(dirs, session_id));
  const heartbeat_age = beat && heartbeatAge(beat, now);
  const opened = tip !== null;
  const dead = !opened && !isOpening(session, host, now);
  const answer = (state: SessionState, end: End | null = null): Liveness => ({
    state,
    heartbeat_age,
    end,
    opened,
    dead,
  });
  if (tip && 'end' in tip) return answer('released', tip.end);
  if (isWrapped(dirs, session_id)) return answer('wrapped');
  const hold = readHold(dirs.locks, `session/${session_id}`);
  if (hold && !hold.released && hold.holder.session_id !== session_id) return answer('released', toEnd(hold.holder));
  return answer(!dead && heartbeat_age !== null && heartbeat_age <= staleAfter ? 'active' : 'stale');
}

export function toEnd(holder: { session_id: string; identity: string; at: string; reason?: string }): End {
  const { session_id, identity, at, reason = 'superseded' } = holder;
  return { session_id, identity, at, reason };
}

/** Whether the process that opens it is still there. On another machine one cannot ask, and believes the heartbeat. */
function isOpening({ opener }: Session, host: Host, now: Moment): boolean {
  if (opener.host !== host.name) return true;
  return opener.boot === now.boot && host.isRunning(opener.pid);
}
