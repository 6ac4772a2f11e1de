import { describe, expect, test } from 'vitest';
import { template } from '../threats/forge.ts';
import { ATTACKS } from './attacks.ts';
import { ground } from './ground.ts';
import { isPushed, named } from './scenario.ts';
import { pushChange, serverTemplate } from './server.ts';

// The same pull requests as in attacks.test.ts, pushed to a real bare repository whose pre-receive hook is ours.

/** By our verdict, or by git where it takes no such object: a hook that broke down refuses as well, and nobody would know why. */
const SAID = /git-handoff: refs\/heads\/main: refused: |remote unpack failed/;

const place = template(ground);
const server = serverTemplate();

const PUSHED = Object.entries(ATTACKS).filter(([, scenarios]) => scenarios.some(isPushed));

describe.each(PUSHED)('a server refuses: %s', (_, scenarios) => {
  test.each(named(scenarios.filter(isPushed)))('%s', async (_, { build }) => {
    const here = place();
    const change = (await build(here)) ?? {};
    const bare = server(here, change.base === undefined ? 'main' : change.base);
    const { code, stderr, before, after } = pushChange(here, bare, change);
    expect({ code, stderr, main: after }).toEqual({
      code: 1,
      stderr: expect.stringMatching(SAID),
      main: before,
    });
  });
});
