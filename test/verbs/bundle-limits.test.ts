import { describe, expect, it } from 'vitest';
import { formatPickup } from '../../src/cli/commands/session/sessions-text.ts';
import type { Paint } from '../../src/cli/terminal.ts';
import { document, taskFields } from '../gate/scenario.ts';
import { type Draft, type Place, writeSession } from '../handoff.ts';
import { git } from '../temporary.ts';
import { template } from '../threats/forge.ts';
import { open } from './agents.ts';

// THREATS 61: what somebody else wrote does not fill the screen of whoever begins, and what is left out is told.

const fresh = template();
const LONG = `${'\u0001'.repeat(200)}${'word '.repeat(40_000)}`;

const wip = (key: string, text = LONG): Draft => ({ kind: 'wip', key, state: 'open', text });
const signal = (text = LONG, to = 'lola'): Draft => ({ kind: 'signal', to, text });

async function team(): Promise<Place> {
  const place = fresh();
  await open(place).handoff.identity.add({ name: 'lola' });
  return place;
}

function commit({ dir }: Place): void {
  git(dir, 'add', '.handoff');
  git(dir, 'commit', '--quiet', '--message', 'records');
}

const PLAIN: Paint = Object.assign((_: unknown, text: string) => text, { columns: 80 });
const bytesOf = (value: object) => Buffer.byteLength(JSON.stringify(value));

/** Somebody writes much, and somebody else had written a little before. */
async function flooded(): Promise<Place> {
  const place = await team();
  writeSession(place, [{ kind: 'start' }, wip('of-erin', 'a little'), signal('look at this')], { identity: 'erin' });
  const many = Array.from({ length: 60 }, (_, at) => [wip(`k${at}`), signal()]).flat();
  writeSession(place, [{ kind: 'start' }, ...many], { clock: 100 });
  commit(place);
  return place;
}

describe('a bundle', () => {
  it('stays below 64 KiB, names what is left out, and which command has the rest', async () => {
    const { handoff } = open(await flooded());
    const started = await handoff.start({ as: 'erin', stage: false });
    const result = await handoff.pickup({ as: 'lola', force: true, stage: false });
    for (const bundle of [started, result, await handoff.status({ as: 'lola' })])
      expect(bytesOf(bundle)).toBeLessThan(64 * 1024);
    const { wip: shown, pending_signals, left_out, warnings } = result;
    expect(left_out).toMatchObject({ wip: 61 - shown.length, pending_signals: 61 - pending_signals.length });
    expect(warnings.filter(({ kind }) => kind === 'left_out').map(({ message }) => message)).toEqual([
      `Not all of wip is shown here, ${left_out.wip} more: git handoff wip list`,
      `Not all of pending_signals is shown here, ${left_out.pending_signals} more: git handoff signal pending`,
    ]);
    expect(formatPickup(result, PLAIN).length).toBeLessThan(64 * 1024);
  });

  const title = 't'.repeat(1000);
  const decision: Draft = { kind: 'decision', title, status: 'accepted', body: LONG };
  const batonOf = (focus: string[]): Draft => ({ kind: 'baton', summary: title, body: LONG, focus });
  const floods: [string, 'adrs' | 'waiting' | 'focus', number, number, (place: Place) => void][] = [
    // the newest few are all that is promised of them
    [
      'decisions',
      'adrs',
      6500,
      0,
      (place) => void writeSession(place, [{ kind: 'start' }, ...Array(60).fill(decision)]),
    ],
    [
      'batons that wait',
      'waiting',
      6500,
      1,
      (place) => {
        for (let at = 0; at < 40; at++)
          writeSession(place, [{ kind: 'start', intent: LONG }, batonOf([])], { clock: at * 10 });
      },
    ],
    [
      'tasks in focus with long titles',
      'focus',
      8500,
      1,
      (place) => {
        const ids = Array.from({ length: 60 }, (_, at) => `T${at}`);
        for (const id of ids) document(place, `tasks/${id}.yaml`, taskFields(place, id, { title: 't'.repeat(500) }));
        writeSession(place, [{ kind: 'start' }, batonOf(ids)]);
      },
    ],
  ];
  it.each(floods)('says what it leaves out of many %s', async (_, name, bytes, least, flood) => {
    const place = await team();
    await flood(place);
    commit(place);
    const picked = await open(place).handoff.pickup({ as: 'lola', force: true, stage: false });
    const lists = { waiting: picked.waiting, adrs: picked.adrs, focus: picked.todos.focus };
    expect(bytesOf(lists[name])).toBeLessThan(bytes);
    expect(picked.left_out[name] ?? 0).toBeGreaterThanOrEqual(least);
    expect(bytesOf({ ...picked, baton: null })).toBeLessThan(64 * 1024); // the baton is what was asked for
  });

  it('has something of everybody, however much one of them wrote', async () => {
    const { wip: shown, pending_signals } = await open(await flooded()).handoff.pickup({ as: 'lola', stage: false });
    expect(shown.at(-1)).toMatchObject({ key: 'of-erin', text: 'a little' });
    expect(pending_signals.at(-1)).toMatchObject({ from: 'erin', text: 'look at this' });
    expect(shown.length).toBeGreaterThan(2);
  });

  it('shows a long text as an excerpt, and show has all of it', async () => {
    const { handoff } = open(await flooded());
    const { wip: shown } = await handoff.pickup({ as: 'lola', stage: false });
    expect(shown[0]).toMatchObject({ cut: true, path: expect.stringMatching(/-wip\.yaml$/) });
    const { record } = await handoff.show({ record: shown[0]!.delta_id });
    expect(record.text).toBe(LONG);
  });

  it('what was not handed over stays pending, until all of it was', async () => {
    const { handoff } = open(await flooded());
    const seen: string[] = [];
    for (let turn = 0; turn < 20; turn++) {
      const { pending_signals } = await handoff.pickup({ as: 'lola', force: true, stage: false });
      seen.push(...pending_signals.map(({ delta_id }) => delta_id));
      if (pending_signals.length === 0) break;
    }
    expect(seen).toHaveLength(61);
    expect(new Set(seen).size).toBe(61);
  });

  it('of a team with as much under way as people have leaves nothing out', async () => {
    const place = await team();
    const text = 'The parser reads block maps; sequences come next. '.repeat(8);
    writeSession(place, [
      { kind: 'start' },
      ...Array.from({ length: 10 }, (_, at) => wip(`k${at}`, text)),
      signal('a'),
    ]);
    writeSession(place, [{ kind: 'start' }, ...Array.from({ length: 4 }, () => signal(text))], { identity: 'erin' });
    commit(place);
    const { left_out, wip: shown, pending_signals, warnings } = await open(place).handoff.pickup({ as: 'lola' });
    expect({ left_out, wip: shown.length, signals: pending_signals.length }).toEqual({
      left_out: {},
      wip: 10,
      signals: 5,
    });
    expect(warnings.map(({ kind }) => kind)).toEqual(['no_baton', 'abandoned']);
  });
});
