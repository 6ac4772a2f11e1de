import { readFileSync } from 'node:fs';
import { replaceFile } from './durable.ts';
import { ifThere } from './if-there.ts';
import type { StateDirs } from './registry.ts';

/** The highest clock seen anywhere on this machine, SPEC §6.4; 0 where nothing, or nothing that is one, is written. */
export function readClock({ clock: path }: StateDirs): number {
  const clock = Number(ifThere(() => readFileSync(path, 'utf8')) ?? 0);
  return Number.isSafeInteger(clock) && clock > 0 && clock < SANE ? clock : 0;
}

/** Nobody gets there by counting. Whoever signs a higher one must not keep everybody else from ever writing again. */
const SANE = 2 ** 48;

/** Two writers at once may leave the lower of two: within a session the chain keeps it growing all the same. */
export function rememberClock(dirs: StateDirs, clock: number): void {
  if (clock < SANE && clock > readClock(dirs)) replaceFile(dirs.clock, `${clock}\n`);
}
