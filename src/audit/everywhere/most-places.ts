import type { Oid } from '../../git/objects/store.ts';
import type { PlaceBeyond } from './places.ts';

/** Of all branches together. Each costs memory, and a look at its records; a branch of ours adds a few. */
export const MOST_PLACES_OF_ALL = 8192;

/** What trees have beyond the reference, as far as it is looked at. */
export interface MostPlaces {
  trees: Record<Oid, PlaceBeyond[]>;
  /** Trees that are left out, each with how much it has. */
  left: Record<Oid, number>;
  add(tree: Oid, places: PlaceBeyond[]): void;
  leaveOut(tree: Oid, count: number): void;
  hasRoomFor(count: number): boolean;
}

/**
 * Anybody may push hundreds of branches with thousands of folders each. Those with the most are left out first, so that nobody's
 * honest few are; the protected branch never is.
 */
export function mostPlaces(trunk: Oid | null): MostPlaces {
  const trees: Record<Oid, PlaceBeyond[]> = {};
  const left: Record<Oid, number> = {};
  const counts = new Map<Oid, number>();
  let total = 0;
  const leaveOut = (tree: Oid, count: number): void => {
    left[tree] = count;
    total -= counts.get(tree) ?? 0;
    counts.delete(tree);
    delete trees[tree];
  };
  return {
    trees,
    left,
    leaveOut,
    hasRoomFor: (count) => total + count <= MOST_PLACES_OF_ALL,
    add(tree, places) {
      trees[tree] = places;
      if (tree === trunk) return;
      counts.set(tree, places.length);
      total += places.length;
      while (total > MOST_PLACES_OF_ALL) leaveOut(...largest(counts));
    },
  };
}

function largest(counts: ReadonlyMap<Oid, number>): [Oid, number] {
  return [...counts].reduce((most, each) => (each[1] > most[1] ? each : most));
}
