import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { verifyConsistency } from '../../src/core/seal/merkle.ts';
import { nodeHashes } from '../../src/crypto.ts';
import { nodeHost } from '../../src/host.ts';
import { readSession, stateDirs } from '../../src/journal/sessions/registry.ts';
import { openRepositoryAt } from '../../src/repository/repository.ts';
import { planSeal } from '../../src/sealing/seal-plan.ts';
import { commitAll, emptyPlace, initialised, openPlace, type Place, STORY } from '../handoff.ts';
import { seal as sealStep, writeSealed } from '../sealing.ts';
import { git, temporaryDirectory } from '../temporary.ts';
import { findings, reopen, template } from '../threats/forge.ts';
import { changes, later, open, pathsOf, recordsOf, type StoredRecord, workAndWrap, worktree } from './agents.ts';
import { defineTask, error, work } from './tasks.ts';

const fresh = template((place) => {
  defineTask(place, 'P0.1');
  commitAll(place, 'tasks');
});

type Opened = Place & { session: string };

/** donna has begun, and said something. */
async function atWork(place = fresh()): Promise<Opened> {
  const { session_id } = await place.handoff.start({ as: 'donna' });
  await place.handoff.note({ text: 'one' });
  return { ...place, session: session_id };
}

function head({ dir }: Place): string {
  return git(dir, 'rev-parse', 'HEAD');
}

function kinds(place: Place, session: string): unknown[] {
  return recordsOf(place, session).map(({ fields }) => fields.kind);
}

/** RFC 6962, by the book: of the files of these records. */
function rootOf({ dir }: Place, records: readonly StoredRecord[]): string {
  return treeHash(records.map(({ path }) => readFileSync(join(dir, path)))).toString('hex');
}

function treeHash(leaves: readonly Buffer[]): Buffer {
  const hash = (...parts: Buffer[]) => createHash('sha256').update(Buffer.concat(parts)).digest();
  if (leaves.length === 1) return hash(Buffer.of(0), leaves[0]!);
  let half = 1;
  while (half * 2 < leaves.length) half *= 2;
  return hash(Buffer.of(1), treeHash(leaves.slice(0, half)), treeHash(leaves.slice(half)));
}

function bytes(hex: string): Uint8Array {
  return new Uint8Array(Buffer.from(hex, 'hex'));
}

function sealingFile({ dir }: Place, session: string): string {
  return join(dir, '.git/handoff/sessions', session, 'sealing');
}

/** What a process that seals leaves for others to see. */
const own = {
  pid: nodeHost.pid,
  space: nodeHost.space,
  since: { boot: nodeHost.bootId(), uptime: nodeHost.uptime(), at: new Date().toISOString() },
};
const MESSAGE = 'Merkle finalization in progress. Retry in 5s.';

describe('seal', () => {
  test('signs the root over the files of all records before it, and commits the session, nothing else', async () => {
    const place = await atWork();
    writeFileSync(join(place.dir, 'loose.txt'), 'loose\n');
    writeFileSync(join(place.dir, 'staged.txt'), 'staged\n');
    git(place.dir, 'add', 'staged.txt');
    const result = await place.handoff.seal();
    const [start, note, sealed] = recordsOf(place, place.session);
    expect(result).toEqual({
      session_id: place.session,
      identity: 'donna',
      tree_size: 2,
      root: rootOf(place, [start!, note!]),
      delta_id: sealed!.id,
      path: sealed!.path,
      already_sealed: false,
      commit: head(place),
    });
    expect(sealed!.fields).toMatchObject({ kind: 'seal', seq: 3, tree_size: 2, root: result.root });
    expect(sealed!.fields).not.toHaveProperty('previous');
    expect(pathsOf(place)).toEqual([start!.path, note!.path, sealed!.path]);
    expect(changes(place)).toEqual(['A  staged.txt', '?? loose.txt']);
    expect(git(place.dir, 'log', '-1', '--format=%s')).toBe('handoff: donna seals 2 records');
    expect(await findings(place)).toEqual([]);
    expect(existsSync(sealingFile(place, place.session))).toBe(false);
  });

  test('again with nothing new is the same root, no record and no commit', async () => {
    const place = await atWork();
    const first = await place.handoff.seal();
    for (const each of [place, open(place)])
      expect(await each.handoff.seal()).toEqual({ ...first, already_sealed: true, commit: null });
    expect(head(place)).toBe(first.commit);
    expect(kinds(place, place.session)).toEqual(['start', 'note', 'seal']);
  });

  test('after something new is bound to the seal before it', async () => {
    const place = await atWork();
    const seals = [await place.handoff.seal()];
    for (const text of ['two', 'three', 'four']) {
      await place.handoff.note({ text });
      if (text === 'two') await place.handoff.note({ text: 'and a half' });
      seals.push(await place.handoff.seal());
    }
    const records = recordsOf(place, place.session);
    expect(seals.map(({ tree_size }) => tree_size)).toEqual([2, 5, 7, 9]);
    for (const [at, { tree_size, root, delta_id }] of seals.entries()) {
      expect(root).toBe(rootOf(place, records.slice(0, tree_size)));
      const { fields } = records.find(({ id }) => id === delta_id)!;
      const before = seals[at - 1];
      if (!before) continue;
      const previous = fields.previous as unknown as { tree_size: number; root: string; proof: string[] };
      expect(previous).toMatchObject({ tree_size: before.tree_size, root: before.root });
      const proof = previous.proof.map(bytes);
      expect(
        verifyConsistency(before.tree_size, tree_size, proof, bytes(before.root), bytes(root), nodeHashes.sha256),
      ).toBe(true);
    }
    expect(await findings(place)).toEqual([]);
    expect(changes(place)).toEqual([]);
  });

  test('an open session goes on after it', async () => {
    const place = await atWork();
    await place.handoff.seal();
    await place.handoff.wrap({ message: 'the end' });
    expect(kinds(place, place.session)).toEqual(['start', 'note', 'seal', 'baton']);
    expect((await place.handoff.seal()).tree_size).toBe(4);
    expect(await findings(place)).toEqual([]);
  });

  test.each(['commit', 'stage'])(
    '--no-%s leaves the commit to somebody else, and the same command without it makes it',
    async (flag) => {
      const place = await atWork();
      const before = head(place);
      const first = await place.handoff.seal({ [flag]: false });
      expect(first).toMatchObject({ already_sealed: false, commit: null });
      expect(changes(place).map((line) => line.slice(0, 2))).toEqual(['??', '??', '??']);
      expect(head(place)).toBe(before);
      const { commit, ...second } = await open(place).handoff.seal();
      expect(second).toEqual({ ...second, root: first.root, delta_id: first.delta_id, already_sealed: true });
      expect(commit).toBe(head(place));
      expect(changes(place)).toEqual([]);
      expect(await findings(place)).toEqual([]);
    },
  );

  test('starts no more than three git processes', async () => {
    const place = await atWork();
    const trace = join(place.dir, '..', 'trace');
    const processes = async (): Promise<(string | undefined)[]> => {
      rmSync(trace, { force: true });
      const { handoff } = open(place, { env: { GIT_TRACE: trace } });
      await handoff.seal();
      await handoff.close();
      return [...readFileSync(trace, 'utf8').matchAll(/built-in: git (\S+)/g)].map(([, name]) => name);
    };
    expect(await processes()).toEqual(['cat-file']);
    work(place, { 'a.ts': 'one\n' });
    await place.handoff.thought({ id: 'P0.1', summary: 'it is' });
    expect(await processes()).toEqual(['cat-file']);
    expect(await processes()).toEqual(['cat-file']);
  });
});

describe('which session', () => {
  test('of whoever is named, by id or its beginning, with its own key, whoever asks', async () => {
    const place = await atWork();
    await place.handoff.start({ as: 'erin' });
    const { root } = await open(place, { env: { HANDOFF_IDENTITY: 'erin' } }).handoff.seal({
      session: place.session.slice(0, 8),
    });
    const [, , sealed] = recordsOf(place, place.session);
    expect(sealed!.fields).toMatchObject({ identity: 'donna', root });
    expect(await open(place).handoff.seal({ as: 'erin', session: place.session })).toMatchObject({
      session_id: place.session,
      already_sealed: true,
      root,
    });
    expect(await open(place, { env: { HANDOFF_SESSION: place.session } }).handoff.seal()).toMatchObject({ root });
    expect(await findings(place)).toEqual([]);
  });

  test('none, or unknown', async () => {
    const place = fresh();
    await expect(place.handoff.seal()).rejects.toMatchObject({ code: 'no_session', exitCode: 2 });
    await expect(place.handoff.seal({ as: 'donna' })).rejects.toMatchObject({ code: 'no_session', exitCode: 2 });
    await place.handoff.start({ as: 'donna' });
    for (const session of ['', 'none', '../../..', '0000000'])
      await expect(place.handoff.seal({ session }), session).rejects.toMatchObject({
        code: 'unknown_session',
        exitCode: 2,
      });
    await expect(place.handoff.seal({ as: 'erin' })).rejects.toMatchObject({ code: 'no_session', exitCode: 2 });
  });

  test('one that has no record yet has nothing to seal', async () => {
    const place = await atWork();
    rmSync(join(place.dir, '.git/handoff/sessions', place.session, 'records'), { recursive: true });
    await expect(open(place).handoff.seal({ session: place.session })).rejects.toMatchObject({
      code: 'no_records',
      exitCode: 2,
    });
    expect(existsSync(sealingFile(place, place.session))).toBe(false);
  });

  test('a wrapped one can be sealed, committed, and counts as committed again', async () => {
    const place = fresh();
    const session = await workAndWrap(place.handoff, 'donna');
    const result = await open(place).handoff.seal({ session });
    expect(existsSync(join(place.dir, '.git/handoff/sessions', session, 'committed'))).toBe(true);
    expect(kinds(place, session)).toEqual(['start', 'baton', 'seal']);
    expect(result).toMatchObject({ tree_size: 2, commit: head(place) });
    expect(await findings(place)).toEqual([]);
    expect((await place.handoff.sessions()).sessions).toMatchObject([{ session_id: session, state: 'wrapped' }]);
    await expect(place.handoff.note({ session, text: 'more' })).rejects.toMatchObject({ code: 'session_ended' });
    await expect(place.handoff.wrap({ session, message: 'more' })).rejects.toMatchObject({ code: 'session_ended' });
  });

  test('a wrapped one that somebody picked up can be sealed too, and the heir is not in its way', async () => {
    const place = fresh();
    const session = await workAndWrap(place.handoff, 'donna');
    const heir = await place.handoff.pickup({ as: 'erin' });
    expect(heir.predecessor_session_id).toBe(session);
    const { root } = await open(place).handoff.seal({ session });
    expect(kinds(place, session)).toEqual(['start', 'baton', 'seal']);
    await place.handoff.note({ as: 'erin', text: 'still mine' });
    await place.handoff.wrap({ as: 'erin', message: 'done', seal: true });
    expect(await place.handoff.root({ session })).toMatchObject({ root });
    expect(changes(place)).toEqual([]);
    expect(await findings(place)).toEqual([]);
  });

  test('a released one cannot, sealed before or not, even before anything else is said about it', async () => {
    for (const isSealed of [false, true]) {
      const place = await atWork();
      if (isSealed) await place.handoff.seal();
      work(place, { 'a.ts': 'one\n' });
      await place.handoff.release({ target: place.session, reason: 'gone home' });
      const before = head(place);
      await expect(open(place).handoff.seal({ session: place.session })).rejects.toMatchObject({
        code: 'session_released',
        exitCode: 3,
        data: { reason: 'gone home' },
      });
      expect(head(place)).toBe(before);
      expect(kinds(place, place.session)).toEqual(isSealed ? ['start', 'note', 'seal'] : ['start', 'note']);
    }
  });

  test('one whose identity was taken by force cannot', async () => {
    const place = await atWork();
    await worktree(place, 'other').handoff.pickup({ as: 'donna', force: true });
    await expect(open(place).handoff.seal({ session: place.session })).rejects.toMatchObject({
      code: 'session_released',
      data: { reason: 'preempted_by_pickup' },
    });
  });

  test('one of another work tree gets its seal there', async () => {
    const place = fresh();
    const there = await atWork(worktree(place, 'other'));
    const here = open(place);
    const before = head(place);
    const { commit, root } = await here.handoff.seal({ session: there.session });
    expect(commit).toBeNull();
    expect(here.warnings.join()).toContain('another work tree');
    expect([head(place), changes(place)]).toEqual([before, []]);
    const again = await open(there).handoff.seal();
    expect(again).toMatchObject({ already_sealed: true, root, commit: head(there) });
    expect(kinds(there, there.session)).toEqual(['start', 'note', 'seal']);
    expect(changes(there)).toEqual([]);
    expect(await findings(there)).toEqual([]);
  });

  test('a wrapped one that is committed on another branch stays there', async () => {
    const place = fresh();
    git(place.dir, 'switch', '--quiet', '--create', 'feature');
    const { session_id } = await place.handoff.start({ as: 'donna' });
    const { seal } = await place.handoff.wrap({ message: 'done', seal: true });
    git(place.dir, 'switch', '--quiet', 'main');
    const before = head(place);
    expect(await open(place).handoff.seal({ session: session_id })).toEqual({
      session_id,
      identity: 'donna',
      ...seal,
      already_sealed: true,
      commit: null,
    });
    expect([head(place), changes(place)]).toEqual([before, []]);
  });

  test('a wrapped one that is committed on another branch is sealed there, and not brought here', async () => {
    const place = fresh();
    git(place.dir, 'switch', '--quiet', '--create', 'feature');
    const session = await workAndWrap(place.handoff, 'donna');
    git(place.dir, 'switch', '--quiet', 'main');
    const before = head(place);
    await expect(open(place).handoff.seal({ session })).rejects.toMatchObject({
      code: 'usage',
      hint: expect.stringContaining('git switch feature'),
    });
    expect([head(place), changes(place)]).toEqual([before, []]);
    git(place.dir, 'merge', '--quiet', '--no-edit', 'feature');
    expect(await open(place).handoff.seal({ session })).toMatchObject({ already_sealed: false, tree_size: 2 });
    expect(changes(place)).toEqual([]);
    expect(await findings(place)).toEqual([]);
  });

  test('one whose key is not here: no_key, and nothing is written', async () => {
    const place = await atWork();
    rmSync(join(place.keys, place.root.slice(0, 12), 'donna.pem'));
    await expect(open(place).handoff.seal()).rejects.toMatchObject({ code: 'no_key', exitCode: 4 });
    expect(kinds(place, place.session)).toEqual(['start', 'note']);
    expect(existsSync(sealingFile(place, place.session))).toBe(false);
  });

  test('one whose key was rotated since is sealed with the new one', async () => {
    const place = await atWork();
    await place.handoff.identity.rotate({ name: 'donna' });
    await open(place).handoff.seal();
    expect(await findings(place)).toEqual([]);
  });
});

describe('a seal whose key was revoked since', () => {
  test('says nothing any more, as in the tree', async () => {
    const place = await atWork();
    const { session_id: session } = await open(place).handoff.seal();
    await open(place).handoff.identity.revoke({ name: 'donna', as: 'maintainer' });
    await expect(open(place).handoff.root({ session })).rejects.toMatchObject({ code: 'key_revoked', exitCode: 1 });
    const { findings } = await reopen(place).handoff.verify();
    expect(findings.map(({ code }) => code)).toContain('key_revoked');
  });
});

describe('what is broken is not sealed', () => {
  const BREAKS: [string, (place: Opened, path: string) => void][] = [
    [
      'changed',
      ({ dir }, path) =>
        writeFileSync(join(dir, path), readFileSync(join(dir, path), 'utf8').replace('text: one', 'text: two')),
    ],
    ['cut off', ({ dir }, path) => writeFileSync(join(dir, path), readFileSync(join(dir, path)).subarray(0, -1))],
    ['emptied', ({ dir }, path) => writeFileSync(join(dir, path), '')],
    [
      'a folder',
      ({ dir }, path) => {
        rmSync(join(dir, path));
        mkdirSync(join(dir, path));
      },
    ],
  ];

  test.each(BREAKS)('a record that is %s in the work tree: chain_broken, and nothing is written', async (_, damage) => {
    const place = await atWork();
    const { path } = recordsOf(place, place.session)[1]!;
    const before = head(place);
    damage(place, path);
    const state = changes(place);
    for (const attempt of [
      () => open(place).handoff.seal(),
      () => open(place).handoff.wrap({ message: 'done', seal: true }),
    ])
      await expect(attempt()).rejects.toMatchObject({
        code: 'chain_broken',
        exitCode: 1,
        hint: expect.stringContaining(path),
        data: { path },
      });
    expect([head(place), changes(place)]).toEqual([before, state]);
    expect((await open(place).handoff.sessions()).sessions).toMatchObject([{ state: 'active' }]);
    expect(existsSync(join(place.dir, '.git/handoff/sessions', place.session, 'records/000003'))).toBe(false);
  });

  test.each(BREAKS)('a record that is %s after the seal is not said to be sealed', async (_, damage) => {
    for (const close of [
      (place: Opened) => place.handoff.seal(),
      (place: Opened) => place.handoff.wrap({ message: 'done', seal: true }),
    ]) {
      const place = await atWork();
      const { path } = recordsOf(place, place.session)[1]!;
      await close(place);
      const before = head(place);
      damage(place, path);
      await expect(open(place).handoff.seal({ session: place.session })).rejects.toMatchObject({
        code: 'chain_broken',
        data: { path },
      });
      expect(head(place)).toBe(before);
    }
  });

  test('a record that the work tree lost after the seal is put back', async () => {
    const place = await atWork();
    const first = await place.handoff.seal();
    const { path } = recordsOf(place, place.session)[1]!;
    rmSync(join(place.dir, path));
    const again = open(place);
    expect(await again.handoff.seal()).toEqual({ ...first, already_sealed: true, commit: null });
    expect(again.warnings.join()).toContain('Restored from the journal');
    expect(changes(place)).toEqual([]);
  });

  test('a record that was committed otherwise than it was signed', async () => {
    const place = await atWork();
    const { path } = recordsOf(place, place.session)[1]!;
    const honest = readFileSync(join(place.dir, path));
    writeFileSync(join(place.dir, path), honest.toString('utf8').replace('text: one', 'text: two'));
    commitAll(place);
    writeFileSync(join(place.dir, path), honest);
    await expect(open(place).handoff.seal()).rejects.toMatchObject({ code: 'chain_broken', data: { path } });
  });

  test('a journal that does not hold together', async () => {
    const place = await atWork();
    const folder = join(place.dir, '.git/handoff/sessions', place.session, 'records');
    await place.handoff.note({ text: 'two' });
    writeFileSync(join(folder, '000002'), readFileSync(join(folder, '000003')));
    git(place.dir, 'clean', '--quiet', '-fd'); // nothing is left to compare it with
    await expect(open(place).handoff.seal()).rejects.toMatchObject({ code: 'chain_broken', exitCode: 1 });
    expect(existsSync(join(folder, '000004'))).toBe(false);
  });

  test('a record that the work tree lost is put back, and sealed', async () => {
    const place = await atWork();
    const before = recordsOf(place, place.session);
    git(place.dir, 'clean', '--quiet', '-fd');
    const again = open(place);
    const { root } = await again.handoff.seal();
    expect(recordsOf(place, place.session).slice(0, 2)).toEqual(before);
    expect(root).toBe(rootOf(place, before));
    expect(again.warnings.join()).toContain('Restored from the journal');
    expect(changes(place)).toEqual([]);
    expect(await findings(place)).toEqual([]);
  });

  test('a seal whose commit was taken back is committed again', async () => {
    const place = await atWork();
    const first = await place.handoff.seal();
    git(place.dir, 'reset', '--quiet', '--hard', 'HEAD~1');
    const again = await open(place).handoff.seal();
    expect(again).toEqual({ ...first, already_sealed: true, commit: head(place) });
    expect(await findings(place)).toEqual([]);
  });
});

describe('two at once', () => {
  test('whoever comes while another process is at it is told to come back', async () => {
    const place = await atWork();
    const { session } = place;
    writeFileSync(sealingFile(place, session), JSON.stringify(own));
    const refused = await error(open(place).handoff.seal());
    expect(refused).toMatchObject({
      code: 'seal_in_progress',
      exitCode: 3,
      message: MESSAGE,
      data: { session_id: session, retry_after: 5 },
    });
    expect(kinds(place, session)).toEqual(['start', 'note']);
    expect(existsSync(sealingFile(place, session))).toBe(true); // it is not ours
    rmSync(sealingFile(place, session));
    await open(place).handoff.seal();
    expect(await findings(place)).toEqual([]);
  });

  test.each([
    ['is gone', { ...own, pid: 2 ** 22 + 1 }],
    ['has been at it for more than a minute', { ...own, since: { ...own.since, uptime: own.since.uptime - 61 } }],
    ['wrote half a line', '{"pid":'],
    ['wrote nothing', ''],
  ])('whoever %s is in nobody’s way', async (_, text) => {
    const place = await atWork();
    const file = sealingFile(place, place.session);
    writeFileSync(file, typeof text === 'string' ? text : JSON.stringify(text));
    expect(await open(place).handoff.seal()).toMatchObject({ already_sealed: false, tree_size: 2 });
    expect(existsSync(file)).toBe(false);
  });

  test('on another machine one cannot ask, and waits for the minute', async () => {
    const place = await atWork();
    const file = sealingFile(place, place.session);
    writeFileSync(file, JSON.stringify({ ...own, pid: 2 ** 22 + 1, space: 'elsewhere' }));
    await expect(open(place).handoff.seal()).rejects.toMatchObject({ code: 'seal_in_progress' });
    expect(await open(place, { host: later(61) }).handoff.seal()).toMatchObject({ already_sealed: false });
  });

  test('one seal, and the same root for everybody', async () => {
    const place = await atWork();
    const answers = await Promise.all(
      Array.from({ length: 8 }, () =>
        open(place)
          .handoff.seal()
          .catch((refused) => refused),
      ),
    );
    const sealed = answers.filter(({ root }) => root);
    expect(answers.filter((each) => !sealed.includes(each)).every(({ message }) => message === MESSAGE)).toBe(true);
    expect(sealed.filter(({ already_sealed }) => !already_sealed)).toHaveLength(1);
    expect(await open(place).handoff.seal()).toMatchObject({ already_sealed: true, root: sealed[0].root });
    expect(kinds(place, place.session)).toEqual(['start', 'note', 'seal']);
    expect(changes(place)).toEqual([]);
  });

  test('even where nothing told them of each other', async () => {
    const place = await atWork();
    // every look at the clock is a step of a seal: there the file that keeps others out is taken away
    const now = () => {
      rmSync(sealingFile(place, place.session), { force: true });
      return new Date();
    };
    const all = Array.from({ length: 8 }, () => open(place, { now }).handoff.seal());
    const answers = await Promise.all(all.map((each) => each.catch((refused) => refused)));
    const codes = answers.filter(({ root }) => !root).map(({ code, message }) => [code, message]);
    expect(codes).toEqual(codes.map(() => ['seal_in_progress', MESSAGE]));
    expect(kinds(place, place.session)).toEqual(['start', 'note', 'seal']);
    expect(new Set(answers.flatMap(({ root }) => root ?? [])).size).toBe(1);
    expect(await findings(place)).toEqual([]);
  });

  test('a note that is written meanwhile is under the seal', async () => {
    const place = await atWork();
    const other = open(place);
    let written: Promise<unknown> | null = null;
    // asked for the time of the record: by then the seal is planned for number 3
    const now = () => {
      if (existsSync(sealingFile(place, place.session))) written ??= other.handoff.note({ text: 'two' });
      return new Date();
    };
    const result = await open(place, { now }).handoff.seal();
    await written;
    const records = recordsOf(place, place.session);
    const at = records.findIndex(({ fields }) => fields.kind === 'seal');
    expect(records).toHaveLength(4);
    expect(result).toMatchObject({ tree_size: at, root: rootOf(place, records.slice(0, at)) });
    await open(place).handoff.seal();
    expect(changes(place)).toEqual([]);
    expect(await findings(place)).toEqual([]);
  });
});

/** No commit is made until what this returns is called. */
function refuseCommits({ dir }: Place): () => void {
  const hook = join(dir, '.git/hooks/commit-msg');
  writeFileSync(hook, '#!/bin/sh\nexit 1\n');
  chmodSync(hook, 0o755);
  return () => rmSync(hook);
}

describe('wrap --seal', () => {
  test('is one commit of baton and seal', async () => {
    const place = await atWork();
    const result = await place.handoff.wrap({ message: 'done', seal: true });
    const [start, note, baton, sealed] = recordsOf(place, place.session);
    expect(result).toMatchObject({
      session_id: place.session,
      baton: { delta_id: baton!.id, path: baton!.path, summary: 'done' },
      seal: { delta_id: sealed!.id, path: sealed!.path, tree_size: 3, root: rootOf(place, [start!, note!, baton!]) },
      commit: head(place),
    });
    expect(pathsOf(place)).toEqual([start!.path, note!.path, baton!.path, sealed!.path]);
    expect(await findings(place)).toEqual([]);
    expect(await place.handoff.seal({ session: place.session })).toMatchObject({ already_sealed: true, commit: null });
  });

  test('too early leaves the session open', async () => {
    const place = await atWork();
    const commit = work(place, { 'a.ts': 'one\n' });
    await expect(place.handoff.wrap({ message: 'done', seal: true })).rejects.toMatchObject({
      code: 'seal_too_early',
      exitCode: 1,
      hint: expect.stringMatching(/git handoff thought .*, then the same command again; the session is still open\.$/),
      data: { session_id: place.session, commit },
    });
    expect((await place.handoff.sessions()).sessions).toMatchObject([{ state: 'active' }]);
    expect(kinds(place, place.session)).toEqual(['start', 'note']);
    expect(head(place)).toBe(commit);
    await place.handoff.thought({ id: 'P0.1', summary: 'made it' });
    await place.handoff.wrap({ message: 'done', seal: true });
    expect(kinds(place, place.session)).toEqual(['start', 'note', 'thought', 'baton', 'seal']);
    expect(await findings(place)).toEqual([]);
  });

  test('of a session that is over says so, not that it is too early, and keeps the words', async () => {
    const wrapped = await atWork();
    work(wrapped, { 'a.ts': 'one\n' });
    await wrapped.handoff.wrap({ message: 'done' });
    const released = await atWork();
    work(released, { 'a.ts': 'one\n' });
    await released.handoff.release({ target: released.session, reason: 'gone home' });
    for (const [{ handoff }, code] of [
      [wrapped, 'session_ended'],
      [released, 'session_released'],
    ] as const) {
      const refused = await error(handoff.wrap({ message: 'hard-won words', seal: true }));
      expect(refused).toMatchObject({ code });
      expect(readFileSync(refused.data.draft, 'utf8')).toContain('hard-won words');
    }
  });

  test('while another process seals leaves the session open, and keeps others out in turn', async () => {
    const place = await atWork();
    const file = sealingFile(place, place.session);
    writeFileSync(file, JSON.stringify(own));
    await expect(place.handoff.wrap({ message: 'done', seal: true })).rejects.toMatchObject({ message: MESSAGE });
    expect(kinds(place, place.session)).toEqual(['start', 'note']);
    rmSync(file);
    let meanwhile: Promise<unknown> | null = null;
    const now = () => {
      if (existsSync(file)) meanwhile ??= error(open(place).handoff.seal());
      return new Date();
    };
    await open(place, { now }).handoff.wrap({ message: 'done', seal: true });
    expect(await meanwhile).toMatchObject({ code: 'seal_in_progress' });
    expect(kinds(place, place.session)).toEqual(['start', 'note', 'baton', 'seal']);
    expect(existsSync(file)).toBe(false);
  });

  test('that git could not commit is finished by the same command again', async () => {
    const place = await atWork();
    const allow = refuseCommits(place);
    const options = { message: 'done', seal: true };
    await expect(place.handoff.wrap(options)).rejects.toMatchObject({ code: 'io', exitCode: 4 });
    const written = recordsOf(place, place.session);
    allow();
    const again = await open(place).handoff.wrap(options);
    expect(recordsOf(place, place.session)).toEqual(written);
    expect(written.map(({ fields }) => fields.kind)).toEqual(['start', 'note', 'baton', 'seal']);
    expect(again).toMatchObject({
      baton: { delta_id: written[2]!.id },
      seal: { delta_id: written[3]!.id, tree_size: 3 },
      commit: head(place),
    });
    expect(changes(place)).toEqual([]);
    expect(await findings(place)).toEqual([]);
  });

  test('that was cut off before its seal gets it from the same command again', async () => {
    const place = await atWork();
    const allow = refuseCommits(place);
    await expect(place.handoff.wrap({ message: 'done' })).rejects.toMatchObject({ code: 'io' });
    allow();
    const again = await open(place).handoff.wrap({ message: 'done', seal: true });
    expect(kinds(place, place.session)).toEqual(['start', 'note', 'baton', 'seal']);
    expect(again).toMatchObject({ seal: { tree_size: 3 }, commit: head(place) });
    expect(changes(place)).toEqual([]);
    expect(await findings(place)).toEqual([]);
  });

  test('that finishes a wrap is too early all the same', async () => {
    const place = await atWork();
    const commit = work(place, { 'a.ts': 'one\n' });
    const allow = refuseCommits(place);
    await expect(place.handoff.wrap({ message: 'done' })).rejects.toMatchObject({ code: 'io' });
    allow();
    await expect(open(place).handoff.wrap({ message: 'done', seal: true })).rejects.toMatchObject({
      code: 'seal_too_early',
      hint: expect.not.stringContaining('still open'),
      data: { commit },
    });
    await open(place).handoff.wrap({ message: 'done' });
    expect(kinds(place, place.session)).toEqual(['start', 'note', 'baton']);
    expect(await findings(place)).toEqual([]);
  });
});

describe('wherever it is', () => {
  test('where git knows nobody it commits all the same', async () => {
    const place = await atWork();
    const nobody = Object.entries(place.env).filter(([name]) => !/^(GIT_(AUTHOR|COMMITTER)_|EMAIL$)/.test(name));
    git(place.dir, 'config', 'user.useConfigOnly', 'true');
    const env = { ...Object.fromEntries(nobody), HOME: temporaryDirectory() };
    const { commit } = await reopen(place, place.dir, env).handoff.seal();
    expect(git(place.dir, 'log', '-1', '--format=%H %an <%ae>')).toBe(`${commit} donna <donna@git-handoff.invalid>`);
    expect(await findings(place)).toEqual([]);
  });

  test('a SHA-256 repository', async () => {
    const place = await initialised('--object-format=sha256');
    defineTask(place, 'P0.1');
    commitAll(place, 'tasks');
    await place.handoff.start({ as: 'donna' });
    work(place, { 'a.ts': 'one\n' });
    await expect(place.handoff.seal()).rejects.toMatchObject({ code: 'seal_too_early' });
    await place.handoff.thought({ id: 'P0.1', summary: 'made it' });
    const { root } = await place.handoff.seal();
    expect(await place.handoff.root()).toMatchObject({ tree_size: 2, root });
    expect(await findings(place)).toEqual([]);
  });

  test('a path with spaces and other scripts', async () => {
    const dir = join(temporaryDirectory(), "it's a “path”", '日本 ');
    mkdirSync(dirname(dir), { recursive: true });
    git('/', 'init', '--quiet', '--initial-branch=main', dir);
    const place = openPlace(dir, join(dir, '..', 'the keys'), '');
    const { root } = await place.handoff.init();
    await place.handoff.identity.add({ name: 'donna' });
    const opened = await atWork({ ...place, root });
    await opened.handoff.seal();
    await opened.handoff.wrap({ message: 'done', seal: true });
    expect(changes(place)).toEqual([]);
    expect(await findings(opened)).toEqual([]);
  });

  test('a bare repository has no session to seal', async () => {
    const place = await atWork();
    const bare = join(place.dir, '..', 'bare.git');
    git('/', 'clone', '--quiet', '--bare', place.dir, bare);
    await expect(open(place, { dir: bare }).handoff.seal()).rejects.toMatchObject({ code: 'usage', exitCode: 2 });
  });

  test('where nothing is initialised', async () => {
    await expect(emptyPlace().handoff.seal()).rejects.toMatchObject({ code: 'not_initialised', exitCode: 4 });
  });
});

describe('root', () => {
  test('is that of the newest seal, whatever came after it', async () => {
    const place = await atWork();
    const first = await place.handoff.seal();
    await place.handoff.note({ text: 'two' });
    const answer = { session_id: place.session, tree_size: 2, root: first.root };
    expect(await place.handoff.root()).toEqual(answer);
    expect(await open(place, { env: { HANDOFF_SESSION: place.session.slice(0, 6) } }).handoff.root()).toEqual(answer);
    const { tree_size, root } = await place.handoff.seal();
    expect(await place.handoff.root({ session: place.session.slice(0, 8) })).toEqual({ ...answer, tree_size, root });
    await place.handoff.note({ text: 'three' });
    await place.handoff.release({ target: place.session, reason: 'gone' });
    expect(await open(place).handoff.root({ session: place.session })).toEqual({ ...answer, tree_size, root });
  });

  test("of others' sessions comes from the tree, in a clone that has none", async () => {
    const place = await atWork();
    const { commit: _, ...sealed } = await place.handoff.seal();
    const clone = join(place.dir, '..', 'clone');
    git('/', 'clone', '--quiet', place.dir, clone);
    const there = open(place, { dir: clone, env: { HANDOFF_KEYS: join(clone, 'none') } });
    const answer = { session_id: place.session, tree_size: 2, root: sealed.root };
    for (const session of [place.session, place.session.slice(0, 8), place.session.slice(0, 4)])
      expect(await there.handoff.root({ session })).toEqual(answer);
    expect(await open(there, { env: { HANDOFF_SESSION: place.session } }).handoff.root()).toEqual(answer);
    const hint = "git handoff root SESSION; git handoff sessions lists them; --ledger for the ledger's root";
    for (const choice of [{}, { as: 'donna' }])
      await expect(there.handoff.root(choice)).rejects.toMatchObject({ code: 'no_session', exitCode: 2, hint });
    await expect(there.handoff.root({ session: 'ffffffff' })).rejects.toMatchObject({ code: 'unknown_session' });
    await expect(there.handoff.root({ session: '' })).rejects.toMatchObject({ code: 'unknown_session' });
    await expect(there.handoff.seal({ session: place.session })).rejects.toMatchObject({ code: 'unknown_session' });
  });

  test('of a session in the tree that does not hold is not given', async () => {
    const place = fresh();
    const [, note] = writeSealed(place, [...STORY, sealStep()]);
    commitAll(place);
    const session = '5ea1ed00';
    expect(await open(place).handoff.root({ session })).toMatchObject({ tree_size: 4 });
    writeFileSync(join(place.dir, note!.path), 'changed\n');
    await expect(open(place).handoff.root({ session })).rejects.toMatchObject({
      exitCode: 1,
      data: { path: note!.path },
    });
  });

  test('where nothing is sealed', async () => {
    const place = await atWork();
    const none = { code: 'nothing_sealed', exitCode: 2 };
    await expect(place.handoff.root()).rejects.toMatchObject({
      ...none,
      hint: `git handoff seal ${place.session.slice(0, 8)}`,
    });
    writeSealed(place, STORY);
    await expect(open(place).handoff.root({ session: '5ea1ed00' })).rejects.toMatchObject(none);
    await expect(place.handoff.root({ ledger: true })).rejects.toMatchObject(none);
  });
});

describe('a session that another clone has written', () => {
  test('is sealed only there, which is said, with the name of whoever wrote it', async () => {
    const place = fresh();
    const session = await workAndWrap(place.handoff, 'donna');
    const dir = join(place.dir, '../clone');
    git('/', 'clone', '--quiet', place.dir, dir);
    const clone = open(place, { dir });
    const head = git(dir, 'rev-parse', 'HEAD');
    await expect(clone.handoff.seal({ session: session.slice(0, 8) })).rejects.toMatchObject({
      code: 'unknown_session',
      exitCode: 2,
      message: expect.stringContaining(`${session} of donna is in the tree`),
      hint: `Where donna wrote it: git handoff seal ${session.slice(0, 8)}`,
    });
    await expect(clone.handoff.root({ session })).rejects.toMatchObject({
      code: 'nothing_sealed',
      hint: expect.stringContaining('Where it was written'),
    });
    await expect(clone.handoff.seal({ session: 'ffffffff' })).rejects.toMatchObject({
      message: expect.stringContaining('There is no session'),
    });
    expect(git(dir, 'rev-parse', 'HEAD')).toBe(head);
  });
});

test('a journal with a gap is a broken chain, and not one without records', async () => {
  const place = await atWork();
  await place.handoff.note({ text: 'two' });
  const repository = openRepositoryAt(place.dir, { env: place.env, host: nodeHost });
  const session = readSession(stateDirs(repository.stateDir), place.session)!;
  rmSync(join(place.dir, '.git/handoff/sessions', place.session, 'records/000002'));
  expect(() => planSeal(repository, session, 4)).toThrow(expect.objectContaining({ code: 'chain_broken' }));
  expect(() => planSeal(repository, session, 1)).toThrow(expect.objectContaining({ code: 'no_records' }));
  await repository.close();
});
