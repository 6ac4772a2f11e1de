import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { stateDirs } from '../../src/journal/sessions/registry.ts';
import { commitAll, type Place } from '../handoff.ts';
import { git } from '../temporary.ts';
import { template } from '../threats/forge.ts';
import { open, workAndWrap } from './agents.ts';
import { defineTask } from './tasks.ts';

// A read reads: whatever it finds, the tree, the index, the refs and the state directory stay as they are. Caches may grow.

const fresh = template((place) => {
  defineTask(place, 'P0.1');
  commitAll(place, 'tasks');
});

const GONE = 2 ** 22 + 1; // above every process number

/** Sessions that are over and committed, one that is open, and the opening of a process that was killed. */
async function lived(): Promise<Place> {
  const place = fresh();
  await workAndWrap(place.handoff, 'erin');
  await open(place).handoff.start({ as: 'donna' });
  await open(place).handoff.note({ text: 'one' });
  const [some] = sessionsOf(place);
  const folder = `${some!.folder.slice(0, -8)}00000000`;
  const dead = { ...some!, session_id: '00000000-0000-4000-8000-000000000000', folder };
  const at = join(stateDirs(stateOf(place)).sessions, dead.session_id);
  mkdirSync(at);
  writeFileSync(join(at, 'session.json'), JSON.stringify({ ...dead, opener: { ...dead.opener, pid: GONE } }));
  // SPEC §5.9: these remember the newest policy that they have seen, once
  await open(place).handoff.verify();
  await open(place).handoff.gate({ base: 'HEAD~1', head: 'HEAD' });
  return place;
}

interface Registered {
  session_id: string;
  folder: string;
  opener: { pid: number };
}

function sessionsOf(place: Place): Registered[] {
  const { sessions } = stateDirs(stateOf(place));
  return readdirSync(sessions).map((id) => JSON.parse(readFileSync(join(sessions, id, 'session.json'), 'utf8')));
}

function stateOf({ dir }: Place): string {
  return join(dir, '.git/handoff');
}

/** Every file and what is in it, but for caches. */
function snapshot({ dir }: Place): Record<string, string> {
  const paths = readdirSync(dir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const files = paths
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !path.includes('/handoff/cache/'));
  const digest = (path: string) => createHash('sha256').update(readFileSync(path)).digest('hex');
  return Object.fromEntries(files.sort().map((path) => [path.slice(dir.length), digest(path)]));
}

type Handoff = Place['handoff'];

const READS: [string, (handoff: Handoff) => Promise<unknown>][] = [
  ['status', (handoff) => handoff.status()],
  ['sessions', (handoff) => handoff.sessions()],
  ['next', (handoff) => handoff.next()],
  ['task list', (handoff) => handoff.task.list()],
  ['task show', (handoff) => handoff.task.show({ id: 'P0.1' })],
  ['task graph', (handoff) => handoff.task.graph()],
  ['signal pending', (handoff) => handoff.signal.pending()],
  ['log', (handoff) => handoff.log()],
  ['verify', (handoff) => handoff.verify()],
  ['audit verify', (handoff) => handoff.audit.verify()],
  ['reconcile --dry-run', (handoff) => handoff.reconcile({ dryRun: true })],
  ['gate', (handoff) => handoff.gate({ base: 'HEAD~1', head: 'HEAD' })],
];

describe('a read changes nothing', () => {
  test.each(READS)('%s', async (_, read) => {
    const place = await lived();
    const before = snapshot(place);
    await read(open(place).handoff);
    expect(snapshot(place)).toEqual(before);
    expect(Object.keys(before).some((path) => path.includes('00000000-0000-4000'))).toBe(true);
  });
});

const REFUSED: [string, string, (handoff: Handoff) => Promise<unknown>][] = [
  ['pickup of one that is active', 'identity_conflict', (handoff) => handoff.pickup({ as: 'donna' })],
  [
    'pickup of an unknown session',
    'unknown_session',
    (handoff) => handoff.pickup({ as: 'erin', fromSession: 'ffff0000' }),
  ],
  ['start of one that is active elsewhere', 'identity_conflict', (handoff) => handoff.start({ as: 'donna' })],
  ['claim of an unknown task', 'unknown_task', (handoff) => handoff.claim({ id: 'P9', as: 'donna' })],
  [
    'done without a thought',
    'writeback_required',
    (handoff) => handoff.task.update({ id: 'P0.1', status: 'done', as: 'donna' }),
  ],
];

describe('what is refused has changed nothing', () => {
  test.each(REFUSED)('%s', async (name, code, attempt) => {
    const place = await lived();
    const here = name.includes('elsewhere') ? elsewhere(place) : place;
    const before = snapshot(place);
    await expect(attempt(open(here).handoff)).rejects.toMatchObject({ code });
    expect(snapshot(place)).toEqual(before);
  });
});

/** Erin's wrap, and her seal, find that their commit was taken back before they find that a record was changed. */
const TAKEN_BACK: [string, (handoff: Handoff, session: string) => Promise<unknown>][] = [
  ['wrap --seal', (handoff) => handoff.wrap({ as: 'erin', message: 'erin was here', seal: true })],
  ['seal', (handoff, session) => handoff.seal({ session })],
];

describe('what is refused has changed nothing where a commit was taken back', () => {
  test.each(TAKEN_BACK)('%s', async (_, attempt) => {
    const place = fresh();
    const session = await workAndWrap(place.handoff, 'erin');
    git(place.dir, 'reset', '--quiet', 'HEAD~1');
    const { folder } = sessionsOf(place).find(({ session_id }) => session_id === session)!;
    writeFileSync(join(place.dir, folder, '0001-start.yaml'), 'changed');
    const before = snapshot(place);
    expect(Object.keys(before)).toContain(`/.git/handoff/sessions/${session}/committed`);
    await expect(attempt(open(place).handoff, session)).rejects.toMatchObject({ code: 'chain_broken' });
    expect(snapshot(place)).toEqual(before);
  });
});

function elsewhere(place: Place): Place {
  const dir = join(place.dir, '../elsewhere');
  git(place.dir, 'worktree', 'add', '--quiet', dir, '-b', 'elsewhere');
  return { ...place, dir };
}
