import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { HandoffError } from '../core/error.ts';
import { parseJson } from '../core/json.ts';
import { createFile, guarded, replaceFile } from './durable.ts';
import { type Host, heartbeatAge, type Moment, readMoment } from './heartbeat.ts';
import { ifThere } from './if-there.ts';
import type { StateDirs } from './registry.ts';

interface Sealing {
  pid: number;
  space: string;
  since: Moment;
}

/** Nobody seals for longer than this: the process number belongs to somebody else by now. */
const LONGEST = 60;

/**
 * Seals one session at a time. That two never write the same number is the journal's doing; this spares the second the work,
 * and tells it to come back. SPEC §11.1
 */
export async function whileSealing<T>(
  dirs: StateDirs,
  id: string,
  host: Host,
  now: Date,
  work: () => Promise<T>,
): Promise<T> {
  const path = join(dirs.sessions, id, 'sealing');
  const own = JSON.stringify({ pid: host.pid, space: host.space, since: readMoment(host, now) } satisfies Sealing);
  if (!guarded(path, () => createFile(path, own))) {
    if (isUnderWay(path, host, now)) throw sealInProgress(id);
    guarded(path, () => replaceFile(path, own)); // whoever was at it is gone
  }
  try {
    return await work();
  } finally {
    rmSync(path, { force: true });
  }
}

export function sealInProgress(session_id: string): HandoffError {
  return new HandoffError('seal_in_progress', 'Merkle finalization in progress. Retry in 5s.', {
    hint: `git handoff seal ${session_id.slice(0, 8)} again: once it is sealed, that changes nothing and gives the same root.`,
    data: { session_id, retry_after: 5 },
  });
}

function isUnderWay(path: string, host: Host, now: Date): boolean {
  const sealing = parseJson<Sealing>(ifThere(() => readFileSync(path, 'utf8')) ?? '');
  if (typeof sealing?.pid !== 'number' || typeof sealing.since?.at !== 'string') return false;
  const isGone = sealing.space === host.space && !host.isRunning(sealing.pid);
  return !isGone && heartbeatAge(sealing.since, readMoment(host, now)) < LONGEST;
}
