import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseJson } from '../core/bytes/json.ts';
import { HandoffError } from '../core/error.ts';
import { createUnsynced, guarded, replaceFile } from './durable.ts';
import { type Host, heartbeatAge, type Moment, readMoment } from './moment.ts';
import { readStateText } from './state-file.ts';

/** Who is at something that one process at a time does. */
interface Holder {
  pid: number;
  space: string;
  since: Moment;
}

/** Nobody takes longer than this: the process number belongs to somebody else by now. Seconds. */
const LONGEST = 60;

/** False when another process is at it. Whoever was killed at it is not in the way. */
export function takeTurn(path: string, host: Host, at: Date): boolean {
  const now = readMoment(host, at);
  const own = JSON.stringify({ pid: host.pid, space: host.space, since: now } satisfies Holder);
  if (guarded(path, () => createUnsynced(path, own))) return true;
  if (isUnderWay(path, host, now)) return false;
  guarded(path, () => replaceFile(path, own));
  return true;
}

export function endTurn(path: string): void {
  rmSync(path, { force: true });
}

function isUnderWay(path: string, host: Host, now: Moment): boolean {
  const holder = parseJson<Holder>(guarded(path, () => readStateText(path)) ?? '');
  if (typeof holder?.pid !== 'number' || typeof holder.since?.at !== 'string') return false;
  const isGone = holder.space === host.space && !host.isRunning(holder.pid);
  return !isGone && heartbeatAge(holder.since, now) < LONGEST;
}

const PAUSE = 50;
const PATIENCE = 2 * LONGEST * 1000;

/** Waits until nobody else is at it. */
export async function oneAtATime<T>(
  path: string,
  { host, now }: { host: Host; now(): Date },
  work: () => Promise<T>,
): Promise<T> {
  for (let waited = 0; !takeTurn(path, host, now()); waited += PAUSE) {
    if (waited >= PATIENCE) throw tooLong(path);
    await sleep(PAUSE);
  }
  try {
    return await work();
  } finally {
    endTurn(path);
  }
}

function tooLong(path: string): HandoffError {
  return new HandoffError('io', `Another process is at it, and does not end: ${path} says which.`, {
    hint: 'End that process, or wait; then run the command again.',
    data: { path },
  });
}
