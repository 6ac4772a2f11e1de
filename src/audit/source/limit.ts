/** Folders that are read at once: enough that nobody waits for the disk, few enough that memory stays small. */
export const FOLDERS_AT_ONCE = 64;

/** Enough to keep every core busy, few enough that memory does not grow with the tree. */
export const RECORDS_AT_ONCE = 512;

/** Tasks of at most `max` weight under way at once; the others wait in order. Bounds memory, whatever the size of a tree. */
export function limiter(max: number): <T>(weight: number, task: () => Promise<T>) => Promise<T> {
  const waiting: { weight: number; start: () => void }[] = [];
  let next = 0;
  let running = 0;
  // An index instead of `shift`, which moves the whole queue: one of 100,000 sessions would be moved 100,000 times.
  const startWaiting = (): void => {
    for (; next < waiting.length; next++) {
      const { weight, start } = waiting[next]!;
      if (running > 0 && running + weight > max) return;
      running += weight;
      start();
    }
    waiting.length = next = 0;
  };
  return async (weight, task) => {
    await new Promise<void>((start) => {
      waiting.push({ weight, start });
      startWaiting();
    });
    try {
      return await task();
    } finally {
      running -= weight;
      startWaiting();
    }
  };
}
