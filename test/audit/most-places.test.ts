import fc from 'fast-check';
import { expect, it } from 'vitest';
import { MOST_PLACES_OF_ALL, mostPlaces } from '../../src/audit/everywhere/most-places.ts';

const places = (count: number) => Array.from({ length: count }, (_, n) => ({ owner: 'donna', name: `${n}`, oid: 'x' }));

it('whatever branches have, what is looked at has a bound, and the largest are left out', () => {
  const counts = fc.array(fc.integer({ min: 0, max: 4096 }), { minLength: 1, maxLength: 40 });
  fc.assert(
    fc.property(counts, (many) => {
      const most = mostPlaces('trunk');
      most.add('trunk', places(9000));
      for (const [at, count] of many.entries()) most.add(`tree ${at}`, places(count));
      const { trunk, ...kept } = most.trees;
      const sizes = Object.values(kept).map(({ length }) => length);
      expect(trunk).toHaveLength(9000);
      expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(MOST_PLACES_OF_ALL);
      expect([...sizes, ...Object.values(most.left)].sort()).toEqual([...many].sort());
    }),
  );
  const most = mostPlaces(null);
  for (const [at, count] of [4096, 3, 4096, 4000, 5].entries()) most.add(`tree ${at}`, places(count));
  expect([most.left, most.hasRoomFor(80), most.hasRoomFor(100)]).toEqual([{ 'tree 0': 4096 }, true, false]);
});
