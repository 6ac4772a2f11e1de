import { appendFileSync, chmodSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openEvidence } from '../../src/audit/evidence/evidence.ts';
import { openTree } from '../../src/audit/source/tree-source.ts';
import { loadTrust } from '../../src/audit/trust/trust.ts';
import { nodeSuite } from '../../src/crypto.ts';
import { openNativeStore } from '../../src/git/objects/native-store.ts';
import { identityAfter, maintainer } from '../gate/scenario.ts';
import { commitAll, type Draft, type Place, writeBytes, writeSession } from '../handoff.ts';
import { git } from '../temporary.ts';
import { signDocument, template } from '../threats/forge.ts';

const fresh = template();

const START: Draft = { kind: 'start', head: null };
const CHANGE: Draft = { kind: 'task', task_id: 'P0.1', status: 'blocked' };
const COMMIT = 'a'.repeat(40);
const PATCH = 'b'.repeat(64);
const THOUGHT: Draft = {
  kind: 'thought',
  task_id: 'P0.1',
  branch: 'main',
  commit_sha: COMMIT,
  tree: 'c'.repeat(40),
  patch_id: PATCH,
  commit_patch_ids: [],
  tests_run: [],
  summary: 'done',
  blockers: [],
  files_changed: ['src/a.ts'],
  related_thought_records: [],
};

interface Answer {
  task: string[];
  commit: string[];
  patch: string[];
  /** How many records were read to answer. */
  read: number;
}

/** Asks as a new process would. */
async function ask(place: Place, { rev = 'HEAD', cached = true, most = Infinity } = {}): Promise<Answer> {
  const store = openNativeStore({ dir: place.dir, env: place.env });
  try {
    const source = await openTree(store, rev);
    const trust = (await loadTrust(source, nodeSuite, () => {}))!;
    let read = 0;
    const evidence = openEvidence(source, trust, {
      suite: nodeSuite,
      cacheFolder: cached ? cacheOf(place) : null,
      onProgress() {
        if (++read > most) throw new Error('out of time');
      },
    });
    const ids = (found: { record: { id: string } }[]) => found.map(({ record }) => record.id).sort();
    return {
      task: ids(await evidence.ofTasks(['P0.1'])),
      commit: ids(await evidence.thoughtsAbout([COMMIT], [])),
      patch: ids(await evidence.thoughtsAbout([], [PATCH])),
      read,
    };
  } finally {
    await store.close();
  }
}

function cacheOf({ dir }: Place): string {
  return join(dir, '.git/handoff/cache/evidence-test');
}

/** What every question must come out as, whatever is kept. */
async function same(place: Place, rev = 'HEAD'): Promise<Answer> {
  const kept = await ask(place, { rev });
  const { read: _, ...whole } = await ask(place, { rev, cached: false });
  expect(kept).toMatchObject(whole);
  return kept;
}

describe('what all sessions say about something that is named', () => {
  it('is found by task, by commit and by patch, and nothing is read twice', async () => {
    const place = fresh();
    const [, change, thought] = writeSession(place, [START, CHANGE, THOUGHT]);
    commitAll(place);
    const ids = [change!.id, thought!.id].sort();
    expect(await same(place)).toMatchObject({ task: ids, commit: [thought!.id], patch: [thought!.id], read: 3 });
    expect(await same(place)).toMatchObject({ task: ids, read: 0 });
  });

  it('grows by what is new, also within a session', async () => {
    const place = fresh();
    const options = { sessionId: '9a1b2c3d-0000-4000-8000-000000000001' };
    writeSession(place, [START, CHANGE], options);
    commitAll(place);
    expect((await same(place)).task).toHaveLength(1);
    writeSession(place, [START, CHANGE, THOUGHT], options);
    writeSession(place, [START, CHANGE], { identity: 'erin' });
    commitAll(place);
    const { task, read } = await same(place);
    expect([task.length, read]).toEqual([3, 5]);
    const lines = shardsOf(place).flatMap((file) => readFileSync(file, 'utf8').split('\n').slice(1));
    expect(lines).toHaveLength(5); // a record that was there is not kept again
  });

  it('is what a tree has, not what another branch has', async () => {
    const place = fresh();
    const options = { sessionId: '9a1b2c3d-0000-4000-8000-000000000001' };
    const base = commitAll(place);
    writeSession(place, [START, CHANGE], options);
    writeSession(place, [START, THOUGHT], { identity: 'erin' });
    const one = commitAll(place);
    git(place.dir, 'checkout', '--quiet', '--detach', base);
    // the same session, and another second record
    writeSession(place, [START, { ...CHANGE, status: 'todo' }], options);
    const two = commitAll(place);
    for (const rev of [one, two, one, base, two]) await same(place, rev);
    expect((await ask(place, { rev: two })).task).toHaveLength(1);
    expect((await ask(place, { rev: base })).task).toEqual([]);
  });

  it('leaves out what a key signed that was revoked since, and reads nobody else again', async () => {
    const place = fresh();
    const written = writeSession(place, [START, CHANGE]);
    writeSession(place, [START, CHANGE], { identity: 'erin' });
    commitAll(place);
    expect((await same(place)).task).toHaveLength(2);
    const next = identityAfter(place, 'donna', {});
    const keys = (next.keys as unknown as { state: string }[]).map((key) => ({ ...key, state: 'revoked', cutoff: 0 }));
    writeBytes(
      place.dir,
      '.handoff/identities/donna/identity.yaml',
      signDocument({ ...next, keys } as unknown as typeof next, [maintainer(place)]),
    );
    commitAll(place);
    const { task, read } = await same(place);
    expect(task).toHaveLength(1);
    expect(task).not.toContain(written[1]!.id);
    expect(read).toBe(2);
    expect((await same(place)).read).toBe(0);
    expect((await same(place, 'HEAD~1')).task).toHaveLength(2);
  });

  it('counts what did not hold as soon as it does', async () => {
    const place = fresh();
    const path = join(place.dir, '.handoff/identities/erin/identity.yaml');
    const identity = readFileSync(path);
    rmSync(path);
    writeSession(place, [START, CHANGE], { identity: 'erin' });
    commitAll(place);
    expect((await same(place)).task).toEqual([]);
    expect((await same(place)).read).toBe(0);
    writeFileSync(path, identity);
    commitAll(place);
    expect((await same(place)).task).toHaveLength(1);
  });

  it('is the same after a process was cut off while it wrote, and where nothing can be written', async () => {
    const place = fresh();
    writeSession(place, [START, CHANGE]);
    commitAll(place);
    await ask(place);
    const folder = join(cacheOf(place), repoFolder(place));
    rmSync(join(folder, 'covered'), { recursive: true });
    for (const name of readdirSync(folder)) appendFileSync(join(folder, name), '\n["task P0.1","donna","agent",["x');
    writeSession(place, [START, CHANGE], { identity: 'erin' });
    commitAll(place);
    expect((await same(place)).task).toHaveLength(2);
    rmSync(cacheOf(place), { recursive: true });
    writeFileSync(cacheOf(place), 'in the way');
    expect((await same(place)).task).toHaveLength(2);
    expect(existsSync(folder)).toBe(false);
    chmodSync(cacheOf(place), 0o600);
  });

  it('verifies what a kept line leads to: the line itself proves nothing', async () => {
    const place = fresh();
    const [, thought] = writeSession(place, [START, THOUGHT]);
    const honest = commitAll(place);
    await ask(place);
    const text = readFileSync(join(place.dir, thought!.path), 'utf8');
    writeBytes(place.dir, thought!.path, text.replace('summary: done', 'summary: forged'));
    commitAll(place);
    expect((await ask(place)).commit).toEqual([]);
    const folder = dirname(thought!.path);
    for (const path of [thought!.path, folder]) {
      const [before, now] = [honest, 'HEAD'].map((rev) => git(place.dir, 'rev-parse', `${rev}:${path}`)) as [
        string,
        string,
      ];
      for (const file of shardsOf(place)) writeFileSync(file, readFileSync(file, 'utf8').replaceAll(before, now));
    }
    await expect(ask(place)).rejects.toMatchObject({ code: 'signature_invalid' });
  });

  it('goes on where a process was stopped that had too little time', async () => {
    const place = fresh();
    const sessions = Array.from({ length: 520 }, () => writeSession(place, [START, CHANGE]));
    commitAll(place);
    await expect(ask(place, { most: 1030 })).rejects.toThrow('out of time');
    const { task, read } = await ask(place);
    expect(task).toEqual(sessions.map(([, change]) => change!.id).sort());
    expect(read).toBe(2 * 520 - 2 * 512);
    expect(await ask(place)).toMatchObject({ task, read: 0 });
  });

  it('asks about tasks and identities by any name', async () => {
    const place = fresh();
    for (const task_id of ['constructor', '__proto__'.replaceAll('_', 'x')])
      writeSession(place, [START, { ...CHANGE, task_id }]);
    commitAll(place);
    expect((await same(place)).task).toEqual([]);
  });
});

function shardsOf(place: Place): string[] {
  const folder = join(cacheOf(place), repoFolder(place));
  const entries = readdirSync(folder, { withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map(({ name }) => join(folder, name));
}

function repoFolder(place: Place): string {
  return readdirSync(cacheOf(place))[0]!;
}
