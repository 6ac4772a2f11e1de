/** A moment that survives changes of the clock on the wall: which boot, and how long after it. */
export interface Moment {
  /** Null where the system does not tell; then only wall time is left. */
  boot: string | null;
  uptime: number;
  at: string;
}

/** The machine, as far as sessions must know it. */
export interface Host {
  name: string;
  pid: number;
  /** Names the machine, its start and its process numbers: only there does a number mean the same process. */
  space: string;
  /** Whose files are ours; null where the system knows no owners. */
  owner: number | null;
  isRunning(pid: number): boolean;
  /** Seconds since it was started. */
  uptime(): number;
  /** Another one after every start; null where the system does not tell. */
  bootId(): string | null;
}

export function readMoment(host: Host, now: Date): Moment {
  return { boot: host.bootId(), uptime: host.uptime(), at: now.toISOString() };
}

/** Seconds since a heartbeat. Wall time decides only between boots, where nothing else is known. SPEC §8.2 */
export function heartbeatAge(beat: Moment, now: Moment): number {
  if (beat.boot !== null && beat.boot === now.boot) return Math.max(0, now.uptime - beat.uptime);
  return Math.abs(Date.parse(now.at) - Date.parse(beat.at)) / 1000;
}
