import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { commitAll, initialised, type Place } from '../handoff.ts';
import { git } from '../temporary.ts';
import { template } from '../threats/forge.ts';
import { open, recordsOf, worktree } from './agents.ts';
import { changeTask, defineTask, error, statusOf, work } from './tasks.ts';

/** In two parts, so that nobody finds it in this file. */
const SECRET = `AKIA${'ABCDEFGHIJKLMNOP'}`;

const fresh = template(async (place) => {
  defineTask(place, 'P0.1');
  defineTask(place, 'P0.2', { depends_on: ['P0.1'], acceptance: ['it reads', 'it writes'] });
  commitAll(place, 'tasks');
});

/** donna has begun and committed something on a branch of her own. */
async function atWork(place = fresh()): Promise<Place & { session: string; sha: string }> {
  const { session_id } = await place.handoff.start({ as: 'donna' });
  git(place.dir, 'switch', '--quiet', '--create', 'feature/p0-1');
  const sha = work(place, { 'src/a.ts': 'one\n' });
  return { ...place, session: session_id, sha };
}

describe('a thought is filled in from git', () => {
  test('branch, commit, tree, files and patch ids, since the session began', async () => {
    const place = await atWork();
    work(place, { 'b c.txt': 'two\n' });
    const { record, delta_id, path } = await place.handoff.thought({ id: 'P0.1', summary: 'made it' });
    expect(record).toMatchObject({
      kind: 'thought',
      task_id: 'P0.1',
      branch: 'feature/p0-1',
      commit_sha: git(place.dir, 'rev-parse', 'HEAD'),
      tree: git(place.dir, 'rev-parse', 'HEAD^{tree}'),
      tests_run: [],
      summary: 'made it',
      blockers: [],
      files_changed: ['b c.txt', 'src/a.ts'],
      related_thought_records: [],
      patch_id: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(record.commit_patch_ids).toHaveLength(2);
    const stored = recordsOf(place, place.session).at(-1)!;
    expect([stored.id, stored.path, stored.fields.files_changed]).toEqual([delta_id, path, ['b c.txt', 'src/a.ts']]);
    expect((await open(place).handoff.verify({ staged: true })).findings).toEqual([]);
    expect(place.warnings).toEqual([]);
  });

  test.each(['not moved', 'moved on', 'been merged in'])(
    'two git processes are enough when the protected branch has %s',
    async (how) => {
      const place = await atWork();
      git(place.dir, 'add', '.handoff');
      git(place.dir, 'commit', '--quiet', '--message', 'records');
      if (how !== 'not moved') {
        git(place.dir, 'switch', '--quiet', 'main');
        git(place.dir, 'remote', 'add', 'origin', 'nowhere');
        git(place.dir, 'update-ref', 'refs/remotes/origin/main', work(place, { 'theirs.txt': 't\n' }));
        git(place.dir, 'switch', '--quiet', 'feature/p0-1');
      }
      if (how === 'been merged in') git(place.dir, 'merge', '--quiet', '--no-edit', 'main');
      const trace = join(place.dir, '..', 'trace');
      const { handoff } = open(place, { env: { GIT_TRACE: trace } });
      const { record } = await handoff.thought({ id: 'P0.1', summary: 'made it' });
      await handoff.close();
      const processes = [...readFileSync(trace, 'utf8').matchAll(/built-in: git (\S+)/g)].map(([, name]) => name);
      expect(processes).toEqual(['cat-file', 'diff-tree']);
      expect(record.files_changed).toEqual(['src/a.ts']);
    },
  );

  test('since the merge base with the remote-tracking ref of the protected branch, where there is one', async () => {
    const place = fresh();
    const base = git(place.dir, 'rev-parse', 'HEAD');
    git(place.dir, 'remote', 'add', 'origin', join(place.dir, '..', 'nowhere'));
    git(place.dir, 'update-ref', 'refs/remotes/origin/main', base);
    work(place, { 'early.txt': 'before the session\n' });
    const { record } = await (await atWork(place)).handoff.thought({ id: 'P0.1', summary: 's' });
    expect(record.files_changed).toEqual(['early.txt', 'src/a.ts']);
  });

  test('what was merged in from the protected branch is not its own', async () => {
    const place = fresh();
    git(place.dir, 'remote', 'add', 'upstream', join(place.dir, '..', 'nowhere'));
    const { handoff, dir } = await atWork(place);
    git(dir, 'add', '.handoff');
    git(dir, 'commit', '--quiet', '--message', 'records');
    git(dir, 'switch', '--quiet', 'main');
    const theirs = work(place, { 'theirs.txt': 't\n' });
    git(dir, 'update-ref', 'refs/remotes/upstream/main', theirs);
    git(dir, 'switch', '--quiet', 'feature/p0-1');
    git(dir, 'merge', '--quiet', '--no-edit', 'main');
    work(place, { 'last.txt': 'l\n' });
    const { record } = await handoff.thought({ id: 'P0.1', summary: 's' });
    expect(record.files_changed).toEqual(['last.txt', 'src/a.ts']);
    expect(record.commit_patch_ids).toHaveLength(2);
  });

  test('a branch whose own remote is another is compared with that', async () => {
    const place = fresh();
    for (const name of ['origin', 'fork']) git(place.dir, 'remote', 'add', name, join(place.dir, '..', name));
    git(place.dir, 'config', 'branch.main.remote', 'fork');
    git(place.dir, 'update-ref', 'refs/remotes/origin/main', 'HEAD~1');
    git(place.dir, 'update-ref', 'refs/remotes/fork/main', work(place, { x: 'x\n' }));
    const { record } = await (await atWork(place)).handoff.thought({ id: 'P0.1', summary: 's' });
    expect(record.files_changed).toEqual(['src/a.ts']);
  });

  test('related are the newest thought of each dependency and the earlier ones of its own, the newest first', async () => {
    const { handoff } = await atWork();
    await handoff.thought({ id: 'P0.1', summary: 'old' });
    const dependency = await handoff.thought({ id: 'P0.1', summary: 'new' });
    const own = await handoff.thought({ id: 'P0.2', summary: 'first' });
    const { record } = await handoff.thought({ id: 'P0.2', summary: 'second' });
    expect(record.related_thought_records).toEqual([own.delta_id, dependency.delta_id]);
  });

  test('when there was no commit at the beginning, everything is new', async () => {
    const place = await initialised('--template=');
    defineTask(place, 'P0.1');
    commitAll(place);
    // a session that began on an unborn branch, of the same repository
    git(place.dir, 'switch', '--quiet', '--orphan', 'other');
    git(place.dir, 'checkout', '--quiet', 'main', '--', '.handoff', '.gitattributes');
    const { handoff } = open(place);
    await handoff.start({ as: 'donna' });
    commitAll(place);
    work(place, { 'new\nline.txt': 'n\n', 'sp ace': 's\n' });
    const { record } = await handoff.thought({ id: 'P0.1', summary: 's' });
    expect(record.files_changed).toEqual(['.gitattributes', 'new\nline.txt', 'sp ace']);
  });

  test('in a SHA-256 repository ids are as long as they are there', async () => {
    const place = await initialised('--object-format=sha256');
    defineTask(place, 'P0.1');
    commitAll(place);
    const { record } = await (await atWork(place)).handoff.thought({ id: 'P0.1', summary: 's' });
    expect(record.commit_sha).toMatch(/^[0-9a-f]{64}$/);
    expect(record.files_changed).toEqual(['src/a.ts']);
  });

  test('in a linked work tree it is about that one', async () => {
    const linked = worktree(fresh(), 'side');
    await linked.handoff.start({ as: 'donna' });
    work(linked, { 'side.txt': 's\n' });
    const { record } = await linked.handoff.thought({ id: 'P0.1', summary: 's' });
    expect(record).toMatchObject({ branch: 'side', files_changed: ['side.txt'] });
  });

  test('a commit that was amended since the session began is compared with what is left of it', async () => {
    const place = fresh();
    work(place, { a: '1\n' });
    await place.handoff.start({ as: 'donna' });
    writeFileSync(join(place.dir, 'a'), '2\n');
    git(place.dir, 'commit', '--quiet', '--amend', '--message', 'again', '--', 'a');
    const { record } = await place.handoff.thought({ id: 'P0.1', summary: 's' });
    expect(record.files_changed).toEqual(['a']);
  });

  test('records that were committed on the way are not part of it', async () => {
    const place = await atWork();
    await place.handoff.note({ text: 'n', commit: true });
    const { record } = await place.handoff.thought({ id: 'P0.1', summary: 's' });
    expect(record.files_changed).toEqual(['src/a.ts']);
    expect(record.commit_patch_ids).toHaveLength(1);
  });

  test('nothing committed: it says so, and that the work is not in the commit', async () => {
    const place = fresh();
    await place.handoff.start({ as: 'donna' });
    writeFileSync(join(place.dir, 'new.txt'), 'n\n');
    const { record } = await place.handoff.thought({ id: 'P0.1', summary: 's' });
    expect(record).not.toHaveProperty('patch_id');
    expect(place.warnings.join()).toMatch(/not in the commit; commit first/);
  });
});

describe('a detached HEAD', () => {
  test('is on the branch that has it, if only one has', async () => {
    const { handoff, dir } = await atWork();
    git(dir, 'checkout', '--quiet', '--detach');
    const { record } = await handoff.thought({ id: 'P0.1', summary: 's' });
    expect(record.branch).toBe('feature/p0-1');
  });

  test('on several branches, or on none, asks which', async () => {
    const { handoff, dir } = await atWork();
    git(dir, 'checkout', '--quiet', '--detach');
    git(dir, 'branch', 'twin');
    expect(await error(handoff.thought({ id: 'P0.1', summary: 's' }))).toMatchObject({
      code: 'usage',
      hint: expect.stringMatching(/--branch.*feature\/p0-1, twin/),
    });
    expect((await handoff.thought({ id: 'P0.1', summary: 's', branch: 'twin' })).record.branch).toBe('twin');
    git(dir, 'branch', '-D', 'twin', 'feature/p0-1');
    expect(await error(handoff.thought({ id: 'P0.1', summary: 's' }))).toMatchObject({ code: 'usage' });
  });

  test('on a branch that only a remote has takes its name there', async () => {
    const place = await atWork();
    const { dir } = place;
    git(dir, 'remote', 'add', 'origin', 'nowhere');
    git(dir, 'update-ref', 'refs/remotes/origin/feature/p0-1', 'HEAD');
    git(dir, 'checkout', '--quiet', '--detach');
    git(dir, 'branch', '-D', 'feature/p0-1');
    expect((await open(place).handoff.thought({ id: 'P0.1', summary: 's' })).record.branch).toBe('feature/p0-1');
  });
});

describe('what is given is compared with git', () => {
  test('an abbreviated commit becomes the whole id', async () => {
    const { handoff, sha } = await atWork();
    const { record } = await handoff.thought({ id: 'P0.1', summary: 's', commit: sha.slice(0, 8) });
    expect(record.commit_sha).toBe(sha);
  });

  test.each([
    ['a commit that is none', { commit: 'feedfeedfeed' }, 'unknown_commit'],
    ['a tree', { commit: 'HEAD^{tree}' }, 'unknown_commit'],
    ['an option', { commit: '--all' }, 'usage'],
    ['a branch that is none', { branch: 'nowhere' }, 'usage'],
    ['an expression for a branch', { branch: 'feature/p0-1~0' }, 'usage'],
    ['a branch that does not have the commit', { branch: 'main' }, 'usage'],
    ['a base that is none', { base: 'feedfeedfeed' }, 'unknown_commit'],
    ['a task that is none', { id: 'P9' }, 'unknown_task'],
    ['a task that can be none', { id: '../x' }, 'bad_name'],
    ['no summary', { summary: ' \n' }, 'usage'],
    ['a blocker with a key that no record has', { blockers: [{ 'Not a key': 'x' }] }, 'usage'],
    ['a related record that is no id', { related: ['abc'] }, 'usage'],
    ['a secret in the summary', { summary: SECRET }, 'secret_found'],
    ['a secret in a blocker', { blockers: [{ issue: SECRET }] }, 'secret_found'],
    ['a secret in a command', { run: { command: ['true', SECRET] } }, 'secret_found'],
  ])('%s is refused, and nothing is written', async (_, options, code) => {
    const place = await atWork();
    expect(await error(place.handoff.thought({ id: 'P0.1', summary: 's', ...options }))).toMatchObject({ code });
    expect(recordsOf(place, place.session).map(({ name }) => name)).toEqual(['0001-start.yaml']);
  });

  test('files that are missing and files too many are listed', async () => {
    const { handoff } = await atWork();
    expect(await error(handoff.thought({ id: 'P0.1', summary: 's', files: ['src/b.ts'] }))).toMatchObject({
      code: 'usage',
      message: expect.stringMatching(/missing "src\/a\.ts"; not changed "src\/b\.ts"/),
      data: { missing: ['src/a.ts'], surplus: ['src/b.ts'] },
    });
    await handoff.thought({ id: 'P0.1', summary: 's', files: ['src/a.ts'] });
  });

  test('base moves where the work is said to have begun', async () => {
    const { handoff, dir } = await atWork();
    const base = git(dir, 'rev-parse', 'HEAD~2');
    const { record } = await handoff.thought({ id: 'P0.1', summary: 's', base });
    expect((record.files_changed as string[]).filter((path) => path.startsWith('.handoff'))).toEqual([]);
    expect(record.files_changed).toEqual(['src/a.ts']);
  });
});

describe('a file', () => {
  const JSON_FILE = JSON.stringify({
    task_id: 'P0.1',
    tests_run: ['smoke.test.ts', 'tsc'],
    summary: 'from \u{1F600} JSON',
    blockers: [{ type: 'peer-dep', issue: 'zod' }],
  });
  const YAML_FILE = 'tests_run: [1.10, no]\nsummary: |\n  two\n  lines\nblockers:\n  - type: peer-dep\n';

  async function withFile(text: string, more = {}) {
    const place = await atWork();
    const file = join(place.dir, '..', 'thought.file');
    writeFileSync(file, text);
    return place.handoff.thought({ id: 'P0.1', file, ...more });
  }

  test('as JSON has the fields of the record', async () => {
    const { record } = await withFile(JSON_FILE);
    expect(record).toMatchObject({ ...JSON.parse(JSON_FILE), files_changed: ['src/a.ts'] });
  });

  test('as YAML is text throughout', async () => {
    const { record } = await withFile(YAML_FILE);
    expect(record).toMatchObject({
      tests_run: ['1.10', 'no'],
      summary: 'two\nlines\n',
      blockers: [{ type: 'peer-dep' }],
    });
  });

  test('gives way to flags', async () => {
    const { record } = await withFile(JSON_FILE, { summary: 'mine', tests: [] });
    expect(record).toMatchObject({ summary: 'mine', tests_run: [] });
  });

  test.each([
    ['unknown keys', 'summary: s\nsumary: t\nstatus: done\n', /"sumary", "status"/],
    ['another task', 'task_id: P0.2\nsummary: s\n', /about task "P0.2"/],
    ['a list', '- a\n', /Expected keys and values/],
    ['an alias', 'summary: &a s\nbranch: *a\n', /Aliases/],
    ['a key twice', 'summary: a\nsummary: b\n', /unique/],
    ['text where a list belongs', 'summary: s\ntests_run: a\n', /tests_run: expected a list/],
    ['a number in JSON', '{"summary": 1}', /summary: expected text/],
    ['a blocker that is text', 'summary: s\nblockers: [x]\n', /expected an object/],
    ['neither', '{"summary": ', /neither JSON nor YAML/],
    ['ids of other code', `summary: s\npatch_id: ${'a'.repeat(64)}\n`, /patch_id: not what git says/],
    ['ids of other commits', `{"summary": "s", "commit_patch_ids": ["${'a'.repeat(64)}"]}`, /commit_patch_ids: not/],
    ['another tree', `summary: s\ntree: ${'a'.repeat(40)}\n`, /tree: not what git says/],
    ['the prototype', '{"summary": "s", "__proto__": {"x": 1}, "constructor": 1}', /No key of a thought/],
  ])('with %s is refused', async (_, text, message) => {
    expect(await error(withFile(text))).toMatchObject({ code: 'usage', message: expect.stringMatching(message) });
  });

  test('with the ids that the commit has is taken, and those of another commit give way to --commit', async () => {
    const place = await atWork();
    const file = join(place.dir, '..', 'thought.file');
    const { record } = await place.handoff.thought({ id: 'P0.1', summary: 's' });
    const { commit_sha, tree, patch_id, commit_patch_ids } = record;
    writeFileSync(file, JSON.stringify({ summary: 'again', commit_sha, tree, patch_id, commit_patch_ids }));
    expect((await place.handoff.thought({ id: 'P0.1', file })).record.patch_id).toBe(patch_id);
    work(place, { 'src/b.ts': 'more\n' });
    const { record: other } = await place.handoff.thought({ id: 'P0.1', file, commit: 'HEAD' });
    expect(other.patch_id).not.toBe(patch_id);
  });

  test('that is not there is wrong usage', async () => {
    const { handoff } = await atWork();
    expect(await error(handoff.thought({ id: 'P0.1', file: '/nowhere/x' }))).toMatchObject({ code: 'usage' });
  });
});

describe('what was run is told from what is claimed', () => {
  const node = (script: string) => ({ command: [process.execPath, '-e', script] });

  test('command, exit code, tree and the digest of what it printed', async () => {
    const place = await atWork();
    const shown: Buffer[] = [];
    const run = {
      ...node('process.stdout.write("o".repeat(300000))'),
      onOutput: (b: Uint8Array) => shown.push(Buffer.from(b)),
    };
    const { record } = await place.handoff.thought({ id: 'P0.1', summary: 's', tests: ['eslint'], run });
    const line = run.command.join(' ');
    expect(record.tests_run).toEqual(['eslint', line]);
    expect(record.evidence).toEqual([
      {
        command: run.command,
        exit_code: 0,
        duration_ms: expect.any(Number),
        tree: git(place.dir, 'rev-parse', 'HEAD^{tree}'),
        output_digest: `sha256:${createHash('sha256').update('o'.repeat(300000)).digest('hex')}`,
      },
    ]);
    expect(Buffer.concat(shown).toString()).toBe('o'.repeat(300000));
    expect(place.warnings).toEqual([]);
  });

  test.each([
    ['a failing command', node('process.exit(7)'), 7],
    ['one that a signal ends', node('process.kill(process.pid, "SIGKILL")'), 137],
    ['one that does not exist', { command: ['no-such-program-anywhere'] }, 127],
    ['one that is no program', { command: ['/dev/null'] }, 126],
  ])('%s is recorded all the same, and loudly', async (_, run, exit_code) => {
    const place = await atWork();
    const { record } = await place.handoff.thought({ id: 'P0.1', summary: 's', run });
    expect(record.evidence).toMatchObject([{ exit_code }]);
    expect(place.warnings.join('\n')).toMatch(/FAILED: /);
  });

  test.each([
    ['a changed file', 'src/a.ts', true],
    ['a new file', 'new.txt', true],
    ['a file under .handoff', '.handoff/extra', false],
  ])('%s: whether the tree is named', async (_, path, isDirty) => {
    const place = await atWork();
    writeFileSync(join(place.dir, path), 'other\n');
    const { record } = await place.handoff.thought({ id: 'P0.1', summary: 's', run: node('') });
    expect('tree' in (record.evidence as object[])[0]!).toBe(!isDirty);
    expect(place.warnings.length).toBe(isDirty ? 1 : 0);
  });

  test('a command that changes what it tests names no tree', async () => {
    const place = await atWork();
    const run = node('require("fs").writeFileSync("src/a.ts", "fixed")');
    const { record } = await place.handoff.thought({ id: 'P0.1', summary: 's', run });
    expect((record.evidence as object[])[0]).not.toHaveProperty('tree');
    expect(place.warnings).toEqual([expect.stringContaining('has changed what is committed')]);
  });

  test('no shell reads the words, and nothing is on standard input', async () => {
    const place = await atWork();
    const command = [
      process.execPath,
      '-e',
      'require("fs").readFileSync(0); if (process.argv[1] !== "$(x); *") throw 1',
      '$(x); *',
    ];
    const { record } = await place.handoff.thought({ id: 'P0.1', summary: 's', run: { command } });
    expect(record.evidence).toMatchObject([{ exit_code: 0 }]);
  });

  test('the session shows signs of life while it runs', async () => {
    const place = await atWork();
    const file = join(place.dir, '.git/handoff/sessions', place.session, 'heartbeat');
    const wait = `const f = require("fs"); const at = f.statSync(${JSON.stringify(file)}).ino;
      setInterval(() => { try { if (f.statSync(${JSON.stringify(file)}).ino !== at) process.exit(0) } catch {} }, 5)`;
    const run = { ...node(wait), beatEvery: 10 };
    const { record } = await place.handoff.thought({ id: 'P0.1', summary: 's', run });
    expect(record.evidence).toMatchObject([{ exit_code: 0 }]);
  });

  test('whatever else is wrong is said before it runs', async () => {
    const place = await atWork();
    const canary = join(place.dir, '..', 'canary');
    const run = node(`require("fs").writeFileSync(${JSON.stringify(canary)}, "")`);
    const options = { id: 'P0.1', summary: 's', blockers: [{ 'Not a key': 'x' }], run };
    expect(await error(place.handoff.thought(options))).toMatchObject({ code: 'usage' });
    expect(existsSync(canary)).toBe(false);
  });

  test('whoever was taken over does not wait for the tests to hear of it', async () => {
    const place = await atWork();
    await open(place).handoff.pickup({ as: 'erin', fromSession: place.session, force: true });
    const canary = join(place.dir, '..', 'canary');
    const run = node(`require("fs").writeFileSync(${JSON.stringify(canary)}, "")`);
    expect(await error(open(place).handoff.thought({ id: 'P0.1', as: 'donna', summary: 's', run }))).toMatchObject({
      code: 'session_released',
    });
    expect(existsSync(canary)).toBe(false);
  });
});

describe('Failure Mode 1: Agent A finishes, writeback fails', () => {
  /** A fault of the disk: what says who donna is here cannot be read, so nothing can be written as her. */
  function spoil(place: Place): () => void {
    const path = join(place.dir, '.git/handoff/locks/identity/donna/00000001.lock');
    const text = readFileSync(path);
    writeFileSync(path, 'spoilt');
    return () => writeFileSync(path, text);
  }

  test('it says so, the task stays in progress, the record is kept, a retry or a person writes it', async () => {
    const place = await atWork();
    await changeTask(place, 'P0.1', 'in_progress');
    const mend = spoil(place);
    const failure = await error(
      place.handoff.thought({ id: 'P0.1', summary: 'all of it: done', tests: ['tsc'], blockers: [{ type: 'x' }] }),
    );
    expect(failure).toMatchObject({
      code: 'writeback_failed',
      exitCode: 4,
      message: expect.stringMatching(/^Writeback failed: unable to insert thought_record\. .+/),
      data: { task_id: 'P0.1', draft: expect.any(String), thought_record: { summary: 'all of it: done' } },
    });
    const draft = failure.data.draft as string;
    expect(failure.message).toContain(draft);
    expect(failure.hint).toContain(`git handoff thought P0.1 --file ${draft}`);
    expect(draft).toBe(join(place.dir, '.git/handoff/drafts', `${place.session.slice(0, 8)}-thought-1.yaml`));
    expect(await statusOf(place, 'P0.1')).toBe('in_progress');

    const told = await place.handoff.escalate({ id: 'P0.1' });
    expect(told).toMatchObject({ task_id: 'P0.1', branch: 'feature/p0-1', commit_sha: place.sha, draft });
    expect(told.thought_record).toMatchObject({
      summary: 'all of it: done',
      tests_run: ['tsc'],
      files_changed: ['src/a.ts'],
    });

    mend();
    const { record } = await place.handoff.thought({ id: 'P0.1', file: draft });
    expect(record).toMatchObject({ summary: 'all of it: done', tests_run: ['tsc'], blockers: [{ type: 'x' }] });
    await changeTask(place, 'P0.1', 'done');
    expect(await statusOf(place, 'P0.1')).toBe('done');
    expect((await place.handoff.escalate({ id: 'P0.1' })).draft).toBeNull();
  });

  test('a state directory that cannot even be read is a failed writeback too', async () => {
    const place = await atWork();
    const heartbeat = join(place.dir, '.git/handoff/sessions', place.session, 'heartbeat');
    rmSync(heartbeat);
    mkdirSync(heartbeat);
    expect(await error(place.handoff.thought({ id: 'P0.1', summary: 's' }))).toMatchObject({
      code: 'writeback_failed',
    });
  });

  test('what ran is not lost with it', async () => {
    const place = await atWork();
    const mend = spoil(place);
    const run = { command: [process.execPath, '-e', ''] };
    const { data } = await error(place.handoff.thought({ id: 'P0.1', summary: 's', run }));
    mend();
    const { record } = await place.handoff.thought({ id: 'P0.1', file: data.draft });
    expect(record.evidence).toMatchObject([{ command: run.command, exit_code: 0 }]);
  });

  test('where the state directory cannot be written to either, it is kept elsewhere', async () => {
    const place = await atWork();
    spoil(place);
    writeFileSync(join(place.dir, '.git/handoff/drafts'), 'no folder');
    const { data, message } = await error(place.handoff.thought({ id: 'P0.1', summary: 's' }));
    expect(dirname(dirname(data.draft))).not.toContain(place.dir);
    expect(message).toContain(data.draft);
    expect(readFileSync(data.draft, 'utf8')).toContain('summary: s\n');
    expect((await place.handoff.escalate({ id: 'P0.1', file: data.draft })).thought_record).toMatchObject({
      summary: 's',
    });
    rmSync(dirname(data.draft), { recursive: true });
  });

  test('a session that was taken over keeps it too, and another session writes it as it was', async () => {
    const place = await atWork();
    await open(place).handoff.pickup({ as: 'erin', fromSession: place.session, force: true });
    const { code, data } = await error(open(place).handoff.thought({ id: 'P0.1', as: 'donna', summary: 's' }));
    expect([code, basename(data.draft)]).toEqual(['session_released', `${place.session.slice(0, 8)}-thought-1.yaml`]);
    // erin began after donna's commit: only the draft knows where the work did
    const { record } = await open(place).handoff.thought({ id: 'P0.1', as: 'erin', file: data.draft });
    expect(record).toMatchObject({ identity: 'erin', files_changed: ['src/a.ts'] });
  });

  test('escalate says what a thought would say now, when nothing was kept', async () => {
    const place = await atWork();
    const { thought_record, yaml, draft } = await place.handoff.escalate({ id: 'P0.1' });
    expect(draft).toBeNull();
    expect(thought_record).toMatchObject({
      task_id: 'P0.1',
      commit_sha: place.sha,
      files_changed: ['src/a.ts'],
      summary: '',
    });
    const file = join(place.dir, '..', 'thought.yaml');
    writeFileSync(file, yaml);
    await place.handoff.thought({ id: 'P0.1', file, summary: 'by a person' });
    expect(await error(place.handoff.thought({ id: 'P0.1', file }))).toMatchObject({ code: 'usage' });
    expect(await error(place.handoff.escalate({ id: 'P9' }))).toMatchObject({ code: 'unknown_task' });
  });
});

describe('what is not there is told before what was left out', () => {
  test('a task, a commit, and only then the summary', async () => {
    const { handoff } = await atWork();
    expect(await error(handoff.thought({ id: 'NOPE' }))).toMatchObject({ code: 'unknown_task' });
    expect(await error(handoff.thought({ id: 'P0.1', commit: 'deadbeef' }))).toMatchObject({ code: 'unknown_commit' });
    expect(await error(handoff.thought({ id: 'P0.1', base: 'deadbeef' }))).toMatchObject({ code: 'unknown_commit' });
    for (const given of [{}, { summary: ' \n' }])
      expect(await error(handoff.thought({ id: 'P0.1', ...given }))).toMatchObject({
        code: 'usage',
        message: expect.stringContaining('needs a summary'),
      });
  });
});
