/** When something happened, in the order of SPEC §2.4. */
export interface StoryMoment {
  clock: number;
  delta_id: string;
}

export function byNewest(a: StoryMoment, b: StoryMoment): number {
  if (a.clock !== b.clock) return b.clock - a.clock;
  return a.delta_id < b.delta_id ? 1 : a.delta_id > b.delta_id ? -1 : 0;
}

/**
 * Puts an item into a list that is sorted, the newest first, and at most `most` long. The newest of all come out whatever
 * the order they came in, and however often: what a fold over merged branches needs.
 */
export function insertNewest<T extends StoryMoment>(list: T[], item: T, most: number): void {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (byNewest(list[middle]!, item) < 0) low = middle + 1;
    else high = middle;
  }
  const next = list[low];
  if (low === most || (next && byNewest(next, item) === 0)) return;
  list.splice(low, 0, item);
  if (list.length > most) list.pop();
}

/** The same for many at once: to make room for each of them by itself would take as long as the list is. */
export function mergeNewest<T extends StoryMoment>(list: readonly T[], items: readonly T[], most: number): T[] {
  const sorted = [...list, ...items].sort(byNewest);
  return sorted.filter((item, at) => at === 0 || byNewest(sorted[at - 1]!, item) !== 0).slice(0, most);
}
