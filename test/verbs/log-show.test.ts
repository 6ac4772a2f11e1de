import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { commitAll, type Place, privateKey, STORY, type Written, writeBytes, writeSession } from '../handoff.ts';
import { git } from '../temporary.ts';
import { printOf, reopen, template } from '../threats/forge.ts';

const DONNA = '7c1f09aa-1111-4111-8111-111111111111';
const ERIN = '0d0d0d0d-3333-4333-8333-333333333333';
const THOUGHT = {
  kind: 'thought' as const,
  ...{ task_id: 'P0.1.1', branch: 'main', commit_sha: 'a'.repeat(40), tests_run: [], summary: 'it works' },
  ...{ blockers: [], files_changed: [], related_thought_records: [] },
};
let donna: Written[] = [];
let erin: Written[] = [];
const fresh = template((place) => {
  donna = writeSession(place, STORY, { sessionId: DONNA });
  // dated earlier, with a later clock: the clock decides
  erin = writeSession(place, [{ kind: 'start', task: 'P0.1.1', intent: 'two' }, THOUGHT], {
    identity: 'erin',
    sessionId: ERIN,
    clock: 100,
    at: '2001-01-01T00:00:00.000Z',
  });
  commitAll(place);
});

const paths = async (place: Place, options = {}) =>
  (await reopen(place).handoff.log(options)).records.map(({ path }) => path);

describe('log', () => {
  it('is newest first by clock, whatever the dates say', async () => {
    const place = fresh();
    expect(await paths(place)).toEqual(
      [...erin]
        .reverse()
        .concat([...donna].reverse())
        .map(({ path }) => path),
    );
    const { records } = await place.handoff.log({ limit: 1 });
    expect(records).toEqual([
      {
        ...{ id: erin[1]!.id, kind: 'thought', session_id: ERIN, identity: 'erin', seq: 2, clock: 102 },
        ...{ at: '2001-01-01T00:00:00.000Z', path: erin[1]!.path, valid: true, summary: 'it works' },
      },
    ]);
  });

  it('with equal clocks the id decides, so that everybody sees one order', async () => {
    const place = fresh();
    writeSession(place, STORY.slice(0, 1), { identity: 'erin', clock: 500 });
    writeSession(place, STORY.slice(0, 1), { identity: 'bot', clock: 500 });
    commitAll(place);
    const { records } = await reopen(place).handoff.log({ limit: 2 });
    expect(records[0]!.clock).toBe(records[1]!.clock);
    expect(records[0]!.id > records[1]!.id).toBe(true);
  });

  it('filters by session (or its beginning), task, identity, kind and number', async () => {
    const place = fresh();
    expect(await paths(place, { session: ERIN })).toHaveLength(2);
    expect(await paths(place, { session: '7c1f' })).toHaveLength(4);
    expect(await paths(place, { task: 'P0.1.1' })).toHaveLength(2);
    expect(await paths(place, { identity: 'donna' })).toHaveLength(4);
    expect(await paths(place, { kind: 'start' })).toHaveLength(2);
    expect(await paths(place, { kind: 'start', identity: 'donna' })).toEqual([donna[0]!.path]);
    expect(await paths(place, { limit: 3 })).toHaveLength(3);
    expect(await paths(place, { session: 'ffff' })).toEqual([]);
    const twin = DONNA.replace('7c1f09aa', '7c1f0000');
    writeSession(place, STORY, { sessionId: twin });
    commitAll(place);
    expect(await paths(place, { session: '7c1f09' })).toHaveLength(4);
    const ambiguous = await reopen(place)
      .handoff.log({ session: '7c1f' })
      .catch((thrown) => thrown);
    expect(ambiguous).toMatchObject({ code: 'unknown_session', hint: expect.stringContaining(twin) });
    expect(await paths(place, { kind: 'gossip' })).toEqual([]);
  });

  it('shows staged records, and not those that are only written', async () => {
    const place = fresh();
    const [start] = writeSession(place, STORY.slice(0, 1), { identity: 'bot', clock: 900 });
    expect(await paths(place)).toHaveLength(6);
    git(place.dir, 'add', '.handoff');
    expect((await paths(place))[0]).toBe(start!.path);
  });

  it('marks what is not valid, and repeats nothing it says', async () => {
    const place = fresh();
    writeBytes(place.dir, donna[1]!.path, Buffer.from(donna[1]!.bytes).toString('utf8').replace('npm', 'EVIL'));
    commitAll(place);
    const { records } = await reopen(place).handoff.log();
    expect(records.filter(({ valid }) => !valid).map(({ path, summary }) => [path, summary])).toEqual([
      [donna[1]!.path, ''],
    ]);
    expect(JSON.stringify(records)).not.toContain('EVIL');
  });

  it('a record that breaks the chain is not valid either', async () => {
    const place = fresh();
    git(place.dir, 'rm', '--quiet', donna[1]!.path);
    const { records } = await reopen(place).handoff.log({ identity: 'donna' });
    expect(records.map(({ seq, valid }) => [seq, valid])).toEqual([
      [4, true],
      [3, false],
      [1, true],
    ]);
  });

  it('works in a bare repository, and on an unborn branch with staged records', async () => {
    const place = fresh();
    const bare = join(place.dir, '..', 'bare.git');
    git('/', 'clone', '--quiet', '--bare', place.dir, bare);
    expect((await reopen(place, bare).handoff.log()).records).toHaveLength(6);
    git(place.dir, 'switch', '--quiet', '--orphan', 'empty');
    git(place.dir, 'checkout', '--quiet', 'main', '--', '.');
    expect(await paths(place)).toHaveLength(6);
  });
});

describe('show', () => {
  it('finds a record by path, by id, with and without sha256:, and by six digits', async () => {
    const place = fresh();
    const { id, path } = donna[3]!;
    const names = [
      path,
      `./${path}`,
      path.replace('.handoff/', ''),
      id,
      id.slice(7),
      id.slice(7, 13),
      `sha256:${id.slice(7, 17)}`,
    ];
    for (const record of names) {
      expect(await place.handoff.show({ record }), record).toMatchObject({
        ...{ id, path, valid: true, body: '# Current work\n\nHalf way there.\n' },
        signer: { identity: 'donna', fingerprint: printOf(privateKey(place, 'donna')) },
        record: { kind: 'baton', summary: 'half way', session_id: DONNA },
      });
    }
  });

  it('refuses what is too short, unknown, or no name at all', async () => {
    const { handoff } = fresh();
    for (const record of ['', 'abcde', 'ABCDEF', 'sha256:', 'xyz', 'sha512:abcdef']) {
      await expect(handoff.show({ record }), record).rejects.toMatchObject({ code: 'usage' });
    }
    for (const record of [
      'ffffffffffff',
      'f'.repeat(64),
      '.handoff/sessions/donna/x/0001-note.yaml',
      '.handoff/tasks/X.yaml',
    ]) {
      await expect(handoff.show({ record }), record).rejects.toMatchObject({ code: 'unknown_record', exitCode: 2 });
    }
  });

  it('an ambiguous prefix names the candidates', async () => {
    const place = fresh();
    const target = donna[0]!.id.slice(7, 13);
    // a copy has the same id, which is the one sure way to an ambiguous prefix
    for (const { path, bytes } of donna) writeBytes(place.dir, path.replace('20260220', '20260221'), bytes);
    commitAll(place);
    await expect(reopen(place).handoff.show({ record: target })).rejects.toMatchObject({
      code: 'unknown_record',
      hint: expect.stringContaining('20260221'),
    });
  });

  it('shows documents by their path', async () => {
    const place = fresh();
    for (const [record, kind] of [
      ['.handoff/policy/0001.yaml', 'policy'],
      ['.handoff/project.yaml', 'project'],
      ['.handoff/identities/donna/identity.yaml', 'identity'],
      ['.handoff/identities/maintainer/identity.yaml', 'identity'],
    ]) {
      expect(await place.handoff.show({ record: record! })).toMatchObject({
        valid: true,
        path: record,
        record: { kind },
        signer: { identity: 'maintainer' },
      });
    }
  });

  it('a forged document is shown as what it is, wherever it stands', async () => {
    const place = fresh();
    const text = readFileSync(join(place.dir, '.handoff/identities/donna/identity.yaml'), 'utf8');
    writeBytes(place.dir, '.handoff/identities/donna/identity.yaml', text.replace('role: agent', 'role: bot'));
    writeBytes(place.dir, '.handoff/elsewhere/identity.yaml', text);
    writeBytes(place.dir, '.handoff/elsewhere/note.yaml', donna[1]!.bytes);
    commitAll(place);
    for (const record of [
      '.handoff/identities/donna/identity.yaml',
      '.handoff/elsewhere/identity.yaml',
      '.handoff/elsewhere/note.yaml',
    ]) {
      expect(await reopen(place).handoff.show({ record }), record).toMatchObject({ valid: false, signer: null });
    }
  });

  it('a forged record is shown with valid: false and no signer, and cannot be exported', async () => {
    const place = fresh();
    writeBytes(place.dir, donna[1]!.path, Buffer.from(donna[1]!.bytes).toString('utf8').replace('npm', 'yarn'));
    commitAll(place);
    const { handoff } = reopen(place);
    expect(await handoff.show({ record: donna[1]!.path })).toMatchObject({ valid: false, signer: null });
    await expect(handoff.show({ record: donna[1]!.path, sshsig: join(place.dir, '..', 'out') })).rejects.toMatchObject({
      code: 'signature_invalid',
    });
  });

  it('--sshsig: stock ssh-keygen confirms records and documents, and refuses one byte more', async () => {
    const place = fresh();
    for (const record of [
      donna[0]!.id,
      donna[3]!.id,
      '.handoff/policy/0001.yaml',
      '.handoff/identities/donna/identity.yaml',
    ]) {
      const out = join(place.dir, '..', `out-${record.slice(-8).replaceAll('/', '_')}`);
      const { sshsig } = await place.handoff.show({ record, sshsig: out });
      expect(sshsig).toMatchObject({ directory: out });
      expect(spawnSync('sh', ['-c', sshsig!.command], { cwd: out }).status, record).toBe(0);
      writeBytes(out, 'payload', Buffer.concat([readFileSync(join(out, 'payload')), Buffer.from('x')]));
      expect(spawnSync('sh', ['-c', sshsig!.command], { cwd: out }).status).not.toBe(0);
    }
  });
});
