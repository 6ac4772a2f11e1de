import { describe, expect, it } from 'vitest';
import type { HandoffError } from '../../src/core/error.ts';
import { openRepository } from '../../src/index.ts';
import type { Place } from '../handoff.ts';
import { git } from '../temporary.ts';
import { template } from '../threats/forge.ts';
import { changes, later, open, recordsOf, worktree } from './agents.ts';

// One rule says who acts, and where nobody can tell, nobody signs.

const fresh = template();
const LATER = { host: later(601) };

/** Who signed the note. */
async function noteBy(place: Place, env: NodeJS.ProcessEnv = {}): Promise<string> {
  const here = openRepository(place.dir, { env: { ...place.env, ...env } });
  const { identity, path } = await here.note({ text: 'a note' }).finally(() => here.close());
  expect(path.split('/')[2]).toBe(identity);
  return identity;
}

describe('who acts', () => {
  it('is the only one with an open session here, before whoever the configuration names', async () => {
    const place = fresh();
    await open(place).handoff.start({ as: 'donna' });
    git(place.dir, 'config', 'handoff.identity', 'erin');
    expect(await noteBy(place)).toBe('donna');
    expect(await open(place).handoff.start()).toMatchObject({ identity: 'donna', resumed: true });
    expect((await open(place).handoff.signal.pending()).pending_signals).toEqual([]);
    expect((await open(place).handoff.wrap({ message: 'done' })).baton.path).toContain('/sessions/donna/');
    expect(await open(place).handoff.start()).toMatchObject({ identity: 'erin', resumed: false });
  });

  it('the flag and the environment go before it', async () => {
    const place = fresh();
    await open(place).handoff.start({ as: 'donna' });
    await expect(open(place).handoff.note({ text: 'x', as: 'erin' })).rejects.toMatchObject({ code: 'no_session' });
    await expect(noteBy(place, { HANDOFF_IDENTITY: 'erin' })).rejects.toMatchObject({ code: 'no_session' });
    expect(await open(place).handoff.start({ as: 'erin' })).toMatchObject({ identity: 'erin' });
    expect(await noteBy(place, { HANDOFF_IDENTITY: 'donna' })).toBe('donna');
  });
});

describe('two open sessions in one work tree and nobody named', () => {
  async function two(place: Place): Promise<{ donna: string; erin: string }> {
    const donna = (await open(place).handoff.start({ as: 'donna' })).session_id;
    const erin = (await open(place).handoff.start({ as: 'erin' })).session_id;
    return { donna, erin };
  }

  it('every verb that writes names both, and changes nothing', async () => {
    const place = fresh();
    const { donna, erin } = await two(place);
    const { handoff: here } = open(place);
    await here.task.add({ id: 'T1', title: 'a task', as: 'maintainer' });
    const before = changes(place);
    const refusals = [
      () => here.note({ text: 'x' }),
      () => here.start(),
      () => here.pickup(),
      () => here.wrap({ message: 'x' }),
      () => here.claim({ id: 'T1' }),
      () => here.seal(),
      () => here.heartbeat(),
      () => here.signal.pending(),
    ];
    for (const refused of refusals) {
      const error = await refused().catch((thrown: HandoffError) => thrown);
      expect(error).toMatchObject({ code: 'ambiguous_session', exitCode: 2 });
      const { message, hint } = error as HandoffError;
      for (const name of ['donna', 'erin', donna.slice(0, 8), erin.slice(0, 8)]) expect(message).toContain(name);
      expect(hint).toMatch(/--as (?:donna|erin) or --as (?:donna|erin)/);
    }
    expect(changes(place)).toEqual(before);
    expect([recordsOf(place, donna).length, recordsOf(place, erin).length]).toEqual([1, 1]);
  });

  it('one of them stale is still open: it is not passed over in silence', async () => {
    const place = fresh();
    await open(place).handoff.start({ as: 'donna' });
    await open(place, LATER).handoff.start({ as: 'erin' });
    await expect(open(place, LATER).handoff.note({ text: 'x' })).rejects.toMatchObject({
      code: 'ambiguous_session',
    });
  });

  it('whom the configuration names is meant', async () => {
    const place = fresh();
    await two(place);
    git(place.dir, 'config', 'handoff.identity', 'donna');
    expect(await noteBy(place)).toBe('donna');
    git(place.dir, 'config', 'handoff.identity', 'lola');
    await expect(open(place).handoff.note({ text: 'x' })).rejects.toMatchObject({ code: 'ambiguous_session' });
  });

  it('what the hint says helps: a name, the environment, or releasing one of them', async () => {
    const place = fresh();
    const { donna } = await two(place);
    expect(await open(place).handoff.note({ text: 'x', as: 'erin' })).toMatchObject({ identity: 'erin' });
    expect(await noteBy(place, { HANDOFF_SESSION: donna.slice(0, 8) })).toBe('donna');
    await open(place).handoff.release({ target: donna, reason: 'nobody works in it' });
    expect(await noteBy(place)).toBe('erin');
  });

  it('status shows the one that was opened last, and warns', async () => {
    const place = fresh();
    const { erin } = await two(place);
    expect(await open(place).handoff.status()).toMatchObject({
      identity: 'erin',
      session: { session_id: erin },
      warnings: [{ kind: 'ambiguous_session', message: expect.stringContaining('--as') }],
    });
    expect((await open(place).handoff.status({ as: 'donna' })).warnings).toEqual([]);
  });

  it('one of them has ended, and it was opened last: whoever names nobody is not taken for the bot', async () => {
    const place = fresh();
    const { donna, erin } = await two(place);
    await open(place).handoff.wrap({ as: 'erin', message: 'done' });
    const here = open(place).handoff;
    await here.task.add({ id: 'T1', title: 'a task', as: 'maintainer' });
    for (const refused of [() => here.start(), () => here.pickup(), () => here.claim({ id: 'T1' })]) {
      const error: HandoffError = await refused().catch((thrown) => thrown);
      expect(error).toMatchObject({
        code: 'ambiguous_session',
        hint: expect.stringContaining('--as donna or --as erin'),
      });
      expect(error.data).toMatchObject({ sessions: [{ session_id: donna }, { session_id: erin }] });
    }
    expect(await here.claim({ id: 'T1', as: 'donna' })).toMatchObject({ identity: 'donna' });
    git(place.dir, 'config', 'handoff.identity', 'erin');
    expect(await open(place).handoff.start()).toMatchObject({ identity: 'erin', resumed: false });
  });

  it('in work trees of their own nobody is in doubt', async () => {
    const place = fresh();
    await open(place).handoff.start({ as: 'donna' });
    const other = worktree(place, 'other');
    await open(other).handoff.start({ as: 'erin' });
    expect([await noteBy(place), await noteBy(other)]).toEqual(['donna', 'erin']);
  });
});
