/** Numbers that look random, and are the same for the same seed. */
export interface Random {
  /** From 0 to n - 1. */
  below(n: number): number;
  chance(probability: number): boolean;
  one<T>(list: readonly T[]): T;
  /** In another order. */
  shuffled<T>(list: readonly T[]): T[];
}

/** mulberry32 */
export function openRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (n: number): number => Math.floor(next() * n);
  return {
    below,
    chance: (probability) => next() < probability,
    one: (list) => list[below(list.length)]!,
    shuffled(list) {
      const left = [...list];
      return list.map(() => left.splice(below(left.length), 1)[0]!);
    },
  };
}
