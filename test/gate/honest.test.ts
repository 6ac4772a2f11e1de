import { describe, expect, test } from 'vitest';
import { template } from '../threats/forge.ts';
import { ground } from './ground.ts';
import { HONEST } from './honest.ts';
import { codesOf, named } from './scenario.ts';

// Honest work: none of it is rejected. test/gate/server-honest.test.ts pushes the same.

const place = template(ground);

test('there are at least forty, each with a name of its own', () => {
  const names = Object.values(HONEST).flatMap((scenarios) => scenarios.map(({ name }) => name));
  expect(new Set(names).size).toBe(names.length);
  expect(names.length).toBeGreaterThan(40);
});

describe.each(Object.entries(HONEST))('%s', (_, scenarios) => {
  test.each(named(scenarios))('%s', async (_, { build }) => {
    const here = place();
    const change = (await build(here)) ?? {};
    expect(await codesOf(here, change)).toEqual([]);
  });
});
