import { readFile } from 'node:fs/promises';
import { absent } from './absent.ts';
import { replaceFile } from './durable.ts';
import type { StateDirs } from './registry.ts';

/** The highest clock seen anywhere on this machine, SPEC §6.4; 0 where nothing, or nothing that is one, is written. */
export async function readClock({ clock: path }: StateDirs): Promise<number> {
  const clock = Number((await readFile(path, 'utf8').catch(absent)) ?? 0);
  return Number.isSafeInteger(clock) && clock > 0 && clock < SANE ? clock : 0;
}

/** Nobody gets there by counting. Whoever signs a higher one must not keep everybody else from ever writing again. */
const SANE = 2 ** 48;

/** Two writers at once may leave the lower of two: within a session the chain keeps it growing all the same. */
export async function rememberClock(dirs: StateDirs, clock: number): Promise<void> {
  if (clock < SANE && clock > (await readClock(dirs))) await replaceFile(dirs.clock, `${clock}\n`);
}
