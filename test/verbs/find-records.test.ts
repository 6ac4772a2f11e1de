import { cpSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { LogEntry, LogOptions } from '../../src/verbs/reading/log.ts';
import { commitAll, type Draft, type Place, STORY, type Written, writeBytes, writeSession } from '../handoff.ts';
import { git } from '../temporary.ts';
import { alterTree, codes, policyFile, reopen, template } from '../threats/forge.ts';

// `log` and `show` find records by what earlier runs kept. A run that keeps nothing and is asked for everything judges all
// sessions of the tree: whatever happened to the repository or to what was kept, both must say the same.

const fresh = template();

const cached = (place: Place) => reopen(place, place.dir, place.env, 'a build').handoff;
const cacheOf = (place: Place) => join(place.dir, '.git/handoff/cache');

/** Numbers that look like chance and are the same every time. */
function chance(seed: number): (below: number) => number {
  let state = seed * 2654435761 + 1;
  return (below) => {
    state = (Math.imul(state ^ (state >>> 15), 2246822519) + 3266489917) >>> 0;
    return state % below;
  };
}

const TASKS = ['P0.1', 'P0.2', 'P0.3'];

function randomStory(pick: (below: number) => number): Draft[] {
  const change = { kind: 'task' as const, task_id: TASKS[pick(3)]!, status: 'in_progress' };
  return [STORY[0]!, ...Array.from({ length: pick(4) }, () => (pick(2) ? STORY[1]! : change)), STORY[3]!];
}

interface World {
  place: Place;
  pick(below: number): number;
  written: Written[];
}

function addSession({ place, pick, written }: World): void {
  const identity = ['donna', 'erin'][pick(2)]!;
  const at = `2026-02-${10 + pick(19)}T14:30:25.123Z`;
  written.push(...writeSession(place, randomStory(pick), { identity, at, clock: pick(60) }));
}

const isThere = ({ place: { dir } }: World, { path }: Written): boolean => existsSync(join(dir, path));

function some(world: World): Written | undefined {
  const there = world.written.filter((each) => isThere(world, each));
  return there[world.pick(Math.max(1, there.length))];
}

/** What may happen to a repository, by its users or by somebody else. */
const EVENTS: ((world: World) => unknown)[] = [
  addSession,
  addSession,
  (world) => {
    addSession(world);
    commitAll(world.place);
  },
  (world) => {
    addSession(world);
    git(world.place.dir, 'add', '.handoff');
  },
  ({ place }) => commitAll(place),
  (world) => {
    const record = some(world);
    if (record)
      writeBytes(world.place.dir, record.path, Buffer.from(record.bytes).toString().replace('set up', 'tear'));
    commitAll(world.place);
  },
  (world) => {
    const record = some(world);
    if (record) rmSync(join(world.place.dir, record.path));
    git(world.place.dir, 'add', '--all');
  },
  (world) => {
    const folder = dirname(some(world)?.path ?? '.handoff/none/x');
    const copy = join(world.place.dir, folder.replace('/2026', '/2025'));
    if (existsSync(join(world.place.dir, folder))) cpSync(join(world.place.dir, folder), copy, { recursive: true });
    commitAll(world.place);
  },
  ({ place: { dir }, pick }) => {
    git(dir, 'stash', '--include-untracked', '--quiet');
    git(dir, 'switch', '--quiet', '--force-create', `side-${pick(2)}`);
  },
  ({ place, pick }) => {
    commitAll(place);
    const branches = git(place.dir, 'branch', '--format=%(refname:short)').split('\n');
    git(place.dir, 'switch', '--quiet', branches[pick(branches.length)]!);
  },
  async ({ place, pick }) => {
    commitAll(place);
    const name = ['donna', 'erin'][pick(2)]!;
    await reopen(place)
      .handoff.identity.revoke({ name })
      .catch(() => {});
  },
  ({ place }) => commitAll(place),
];

/** What may happen to a cache. Its files belong to the user, and nothing may go wrong because of them. */
const MISHAPS: ((world: World) => unknown)[] = [
  () => {},
  () => {},
  ({ place }) => rmSync(cacheOf(place), { recursive: true, force: true }),
  (world) => damage(world, (bytes) => bytes.subarray(0, bytes.length >> 1)),
  (world) => damage(world, () => Buffer.alloc(0)),
  (world) => damage(world, () => Buffer.from('[1, {"no": "cache"}]')),
  (world) => damage(world, (bytes) => Buffer.from(bytes.toString().replace(/"(?:tree|path|after)":/g, '"else":'))),
  ({ place, pick }) => {
    const file = files(place)[pick(Math.max(1, files(place).length))];
    if (file) rmSync(file);
  },
];

function files({ dir }: Place): string[] {
  const cache = cacheOf({ dir } as Place);
  const names = existsSync(cache) ? readdirSync(cache, { recursive: true, encoding: 'utf8' }) : [];
  return names
    .map((name) => join(cache, name))
    .filter((path) => statSync(path).isFile())
    .sort();
}

/** Some of the files, or all. */
function damage({ place, pick }: World, change: (bytes: Buffer) => Uint8Array): void {
  const every = 1 + pick(3);
  for (const [n, file] of files(place).entries()) if (n % every === 0) writeFileSync(file, change(readFileSync(file)));
}

async function allOf(place: Place): Promise<LogEntry[]> {
  return (await reopen(place).handoff.log()).records;
}

async function compareLogs(place: Place, all: readonly LogEntry[]): Promise<void> {
  const handoff = cached(place);
  const questions: [LogOptions, (entry: LogEntry) => boolean][] = [
    [{ limit: 0 }, () => true],
    [{ limit: 1 }, () => true],
    [{ limit: 5 }, () => true],
    [{ limit: 1000 }, () => true],
    [{ identity: 'erin', limit: 2 }, ({ identity }) => identity === 'erin'],
    [{ kind: 'task' }, ({ kind }) => kind === 'task'],
    [{ session: all.at(-1)?.session_id ?? 'f' }, (entry) => entry.session_id === all.at(-1)?.session_id],
  ];
  for (const [options, isWanted] of questions) {
    const expected = all.filter(isWanted).slice(0, options.limit);
    expect((await handoff.log(options)).records, JSON.stringify(options)).toEqual(expected);
  }
}

async function compareShown(place: Place, all: readonly LogEntry[], pick: (below: number) => number): Promise<void> {
  const handoff = cached(place);
  for (const { id, path, valid } of [all[0], all[pick(Math.max(1, all.length))]].filter(
    (entry) => entry !== undefined,
  )) {
    expect(await handoff.show({ record: path })).toMatchObject({ id, path, valid });
    const copies = all.filter((entry) => entry.id === id).map((entry) => entry.path);
    const shown = handoff.show({ record: id.slice(7, 23) });
    if (copies.length === 1) expect(await shown).toMatchObject({ id, path, valid });
    else await expect(shown).rejects.toMatchObject({ hint: expect.stringContaining(copies.at(-1)!) });
  }
}

describe('what is found by what was kept', () => {
  it.each([1, 2, 3, 4, 5, 6])(
    'is what judging everything finds, whatever happened (%i)',
    { timeout: 120_000 },
    async (seed) => {
      const place = fresh();
      const world: World = { place, pick: chance(seed), written: [] };
      for (let step = 0; step < 12; step++) {
        await EVENTS[world.pick(EVENTS.length)]!(world);
        await MISHAPS[world.pick(MISHAPS.length)]!(world);
        const all = await allOf(place);
        await compareLogs(place, all);
        await compareShown(place, all, world.pick);
      }
    },
  );

  it('is the same after a revocation, without reading what was kept anew', async () => {
    const place = fresh();
    const [start] = writeSession(place, STORY);
    commitAll(place);
    expect((await cached(place).log({ limit: 1 })).records).toMatchObject([{ valid: true, kind: 'baton' }]);
    await reopen(place).handoff.identity.revoke({ name: 'donna' });
    const { records } = await cached(place).log({ limit: 1 });
    expect(records).toMatchObject([{ valid: false, kind: 'baton', reason: 'key_revoked', summary: '' }]);
    expect(await cached(place).show({ record: start!.id })).toMatchObject({ valid: false, signer: null });
  });

  it('counts more records than are kept as the newest, on branches that lack most of them', {
    timeout: 60_000,
  }, async () => {
    const place = fresh();
    const notes = (count: number): Draft[] => [STORY[0]!, ...Array.from({ length: count }, () => STORY[1]!)];
    writeSession(place, notes(120), { at: '2026-02-01T00:00:00.000Z' });
    commitAll(place);
    git(place.dir, 'branch', 'short');
    writeSession(place, notes(300), { identity: 'erin', clock: 1000 });
    commitAll(place);
    for (const branch of ['main', 'short', 'main']) {
      git(place.dir, 'switch', '--quiet', branch);
      const all = await allOf(place);
      for (const limit of [5, 200, 270, 400])
        expect((await cached(place).log({ limit })).records, `${branch} ${limit}`).toEqual(all.slice(0, limit));
    }
  });

  it('does not depend on whether anything can be kept', async () => {
    const place = fresh();
    writeSession(place, STORY);
    commitAll(place);
    writeBytes(place.dir, '.git/handoff/cache', 'a file in its place');
    const all = await allOf(place);
    await compareLogs(place, all);
    await compareShown(place, all, () => 1);
  });

  it('is found in another work tree, whose index is another', async () => {
    const place = fresh();
    const there = join(place.dir, '..', 'there');
    git(place.dir, 'worktree', 'add', '--quiet', '-b', 'there', there);
    const [start] = writeSession(place, STORY);
    git(place.dir, 'add', '.handoff');
    const other = { ...place, dir: there };
    for (let run = 0; run < 2; run++) {
      expect((await cached(place).log({ limit: 9 })).records).toHaveLength(4);
      expect((await cached(other).log({ limit: 9 })).records).toEqual([]);
    }
    expect(await cached(place).show({ record: start!.id })).toMatchObject({ valid: true });
    await expect(cached(other).show({ record: start!.id })).rejects.toMatchObject({ code: 'unknown_record' });
  });

  it('is there while a merge is in conflict', async () => {
    const place = fresh();
    const [start] = writeSession(place, STORY);
    commitAll(place);
    git(place.dir, 'switch', '--quiet', '--create', 'side', 'HEAD~1');
    writeBytes(place.dir, start!.path, 'something else\n');
    commitAll(place);
    expect(() => git(place.dir, 'merge', '--quiet', 'main')).toThrow();
    const all = await allOf(place);
    expect(all).toHaveLength(4);
    expect((await cached(place).log({ limit: 9 })).records).toEqual(all);
  });

  it('is in both where a hand-made tree has a folder twice', async () => {
    const place = fresh();
    const written = writeSession(place, STORY);
    const folder = dirname(written[0]!.path);
    git(place.dir, 'add', ...written.slice(0, 2).map(({ path }) => path));
    git(place.dir, 'commit', '--quiet', '--message', 'half of it');
    const oid = git(place.dir, 'rev-parse', `HEAD:${folder}`);
    commitAll(place);
    const twice = alterTree(place.dir, dirname(folder), ([entry]) => [entry!, { ...entry!, oid }]);
    const bare = { ...place, dir: join(place.dir, '..', 'bare.git') };
    git(place.dir, 'update-ref', 'refs/heads/twice', twice);
    git('/', 'clone', '--quiet', '--bare', '--branch', 'twice', place.dir, bare.dir);
    const all = await allOf(bare);
    expect(all).toHaveLength(6);
    for (let run = 0; run < 2; run++) expect((await cached(bare).log({ limit: 9 })).records).toEqual(all);
  });
});

describe('a document in the place of a record', () => {
  it('is no record of the session, and ends no listing', async () => {
    const place = fresh();
    const [start] = writeSession(place, STORY.slice(0, 1));
    const policy = readFileSync(join(place.dir, policyFile(1)));
    writeBytes(place.dir, start!.path.replace('0001-start', '0002-note'), policy);
    commitAll(place);
    expect(await codes(place)).toEqual(['path_mismatch 0002-note.yaml']);
    for (const options of [{}, { session: start!.path.slice(-8) }, { limit: 5 }, { identity: 'donna' }])
      expect((await cached(place).log(options)).records.length).toBeLessThanOrEqual(1);
  });
});

describe('what is staged', () => {
  it('is seen at once, although what git said about the index is kept', async () => {
    const place = fresh();
    const paths = async () => (await cached(place).log({ limit: 9 })).records.map(({ path }) => path);
    writeSession(place, STORY);
    commitAll(place);
    expect(await paths()).toHaveLength(4);
    const [start] = writeSession(place, STORY.slice(0, 1), { identity: 'erin', clock: 50 });
    git(place.dir, 'add', '.handoff');
    expect((await paths())[0]).toBe(start!.path);
    git(place.dir, 'rm', '--quiet', '--cached', start!.path);
    expect(await paths()).toHaveLength(4);
    renameSync(join(place.dir, dirname(start!.path)), join(place.dir, '..', 'away'));
    expect(await paths()).toHaveLength(4);
  });
});
