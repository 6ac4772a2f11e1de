import { expect, test } from 'vitest';
import { template } from '../threats/forge.ts';
import { runChanges } from './accepted.ts';
import { ground } from './ground.ts';

const place = template(ground);

test.each([1])('what the gate lets in stops nobody: seed %i', async (seed) => {
  const { accepted, refused } = await runChanges(place(), seed, 6);
  expect(accepted + refused).toBe(6);
});
