/** A promise that is awaited later: what it fails with is told then, and ends nothing before. */
export function later<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}
