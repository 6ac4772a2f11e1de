import { describe, expect, test } from 'vitest';
import { ground, groundFolder } from '../gate/ground.ts';
import { alterTree, blob, codes, template } from '../threats/forge.ts';

// M50: no name stands twice in a folder. Git itself writes no such tree, and takes one that somebody else wrote.

const place = template((here) => ground(here));

describe('a record twice', () => {
  test.each<[string, (dir: string, oid: string) => string]>([
    ['the same bytes', (_, oid) => oid],
    ['other bytes', (dir) => blob(dir, 'x')],
  ])('%s: is name_lookalike', async (_, make) => {
    const here = place();
    const rev = alterTree(here.dir, groundFolder(here), (entries) =>
      entries.flatMap((entry) =>
        entry.name === '0002-thought.yaml' ? [entry, { ...entry, oid: make(here.dir, entry.oid) }] : [entry],
      ),
    );
    expect(await codes(here, { rev })).toContain('name_lookalike 0002-thought.yaml');
  });
});

test('a session twice is name_lookalike', async () => {
  const here = place();
  const rev = alterTree(here.dir, '.handoff/sessions/donna', (entries) => [...entries, entries[0]!]);
  expect((await codes(here, { rev })).map((line) => line.split(' ')[0])).toContain('name_lookalike');
});
