/** Tasks of at most `max` weight under way at once; the others wait in order. Bounds memory, whatever the size of a tree. */
export function limiter(max: number): <T>(weight: number, task: () => Promise<T>) => Promise<T> {
  const waiting: { weight: number; start: () => void }[] = [];
  let running = 0;
  const startWaiting = (): void => {
    while (waiting[0] && (running === 0 || running + waiting[0].weight <= max)) {
      running += waiting[0].weight;
      waiting.shift()!.start();
    }
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
