import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseAs } from '../../src/core/record/record.ts';
import { run } from '../cli/cli.ts';
import { commitRecords, START } from '../gate/scenario.ts';
import { type Draft, emptyPlace, type Place, privateKey, signRecord, writeBytes, writeSession } from '../handoff.ts';
import { SEALED_ID, seal, writeSealed } from '../sealing.ts';
import { git, temporaryDirectory } from '../temporary.ts';
import { reopen, template } from '../threats/forge.ts';
import { changes, open, recordsOf, workAndWrap, worktree } from './agents.ts';
import { defineTask } from './tasks.ts';

const fresh = template();
const NOTE: Draft = { kind: 'note', text: 'one' };

/** What a new process says, the folders of sessions cut off. */
async function verified(place: Place, session?: string) {
  const result = await reopen(place).handoff.audit.verify(session === undefined ? {} : { session });
  const { valid, record_count, broken_count, first_broken_at, findings } = result;
  const codes = findings.map(({ code, path }) => `${code} ${name(path!)}`);
  return { valid, record_count, broken_count, first: first_broken_at && name(first_broken_at), codes };
}

function name(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

function replace({ dir }: Place, path: string, from: string, to: string): void {
  writeBytes(dir, path, readFileSync(join(dir, path), 'utf8').replace(from, to));
}

describe('audit start', () => {
  test('adds a record to the session that is open here, staged', async () => {
    const here = fresh();
    const { session_id } = await here.handoff.start({ as: 'donna' });
    const result = await here.handoff.audit.start({ intent: 'move the keys' });
    expect(result).toEqual({
      ...{ delta_id: expect.stringMatching(/^sha256:/), session_id, path: expect.any(String) },
      ...{ identity: 'donna', opened: false, intent: 'move the keys', task_id: null },
    });
    const [, audit] = recordsOf(here, session_id);
    expect(audit).toMatchObject({
      path: result.path,
      id: result.delta_id,
      fields: { kind: 'audit', intent: 'move the keys' },
    });
    expect(changes(here)).toContain(`A  ${result.path}`);
  });

  test('opens a session where none is open, with the intent, and once', async () => {
    const here = fresh();
    const { session_id, opened } = await here.handoff.audit.start({ as: 'donna', intent: 'move the keys' });
    const again = await here.handoff.audit.start({ as: 'donna', intent: 'move the locks' });
    expect([opened, again.opened]).toEqual([true, false]);
    expect(again.session_id).toBe(session_id);
    expect(recordsOf(here, session_id).map(({ fields }) => [fields.kind, fields.intent])).toEqual([
      ['start', 'move the keys'],
      ['audit', 'move the keys'],
      ['audit', 'move the locks'],
    ]);
    expect((await verified(here)).valid).toBe(true);
  });

  test('opens a new one where the last has ended', async () => {
    const here = fresh();
    const ended = await workAndWrap(here.handoff, 'donna');
    const { session_id } = await here.handoff.audit.start({ as: 'donna', intent: 'go on' });
    expect(session_id).not.toBe(ended);
    await expect(here.handoff.audit.start({ session: ended, intent: 'too late' })).rejects.toMatchObject({
      code: 'session_ended',
    });
  });

  test('opens one of its own beside that of another identity', async () => {
    const here = fresh();
    const { session_id } = await here.handoff.start({ as: 'erin' });
    const mine = await here.handoff.audit.start({ as: 'donna', intent: 'mine' });
    expect(mine.session_id).not.toBe(session_id);
    expect(recordsOf(here, session_id)).toHaveLength(1);
  });

  test('--commit makes one commit of a session and its audit', async () => {
    const here = fresh();
    const before = git(here.dir, 'rev-parse', 'HEAD');
    await here.handoff.audit.start({ as: 'donna', intent: 'all at once', commit: true });
    expect(git(here.dir, 'rev-parse', 'HEAD~1')).toBe(before);
    expect(git(here.dir, 'log', '-1', '--format=%s')).toBe('handoff: donna, audit');
    expect(changes(here)).toEqual([]);
    expect((await reopen(here).handoff.verify()).valid).toBe(true);
  });

  test('names the task, which must be one', async () => {
    const here = fresh();
    await here.handoff.task.add({ id: 'P0.1', title: 'the reader' });
    const { session_id } = await here.handoff.audit.start({ as: 'donna', intent: 'read', task: 'P0.1' });
    expect(recordsOf(here, session_id).map(({ fields }) => fields.task ?? fields.task_id)).toEqual(['P0.1', 'P0.1']);
    for (const [task, code] of [
      ['P9.9', 'unknown_task'],
      ['../x', 'bad_name'],
    ] as const)
      await expect(here.handoff.audit.start({ as: 'donna', intent: 'x', task })).rejects.toMatchObject({ code });
  });

  test.each([
    ['an empty intent', { intent: ' ' }, 'usage'],
    ['a secret', { intent: `ghp_${'a1B2c3D4e5F6'.repeat(3)}` }, 'secret_found'],
    ['an intent longer than a record', { intent: 'x'.repeat(262_144) }, 'usage'],
    ['a task that is none', { intent: 'x', task: 'P9' }, 'unknown_task'],
  ])('%s opens no session', async (_, options, code) => {
    const here = fresh();
    await expect(here.handoff.audit.start({ as: 'donna', ...options })).rejects.toMatchObject({ code });
    expect((await here.handoff.sessions()).sessions).toEqual([]);
  });
});

describe('audit verify', () => {
  test('no sessions at all is valid, with 0', async () => {
    expect(await reopen(fresh()).handoff.audit.verify()).toEqual({
      ...{ valid: true, record_count: 0, broken_count: 0, first_broken_at: null, findings: [], sessions: [] },
    });
  });

  test('every session, whoever wrote it, committed or not', async () => {
    const here = fresh();
    writeSession(here, [START, NOTE, NOTE], { identity: 'erin' });
    commitRecords(here);
    await here.handoff.audit.start({ as: 'donna', intent: 'x', stage: false });
    const { sessions, ...rest } = await reopen(here).handoff.audit.verify();
    expect(rest).toMatchObject({ valid: true, record_count: 5, broken_count: 0, first_broken_at: null });
    expect(sessions.map(({ identity, record_count }) => [identity, record_count])).toEqual([
      ['donna', 2],
      ['erin', 3],
    ]);
  });

  test('a file that was changed in the work tree, although HEAD has it right', async () => {
    const here = fresh();
    const { session_id } = await here.handoff.start({ as: 'donna' });
    const { path } = await here.handoff.note({ text: 'ten', commit: true });
    await here.handoff.note({ text: 'more' });
    replace(here, path, 'ten', 'two');
    expect((await reopen(here).handoff.verify()).valid).toBe(true);
    expect(await verified(here)).toEqual({
      ...{ valid: false, record_count: 3, broken_count: 1, first: '0002-note.yaml' },
      codes: ['signature_invalid 0002-note.yaml', 'record_changed 0002-note.yaml'],
    });
    expect((await verified(here, session_id)).broken_count).toBe(1);
  });

  test('other text that the right key signed is not what was written: the journal shows it', async () => {
    const here = fresh();
    const { session_id } = await here.handoff.start({ as: 'donna' });
    const { path } = await here.handoff.note({ text: 'ten' });
    const { fields } = parseAs(readFileSync(join(here.dir, path)), 'note');
    const forged = signRecord({ ...fields, text: 'two' }, privateKey(here, 'donna'));
    writeBytes(here.dir, path, forged.bytes);
    const codes = ['record_changed 0002-note.yaml'];
    expect(await verified(here, session_id)).toMatchObject({ broken_count: 1, codes });
  });

  test.each([
    ['committed', true],
    ['not committed', false],
  ])('the last record, %s, deleted from the work tree: no chain can show it, the journal does', async (_, commit) => {
    const here = fresh();
    await here.handoff.start({ as: 'donna' });
    const { path } = await here.handoff.note({ text: 'ten', commit });
    rmSync(join(here.dir, path));
    expect(await verified(here)).toEqual({
      ...{ valid: false, record_count: 2, broken_count: 1, first: '0002-note.yaml' },
      codes: ['record_deleted 0002-note.yaml'],
    });
  });

  test.each<[string, (dir: string, path: string) => void]>([
    ['removed', (dir, path) => rmSync(join(dir, path))],
    ['removed and staged', (dir, path) => git(dir, 'rm', '--quiet', path)],
  ])('a record that HEAD has, %s: what the hint says brings it back', async (_, remove) => {
    const here = fresh();
    await here.handoff.start({ as: 'donna' });
    const { path } = await here.handoff.note({ text: 'ten', commit: true });
    remove(here.dir, path);
    const { findings } = await reopen(here).handoff.audit.verify();
    const [program, ...args] = findings[0]!.hint!.split(' ');
    expect([findings.length, program]).toEqual([1, 'git']);
    git(here.dir, ...args);
    expect((await verified(here)).valid).toBe(true);
    expect(git(here.dir, 'status', '--porcelain')).toBe('');
  });

  test('a commit that was taken back', async () => {
    const here = fresh();
    await here.handoff.start({ as: 'donna' });
    await here.handoff.wrap({ as: 'donna', message: 'done' });
    git(here.dir, 'reset', '--quiet', '--hard', 'HEAD~1');
    expect((await verified(here)).codes).toEqual(['record_deleted 0001-start.yaml', 'record_deleted 0002-baton.md']);
  });

  test('a record that became a link is there, and not as a record', async () => {
    const here = fresh();
    await here.handoff.start({ as: 'donna' });
    const { path } = await here.handoff.note({ text: 'ten' });
    renameSync(join(here.dir, path), join(here.dir, 'away'));
    symlinkSync(join(here.dir, 'away'), join(here.dir, path));
    expect((await verified(here)).codes).toEqual(['mode_invalid 0002-note.yaml']);
  });

  test('a gap counts at the record after it', async () => {
    const here = fresh();
    const [, gone] = writeSession(here, [START, NOTE, NOTE], { identity: 'erin' });
    rmSync(join(here.dir, gone!.path));
    expect(await verified(here)).toEqual({
      ...{ valid: false, record_count: 2, broken_count: 1, first: '0003-note.yaml' },
      codes: ['chain_broken 0003-note.yaml'],
    });
  });

  test('all that a session had is gone: it is found by its id all the same', async () => {
    const here = fresh();
    const { session_id } = await here.handoff.start({ as: 'donna' });
    rmSync(join(here.dir, '.handoff/sessions'), { recursive: true });
    expect(await verified(here, session_id)).toMatchObject({
      record_count: 1,
      codes: ['record_deleted 0001-start.yaml'],
    });
  });

  test('a seal over other records', async () => {
    const here = fresh();
    writeSealed(here, [START, NOTE, seal(), NOTE, seal(1)]);
    expect(await verified(here)).toMatchObject({ first: '0005-seal.yaml', codes: ['chain_broken 0005-seal.yaml'] });
  });

  test('the first is the first by number, whatever was looked at first', async () => {
    const here = fresh();
    const wrong = seal(null, (honest) => ({ ...honest, tree_size: 1 }));
    writeSealed(here, [START, NOTE, wrong, { ...NOTE, clock: 1 }]);
    expect(await verified(here)).toMatchObject({ broken_count: 2, first: '0003-seal.yaml' });
  });

  test('a key that was revoked: what it signed is distrusted, and not broken', async () => {
    const here = fresh();
    writeSession(here, [START, NOTE]);
    await here.handoff.identity.revoke({ name: 'donna' });
    expect(await verified(here)).toMatchObject({
      valid: true,
      broken_count: 0,
      codes: ['key_revoked 0001-start.yaml', 'key_revoked 0002-note.yaml'],
    });
  });

  test('a record is broken once, whatever is wrong with it, and the first is the first by number', async () => {
    const here = fresh();
    const written = writeSession(here, [START, ...Array.from({ length: 11 }, () => NOTE)]);
    for (const at of [10, 3]) replace(here, written[at]!.path, 'one', 'two');
    expect(await verified(here)).toMatchObject({ record_count: 12, broken_count: 2, first: '0004-note.yaml' });
  });

  test.each<[string, (folder: string) => void, string]>([
    [
      'a link',
      (folder) => symlinkSync('0001-start.yaml', join(folder, '0002-note.yaml')),
      'mode_invalid 0002-note.yaml',
    ],
    ['an executable', (folder) => chmodSync(join(folder, '0001-start.yaml'), 0o755), 'mode_invalid 0001-start.yaml'],
    ['a file that is no record', (folder) => writeBytes(folder, 'notes.txt', 'x'), 'path_mismatch notes.txt'],
    ['a folder', (folder) => mkdirSync(join(folder, '0002-note.yaml')), 'mode_invalid 0002-note.yaml'],
    [
      'another name',
      (folder) => renameSync(join(folder, '0001-start.yaml'), join(folder, '0001-note.yaml')),
      'path_mismatch 0001-note.yaml',
    ],
  ])('%s in the folder', async (_, spoil, expected) => {
    const here = fresh();
    const [start] = writeSession(here, [START]);
    spoil(join(here.dir, dirname(start!.path)));
    expect((await verified(here)).codes).toContain(expected);
  });

  test('what has no place among the sessions, when all are asked about', async () => {
    const here = fresh();
    writeSession(here, [START], { sessionId: SEALED_ID });
    writeBytes(here.dir, '.handoff/sessions/Not A Name/x', 'x');
    expect(await verified(here)).toMatchObject({ valid: false, codes: ['path_mismatch Not A Name'], broken_count: 1 });
    expect((await verified(here, SEALED_ID)).valid).toBe(true);
  });

  test('one session in two folders', async () => {
    const here = fresh();
    writeSession(here, [START], { sessionId: SEALED_ID });
    writeSession(here, [START], { sessionId: SEALED_ID, at: '2026-02-21T00:00:00.000Z' });
    for (const session of [undefined, SEALED_ID]) expect((await verified(here, session)).codes).toHaveLength(1);
  });

  test('one session alone, by its id or the beginning of it; others are not looked at', async () => {
    const here = fresh();
    const other = SEALED_ID.replace('5ea1', '6ea1');
    const [bad] = writeSession(here, [START, NOTE], { identity: 'erin', sessionId: other });
    writeSession(here, [START], { sessionId: SEALED_ID });
    replace(here, bad!.path, 'donna', 'x');
    rmSync(join(here.dir, bad!.path));
    for (const prefix of [SEALED_ID, '5', '5ea1ed00', '5ea1ed00-51'])
      expect(await verified(here, prefix)).toMatchObject({ valid: true, record_count: 1 });
    for (const prefix of [other, '6']) expect((await verified(here, prefix)).valid).toBe(false);
  });

  test.each(['', 'ffff', '5ea1ed00-0', `${SEALED_ID}0`, '../x', '5'])('%j names no session', async (prefix) => {
    const here = fresh();
    writeSession(here, [START], { sessionId: SEALED_ID });
    writeSession(here, [START], { sessionId: SEALED_ID.replace('5ea1', '5ea2'), at: '2026-02-21T00:00:00.000Z' });
    await expect(verified(here, prefix)).rejects.toMatchObject({ code: 'unknown_session' });
  });

  test('a session whose files say nothing any more is found by its folder', async () => {
    const here = fresh();
    const [start] = writeSession(here, [START], { sessionId: SEALED_ID });
    writeBytes(here.dir, start!.path, 'gone');
    expect((await verified(here, SEALED_ID)).codes).toEqual(['yaml_invalid 0001-start.yaml']);
  });

  test('a policy that does not hold ends it: nobody can say who may sign', async () => {
    const here = fresh();
    writeSession(here, [START]);
    replace(here, '.handoff/policy/0001.yaml', 'stale_after: 600', 'stale_after: 601');
    await expect(verified(here)).rejects.toMatchObject({ code: 'signature_invalid' });
  });

  test('a journal that is spoilt hides nothing of the tree', async () => {
    const here = fresh();
    const { session_id } = await here.handoff.start({ as: 'donna' });
    writeBytes(here.dir, `.git/handoff/sessions/${session_id}/records/000001`, 'x');
    const { handoff, warnings } = reopen(here);
    expect((await handoff.audit.verify()).valid).toBe(true);
    expect(warnings.join()).toContain('journal');
  });
});

describe('audit verify elsewhere', () => {
  test('a bare repository: what HEAD has', async () => {
    const here = fresh();
    writeSession(here, [START, NOTE]);
    commitRecords(here);
    const dir = join(temporaryDirectory(), 'bare.git');
    git('/', 'clone', '--quiet', '--bare', here.dir, dir);
    expect(await verified({ ...here, dir })).toMatchObject({ valid: true, record_count: 2 });
  });

  test('a session of another work tree is not missed here', async () => {
    const here = fresh();
    const side = worktree(here, 'side');
    await side.handoff.start({ as: 'donna' });
    expect(await verified(here)).toMatchObject({ valid: true, record_count: 0 });
    expect(await verified(side)).toMatchObject({ valid: true, record_count: 1 });
  });

  test('a session that another branch has is not missed here, open or wrapped', async () => {
    const here = fresh();
    git(here.dir, 'switch', '--quiet', '--create', 'feature');
    await workAndWrap(here.handoff, 'donna');
    const { session_id } = await here.handoff.start({ as: 'erin', commit: true });
    git(here.dir, 'switch', '--quiet', 'main');
    expect(await verified(here)).toMatchObject({ valid: true, record_count: 0 });
    await expect(verified(here, session_id)).rejects.toMatchObject({ code: 'unknown_session' });
    git(here.dir, 'switch', '--quiet', 'feature');
    expect(await verified(here)).toMatchObject({ valid: true, record_count: 3 });
  });

  test('what was committed on another branch that this one began from is missed here', async () => {
    const here = fresh();
    git(here.dir, 'switch', '--quiet', '--create', 'feature');
    const session_id = await workAndWrap(here.handoff, 'donna');
    git(here.dir, 'switch', '--quiet', '--create', 'next');
    expect((await verified(here)).valid).toBe(true);
    rmSync(join(here.dir, recordsOf(here, session_id).at(-1)!.path));
    expect((await verified(here)).codes).toEqual(['record_deleted 0002-baton.md']);
  });

  test('a branch without a commit', async () => {
    const here = emptyPlace();
    await here.handoff.init({ commit: false });
    const { session_id } = await here.handoff.start();
    const { path } = await here.handoff.note({ text: 'ten' });
    expect(await verified(here)).toMatchObject({ valid: true, record_count: 2 });
    rmSync(join(here.dir, path));
    expect(await verified(here, session_id)).toMatchObject({ codes: ['record_deleted 0002-note.yaml'] });
  });

  test('a sparse checkout without .handoff: what HEAD has', async () => {
    const here = fresh();
    await here.handoff.start({ as: 'donna', commit: true });
    writeBytes(here.dir, 'src/a.ts', 'a\n');
    git(here.dir, 'update-index', '-q', '--refresh'); // what was copied looks changed, and would stay
    git(here.dir, 'sparse-checkout', 'set', '--no-cone', '/src/');
    expect(existsSync(join(here.dir, '.handoff'))).toBe(false);
    await here.handoff.note({ as: 'donna', text: 'not committed' });
    expect(await verified(here)).toMatchObject({ codes: [], valid: true, record_count: 1 });
  });

  test('another clock, another process, the same answer', async () => {
    const here = fresh();
    writeSession(here, [START, NOTE]);
    const later = open(here, { now: () => new Date('2099-01-01T00:00:00Z') });
    expect((await later.handoff.audit.verify()).valid).toBe(true);
  });
});

describe('the command', () => {
  const env = (here: Place) => ({ HANDOFF_KEYS: here.keys });

  test('exit 1 when something is broken, one line per session, and what to do', () => {
    const here = fresh();
    writeSession(here, [START, NOTE], { sessionId: SEALED_ID });
    const [, bad] = writeSession(here, [START, NOTE], { identity: 'erin' });
    replace(here, bad!.path, 'one', 'two');
    const { code, stdout } = run(['audit', 'verify'], { cwd: here.dir, env: env(here) });
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /^SESSION +IDENTITY +RECORDS +VERDICT\n5ea1ed00 +donna +2 +✓ holds\n\w{8} +erin +2 +✗ 1 broken\n/,
    );
    expect(stdout).toMatch(
      /0002-note\.yaml: error signature_invalid\n[\s\S]*hint +\S[\s\S]*\n✗ 1 broken in 4 records of 2 sessions\n$/,
    );
    const json = run(['audit', 'verify', '--json'], { cwd: here.dir, env: env(here) });
    expect([json.code, JSON.parse(json.stdout)]).toMatchObject([
      1,
      { valid: false, record_count: 4, broken_count: 1, first_broken_at: bad!.path },
    ]);
  });

  test('start says where it wrote, whether it opened that, the task and the intent', () => {
    const here = fresh();
    defineTask(here, 'P0.1');
    const start = (...args: string[]) => {
      const { code, stdout } = run(['audit', 'start', '--as', 'donna', ...args], { cwd: here.dir, env: env(here) });
      expect(code).toBe(0);
      return stdout;
    };
    expect(start('--intent', 'move the keys', '--task', 'P0.1')).toMatch(
      /^✓ an audit begins in session \w{8} of donna, which it opened\n +intent +move the keys\n +task +P0\.1\n +record +[0-9a-f]{12} /,
    );
    expect(start('--intent', 'more')).toMatch(/ of donna, which was open\n +intent +more\n +record /);
  });

  test('more problems than records: both are counted, and what is no record is not called one', async () => {
    const here = fresh();
    const text = () => run(['audit', 'verify'], { cwd: here.dir, env: env(here) }).stdout;
    await here.handoff.start({ as: 'donna' });
    const { path } = await here.handoff.note({ text: 'one' });
    replace(here, path, 'one', 'two'); // neither what was signed nor what was written here
    expect(text()).toMatch(/\n✗ 2 problems in 1 of 2 records of 1 session\n$/);
    writeBytes(here.dir, '.handoff/sessions/donna/notes.txt', 'mine\n');
    expect(text()).toMatch(/\n✗ 3 problems at 2 places in 2 records of 1 session\n$/);
  });

  test('exit 0 and one line when one session holds; no session at all is said so', () => {
    const here = fresh();
    expect(run(['audit', 'verify'], { cwd: here.dir, env: env(here) })).toMatchObject({
      code: 0,
      stdout: 'No sessions here. git handoff start opens one.\n',
    });
    const begun = run(['audit', 'start', '--as', 'donna', '--intent', 'x', '--json'], {
      cwd: here.dir,
      env: env(here),
    });
    expect(JSON.parse(begun.stdout)).toMatchObject({ delta_id: expect.any(String), opened: true, intent: 'x' });
    expect(run(['audit', 'verify'], { cwd: here.dir, env: env(here) })).toMatchObject({
      code: 0,
      stdout: '✓ 2 records of 1 session hold\n',
    });
    expect(run(['audit', 'verify', 'ffff'], { cwd: here.dir, env: env(here) }).code).toBe(2);
  });

  test('of many sessions only those that are broken are listed', () => {
    const here = fresh();
    const at = (n: number) => `2026-02-${String(n).padStart(2, '0')}T00:00:00.000Z`;
    for (let n = 1; n <= 22; n++) writeSession(here, [START], { at: at(n) });
    const [bad] = writeSession(here, [START], { at: at(23) });
    const text = () => run(['audit', 'verify'], { cwd: here.dir, env: env(here) }).stdout;
    expect(text()).toBe('✓ 23 records of 23 sessions hold\n');
    replace(here, bad!.path, 'head: null', 'head: nulL');
    expect(text().match(/^\w{8} +donna/gm)).toHaveLength(1);
  });
});

describe('what HEAD has and the work tree has not', () => {
  /** Written in another work tree, committed there, and merged: nothing here was written here. */
  async function merged(): Promise<{ place: Place; folder: string; session_id: string }> {
    const place = fresh();
    const other = worktree(place, 'other');
    const session_id = await workAndWrap(other.handoff, 'donna');
    git(place.dir, 'merge', '--quiet', '--ff-only', git(other.dir, 'rev-parse', 'HEAD'));
    const [first] = git(place.dir, 'ls-files', '.handoff/sessions/donna').split('\n');
    return { place, folder: dirname(first!), session_id };
  }

  test.each<[string, (dir: string, path: string) => void]>([
    ['removed', (dir, path) => rmSync(join(dir, path))],
    ['removed and staged', (dir, path) => git(dir, 'rm', '--quiet', path)],
    [
      'where git was told not to look',
      (dir, path) => {
        git(dir, 'update-index', '--assume-unchanged', path);
        rmSync(join(dir, path));
      },
    ],
    [
      'as if it were left out, where nothing is',
      (dir, path) => {
        git(dir, 'update-index', '--skip-worktree', path);
        rmSync(join(dir, path));
      },
    ],
  ])('the end of a chain, %s', async (_, remove) => {
    const { place, folder, session_id } = await merged();
    const before = await verified(place);
    const last = git(place.dir, 'ls-files', folder).split('\n').at(-1)!;
    remove(place.dir, last);
    const lost = { valid: false, broken_count: 1, first: name(last), codes: [`record_deleted ${name(last)}`] };
    expect(await verified(place)).toEqual({ ...before, ...lost });
    expect(await verified(place, session_id)).toMatchObject(lost);
  });

  test('what is there is not lost, whatever the index says', async () => {
    const { place, folder } = await merged();
    git(place.dir, 'rm', '--quiet', '--cached', '-r', folder);
    expect((await verified(place)).valid).toBe(true);
  });

  test('a session whole, which is found by its name all the same', async () => {
    const { place, folder, session_id } = await merged();
    rmSync(join(place.dir, folder), { recursive: true });
    const { broken_count, codes } = await verified(place, session_id.slice(0, 8));
    expect([broken_count, codes.every((code) => code.startsWith('record_deleted'))]).toEqual([codes.length, true]);
    expect(codes.length).toBeGreaterThan(1);
  });

  test('what a sparse checkout leaves out is not lost', async () => {
    const { place } = await merged();
    git(place.dir, 'sparse-checkout', 'set', '--no-cone', '/*', '!/.handoff/sessions/donna/');
    expect(existsSync(join(place.dir, '.handoff/sessions/donna'))).toBe(false);
    expect((await verified(place)).valid).toBe(true);
  });
});
