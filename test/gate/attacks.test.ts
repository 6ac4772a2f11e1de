import { describe, expect, test } from 'vitest';
import { template } from '../threats/forge.ts';
import { ATTACKS } from './attacks.ts';
import { ground } from './ground.ts';
import { codesOf, named } from './scenario.ts';

// Adversarial pull requests: none is accepted, and each is told why. test/gate/server-attacks.test.ts pushes the same ones.

const place = template(ground);

test('there are at least sixty, each with a name of its own', () => {
  const names = Object.values(ATTACKS).flatMap((scenarios) => scenarios.map(({ name }) => name));
  expect(new Set(names).size).toBe(names.length);
  expect(names.length).toBeGreaterThan(60);
});

describe.each(Object.entries(ATTACKS))('%s', (_, scenarios) => {
  test.each(named(scenarios))('%s', async (_, { build, expect: expected }) => {
    const here = place();
    const change = (await build(here)) ?? {};
    expect(await codesOf(here, change)).toEqual([expected].flat());
  });
});
