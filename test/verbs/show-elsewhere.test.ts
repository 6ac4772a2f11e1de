import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { commitAll, type Place, STORY, type Written, writeBytes, writeSession } from '../handoff.ts';
import { git } from '../temporary.ts';
import { reopen, template } from '../threats/forge.ts';
import { cloneOf, fetchAll, serverOf } from './clones.ts';
import { error } from './tasks.ts';

// What is only on another branch is found by whoever names it.

const fresh = template();
const SESSION = '7c1f09aa-51cf-4c61-9a39-2b7fd2f9a1de';

/** A session that a branch has which was fetched. */
function fetched(build?: string): { place: Place; there(): Place; records: Written[] } {
  const place = fresh();
  const bare = serverOf(place);
  const clone = cloneOf(place, bare, 'lola', build);
  const records = onBranch(place, 'work', SESSION);
  fetchAll(clone);
  return { place, records, there: () => reopen(place, clone.dir, place.env, build) };
}

function onBranch(place: Place, branch: string, sessionId: string, clock = 10): Written[] {
  git(place.dir, 'switch', '--quiet', '--create', branch, 'main');
  const records = writeSession(place, STORY, { sessionId, clock });
  commitAll(place);
  git(place.dir, 'push', '--quiet', 'origin', branch);
  git(place.dir, 'switch', '--quiet', 'main');
  return records;
}

describe.each([undefined, 'test'])('what is kept: %s', (build) => {
  test('a record is shown by its id, the beginning of it, and its path', async () => {
    const { records, there } = fetched(build);
    const { id, path } = records[1]!;
    for (const name of [id, id.slice('sha256:'.length, 15), path, path.replace('.handoff/', '')]) {
      const shown = await there().handoff.show({ record: name });
      expect(shown).toMatchObject({ id, path, valid: true, signer: { identity: 'donna' } });
    }
  });

  test('its session is listed by log and by show', async () => {
    const { records, there } = fetched(build);
    const ids = records.map(({ id }) => id).reverse();
    const { records: listed } = await there().handoff.log({ session: SESSION.slice(0, 8) });
    expect(listed.map(({ id, valid }) => [id, valid])).toEqual(ids.map((id) => [id, true]));
    expect((await there().handoff.log({ session: SESSION, limit: 1 })).records.map(({ id }) => id)).toEqual(
      ids.slice(0, 1),
    );
    expect((await there().handoff.log({ session: SESSION, kind: 'note' })).records).toHaveLength(1);
    expect((await there().handoff.log()).records).toEqual([]); // which is about this branch
    expect((await there().handoff.log({ session: SESSION.slice(0, 4) })).records).toEqual([]);
  });

  test('more branches, and branches that are gone, change nothing', async () => {
    const { place, records, there } = fetched(build);
    const name = records[1]!.id;
    expect(await there().handoff.show({ record: name })).toMatchObject({ valid: true });
    const more = onBranch(place, 'more', '11111111-51cf-4c61-9a39-2b7fd2f9a1de', 20);
    fetchAll(there());
    expect(await there().handoff.show({ record: more[2]!.id })).toMatchObject({ valid: true });
    expect(await there().handoff.show({ record: name })).toMatchObject({ valid: true });
    git(place.dir, 'push', '--quiet', 'origin', ':work');
    fetchAll(there());
    expect(await error(there().handoff.show({ record: name }))).toMatchObject({ code: 'unknown_record' });
    expect(await there().handoff.show({ record: more[2]!.id })).toMatchObject({ valid: true });
  });
});

test('what does not hold there is not found', async () => {
  const place = fresh();
  const clone = cloneOf(place, serverOf(place), 'lola');
  git(place.dir, 'switch', '--quiet', '--create', 'forged', 'main');
  const records = writeSession(place, STORY, { sessionId: SESSION });
  writeBytes(place.dir, records[1]!.path, Buffer.from(records[1]!.bytes).toString('utf8').replace('npm', 'nothing'));
  commitAll(place);
  git(place.dir, 'push', '--quiet', 'origin', 'forged');
  fetchAll(clone);
  const there = reopen(place, clone.dir);
  expect(await error(there.handoff.show({ record: records[2]!.id }))).toMatchObject({ code: 'unknown_record' });
  expect((await there.handoff.log({ session: SESSION })).records).toEqual([]);
});

test('what nobody has is not there, with and without anything kept', async () => {
  const { there } = fetched('test');
  for (const _ of ['cold', 'warm'])
    expect(await error(there().handoff.show({ record: 'abcdef' }))).toMatchObject({ code: 'unknown_record' });
  rmSync(join(there().dir, '.git/handoff'), { recursive: true, force: true });
  expect(await error(there().handoff.show({ record: 'abcdef' }))).toMatchObject({ code: 'unknown_record' });
});
