import { setTimeout as sleep } from 'node:timers/promises';

/** Asks again and again, and gives what was answered. Gives up with what it waited for. */
export async function until(what, ask, ms = 60_000) {
  const end = performance.now() + ms;
  for (;;) {
    const answer = await ask();
    if (answer) return answer;
    if (performance.now() > end) throw new Error(`waited ${ms / 1000} s, and still not: ${what}`);
    await sleep(100);
  }
}
