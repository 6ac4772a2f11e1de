import { HandoffError } from '../../core/error.ts';
import type { Oid } from '../../git/objects/store.ts';
import type { Source } from '../source/source.ts';
import { mostPlaces } from './most-places.ts';
import { type PlaceBeyond, placesBeyond, type Room } from './places.ts';

/** What each of many trees has beyond one of them, in one room. Kept between runs: a tree that was compared is not read again. */
export interface KeptBeyond {
  reference: Oid | null;
  trees: Record<Oid, PlaceBeyond[]>;
  /** Trees that have too much to be looked at beside the others, with how much that is. */
  left: Record<Oid, number>;
}

/** The trees of a room, as the branches of a clone have them. */
export interface RoomTrees {
  /** What is checked out. */
  head: Oid | null;
  /** The protected branch, which only grows as a rule. */
  trunk: Oid | null;
  /** All of them, each once. */
  all: readonly Oid[];
}

export interface Beyond extends KeptBeyond {
  /** Trees that could not be read this time, or never can. */
  unread: { tree: Oid; error: HandoffError }[];
}

/** No branch adds so many sessions; what has more is not looked at. */
const MOST_PLACES = 4096;

/**
 * The reference is a tree that another one still has whole, so that nothing has to be compared with what is gone: `beyond` of each
 * tree and the reference together hold everything that any of them has.
 */
export async function readBeyond(source: Source, room: Room, kept: KeptBeyond, trees: RoomTrees): Promise<Beyond> {
  const isKept = await isHeldBySome(source, room, kept.reference, trees);
  const reference = isKept ? kept.reference : (trees.trunk ?? trees.head);
  const known: Pick<KeptBeyond, 'trees' | 'left'> = isKept ? kept : { trees: {}, left: {} };
  const most = mostPlaces(trees.trunk);
  const beyond: Beyond = { reference, trees: most.trees, left: most.left, unread: [] };
  for (const tree of smallestFirst(trees, known.left)) {
    const count = known.left[tree];
    if (count !== undefined && !most.hasRoomFor(count)) {
      most.leaveOut(tree, count);
      continue;
    }
    try {
      const keptPlaces = known.trees[tree];
      most.add(tree, keptPlaces ?? (await placesBeyond(source, room, reference, tree)).slice(0, MOST_PLACES));
    } catch (error) {
      if (!(error instanceof HandoffError)) throw error;
      beyond.unread.push({ tree, error });
      if (error.exitCode !== 4) most.add(tree, []); // it is as it is; what is missing may still arrive
    }
  }
  return beyond;
}

/** Those that were left out come last: there may be room for them now. */
function smallestFirst({ all, head }: RoomTrees, left: Readonly<Record<Oid, number>>): Oid[] {
  return all.filter((tree) => tree !== head).sort((a, b) => (left[a] ?? 0) - (left[b] ?? 0));
}

async function isHeldBySome(source: Source, room: Room, reference: Oid | null, trees: RoomTrees): Promise<boolean> {
  if (reference === null) return false;
  if (trees.all.includes(reference)) return true;
  for (const tree of [trees.trunk, trees.head])
    if (tree && (await placesBeyond(source, room, tree, reference).catch(notHeld)).length === 0) return true;
  return false;
}

/** What cannot be compared holds nothing. */
function notHeld(error: unknown): [null] {
  if (error instanceof HandoffError) return [null];
  throw error;
}
