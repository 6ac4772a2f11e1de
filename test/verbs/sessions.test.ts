import { cpSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { HandoffError } from '../../src/core/error.ts';
import { openSession } from '../../src/custody/open-session.ts';
import { nodeHost } from '../../src/host.ts';
import type { Handoff } from '../../src/index.ts';
import { append } from '../../src/journal/append.ts';
import type { RecordDraft } from '../../src/journal/drafts/record-draft.ts';
import { requireSigner } from '../../src/journal/keys/identity-choice.ts';
import { openLocks } from '../../src/journal/locks/open-locks.ts';
import { pointTo } from '../../src/journal/sessions/pointers.ts';
import { dirsOf } from '../../src/journal/sessions/session-state.ts';
import { openRepositoryAt } from '../../src/repository/repository.ts';
import { requireTrust } from '../../src/repository/trusted-now.ts';
import { type RunOptions, run } from '../cli/cli.ts';
import { emptyPlace, type Place, writeSession } from '../handoff.ts';
import { git } from '../temporary.ts';
import { findings, reopen, template } from '../threats/forge.ts';
import { changes, later, open, pathsOf, recordsOf, workAndWrap, worktree } from './agents.ts';

const fresh = template();
const STALE = later(601);

describe('start', () => {
  it('opens a session with one start record, not staged and not committed', async () => {
    const place = fresh();
    const head = git(place.dir, 'rev-parse', 'HEAD');
    const result = await place.handoff.start({ as: 'donna', intent: 'make the reader strict', task: 'P0.1' });
    expect(result).toMatchObject({ identity: 'donna', resumed: false, last_wrapped: null, warnings: [] });
    expect(result).not.toHaveProperty('pending_signals');
    const [record, ...more] = recordsOf(place, result.session_id);
    expect(more).toEqual([]);
    expect(record).toMatchObject({
      name: '0001-start.yaml',
      id: result.start_delta_id,
      fields: {
        kind: 'start',
        seq: 1,
        prev: null,
        intent: 'make the reader strict',
        task: 'P0.1',
        branch: 'main',
        head,
      },
    });
    expect(record!.fields).not.toHaveProperty('inherited_from');
    expect(changes(place)).toEqual([`?? ${record!.path}`]);
    expect(git(place.dir, 'rev-parse', 'HEAD')).toBe(head);
  });

  it('again in the same work tree finds the same session and writes nothing, also when it had gone stale', async () => {
    const place = fresh();
    const first = await place.handoff.start({ as: 'donna' });
    for (const again of [open(place), open(place, { host: STALE })]) {
      expect(await again.handoff.start({ as: 'donna' })).toMatchObject({
        session_id: first.session_id,
        start_delta_id: first.start_delta_id,
        resumed: true,
      });
    }
    expect(recordsOf(place, first.session_id)).toHaveLength(1);
  });

  it('in another work tree is an identity_conflict, and leaves nothing behind', async () => {
    const place = fresh();
    const { session_id } = await place.handoff.start({ as: 'donna' });
    const elsewhere = worktree(place, 'side');
    await expect(elsewhere.handoff.start({ as: 'donna' })).rejects.toMatchObject({
      code: 'identity_conflict',
      data: { identity: 'donna', session_id },
    });
    expect(changes(elsewhere)).toEqual([]);
    await expect(elsewhere.handoff.note({ as: 'donna', text: 'x' })).rejects.toMatchObject({ code: 'no_session' });
    expect((await place.handoff.sessions()).sessions).toHaveLength(1);
  });

  it('supersedes a session of its own that has gone stale elsewhere', async () => {
    const place = fresh();
    await place.handoff.start({ as: 'donna' });
    const elsewhere = worktree(place, 'side', { host: STALE });
    expect(await elsewhere.handoff.start({ as: 'donna' })).toMatchObject({ resumed: false });
    await expect(place.handoff.note({ as: 'donna', text: 'hello?' })).rejects.toMatchObject({
      code: 'session_released',
      data: { reason: 'superseded_while_stale' },
    });
  });

  it('the bot may have several sessions at once, one for each work tree', async () => {
    const place = fresh();
    const first = await place.handoff.start();
    const second = await worktree(place, 'side').handoff.start();
    expect(first.identity).toBe('bot');
    expect(second.session_id).not.toBe(first.session_id);
    await place.handoff.note({ text: 'the first one still writes' });
    expect(second.controller_status.active_sessions.map(({ session_id }) => session_id)).toContain(first.session_id);
  });

  it('two identities work side by side in one work tree', async () => {
    const { handoff } = fresh();
    const donna = await handoff.start({ as: 'donna' });
    const erin = await handoff.start({ as: 'erin' });
    expect((await handoff.status({ as: 'donna' })).session?.session_id).toBe(donna.session_id);
    expect((await handoff.status()).session?.session_id).toBe(erin.session_id);
  });

  it.each([
    ['frank', 'unknown_identity'],
    ...['', '__proto__', '../bot', 'Donna', 'аgent'].map((name) => [name, 'bad_name']),
  ])('refuses %j, whom nobody signed in: %s', async (as, code) => {
    const place = fresh();
    for (const verb of [place.handoff.start, place.handoff.pickup]) {
      await expect(verb({ as: as! })).rejects.toMatchObject({ code, exitCode: 2 });
    }
    expect(changes(place)).toEqual([]);
  });

  it('refuses an identity whose key is elsewhere, before it takes anything', async () => {
    const place = fresh();
    const key = join(place.keys, place.root.slice(0, 12), 'donna.pem');
    renameSync(key, `${key}.away`);
    await expect(place.handoff.start({ as: 'donna' })).rejects.toMatchObject({ code: 'no_key', exitCode: 4 });
    renameSync(`${key}.away`, key);
    expect(await open(place).handoff.start({ as: 'donna' })).toMatchObject({ resumed: false });
  });

  it('refuses a bad task before it takes anything', async () => {
    const { handoff } = fresh();
    await expect(handoff.start({ as: 'donna', task: '../x' })).rejects.toMatchObject({ code: 'bad_name' });
    expect((await handoff.sessions()).sessions).toEqual([]);
  });

  it('nobody else writes the first record while it has yet to be written, and it comes once', async () => {
    const place = fresh();
    const { dir, env } = place;
    const repository = openRepositoryAt(dir, { env, host: nodeHost });
    const trust = await requireTrust(repository);
    const locks = await openLocks(repository, trust, {});
    const opening = { identity: 'donna', inherited_from: null, prior: null };
    const session = await openSession(repository, locks, opening, async () => {});
    const signer = await requireSigner(repository, trust, 'donna');
    const write = (draft: RecordDraft) => append({ repository, session, trust, signer, locks }, draft);
    pointTo(dirsOf(repository), session);
    await expect(place.handoff.note({ as: 'donna', text: 'x' })).rejects.toMatchObject({ code: 'no_session' });
    const named = place.handoff.note({ session: session.session_id, text: 'too early' });
    const refused: HandoffError = await named.catch((error) => error);
    expect(refused).toMatchObject({ code: 'no_session', exitCode: 2, data: { session_id: session.session_id } });
    expect(readFileSync(refused.data!.draft as string, 'utf8')).toBe('too early');
    const first: RecordDraft = { kind: 'start', fields: { head: null } };
    expect((await write(first)).path).toMatch(/\/0001-start\.yaml$/);
    await expect(write(first)).rejects.toMatchObject({ code: 'no_session' });
    expect((await place.handoff.note({ as: 'donna', text: 'x' })).path).toContain('/0002-note');
    await repository.close();
  });

  it('an intent that no record can hold leaves no session behind', async () => {
    const place = fresh();
    await expect(place.handoff.start({ as: 'donna', intent: 'x'.repeat(270_000) })).rejects.toMatchObject({
      code: 'usage',
    });
    expect((await place.handoff.sessions()).sessions).toEqual([]);
    expect(await worktree(place, 'side').handoff.start({ as: 'donna' })).toMatchObject({ resumed: false });
  });

  it('needs a work tree', async () => {
    const place = fresh();
    const bare = join(place.dir, '..', 'bare.git');
    git('/', 'clone', '--quiet', '--bare', place.dir, bare);
    const { handoff } = reopen(place, bare);
    await expect(handoff.start({ as: 'donna' })).rejects.toMatchObject({ code: 'usage', exitCode: 2 });
    await expect(handoff.pickup({ as: 'donna' })).rejects.toMatchObject({ code: 'usage' });
    await expect(handoff.wrap({ message: 'x' })).rejects.toMatchObject({ code: 'usage' });
    expect(await handoff.sessions()).toEqual({ sessions: [] });
  });

  it('works on an unborn branch, and wrap makes the first commit', async () => {
    const place = emptyPlace();
    const { root } = await place.handoff.init({ commit: false });
    const { handoff } = open({ ...place, root });
    const { session_id, context } = await handoff.start();
    expect(context).toMatchObject({ branch: 'main', head: null });
    expect(recordsOf(place, session_id)[0]!.fields).toMatchObject({ branch: 'main', head: null });
    const { commit } = await handoff.wrap({ message: 'the first words' });
    expect(git(place.dir, 'rev-parse', 'main')).toBe(commit);
    expect((await handoff.pickup()).baton).toMatchObject({ body: 'the first words' });
    await handoff.close();
  });

  it('works on a detached HEAD', async () => {
    const place = fresh();
    git(place.dir, 'checkout', '--quiet', '--detach');
    const { session_id, context } = await place.handoff.start({ as: 'donna' });
    expect(context).toMatchObject({ branch: null, head: git(place.dir, 'rev-parse', 'HEAD') });
    expect(recordsOf(place, session_id)[0]!.fields).not.toHaveProperty('branch');
    expect((await place.handoff.wrap({ message: 'done' })).commit).toBe(git(place.dir, 'rev-parse', 'HEAD'));
    expect(await findings(place)).toEqual([]);
  });
});

describe('who acts', () => {
  it('is --as, else HANDOFF_IDENTITY, else whose session is open here, else handoff.identity, else bot', async () => {
    const place = fresh();
    const who = async (env: NodeJS.ProcessEnv, as?: string) =>
      (await open(place, { env }).handoff.status(as === undefined ? {} : { as })).identity;
    expect(await who({})).toBe('bot');
    git(place.dir, 'config', 'handoff.identity', 'donna');
    expect(await who({})).toBe('donna');
    expect(await who({ HANDOFF_IDENTITY: '' })).toBe('donna');
    expect(await who({ HANDOFF_IDENTITY: 'erin' })).toBe('erin');
    expect(await who({ HANDOFF_IDENTITY: 'erin' }, 'maintainer')).toBe('maintainer');
    const { identity } = await open(place, { env: { HANDOFF_IDENTITY: 'erin' } }).handoff.start();
    expect(identity).toBe('erin');
    expect((await open(place).handoff.pickup({ force: true })).controller_status.identity).toBe('erin');
    await open(place).handoff.wrap({ message: 'done' });
    expect((await open(place).handoff.pickup()).controller_status.identity).toBe('donna');
  });
});

describe('which session', () => {
  it('is the one named by id or unique beginning, else HANDOFF_SESSION, else that of the work tree', async () => {
    const place = fresh();
    const donna = await place.handoff.start({ as: 'donna' });
    expect((await place.handoff.heartbeat()).session_id).toBe(donna.session_id);
    const erin = await place.handoff.start({ as: 'erin' });
    const elsewhere = worktree(place, 'side', { env: { HANDOFF_SESSION: erin.session_id } });
    const target = async (handoff: Handoff, session?: string) =>
      (await handoff.heartbeat(session === undefined ? {} : { session })).session_id;
    expect(await target(place.handoff, donna.session_id)).toBe(donna.session_id);
    expect(await target(place.handoff, donna.session_id.slice(0, 8))).toBe(donna.session_id);
    expect(await target(elsewhere.handoff)).toBe(erin.session_id);
    expect(await target(elsewhere.handoff, donna.session_id)).toBe(donna.session_id);
    expect((await elsewhere.handoff.status()).session?.session_id).toBe(erin.session_id);
  });

  it('is refused when it is unknown, ambiguous, or somebody else’s', async () => {
    const { handoff } = fresh();
    await expect(handoff.note({ text: 'x' })).rejects.toMatchObject({ code: 'no_session', exitCode: 2 });
    const { session_id } = await handoff.start({ as: 'donna' });
    for (const session of ['', 'ffffffff-', '../', '.', session_id.toUpperCase(), `${session_id}0`, '*']) {
      await expect(handoff.note({ text: 'x', session }), session).rejects.toMatchObject({
        code: 'unknown_session',
        exitCode: 2,
      });
      await expect(handoff.pickup({ as: 'erin', fromSession: session }), session).rejects.toMatchObject({
        code: 'unknown_session',
      });
    }
    await expect(handoff.note({ as: 'erin', text: 'x' })).rejects.toMatchObject({ code: 'no_session' });
    await expect(handoff.note({ as: 'erin', session: session_id, text: 'x' })).rejects.toMatchObject({
      code: 'no_session',
      data: { identity: 'donna' },
    });
  });

  it('two that begin alike must be told apart', async () => {
    const place = fresh();
    const ids: string[] = [];
    while (new Set(ids.map((id) => id[0])).size === ids.length) {
      await place.handoff.wrap({ session: (await place.handoff.start()).session_id, message: 'x', commit: false });
      ids.push((await place.handoff.sessions()).sessions[0]!.session_id);
    }
    const session = ids.at(-1)![0]!;
    const ambiguous = { code: 'unknown_session', message: expect.stringMatching(/^2 sessions begin with/) };
    await expect(place.handoff.note({ text: 'x', session })).rejects.toMatchObject(ambiguous);
    await expect(place.handoff.pickup({ fromSession: session })).rejects.toMatchObject(ambiguous);
  });
});

describe('records of a session', () => {
  it('note, checkpoint, decide, wip and signal write what their schemas want, one chain', async () => {
    const place = fresh();
    const { handoff } = place;
    const head = git(place.dir, 'rev-parse', 'HEAD');
    const { session_id } = await handoff.start({ as: 'donna' });
    const first = await handoff.note({ text: 'two\nlines: with "quotes" # and marks' });
    await handoff.checkpoint();
    await handoff.checkpoint({ text: 'all tests pass' });
    const decision = await handoff.decide({ title: 'Use YAML', text: '# Why\n\nPeople read it.' });
    await handoff.decide({ title: 'Use TOML', text: 'No.\n', status: 'proposed', supersedes: decision.delta_id });
    await handoff.wip.open({ key: 'Migration.1', text: 'columns added' });
    await handoff.wip.close({ key: 'Migration.1' });
    await handoff.signal.send({ name: 'erin', type: 'question', text: 'which port?' });
    const records = recordsOf(place, session_id);
    expect(records.slice(1).map(({ name, fields, body }) => [name, strip(fields), body])).toEqual([
      ['0002-note.yaml', { text: 'two\nlines: with "quotes" # and marks' }, null],
      ['0003-checkpoint.yaml', { branch: 'main', head }, null],
      ['0004-checkpoint.yaml', { text: 'all tests pass', branch: 'main', head }, null],
      ['0005-decision.md', { title: 'Use YAML', status: 'accepted' }, '# Why\n\nPeople read it.\n'],
      ['0006-decision.md', { title: 'Use TOML', status: 'proposed', supersedes: decision.delta_id }, 'No.\n'],
      ['0007-wip.yaml', { key: 'Migration.1', state: 'open', text: 'columns added' }, null],
      ['0008-wip.yaml', { key: 'Migration.1', state: 'closed' }, null],
      ['0009-signal.yaml', { to: 'erin', type: 'question', text: 'which port?' }, null],
    ]);
    expect(first).toEqual({ identity: 'donna', session_id, delta_id: records[1]!.id, path: records[1]!.path });
    for (const [at, { fields }] of records.entries()) {
      expect(fields).toMatchObject({ seq: at + 1, prev: records[at - 1]?.id ?? null, session_id, identity: 'donna' });
      expect(fields.clock).toBeGreaterThan((records[at - 1]?.fields.clock as number) ?? 0);
    }
    expect(changes(place)).toEqual(records.map(({ path }) => `?? ${path}`));
    expect(git(place.dir, 'rev-parse', 'HEAD')).toBe(head);
    git(place.dir, 'add', '.handoff');
    expect(await findings(place, { staged: true })).toEqual([]);
  });

  it('refuse empty words, bad keys and unknown addressees, and write nothing', async () => {
    const place = fresh();
    const { handoff } = place;
    const { session_id } = await handoff.start({ as: 'donna' });
    for (const text of ['', ' \n\t ']) {
      await expect(handoff.note({ text })).rejects.toMatchObject({ code: 'usage' });
      await expect(handoff.decide({ title: 'x', text })).rejects.toMatchObject({ code: 'usage' });
      await expect(handoff.decide({ title: text, text: 'x' })).rejects.toMatchObject({ code: 'usage' });
      await expect(handoff.wip.open({ key: 'k', text })).rejects.toMatchObject({ code: 'usage' });
      await expect(handoff.signal.send({ name: 'erin', text })).rejects.toMatchObject({ code: 'usage' });
    }
    await expect(handoff.wip.open({ key: 'a/b', text: 'x' })).rejects.toMatchObject({ code: 'bad_name' });
    await expect(handoff.wip.close({ key: '..' })).rejects.toMatchObject({ code: 'bad_name' });
    await expect(handoff.signal.send({ name: 'frank', text: 'x' })).rejects.toMatchObject({ code: 'unknown_identity' });
    await expect(handoff.signal.send({ name: '../x', text: 'x' })).rejects.toMatchObject({ code: 'bad_name' });
    await expect(handoff.signal.send({ name: 'erin', type: 'Two words', text: 'x' })).rejects.toMatchObject({
      code: 'usage',
      data: { flag: '--type' },
    });
    expect(recordsOf(place, session_id)).toHaveLength(1);
  });

  it('words that no record can hold are refused with the limit, and kept', async () => {
    const place = fresh();
    const { session_id } = await place.handoff.start({ as: 'donna' });
    const text = 'x'.repeat(270_000);
    const error = await place.handoff.note({ text }).catch((thrown: HandoffError) => thrown);
    expect(error).toMatchObject({
      code: 'usage',
      exitCode: 2,
      message: expect.stringMatching(
        /at most 262144 bytes; this one has 270\d{3}\. Your text is kept in \S+-note-1\.md\.$/,
      ),
    });
    expect(readFileSync((error as HandoffError).data!.draft as string, 'utf8')).toBe(text);
    expect(recordsOf(place, session_id)).toHaveLength(1);
  });

  it('what the policy allows of a record decides, before anything is written that it would not verify', async () => {
    const place = fresh();
    await place.handoff.policy.set({ key: 'limits.record_bytes', value: '1024' });
    const tooLarge = { code: 'usage', message: expect.stringContaining('at most 1024 bytes; this one has ') };
    await expect(place.handoff.start({ as: 'donna', intent: 'x'.repeat(1024) })).rejects.toMatchObject(tooLarge);
    const { session_id } = await place.handoff.start({ as: 'donna' });
    await expect(place.handoff.note({ text: 'x'.repeat(1024) })).rejects.toMatchObject(tooLarge);
    await expect(place.handoff.wrap({ message: 'x'.repeat(1024) })).rejects.toMatchObject(tooLarge);
    await place.handoff.wrap({ message: 'short' });
    expect(recordsOf(place, session_id)).toHaveLength(2);
    expect(await findings(place)).toEqual([]);
  });

  it('--commit commits the session’s folder and leaves other changes as they were', async () => {
    const place = fresh();
    writeFileSync(join(place.dir, 'staged.txt'), 'staged\n');
    git(place.dir, 'add', 'staged.txt');
    writeFileSync(join(place.dir, 'loose.txt'), 'loose\n');
    const { session_id } = await place.handoff.start({ as: 'donna' });
    await place.handoff.note({ text: 'kept back' });
    await place.handoff.note({ text: 'committed', commit: true });
    const records = recordsOf(place, session_id);
    expect(pathsOf(place)).toEqual(records.map(({ path }) => path));
    expect(changes(place)).toEqual(['A  staged.txt', '?? loose.txt']);
    expect(git(place.dir, 'log', '-1', '--format=%s')).toBe('handoff: donna, note');
    expect(await findings(place)).toEqual([]);
  });

  it('--no-stage only writes files; a later commit takes them along', async () => {
    const place = fresh();
    const { session_id } = await place.handoff.start({ as: 'donna', stage: false });
    await place.handoff.note({ text: 'loose', stage: false });
    expect(changes(place).map((line) => line.slice(0, 2))).toEqual(['??', '??']);
    await place.handoff.note({ text: 'committed', commit: true });
    expect(pathsOf(place)).toEqual(recordsOf(place, session_id).map(({ path }) => path));
    expect(changes(place)).toEqual([]);
    expect(await findings(place)).toEqual([]);
  });

  it('of several writers at once each gets a place of its own in one chain', async () => {
    const place = fresh();
    const { session_id } = await place.handoff.start({ as: 'donna' });
    const texts = ['one', 'two', 'three', 'four', 'five', 'six'];
    await Promise.all(texts.map((text) => open(place).handoff.note({ text })));
    const records = recordsOf(place, session_id);
    expect(records.slice(1).map(({ fields }) => fields.text)).toHaveLength(texts.length);
    expect(new Set(records.slice(1).map(({ fields }) => fields.text))).toEqual(new Set(texts));
    expect(changes(place)).toHaveLength(7);
    expect(await findings(place, { staged: true })).toEqual([]);
  });

  it('clocks grow from session to session', async () => {
    const place = fresh();
    const first = await workAndWrap(place.handoff, 'donna');
    const { session_id } = await open(place).handoff.start({ as: 'erin' });
    const before = recordsOf(place, first).map(({ fields }) => fields.clock as number);
    expect(recordsOf(place, session_id)[0]!.fields.clock).toBeGreaterThan(Math.max(...before));
    const clone = join(place.dir, '..', 'clone');
    git('/', 'clone', '--quiet', place.dir, clone);
    const there = reopen(place, clone);
    const third = await there.handoff.start({ as: 'erin' });
    expect(recordsOf(there, third.session_id)[0]!.fields.clock).toBeGreaterThan(Math.max(...before));
  });

  it('one of a session in another work tree is not written into this one', async () => {
    const place = fresh();
    const { session_id } = await place.handoff.start({ as: 'donna' });
    const elsewhere = worktree(place, 'side');
    await elsewhere.handoff.note({ session: session_id, text: 'from afar', commit: true });
    expect(recordsOf(elsewhere, session_id)).toEqual([]);
    expect(changes(elsewhere)).toEqual([]);
    await place.handoff.note({ text: 'from here' });
    expect(recordsOf(place, session_id).map(({ fields }) => fields.text)).toEqual([
      undefined,
      'from afar',
      'from here',
    ]);
    expect(await findings(place, { staged: true })).toEqual([]);
  });
});

describe('the end of a session', () => {
  it('a wrapped session takes nothing more, keeps the words as a draft, and start opens a new one', async () => {
    const place = fresh();
    const session_id = await workAndWrap(place.handoff, 'donna');
    const again = place.handoff.note({ as: 'donna', text: 'one more thing' });
    await expect(again).rejects.toMatchObject({ code: 'session_ended', exitCode: 2, data: { session_id } });
    await expect(place.handoff.wrap({ as: 'donna', message: 'again' })).rejects.toMatchObject({
      code: 'session_ended',
    });
    await expect(place.handoff.heartbeat({ as: 'donna' })).rejects.toMatchObject({ code: 'session_ended' });
    expect((await place.handoff.start({ as: 'donna' })).session_id).not.toBe(session_id);
  });

  it.each([
    ['note', (handoff: Handoff) => handoff.note({ as: 'donna', text: 'hard-won words' })],
    ['decide', (handoff: Handoff) => handoff.decide({ as: 'donna', title: 'T', text: 'hard-won words' })],
    ['wrap', (handoff: Handoff) => handoff.wrap({ as: 'donna', message: 'hard-won words' })],
  ])('a session taken over by force loses no words in its next %s, and never comes back', async (_, write) => {
    const place = fresh();
    const first = await place.handoff.start({ as: 'donna' });
    const elsewhere = worktree(place, 'side');
    const { session_id } = await elsewhere.handoff.pickup({ as: 'erin', force: true, reason: 'it hangs' });
    const error = await write(place.handoff).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      code: 'session_released',
      data: { reason: 'preempted_by_pickup', released_by: session_id, draft: expect.any(String) },
    });
    const { draft } = (error as { data: { draft: string } }).data;
    expect((error as Error).message).toContain(draft);
    expect(readFileSync(draft, 'utf8').trimEnd()).toBe('hard-won words');
    await expect(place.handoff.heartbeat({ as: 'donna' })).rejects.toMatchObject({ code: 'session_released' });
    expect(recordsOf(place, first.session_id)).toHaveLength(1);
    expect((await place.handoff.status({ as: 'donna' })).warnings).toMatchObject([{ kind: 'session_released' }]);
    const next = await place.handoff.start({ as: 'donna' });
    expect(next).toMatchObject({ resumed: false });
    expect(next.session_id).not.toBe(first.session_id);
  });

  it('anybody without a session may release one; its holder is told who and why', async () => {
    const place = fresh();
    const { session_id } = await place.handoff.start({ as: 'donna' });
    const elsewhere = worktree(place, 'side');
    const options = { as: 'erin', target: session_id.slice(0, 8), reason: 'the machine is gone' };
    const released = { session_id, state: 'released', identity: 'erin', released_identity: 'donna' };
    expect(await elsewhere.handoff.release(options)).toEqual(released);
    expect(await elsewhere.handoff.release(options)).toEqual(released);
    await expect(place.handoff.note({ text: 'x' })).rejects.toMatchObject({
      code: 'session_released',
      message: expect.stringContaining('erin: the machine is gone.'),
      data: { reason: 'the machine is gone', identity: 'erin' },
    });
    expect(await elsewhere.handoff.start({ as: 'donna' })).toMatchObject({ resumed: false });
  });

  it('whoever has a session of its own records the release there', async () => {
    const place = fresh();
    const { session_id } = await place.handoff.start({ as: 'donna' });
    const elsewhere = worktree(place, 'side');
    const own = await elsewhere.handoff.start({ as: 'erin' });
    await elsewhere.handoff.release({ target: session_id, reason: 'it hangs' });
    expect(recordsOf(elsewhere, own.session_id)[1]).toMatchObject({
      name: '0002-release.yaml',
      fields: { released_session_id: session_id, released_identity: 'donna', reason: 'it hangs' },
    });
    await expect(place.handoff.note({ text: 'x' })).rejects.toMatchObject({
      data: { released_by: own.session_id, identity: 'erin' },
    });
    expect(await findings(elsewhere, { staged: true })).toEqual([]);
  });

  it('a release needs a reason and a session that is known; a wrapped session stays wrapped', async () => {
    const { handoff } = fresh();
    const session_id = await workAndWrap(handoff, 'donna');
    await expect(handoff.release({ target: session_id, reason: ' ' })).rejects.toMatchObject({ code: 'usage' });
    await expect(handoff.release({ target: 'ffffffff', reason: 'x' })).rejects.toMatchObject({
      code: 'unknown_session',
    });
    expect(await handoff.release({ target: session_id, reason: 'x' })).toMatchObject({ session_id, state: 'wrapped' });
  });
});

describe('pickup', () => {
  it('takes a stale predecessor without force, records that it was abandoned, and warns', async () => {
    const place = fresh();
    const { session_id } = await place.handoff.start({ as: 'donna' });
    await place.handoff.note({ text: 'half way' });
    const elsewhere = worktree(place, 'side', { host: STALE });
    const result = await elsewhere.handoff.pickup({ as: 'erin' });
    expect(result).toMatchObject({ predecessor_session_id: session_id, baton: null });
    expect(result.warnings.map(({ kind }) => kind)).toEqual(['no_baton', 'abandoned']);
    expect(recordsOf(elsewhere, result.session_id)[0]!.fields).toMatchObject({ abandoned: true, released: [] });
    await expect(place.handoff.note({ as: 'donna', text: 'back again' })).rejects.toMatchObject({
      code: 'session_released',
      data: { reason: 'picked_up' },
    });
  });

  it('follows custody to its live end, wherever along the chain it is asked to begin', async () => {
    const place = fresh();
    const ids = [await workAndWrap(place.handoff, 'donna', 'baton one')];
    for (const as of ['erin', 'donna']) {
      ids.push((await place.handoff.pickup({ as })).session_id);
      await place.handoff.wrap({ as, message: `baton of ${as}` });
    }
    const last = await open(place).handoff.pickup({ as: 'erin', fromSession: ids[0]! });
    expect(last).toMatchObject({
      predecessor_session_id: ids[2],
      baton: { body: 'baton of donna', session_id: ids[2] },
    });
    await expect(place.handoff.pickup({ as: 'donna', fromSession: ids[1]! })).rejects.toMatchObject({
      code: 'predecessor_active',
      data: { session_id: last.session_id, identity: 'erin' },
    });
  });

  it('an end without a baton brings the nearest earlier one along, and says so', async () => {
    const place = fresh();
    const first = await workAndWrap(place.handoff, 'donna', 'the last words anybody wrapped');
    const second = await place.handoff.pickup({ as: 'erin' });
    const after = open(place, { host: STALE });
    const third = await after.handoff.pickup({ as: 'donna' });
    expect(third).toMatchObject({
      predecessor_session_id: second.session_id,
      baton: { session_id: first, body: 'the last words anybody wrapped' },
      warnings: [{ kind: 'no_baton' }, { kind: 'abandoned' }],
    });
    expect((await after.handoff.status({ as: 'donna' })).baton).toMatchObject({ session_id: first });
  });

  it('does not fork: whenever another one comes in between, exactly one gets the baton', async () => {
    const place = fresh();
    const first = await workAndWrap(place.handoff, 'donna');
    let winners = 0;
    for (let moment = 1; ; moment++) {
      const copy = copyOf(place);
      let calls = 0;
      const bootId = () => {
        calls++;
        if (calls === moment)
          expect([0, 3]).toContain(run(['pickup', '--as', 'donna', '--no-stage'], inside(copy)).code);
        return nodeHost.bootId();
      };
      const outcome = open(copy, { host: { ...nodeHost, bootId } }).handoff.pickup({ as: 'erin', stage: false });
      const error = await outcome.then(
        () => null,
        (thrown: unknown) => thrown,
      );
      if (calls < moment) break; // the other one never came
      const { sessions } = await open(copy).handoff.sessions();
      const heirs = sessions.filter((session) => session.predecessor_session_id === first);
      if (error) expect(error, `${moment}`).toMatchObject({ code: 'predecessor_active', exitCode: 3 });
      expect(heirs, `${moment}`).toHaveLength(1);
      winners++;
    }
    expect(winners).toBeGreaterThan(2);
  });

  it('whoever loses gives back what it took by force: the session it pushed aside goes on', async () => {
    const place = fresh();
    const first = await workAndWrap(place.handoff, 'erin');
    const { session_id } = await place.handoff.start({ as: 'donna' });
    const force = { as: 'donna', fromSession: first, force: true, reason: 'mine', stage: false };
    let lost: unknown = null;
    for (let moment = 1; lost === null && moment < 20; moment++) {
      const copy = copyOf(place);
      let calls = 0;
      const bootId = () => {
        if (++calls === moment) run(['pickup', '--as', 'erin', '--no-stage'], inside(copy));
        return nodeHost.bootId();
      };
      lost = await open(copy, { host: { ...nodeHost, bootId } })
        .handoff.pickup(force)
        .then(
          () => null,
          (thrown: unknown) => thrown,
        );
      if (lost !== null) await open(copy).handoff.note({ session: session_id, text: 'still here' });
    }
    expect(lost).toMatchObject({ code: 'predecessor_active' });
  });

  it('two processes at once: one wins, the other is told who', async () => {
    const place = fresh();
    const first = await workAndWrap(place.handoff, 'donna');
    const racers = ['donna', 'erin'].map((as) => open(place).handoff.pickup({ as, stage: false }));
    const outcomes = await Promise.allSettled(racers);
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(outcomes.find(({ status }) => status === 'rejected')).toMatchObject({
      reason: { code: 'predecessor_active' },
    });
    const { sessions } = await place.handoff.sessions();
    expect(sessions.filter((session) => session.predecessor_session_id === first)).toHaveLength(1);
  });

  it('a reason that no record can hold takes nothing from anybody', async () => {
    const place = fresh();
    const { session_id } = await place.handoff.start({ as: 'donna' });
    const reason = 'x'.repeat(270_000);
    await expect(place.handoff.pickup({ as: 'erin', force: true, reason })).rejects.toMatchObject({
      code: 'usage',
    });
    await place.handoff.note({ as: 'donna', text: 'still mine' });
    expect((await place.handoff.sessions()).sessions).toMatchObject([{ session_id, state: 'active' }]);
  });

  it('last_wrapped moves with wrap and not with pickup', async () => {
    const place = fresh();
    const last = async () => (await open(place).handoff.start({ as: 'bot' })).last_wrapped?.session_id;
    const first = await workAndWrap(place.handoff, 'donna');
    expect(await last()).toBe(first);
    const { session_id } = await place.handoff.pickup({ as: 'erin', fromSession: first });
    expect(await last()).toBe(first);
    await place.handoff.wrap({ as: 'erin', message: 'now it moves' });
    expect(await last()).toBe(session_id);
  });

  it('drains signals once, those of the addressee only, and lists them in its record; start does not', async () => {
    const place = fresh();
    await place.handoff.start({ as: 'donna' });
    const one = await place.handoff.signal.send({ name: 'erin', type: 'question', text: 'which port?' });
    const two = await place.handoff.signal.send({ name: 'bot', text: 'for the bot' });
    await place.handoff.wrap({ as: 'donna', message: 'done' });
    const pending = async (as: string) => (await open(place).handoff.signal.pending({ as })).pending_signals;
    expect(await pending('erin')).toMatchObject([{ delta_id: one.delta_id, from: 'donna', text: 'which port?' }]);
    expect(await place.handoff.start({ as: 'erin' })).not.toHaveProperty('pending_signals');
    expect(await pending('erin')).toHaveLength(1);
    const picked = await open(place).handoff.pickup({ as: 'erin', force: true });
    expect(picked.pending_signals).toEqual([
      {
        delta_id: one.delta_id,
        from: 'donna',
        to: 'erin',
        type: 'question',
        text: 'which port?',
        at: expect.any(String),
        session_id: expect.any(String),
        path: expect.stringMatching(/-signal\.yaml$/),
      },
    ]);
    expect(recordsOf(place, picked.session_id)[0]!.fields.signals).toEqual([one.delta_id]);
    expect(await pending('erin')).toEqual([]);
    expect(await pending('bot')).toMatchObject([{ delta_id: two.delta_id, type: null }]);
    await place.handoff.wrap({ as: 'erin', message: 'done' });
    expect((await open(place).handoff.pickup({ as: 'erin' })).pending_signals).toEqual([]);
  });

  it('finds a predecessor on another branch in another work tree', async () => {
    const place = fresh();
    const side = worktree(place, 'side');
    const first = await workAndWrap(side.handoff, 'donna', 'wrapped on side');
    const result = await place.handoff.pickup({ as: 'erin' });
    expect(result).toMatchObject({
      predecessor_session_id: first,
      baton: { body: 'wrapped on side' },
      context: { branch: 'main' },
    });
    expect(recordsOf(place, first)).toEqual([]);
    expect(pathsOf(place)).toEqual(recordsOf(place, result.session_id).map(({ path }) => path));
    expect(await findings(place)).toEqual([]);
  });

  it('finds a baton that came with a clone', async () => {
    const place = fresh();
    const first = await workAndWrap(place.handoff, 'donna', 'for the other machine');
    const clone = join(place.dir, '..', 'clone');
    git('/', 'clone', '--quiet', place.dir, clone);
    const there = reopen(place, clone);
    expect(await there.handoff.sessions()).toMatchObject({
      sessions: [{ session_id: first, state: 'wrapped', heartbeat_age: null }],
    });
    expect(await there.handoff.pickup({ as: 'erin' })).toMatchObject({
      predecessor_session_id: first,
      baton: { body: 'for the other machine' },
    });
  });

  it('commits its record and nothing else', async () => {
    const place = fresh();
    await workAndWrap(place.handoff, 'donna');
    writeFileSync(join(place.dir, 'staged.txt'), 'staged\n');
    git(place.dir, 'add', 'staged.txt');
    const { session_id, commit } = await place.handoff.pickup({ as: 'erin', task: 'P0.1', reason: 'my turn' });
    expect(commit).toBe(git(place.dir, 'rev-parse', 'HEAD'));
    const [record] = recordsOf(place, session_id);
    expect(pathsOf(place)).toEqual([record!.path]);
    expect(record!.fields).toMatchObject({ task: 'P0.1', reason: 'my turn' });
    expect(changes(place)).toEqual(['A  staged.txt']);
  });

  it('shows and hands over only what was verified', async () => {
    const place = fresh();
    const [, , , baton] = writeSession(place, [
      { kind: 'start' },
      { kind: 'note', text: 'x' },
      { kind: 'note', text: 'y' },
      { kind: 'baton', summary: 'forged', body: 'do as I say\n' },
    ]);
    const text = readFileSync(join(place.dir, baton!.path), 'utf8');
    writeFileSync(join(place.dir, baton!.path), text.replace('do as I say', 'do as I lie'));
    git(place.dir, 'add', '--all');
    git(place.dir, 'commit', '--quiet', '--message', 'forged');
    const { handoff, warnings } = open(place);
    const result = await handoff.pickup({ as: 'erin', stage: false });
    expect(result).toMatchObject({ baton: null, warnings: [{ kind: 'no_baton' }, { kind: 'abandoned' }] });
    expect(warnings.join()).toContain('git handoff verify');
  });
});

describe('sessions and status', () => {
  it('lists active, stale, wrapped and released sessions, newest first', async () => {
    const place = fresh();
    const wrapped = await workAndWrap(place.handoff, 'donna');
    const released = await place.handoff.start({ as: 'donna', stage: false });
    await place.handoff.release({ as: 'erin', target: released.session_id, reason: 'x' });
    const stale = await place.handoff.start({ as: 'donna', stage: false });
    const after = open(place, { host: STALE });
    const active = await after.handoff.pickup({ as: 'erin', fromSession: wrapped, stage: false });
    const { sessions } = await after.handoff.sessions();
    expect(sessions).toEqual([
      entry(active.session_id, 'erin', 'active', wrapped),
      entry(stale.session_id, 'donna', 'stale', null),
      entry(released.session_id, 'donna', 'released', null),
      entry(wrapped, 'donna', 'wrapped', null),
    ]);
    expect(sessions[0]!.heartbeat_age).toBeLessThan(600);
    expect(sessions[1]!.heartbeat_age).toBeGreaterThan(600);
  });

  it('stale_after of the policy says when a session is stale', async () => {
    const place = fresh();
    await place.handoff.policy.set({ key: 'stale_after', value: '60' });
    await place.handoff.start({ as: 'donna' });
    const state = async (seconds: number) =>
      (await open(place, { host: later(seconds) }).handoff.sessions()).sessions[0]!.state;
    expect(await state(30)).toBe('active');
    expect(await state(61)).toBe('stale');
  });

  it('a clock that jumps makes nobody stale, and another boot leaves only the clock', async () => {
    const place = fresh();
    await place.handoff.start({ as: 'donna' });
    const tomorrow = () => new Date(Date.now() + 86_400_000);
    const state = async (host = nodeHost) =>
      (await open(place, { host, now: tomorrow }).handoff.sessions()).sessions[0]!.state;
    expect(await state()).toBe('active');
    expect(await state({ ...nodeHost, bootId: () => 'another boot' })).toBe('stale');
  });

  it('a heartbeat keeps a session alive', async () => {
    const place = fresh();
    const { session_id } = await place.handoff.start({ as: 'donna' });
    expect(await open(place, { host: later(500) }).handoff.heartbeat({ as: 'donna' })).toEqual({
      session_id,
      identity: 'donna',
      state: 'active',
    });
    expect((await open(place, { host: later(900) }).handoff.sessions()).sessions[0]!.state).toBe('active');
  });

  it('status reminds nobody who has wrapped of what is left to do before', async () => {
    const place = fresh();
    const { session_id } = await place.handoff.start({ as: 'donna' });
    await place.handoff.note({ text: 'work' });
    const open = (await place.handoff.status()).rules_reminders.join('\n');
    expect(open).toMatch(/Write back: git handoff thought TASK\nWrap before you stop/);
    await place.handoff.wrap({ message: 'go on' });
    const wrapped = (await place.handoff.status({ session: session_id })).rules_reminders.join('\n');
    expect(wrapped).toMatch(/is wrapped.+git handoff pickup/);
    expect(wrapped).not.toMatch(/Write back|Wrap before/);
  });

  it('status says who, where, with what in hand, and changes nothing', async () => {
    const place = fresh();
    const before = await place.handoff.status({ as: 'erin' });
    expect(before).toEqual({
      identity: 'erin',
      session: null,
      cd: null,
      baton: null,
      project: 'work',
      phase: null,
      branch: 'main',
      head: git(place.dir, 'rev-parse', 'HEAD'),
      tasks: { focus: [], open_count: 0 },
      claimed: [],
      context_used: null,
      pending_signals: 0,
      active_sessions: [],
      rules_reminders: [expect.stringContaining('git handoff wrap')],
      left_out: {},
      warnings: [],
    });
    await place.handoff.start({ as: 'donna' });
    await place.handoff.signal.send({ name: 'erin', text: 'hello' });
    const { baton } = await place.handoff.wrap({ message: 'go on', nextAgent: 'erin', focus: ['P0.1'] });
    const waiting = await place.handoff.status({ as: 'erin' });
    expect(waiting).toMatchObject({
      session: null,
      baton: { delta_id: baton.delta_id, identity: 'donna', summary: 'go on', next_agent: 'erin', focus: ['P0.1'] },
      pending_signals: 1,
    });
    const picked = await place.handoff.pickup({ as: 'erin' });
    expect(await place.handoff.status()).toMatchObject({
      identity: 'erin',
      session: { session_id: picked.session_id, state: 'active', inherited_from: picked.inherited_from },
      baton: { delta_id: baton.delta_id },
      pending_signals: 0,
      active_sessions: [{ session_id: picked.session_id, identity: 'erin' }],
    });
    expect(changes(place)).toEqual([]);
  });
});

/** The keys of the kind alone. */
function strip(fields: Record<string, unknown>): Record<string, unknown> {
  const common = ['handoff', 'kind', 'repo', 'session_id', 'identity', 'seq', 'prev', 'clock', 'at', 'inherited_from'];
  return Object.fromEntries(Object.entries(fields).filter(([key]) => !common.includes(key)));
}

function entry(session_id: string, identity: string, state: string, predecessor_session_id: string | null) {
  return {
    session_id,
    identity,
    state,
    started_at: expect.any(String),
    heartbeat_age: expect.any(Number),
    predecessor_session_id,
  };
}

/** The place as it is now, once more. */
function inside({ dir, keys }: Place): RunOptions {
  return { cwd: dir, env: { HANDOFF_KEYS: keys } };
}

function copyOf(place: Place): Place {
  const dir = join(place.dir, '..', 'copy');
  rmSync(dir, { recursive: true, force: true });
  cpSync(place.dir, dir, { recursive: true });
  return { ...place, dir };
}
