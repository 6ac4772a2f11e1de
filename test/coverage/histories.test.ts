import { afterAll, beforeAll, expect, test } from 'vitest';
import { compareHistories, openWorkplace, range, type Workplace } from './compare.ts';
import { PROMISES } from './promises.ts';

/** Another beginning: COVERAGE_SEED. One history alone: COVERAGE_COUNT=1 with it. */
const SEED = Number(process.env.COVERAGE_SEED ?? 1);
const COUNT = Number(process.env.COVERAGE_COUNT ?? 40);

let workplace: Workplace;
beforeAll(() => {
  workplace = openWorkplace();
});
afterAll(() => workplace.close());

test('the gate judges small histories as SPEC §10.4 does, read slowly', { timeout: 300_000 }, async () => {
  const tally = await compareHistories(workplace, range(SEED, COUNT));
  if (COUNT < 40) return; // somebody looks at one
  expect(tally.get('passes')).toBeGreaterThan(COUNT / 4);
  expect(tally.get('is refused')).toBeGreaterThan(COUNT / 4);
  for (const kind of ['squash', 'rebase', 'merge', 'half', 'revert', 'conflict', 'main has moved', 'hostile', 'pruned'])
    expect([kind, tally.has(kind)]).toEqual([kind, true]);
});

const FEW = Math.min(COUNT, 6);

test.each(PROMISES)('%s', { timeout: 300_000 }, async (_, promise) => {
  for (const seed of range(SEED, FEW)) {
    await promise(workplace, seed).catch((cause) =>
      Promise.reject(new Error(`seed ${seed}: ${cause.message}`, { cause })),
    );
  }
});
