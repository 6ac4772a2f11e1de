import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseJson } from '../../core/bytes/json.ts';
import { createUnsynced, guarded } from '../../disk/durable.ts';
import { ifThere } from '../../disk/if-there.ts';
import { readStateText } from '../../disk/state-file.ts';
import type { TimeAndHost } from '../../repository/parts.ts';
import { isRunning, markProcess, type ProcessMark } from '../processes.ts';
import { relaysFolder, type State } from './chain.ts';

// One process drives all relays of a repository: numbered files again, of which the highest says who. One that was killed, or was
// there before the machine was started again, is in nobody's way.

type Place = State & Pick<TimeAndHost, 'host'>;

/** Null where somebody else drives already; else how to end. */
export function beginDriving(place: Place): { end(): void } | null {
  const by = markProcess(place.host, place.host.pid);
  const number = (driverNumbers(place).at(-1) ?? 0) + 1;
  if (isDriven(place) || !by) return null;
  const path = driverFile(place, number);
  if (!guarded(path, () => createUnsynced(path, JSON.stringify(by)))) return null;
  for (const old of driverNumbers(place).filter((each) => each < number))
    rmSync(driverFile(place, old), { force: true });
  return { end: () => rmSync(path, { force: true }) };
}

export function isDriven(place: Place): boolean {
  const last = driverNumbers(place).at(-1);
  if (last === undefined) return false;
  const by = parseJson<ProcessMark>(readStateText(driverFile(place, last)) ?? '');
  return by !== undefined && by !== null && isRunning(place.host, by);
}

function driverNumbers(place: State): number[] {
  const names = ifThere(() => readdirSync(join(relaysFolder(place), 'driver'))) ?? [];
  return names.flatMap((name) => (/^[0-9]+$/.test(name) ? [Number(name)] : [])).sort((a, b) => a - b);
}

function driverFile(place: State, number: number): string {
  return join(relaysFolder(place), 'driver', String(number));
}
