import type { GitResult } from '../run.ts';

const ATTEMPTS = 40;

/**
 * Another git process holds the index for a moment: it is asked again for about six seconds. At odd times, so that a
 * hundred who wait do not meet again each time.
 */
export async function untilUnlocked<T>(run: () => Promise<T | 'locked'>): Promise<T | 'locked'> {
  for (let attempt = 1; ; attempt++) {
    const result = await run();
    if (result !== 'locked' || attempt === ATTEMPTS) return result;
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 300));
  }
}

/** Whether git gave up because somebody else has the lock that it wants. */
export function isLockedOut({ code, stderr }: GitResult): boolean {
  return code !== 0 && /\.lock': File exists/.test(stderr);
}
