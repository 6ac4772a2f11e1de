/** SPEC §6.4: no honest writer counts that far. A clock from here on still orders records, but no writer goes on from it. */
export const CLOCK_CAP = 2 ** 40;

/** SPEC §10.3.5: how far a change may go beyond what was there, besides one for each of its records: others may be on their way. */
export const CLOCK_SLACK = 2 ** 20;

/** Clocks within one step, or one and the next, follow each other. A gate lets nobody skip more. */
const STEP = 2 ** 21;

/** What a tree's clocks add up to, in whatever order they are seen. */
export interface Clocks {
  /** The highest that others lead up to: a writer counts on from here. */
  clock: number;
  /** The highest below the cap, whether or not anything leads up to it. */
  highest: number;
  /** By step, the highest of those that nothing leads up to yet; the lowest of them. */
  beyond: number[];
}

const MOST_BEYOND = 64;

/**
 * A record that claims a clock far above all others, on a branch that somebody only looks at, must not carry a writer there: no
 * gate would let its records in.
 */
export function addClock(clocks: Clocks, seen: number): void {
  if (seen >= CLOCK_CAP) return;
  clocks.highest = Math.max(clocks.highest, seen);
  const all = [...clocks.beyond, seen].sort((a, b) => a - b);
  while (all.length > 0 && stepOf(all[0]!) <= stepOf(clocks.clock) + 1)
    clocks.clock = Math.max(clocks.clock, all.shift()!);
  clocks.beyond = all.filter((clock, at) => stepOf(clock) !== stepOf(all[at + 1] ?? Number.NaN)).slice(0, MOST_BEYOND);
}

function stepOf(clock: number): number {
  return Math.floor(clock / STEP);
}
