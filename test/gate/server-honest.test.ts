import { describe, expect, test } from 'vitest';
import { template } from '../threats/forge.ts';
import { ground } from './ground.ts';
import { HONEST } from './honest.ts';
import { isPushed, named } from './scenario.ts';
import { pushChange, serverTemplate } from './server.ts';

// The same flows as in honest.test.ts, pushed to a real bare repository whose pre-receive hook is ours.

const place = template(ground);
const server = serverTemplate();

describe.each(Object.entries(HONEST))('a server takes: %s', (_, scenarios) => {
  test.each(named(scenarios.filter(isPushed)))('%s', async (_, { build }) => {
    const here = place();
    const change = (await build(here)) ?? {};
    const bare = server(here, change.base === undefined ? 'main' : change.base);
    const { code, stderr, after, wanted } = pushChange(here, bare, change);
    expect({ code, stderr, main: after }).toEqual({ code: 0, stderr: expect.anything(), main: wanted });
  });
});
