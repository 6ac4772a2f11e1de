import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Draft, type Place, privateKey, writeBytes, writeSession } from '../handoff.ts';
import { git } from '../temporary.ts';
import { findings, signDocument, template } from '../threats/forge.ts';
import { open, worktree } from './agents.ts';

const fresh = template();
const NOW = new Date('2026-03-01T12:00:00.000Z');
const hoursAgo = (hours: number) => new Date(NOW.getTime() - hours * 3_600_000).toISOString();
const seen = (place: Place) => open(place, { now: () => NOW }).handoff;

function commit({ dir }: Place): void {
  git(dir, 'add', '.handoff');
  git(dir, 'commit', '--quiet', '--message', 'records');
}

function notes(count: number, word: string): Draft[] {
  return Array.from({ length: count }, (_, at) => ({ kind: 'note' as const, text: `${word} ${at + 1}` }));
}

function defineTask(place: Place, task_id: string, more: { tags?: string[]; title?: string } = {}): void {
  const common = { handoff: 1, kind: 'task-definition' as const, repo: place.root, version: 1, prev: null };
  const fields = { ...common, at: hoursAgo(99), task_id, title: more.title ?? `the task ${task_id}` };
  const tags = more.tags ? { tags: more.tags } : {};
  const key = privateKey(place, 'maintainer');
  mkdirSync(join(place.dir, '.handoff/tasks'), { recursive: true });
  writeBytes(place.dir, `.handoff/tasks/${task_id}.yaml`, signDocument({ ...fields, ...tags }, [['maintainer', key]]));
}

describe('recent deltas', () => {
  it('are the newest ten, newest first', async () => {
    const place = fresh();
    writeSession(place, [{ kind: 'start' }, ...notes(12, 'fresh')], { at: hoursAgo(1) });
    commit(place);
    const { recent_deltas } = await seen(place).start({ stage: false });
    expect(recent_deltas.map(({ summary }) => summary)).toEqual(
      Array.from({ length: 10 }, (_, at) => `fresh ${12 - at}`),
    );
    expect(recent_deltas[0]).toEqual({
      delta_id: expect.stringMatching(/^sha256:/),
      kind: 'note',
      session_id: expect.any(String),
      identity: 'donna',
      at: hoursAgo(1),
      summary: 'fresh 12',
    });
  });

  it('are none that is older than 24 hours', async () => {
    const place = fresh();
    writeSession(place, [{ kind: 'start' }, ...notes(3, 'old')], { at: hoursAgo(24.1) });
    writeSession(place, [{ kind: 'start', intent: 'new' }, ...notes(2, 'new')], { at: hoursAgo(23.9), clock: 10 });
    commit(place);
    const { recent_deltas } = await seen(place).pickup({ as: 'erin', stage: false });
    expect(recent_deltas.map(({ summary }) => summary)).toEqual(['new 2', 'new 1', 'new']);
  });
});

describe('decisions', () => {
  it('are the last five, superseded ones marked', async () => {
    const place = fresh();
    const { handoff } = place;
    await handoff.start({ as: 'donna', stage: false });
    const ids: string[] = [];
    for (const title of ['one', 'two', 'three', 'four', 'five']) {
      ids.push((await handoff.decide({ title, text: 'because', stage: false })).delta_id);
    }
    await handoff.decide({ title: 'six', text: 'instead', supersedes: ids[3]!, status: 'proposed', stage: false });
    const { adrs } = await worktree(place, 'side').handoff.start({ as: 'erin', stage: false });
    expect(adrs.map(({ title, status }) => `${title} ${status}`)).toEqual([
      'six proposed',
      'five accepted',
      'four superseded',
      'three accepted',
      'two accepted',
    ]);
    expect(adrs[1]).toMatchObject({ delta_id: ids[4], kind: 'decision', identity: 'donna' });
  });
});

describe('work in progress', () => {
  it('stays open from session to session until somebody closes it', async () => {
    const { handoff } = fresh();
    await handoff.start({ as: 'donna', stage: false });
    await handoff.wip.open({ key: 'migration', text: 'columns added', stage: false });
    await handoff.wip.open({ key: 'Docs.1', text: 'half a page', stage: false });
    await handoff.wip.open({ key: 'migration', text: 'backfill missing', stage: false });
    await handoff.wrap({ as: 'donna', message: 'done', stage: false });
    const picked = await handoff.pickup({ as: 'erin', stage: false });
    expect(picked.wip.map(({ key, identity, text }) => [key, identity, text]).sort()).toEqual([
      ['Docs.1', 'donna', 'half a page'],
      ['migration', 'donna', 'backfill missing'],
    ]);
    await handoff.wip.close({ as: 'erin', key: 'migration', text: 'all filled', stage: false });
    expect((await handoff.start({ as: 'donna', stage: false })).wip.map(({ key }) => key)).toEqual(['Docs.1']);
    await handoff.wip.open({ as: 'donna', key: 'migration', text: 'once more', stage: false });
    expect((await handoff.start({ as: 'bot', stage: false })).wip).toHaveLength(2);
  });
});

describe('the project', () => {
  it('says name, phase and what to read first', async () => {
    const place = fresh();
    const fields = { handoff: 1, kind: 'project' as const, repo: place.root, version: 1, prev: null, at: hoursAgo(9) };
    const says = { name: 'Atlas', phase: 'hardening', reading: ['README.md', 'docs/guide.md'] };
    const key = privateKey(place, 'maintainer');
    writeBytes(place.dir, '.handoff/project.yaml', signDocument({ ...fields, ...says }, [['maintainer', key]]));
    commit(place);
    const { context } = await place.handoff.start({ as: 'donna', stage: false });
    expect(context).toEqual({
      project: 'Atlas',
      phase: 'hardening',
      reading: ['README.md', 'docs/guide.md'],
      branch: 'main',
      head: git(place.dir, 'rev-parse', 'HEAD'),
    });
    expect(await place.handoff.status()).toMatchObject({ project: 'Atlas', phase: 'hardening' });
  });

  it('says nothing when no maintainer signed it', async () => {
    const place = fresh();
    const fields = { handoff: 1, kind: 'project' as const, repo: place.root, version: 1, prev: null, at: hoursAgo(9) };
    const forged = signDocument({ ...fields, name: 'Evil' }, [['donna', privateKey(place, 'donna')]]);
    writeBytes(place.dir, '.handoff/project.yaml', forged);
    commit(place);
    const { handoff, warnings } = open(place);
    expect((await handoff.start({ as: 'donna', stage: false })).context).toMatchObject({ project: null, reading: [] });
    expect(warnings.join()).toContain('.handoff/project.yaml');
  });
});

describe('tasks', () => {
  it('in focus are those that the baton names and those tagged so; the open ones are counted', async () => {
    const place = fresh();
    defineTask(place, 'P0.1');
    defineTask(place, 'P0.2', { tags: ['focus'] });
    defineTask(place, 'P0.3', { tags: ['later'] });
    defineTask(place, 'P0.4', { tags: ['focus'] });
    defineTask(place, 'P0.5');
    writeSession(
      place,
      [
        { kind: 'start' },
        { kind: 'task', task_id: 'P0.4', status: 'cancelled' },
        { kind: 'task', task_id: 'P0.1', status: 'in_progress' },
        { kind: 'task', task_id: 'P0.5', status: 'done' },
        { kind: 'baton', summary: 'half way', focus: ['P0.1', 'P0.4', 'P9.9'], body: 'half way\n' },
      ],
      { at: hoursAgo(1) },
    );
    commit(place);
    const { todos, rules_reminders } = await seen(place).pickup({ as: 'erin', stage: false });
    expect(todos).toEqual({
      focus: [
        { task_id: 'P0.1', title: 'the task P0.1', status: 'in_progress' },
        { task_id: 'P0.2', title: 'the task P0.2', status: 'todo' },
      ],
      open_count: 4, // P0.5 has no thought, so it is not done
    });
    expect(rules_reminders).toEqual([
      '4 tasks are open. What can be begun: git handoff next',
      'In focus and not begun: P0.2.',
      expect.stringContaining('git handoff wrap'),
    ]);
    const begun = await seen(place).start({ as: 'donna', stage: false });
    expect(begun.todos.focus.map(({ task_id }) => task_id)).toEqual(['P0.2']);
    expect(await findings(place)).toEqual([]);
  });

  it('that no maintainer signed are not there', async () => {
    const place = fresh();
    defineTask(place, 'P0.1');
    const bytes = signDocument(
      {
        handoff: 1,
        kind: 'task-definition',
        repo: place.root,
        version: 1,
        prev: null,
        at: NOW.toISOString(),
        task_id: 'P0.2',
        title: 'evil',
      },
      [['donna', privateKey(place, 'donna')]],
    );
    writeBytes(place.dir, '.handoff/tasks/P0.2.yaml', bytes);
    commit(place);
    const { handoff, warnings } = open(place);
    expect((await handoff.status()).tasks).toEqual({ focus: [], open_count: 1 });
    expect(warnings.join()).toContain('P0.2.yaml');
  });
});
