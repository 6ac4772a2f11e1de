import fc from 'fast-check';
import { expect, test } from 'vitest';
import { addClock, CLOCK_CAP, CLOCK_SLACK, type Clocks } from '../../src/core/record/clocks.ts';

function clocksOf(seen: readonly number[]): Clocks {
  const clocks: Clocks = { clock: 0, highest: 0, beyond: [] };
  for (const clock of seen) addClock(clocks, clock);
  return clocks;
}

test('the highest that others lead up to is counted on from', () => {
  expect(clocksOf([3, 9, 4]).clock).toBe(9);
  expect(clocksOf([3, 2 ** 48 - 1, 9]).clock).toBe(9);
  expect(clocksOf([3, 2 ** 39, 9])).toMatchObject({ clock: 9, highest: 2 ** 39 });
  expect(clocksOf([CLOCK_CAP])).toEqual({ clock: 0, highest: 0, beyond: [] });
});

test('whatever a gate lets in is followed, change after change', () => {
  const seen = Array.from({ length: 200 }, (_, at) => (at + 1) * (CLOCK_SLACK + 10_000));
  const highest = seen.at(-1)!;
  expect(clocksOf(seen)).toEqual({ clock: highest, highest, beyond: [] });
  expect(clocksOf(seen.slice(0, 60).reverse()).clock).toBe(seen[59]);
});

test('in whatever order they are seen', () => {
  const clock = fc.oneof(fc.nat({ max: 100 }), fc.nat({ max: 2 ** 25 }), fc.maxSafeNat());
  fc.assert(
    fc.property(fc.array(clock, { maxLength: 30 }), fc.nat(), (seen, turn) => {
      const from = seen.length === 0 ? 0 : turn % seen.length;
      expect(clocksOf([...seen.slice(from), ...seen.slice(0, from)].reverse())).toEqual(clocksOf(seen));
    }),
  );
});
