import { afterAll, beforeAll, expect, test } from 'vitest';
import { compareHistories, KINDS, openWorkplace, range, type Workplace } from './compare.ts';
import { PROMISES } from './promises.ts';

/** None of those that the quick tests look at. COVERAGE_COUNT: more of them. */
const SEED = Number(process.env.COVERAGE_SEED ?? 100_000);
const COUNT = Number(process.env.COVERAGE_COUNT ?? 2000);

let workplace: Workplace;
beforeAll(() => {
  workplace = openWorkplace();
});
afterAll(() => workplace.close());

test('the gate judges many small histories as SPEC §10.4 does, read slowly', { timeout: 3_600_000 }, async () => {
  const tally = await compareHistories(workplace, range(SEED, COUNT));
  const missing = KINDS.filter((kind) => (tally.get(kind) ?? 0) < COUNT / 200);
  expect(missing).toEqual([]);
  expect(Math.min(tally.get('passes')!, tally.get('is refused')!)).toBeGreaterThan(COUNT / 4);
});

const FEW = Math.min(COUNT, 60);

test.each(PROMISES)('%s', { timeout: 3_600_000 }, async (_, promise) => {
  for (const seed of range(SEED, FEW)) {
    await promise(workplace, seed).catch((cause) =>
      Promise.reject(new Error(`seed ${seed}: ${cause.message}`, { cause })),
    );
  }
});
