/** A promise that is awaited later: what it fails with is told then, and ends nothing before. */
export function later<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}

/** What was asked for, and comes later. Not the promise itself: whoever awaits one gets what it answers, and not when it was asked. */
export interface Asked<T> {
  answer: Promise<T>;
}

/** Waits until a promise has an answer or has failed, which is told where it is awaited. */
export async function settled(promise: Promise<unknown>): Promise<void> {
  await Promise.allSettled([promise]);
}
