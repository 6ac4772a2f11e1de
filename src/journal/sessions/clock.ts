import { CLOCK_CAP, CLOCK_SLACK } from '../../core/record/clocks.ts';
import { replaceFile } from '../../disk/durable.ts';
import { readStateText } from '../../disk/state-file.ts';
import type { StateDirs } from './registry.ts';

/** The highest clock seen anywhere on this machine, SPEC §6.4; 0 where nothing, or nothing that is one, is written. */
export function readClock({ clock: path }: StateDirs): number {
  const clock = Number(readStateText(path) ?? 0);
  return Number.isSafeInteger(clock) && clock > 0 && clock < CLOCK_CAP ? clock : 0;
}

/**
 * Two writers at once may leave the lower of two: within a session the chain keeps it growing all the same. One that is so far
 * above what is there now comes from a branch that no gate would let in.
 */
export function rememberClock(dirs: StateDirs, clock: number): void {
  const remembered = readClock(dirs);
  if (clock < CLOCK_CAP && (clock > remembered || remembered > clock + CLOCK_SLACK))
    replaceFile(dirs.clock, `${clock}\n`);
}
