import { utf8 } from '../bytes/bytes.ts';

/** As much of a list as is shown, and how many items are not. */
export interface Part<T> {
  shown: T[];
  left: number;
}

export interface Limit {
  items: number;
  /** As JSON. */
  bytes: number;
}

export function firstOf<T>(list: readonly T[], limit: Limit): Part<T> {
  const shown: T[] = [];
  let bytes = 0;
  for (const item of list.slice(0, limit.items)) {
    bytes += utf8(JSON.stringify(item)).length;
    if (bytes > limit.bytes) break;
    shown.push(item);
  }
  return { shown, left: list.length - shown.length };
}

/** One of each author in turn, in the order of the list: nobody who writes much hides what others wrote. */
export function shareOf<T>(list: readonly T[], authorOf: (item: T) => string, limit: Limit): Part<T> {
  const turns = new Map<string, number>();
  const inTurn = list.map((item) => {
    const turn = turns.get(authorOf(item)) ?? 0;
    turns.set(authorOf(item), turn + 1);
    return { item, turn };
  });
  inTurn.sort((a, b) => a.turn - b.turn);
  const { shown, left } = firstOf(
    inTurn.map(({ item }) => item),
    limit,
  );
  const kept = new Set(shown);
  return { shown: list.filter((item) => kept.has(item)), left };
}
