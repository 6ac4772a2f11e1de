import type { GitResult } from '../run.ts';

const ATTEMPTS = 40;

/**
 * Another git process holds the index for a moment: it is asked again for about six seconds. At odd times, so that a
 * hundred who wait do not meet again each time.
 */
export async function untilUnlocked(run: () => Promise<GitResult>): Promise<GitResult> {
  for (let attempt = 1; ; attempt++) {
    const result = await run();
    if (result.code === 0 || attempt === ATTEMPTS || !/\.lock': File exists/.test(result.stderr)) return result;
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 300));
  }
}
