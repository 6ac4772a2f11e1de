import { expect, test } from 'vitest';
import { template } from '../threats/forge.ts';
import { runChanges } from './accepted.ts';
import { ground } from './ground.ts';

// The same as accepted.test.ts, for longer. HANDOFF_SEEDS=100-140 tries others.

const place = template(ground);
const [first = 10, last = 21] = (process.env.HANDOFF_SEEDS ?? '').split('-').filter(Boolean).map(Number);
const seeds = Array.from({ length: last - first + 1 }, (_, n) => first + n);

test.each(seeds)('what the gate lets in stops nobody: seed %i', { timeout: 300_000 }, async (seed) => {
  const { accepted, refused, trace } = await runChanges(place(), seed, 25);
  if (process.env.HANDOFF_TRACE) console.log(trace.join('\n'));
  expect(Math.min(accepted, refused)).toBeGreaterThan(0);
});
