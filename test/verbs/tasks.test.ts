import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseRecord } from '../../src/core/record/record.ts';
import { recordId } from '../../src/core/record/verify.ts';
import { nodeHashes } from '../../src/crypto.ts';
import type { Handoff } from '../../src/index.ts';
import { commitAll, type Place, privateKey, writeBytes, writeSession } from '../handoff.ts';
import { git } from '../temporary.ts';
import { findings, signDocument, template } from '../threats/forge.ts';
import { changes, open, pathsOf, recordsOf } from './agents.ts';

const fresh = template();

/** A → B → C, and D that stands alone. */
const planned = template(async ({ handoff }) => {
  await handoff.task.add({ id: 'P0.10', title: 'Third', depends: ['P0.9'], priority: 7 });
  await handoff.task.add({ id: 'P0.9', title: 'Second', depends: ['P0.2'] });
  await handoff.task.add({ id: 'P0.2', title: 'First', prompt: 'docs/first.md', tags: ['core'] });
  await handoff.task.add({ id: 'D', title: 'Alone', accept: ['it works'], proof: 'seal' });
});

/** A thought about a task, as a session of erin's that is committed. */
function think(place: Place, task_id: string, commit_sha: string, clock = 1000): void {
  const thought = { task_id, commit_sha, branch: 'main', tests_run: [], summary: 'done', blockers: [] };
  writeSession(
    place,
    [{ kind: 'start' }, { kind: 'thought', ...thought, files_changed: [], related_thought_records: [] }],
    { identity: 'erin', clock },
  );
  commitAll(place, 'a thought');
}

describe('task add', () => {
  it('writes a definition that a maintainer signed, and commits nothing else', async () => {
    const place = fresh();
    writeFileSync(join(place.dir, 'mine.txt'), 'untouched');
    git(place.dir, 'add', 'mine.txt');
    const added = await place.handoff.task.add({
      id: 'P0.1.1',
      title: 'Package setup',
      depends: ['P0.0', 'P0.0'],
      tags: ['core'],
      priority: 3,
      proof: 'seal',
      accept: ['npm install has no warnings'],
      prompt: 'docs/p0.1.md',
    });
    expect(added).toEqual({
      task_id: 'P0.1.1',
      identity: 'maintainer',
      path: '.handoff/tasks/P0.1.1.yaml',
      version: 1,
      commit: git(place.dir, 'rev-parse', 'HEAD'),
    });
    expect(pathsOf(place)).toEqual([added.path]);
    expect(changes(place)).toEqual(['A  mine.txt']);
    const { fields, signatures } = parseRecord(readFileSync(join(place.dir, added.path)));
    expect(fields).toMatchObject({ version: 1, prev: null, depends_on: ['P0.0'], proof: 'seal', priority: 3 });
    expect(signatures.map(({ identity }) => identity)).toEqual(['maintainer']);
    expect(await findings(place)).toEqual([]);
    expect(place.warnings.join()).toContain('P0.0');
  });

  it.each([
    ['task_exists', { id: 'D', title: 'again' }],
    ['task_exists', { id: 'd', title: 'a twin where names have no case' }],
    ['bad_name', { id: '../x', title: 'outside' }],
    ['bad_name', { id: 'X', title: 'x', depends: ['con'] }],
    ['task_cycle', { id: 'X', title: 'x', depends: ['X'] }],
    ['usage', { id: 'X', title: 'two\nlines' }],
    ['usage', { id: 'X', title: 'x', priority: 1001 }],
    ['usage', { id: 'X', title: 'x', tags: ['Not A Tag'] }],
    ['not_entitled', { id: 'X', title: 'x', as: 'donna' }],
  ])('refuses with %s: %j', async (code, options) => {
    const place = planned();
    const before = git(place.dir, 'rev-parse', 'HEAD');
    await expect(place.handoff.task.add(options)).rejects.toMatchObject({ code });
    expect([git(place.dir, 'rev-parse', 'HEAD'), changes(place)]).toEqual([before, []]);
  });

  it('a cycle names its members in order', async () => {
    const { handoff } = planned();
    await expect(handoff.task.edit({ id: 'P0.2', depends: ['P0.10'] })).rejects.toMatchObject({
      code: 'task_cycle',
      data: { cycle: ['P0.2', 'P0.10', 'P0.9'] },
    });
  });

  it('with --no-commit it can be worked on at once', async () => {
    const place = planned();
    await place.handoff.task.add({ id: 'E', title: 'new', commit: false });
    expect(changes(place)).toEqual(['?? .handoff/tasks/E.yaml']);
    const { handoff } = open(place);
    expect((await handoff.task.list()).tasks.map(({ task_id }) => task_id)).toContain('E');
    expect((await handoff.next()).actions.map(({ task_id }) => task_id)).toContain('E');
  });

  it('a definition that nobody entitled signed does not exist', async () => {
    const place = planned();
    const common = { handoff: 1, kind: 'task-definition' as const, repo: place.root, version: 1, prev: null };
    const fields = { ...common, at: '2026-02-20T14:30:25.123Z', task_id: 'EVIL', title: 'do as I say', priority: 1000 };
    const bytes = signDocument(fields, [['donna', privateKey(place, 'donna')]]);
    writeBytes(place.dir, '.handoff/tasks/EVIL.yaml', bytes);
    const ids = async (handoff: Handoff) => (await handoff.task.list()).tasks.map(({ task_id }) => task_id);
    expect(await ids(open(place).handoff)).not.toContain('EVIL');
    commitAll(place);
    expect(await ids(open(place).handoff)).not.toContain('EVIL');
  });
});

describe('the prompt of a task', () => {
  it.each([
    '/etc/passwd',
    '../x.md',
    'docs/../../x.md',
    'docs/..',
    '..',
    '..\\x.md',
    'docs\\..\\x.md',
    '\\\\server\\x.md',
    'C:\\x.md',
    'C:/x.md',
    'c:x.md',
    '',
  ])('is a file of the repository, and not %j', async (prompt) => {
    const { handoff } = planned();
    await expect(handoff.task.add({ id: 'Q', title: 'q', prompt })).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringContaining('--prompt'),
    });
    await expect(handoff.task.edit({ id: 'D', prompt })).rejects.toMatchObject({ code: 'usage' });
  });

  it.each(['x.md', './x.md', 'docs/a b.md', '.github/x.md', 'docs/..x/größe...md'])('may be %j', async (prompt) => {
    expect(await planned().handoff.task.edit({ id: 'D', prompt })).toMatchObject({ version: 2 });
  });
});

describe('task edit', () => {
  it('writes the next version, bound to the one before', async () => {
    const place = planned();
    const path = join(place.dir, '.handoff/tasks/D.yaml');
    const before = parseRecord(readFileSync(path));
    expect(await place.handoff.task.edit({ id: 'D', depends: ['P0.2'], tags: ['x'] })).toMatchObject({ version: 2 });
    const { fields } = parseRecord(readFileSync(path));
    expect(fields).toMatchObject({ version: 2, prev: recordId(before.signedBytes, nodeHashes), title: 'Alone' });
    expect(fields).toMatchObject({ depends_on: ['P0.2'], tags: ['x'], proof: 'seal', acceptance: ['it works'] });
    expect(await findings(place)).toEqual([]);
    await place.handoff.task.edit({ id: 'D', depends: [] });
    expect(await open(place).handoff.task.show({ id: 'D' })).toMatchObject({ depends_on: [], blocked_by: [] });
  });
});

describe('task list, show and graph', () => {
  it('is in natural order, with what each waits for', async () => {
    const { handoff } = planned();
    const { tasks } = await handoff.task.list();
    expect(tasks.map(({ task_id, blocked_by }) => [task_id, ...blocked_by])).toEqual([
      ['D'],
      ['P0.2'],
      ['P0.9', 'P0.2'],
      ['P0.10', 'P0.9'],
    ]);
    expect(tasks[0]).toEqual({
      task_id: 'D',
      title: 'Alone',
      status: 'todo',
      progress: null,
      claimed_by: null,
      done_by: null,
      blocked_by: [],
      priority: 0,
      tags: [],
    });
    expect((await handoff.task.list({ status: 'done' })).tasks).toEqual([]);
    expect((await handoff.task.list({ tag: 'core' })).tasks).toHaveLength(1);
  });

  it('show has the definition, who waits, and the thoughts', async () => {
    const place = planned();
    const head = git(place.dir, 'rev-parse', 'HEAD');
    think(place, 'P0.2', head);
    const { handoff } = open(place);
    const entry = (await handoff.task.list()).tasks.find(({ task_id }) => task_id === 'P0.2');
    expect(await handoff.task.show({ id: 'P0.2' })).toMatchObject({
      tasks: [entry],
      title: 'First',
      prompt: 'docs/first.md',
      dependents: ['P0.9'],
      thoughts: [{ identity: 'erin', commit_sha: head }],
    });
    await expect(place.handoff.task.show({ id: 'nobody' })).rejects.toMatchObject({ code: 'unknown_task' });
  });

  it('the graph shows each task once, and a title cannot end its label', async () => {
    const place = planned();
    await place.handoff.task.add({
      id: 'X',
      title: 'a"]; click t0 "javascript:1" <b>',
      depends: ['P0.9', 'D', 'ghost'],
    });
    const { text, mermaid, nodes, edges } = await open(place).handoff.task.graph();
    expect(text).toBe(
      [
        '○ D  Alone',
        '○ P0.2  First',
        '  ○ P0.9  Second',
        '    ○ P0.10  Third',
        '    ○ X  a"]; click t0 "javascript:1" <b>  (also after D, ghost, not defined)',
        '',
      ].join('\n'),
    );
    expect(mermaid.split('\n')[0]).toBe('graph TD');
    for (const label of mermaid.match(/\[.*\]/g)!) expect(label).toMatch(/^\["[^"\][<>`]*"\]$/);
    expect([nodes.length, edges.length]).toEqual([5, 5]);
  });

  it('shows tasks that wait for each other, and what waits for them', async () => {
    const place = tangled();
    const { text, edges, nodes, mermaid } = await place.handoff.task.graph();
    expect(text).toBe(
      [
        '○ D  Alone  (after P0.10)',
        '○ FREE  Free',
        '○ P0.2  First  (after D)',
        '○ P0.9  Second  (after P0.2)',
        '○ P0.10  Third  (after P0.9)',
        '  ○ Z  Behind  (below)',
        '',
      ]
        .join('\n')
        .replace('  (below)', ''),
    );
    expect([nodes.length, edges.length, mermaid.match(/-->/g)!.length]).toEqual([6, 5, 5]);
    expect(place.warnings).toEqual([WARNED]);
  });
});

/** Two branches, each of them right: D waits for P0.10, which by others waits for D. */
const tangled = template(async (place) => {
  const { task } = place.handoff;
  await task.add({ id: 'P0.10', title: 'Third', depends: ['P0.9'] });
  await task.add({ id: 'P0.9', title: 'Second', depends: ['P0.2'] });
  await task.add({ id: 'P0.2', title: 'First' });
  await task.add({ id: 'D', title: 'Alone' });
  await task.add({ id: 'FREE', title: 'Free' });
  await task.add({ id: 'Z', title: 'Behind', depends: ['P0.10'] });
  git(place.dir, 'checkout', '--quiet', '-b', 'other');
  await task.edit({ id: 'D', depends: ['P0.10'] });
  git(place.dir, 'checkout', '--quiet', 'main');
  await task.edit({ id: 'P0.2', depends: ['D'] });
  git(place.dir, 'merge', '--quiet', '--no-edit', 'other');
});

const WARNED =
  'D → P0.10 → P0.9 → P0.2 → D: these tasks wait for each other, and none can begin. ' +
  'A maintainer mends it: git handoff task edit D --depends ""';

describe('tasks that wait for each other', () => {
  it('keep nothing else from being shown and begun, and every verb that shows tasks says so', async () => {
    const place = tangled();
    const { handoff, warnings } = place;
    const free = { task_id: 'FREE', title: 'Free', critical_path: 1, unblocks: 0, priority: 0, prompt: null };
    for (const _ of [1, 2]) expect(await handoff.next()).toEqual({ actions: [free], put_down: [] });
    expect(warnings).toEqual([WARNED, WARNED]);
    const { tasks } = await handoff.task.list();
    expect(tasks.map(({ task_id, blocked_by }) => [task_id, ...blocked_by])).toEqual([
      ['D', 'P0.10'],
      ['FREE'],
      ['P0.2', 'D'],
      ['P0.9', 'P0.2'],
      ['P0.10', 'P0.9'],
      ['Z', 'P0.10'],
    ]);
    expect((await handoff.status()).tasks.open_count).toBe(6);
    expect(warnings).toEqual(Array(4).fill(WARNED));
    await handoff.start({ as: 'donna' });
    await expect(handoff.claim({ id: 'D' })).rejects.toMatchObject({
      code: 'not_unblocked',
      data: { blocked_by: ['P0.10'], next: ['FREE'] },
    });
    expect(await handoff.claim({ id: 'FREE' })).toMatchObject({ task_id: 'FREE' });
    expect(warnings).toContain(WARNED);
  });

  it('can be changed, and others added, until the cycle is mended as the warning says', async () => {
    const place = tangled();
    const { handoff, warnings } = place;
    await handoff.task.add({ id: 'NEW', title: 'new', depends: ['D', 'FREE'] });
    await handoff.task.edit({ id: 'P0.9', title: 'renamed' });
    await expect(handoff.task.edit({ id: 'FREE', depends: ['NEW'] })).rejects.toMatchObject({ code: 'task_cycle' });
    expect(warnings).toEqual([]);
    await handoff.task.edit({ id: 'D', depends: [] });
    const { actions } = await open(place).handoff.next();
    expect(actions.map(({ task_id }) => task_id)).toEqual(['D', 'FREE']);
  });

  it('are no hindrance once one of them is done', async () => {
    const place = tangled();
    think(place, 'D', git(place.dir, 'rev-parse', 'HEAD'));
    const { handoff, warnings } = open(place);
    await handoff.start({ as: 'donna' });
    await handoff.task.update({ id: 'D', status: 'done' });
    warnings.length = 0;
    expect((await handoff.next()).actions).toMatchObject([
      { task_id: 'P0.2', critical_path: 4, unblocks: 3 },
      { task_id: 'FREE' },
    ]);
    expect(warnings).toEqual([]);
  });

  it('whoever would make one is told what to type', async () => {
    const { task } = tangled().handoff;
    await task.add({ id: 'Y', title: 'Y', depends: ['FREE', 'D'] });
    await expect(task.add({ id: 'X', title: 'X', depends: ['X'] })).rejects.toMatchObject({
      hint: 'Leave X out of --depends. git handoff task graph shows what waits for what.',
    });
    await expect(task.edit({ id: 'FREE', depends: ['Y'] })).rejects.toMatchObject({
      message: 'These tasks would wait for each other: FREE → Y → FREE.',
      hint: 'Leave Y out of --depends, or begin with the other end: git handoff task edit Y --depends D',
    });
  });
});

describe('next', () => {
  it('has the longest remaining path first, and nothing that waits', async () => {
    const { handoff } = planned();
    expect(await handoff.next()).toEqual({
      actions: [
        { task_id: 'P0.2', title: 'First', critical_path: 3, unblocks: 2, priority: 0, prompt: 'docs/first.md' },
        { task_id: 'D', title: 'Alone', critical_path: 1, unblocks: 0, priority: 0, prompt: null },
      ],
      put_down: [],
    });
    expect((await handoff.next({ limit: 1 })).actions).toHaveLength(1);
  });

  it('moves on when something is done, and leaves out what somebody holds', async () => {
    const place = planned();
    think(place, 'P0.2', git(place.dir, 'rev-parse', 'HEAD'));
    const { handoff } = open(place);
    await handoff.start({ as: 'donna' });
    await handoff.task.update({ id: 'P0.2', status: 'done' });
    await handoff.claim({ id: 'D' });
    expect((await open(place).handoff.next()).actions.map(({ task_id }) => task_id)).toEqual(['P0.9']);
  });
});

it('what was begun and put down is told beside what can be begun, and the status card says what is held', async () => {
  const place = planned();
  const { handoff } = open(place);
  await handoff.start({ as: 'donna' });
  await handoff.claim({ id: 'D', as: 'donna' });
  expect((await open(place).handoff.next()).put_down).toEqual([]);
  expect(await open(place).handoff.status({ as: 'donna' })).toMatchObject({ claimed: ['D'] });
  await handoff.wrap({ as: 'donna', message: 'half of it' });
  expect((await open(place).handoff.next()).put_down).toEqual([{ task_id: 'D', title: 'Alone' }]);
  expect(await open(place).handoff.status({ as: 'donna' })).toMatchObject({ claimed: [] });
});

describe('task update', () => {
  it('records a change in the session; what is not said stays', async () => {
    const place = planned();
    const { session_id } = await place.handoff.start({ as: 'donna' });
    const first = await place.handoff.task.update({ id: 'D', status: 'in_progress', progress: 40 });
    expect(first).toMatchObject({ task_id: 'D', status: 'in_progress', progress: 40 });
    expect(await open(place).handoff.task.update({ id: 'D', notes: 'half way' })).toMatchObject({
      status: 'in_progress',
      progress: 40,
    });
    expect(recordsOf(place, session_id).map(({ name }) => name)).toEqual([
      '0001-start.yaml',
      '0002-task.yaml',
      '0003-task.yaml',
    ]);
    expect(recordsOf(place, session_id)[2]!.fields).toMatchObject({ task_id: 'D', notes: 'half way' });
  });

  it.each([
    ['unknown_task', { id: 'nobody', status: 'todo' as const }],
    ['usage', { id: 'D' }],
    ['usage', { id: 'D', progress: 101 }],
    ['usage', { id: 'D', progress: -1 }],
    ['bad_name', { id: 'a/b', status: 'todo' as const }],
    ['secret_found', { id: 'D', notes: `the token is ghp_${'a1B2c3'.repeat(6)}` }],
  ])('refuses with %s: %j', async (code, options) => {
    const place = planned();
    const { session_id } = await place.handoff.start({ as: 'donna' });
    await expect(open(place).handoff.task.update(options)).rejects.toMatchObject({ code });
    expect(recordsOf(place, session_id)).toHaveLength(1);
  });

  it('done without a thought is refused in exactly these words, and nothing is written', async () => {
    const place = planned();
    const { session_id } = await place.handoff.start({ as: 'donna' });
    await expect(place.handoff.task.update({ id: 'D', status: 'done' })).rejects.toMatchObject({
      code: 'writeback_required',
      exitCode: 1,
      message: 'Writeback required: thought_record must be recorded before task completion.',
      hint: expect.stringContaining('git handoff thought D'),
    });
    expect(recordsOf(place, session_id)).toHaveLength(1);
  });

  it('a thought from before the task last entered in_progress does not count', async () => {
    const place = planned();
    think(place, 'D', git(place.dir, 'rev-parse', 'HEAD'), 1);
    const { handoff } = open(place);
    await handoff.start({ as: 'donna' });
    await handoff.task.update({ id: 'D', status: 'in_progress' });
    await expect(handoff.task.update({ id: 'D', status: 'done' })).rejects.toMatchObject({
      code: 'writeback_required',
    });
  });

  it.each([
    ['that was never made', () => 'f'.repeat(40)],
    ['that no branch has', orphan],
    ['that is no commit', (place: Place) => git(place.dir, 'rev-parse', 'HEAD:.gitattributes')],
  ])('a thought about a commit %s does not count', async (_, commitOf) => {
    const place = planned();
    think(place, 'D', commitOf(place));
    const { handoff } = open(place);
    await handoff.start({ as: 'donna' });
    await expect(handoff.task.update({ id: 'D', status: 'done' })).rejects.toMatchObject({
      code: 'writeback_required',
    });
  });

  it('done with a thought is done, with progress 100', async () => {
    const place = planned();
    think(place, 'D', git(place.dir, 'rev-parse', 'HEAD'));
    const { handoff } = open(place);
    await handoff.start({ as: 'donna' });
    expect(await handoff.task.update({ id: 'D', status: 'done' })).toMatchObject({ status: 'done', progress: 100 });
    expect(await open(place).handoff.task.show({ id: 'D' })).toMatchObject({ status: 'done', progress: 100 });
    await expect(open(place).handoff.claim({ id: 'D' })).rejects.toMatchObject({ code: 'usage' });
  });

  it('a task that somebody else holds is theirs to update', async () => {
    const place = planned();
    await place.handoff.start({ as: 'donna' });
    await place.handoff.claim({ id: 'D', as: 'donna' });
    const { handoff } = open(place);
    await handoff.start({ as: 'erin' });
    await expect(handoff.task.update({ id: 'D', status: 'cancelled', as: 'erin' })).rejects.toMatchObject({
      code: 'task_claimed',
      data: { holder: { identity: 'donna' } },
    });
  });
});

function orphan({ dir }: Place): string {
  return git(dir, 'commit-tree', '-m', 'nobody has it', git(dir, 'rev-parse', 'HEAD^{tree}'));
}
