import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { nodeHost } from '../../src/host.ts';
import { writeAgent } from '../../src/relay/agents.ts';
import { markProcess } from '../../src/relay/processes.ts';
import type { Place } from '../handoff.ts';
import { git } from '../temporary.ts';
import { template } from '../threats/forge.ts';
import { later, open, worktree } from '../verbs/agents.ts';

const copy = template();
const TOKEN = `ghp_${'a1B2'.repeat(10)}`;

/** donna has worked, committed and changed files, and is heard of no more. */
async function died(place: Place = copy()): Promise<{ place: Place; session_id: string; after: Place }> {
  const { session_id } = await place.handoff.start({ as: 'donna' });
  await place.handoff.note({ as: 'donna', text: 'the reader is half done' });
  writeFileSync(join(place.dir, 'code.txt'), 'code\n');
  git(place.dir, 'add', 'code.txt');
  git(place.dir, 'commit', '--quiet', '--message', 'the first half', '--', 'code.txt');
  writeFileSync(join(place.dir, 'code.txt'), 'more code\n');
  writeFileSync(join(place.dir, 'new.txt'), 'new\n');
  return { place, session_id, after: open(place, { host: later(3600) }) };
}

const body = async (place: Place, id: string): Promise<string> => (await place.handoff.show({ record: id })).body ?? '';

describe('salvage', () => {
  it('picks up, saves what is not committed, and leaves a baton that says that nobody wrote it who did the work', async () => {
    const { session_id, after } = await died();
    const saved = await after.handoff.salvage({ target: session_id.slice(0, 8), as: 'erin' });
    expect(saved).toMatchObject({ identity: 'erin', salvaged_session_id: session_id, salvaged_identity: 'donna' });
    expect(saved.saved).toMatchObject({ commit: expect.any(String), paths: ['code.txt', 'new.txt'] });
    expect(saved.warnings.map(({ kind }) => kind)).not.toContain('no_baton');
    const ref = `refs/handoff/saved/${saved.session_id.slice(0, 8)}`;
    expect(git(after.dir, 'rev-parse', ref)).toBe(saved.saved?.commit);
    expect(git(after.dir, 'show', `${ref}:new.txt`)).toBe('new');
    const text = await body(after, saved.baton.delta_id);
    expect(text).toMatch(/^donna ended without a word in session /);
    for (const known of ['the reader is half done', 'the first half', 'not committed: new.txt'])
      expect(text).toContain(known);
    expect(text).not.toContain('<!--');
    await after.handoff.identity.add({ name: 'rick' });
    const next = await after.handoff.pickup({ as: 'rick' });
    expect(next.baton).toMatchObject({ delta_id: saved.baton.delta_id, reconstructed: true });
    expect(next.warnings.map(({ kind }) => kind)).toContain('baton_reconstructed');
    expect(await after.handoff.verify()).toMatchObject({ findings: [] });
  });

  it('is refused while the session is heard of, or its agent runs, unless it is forced', async () => {
    const { place, session_id, after } = await died();
    const early = place.handoff.salvage({ target: session_id, as: 'erin' });
    await expect(early).rejects.toMatchObject({ code: 'predecessor_active', exitCode: 3 });
    const agent = { session_id, identity: 'donna', runtime: null, seat: null, directory: place.dir };
    const own = { ...agent, previous_session_id: null, started_at: '2026-01-01', bound_by: 'run' as const };
    const at = { stateDir: join(place.dir, '.git/handoff') };
    writeAgent(at, { ...own, program: markProcess(nodeHost, process.pid) });
    const running = after.handoff.salvage({ target: session_id, as: 'erin' });
    await expect(running).rejects.toMatchObject({ code: 'predecessor_active' });
    writeAgent(at, { ...own, program: { ...markProcess(nodeHost, process.pid)!, started: '0' } });
    expect(await place.handoff.salvage({ target: session_id, as: 'erin' })).toMatchObject({ identity: 'erin' });
  });

  it('leaves alone what was wrapped, what somebody else has taken, and a session of whoever salvages', async () => {
    const { session_id, after } = await died();
    const mine = await worktree(after, 'other', { host: later(3600) }).handoff.start({ as: 'erin' });
    const busy = after.handoff.salvage({ target: session_id, as: 'erin' });
    await expect(busy).rejects.toMatchObject({ code: 'identity_conflict', data: { session_id: mine.session_id } });
    await after.handoff.identity.add({ name: 'rick' });
    await after.handoff.pickup({ as: 'rick', fromSession: session_id, force: true });
    const late = after.handoff.salvage({ target: session_id, as: 'donna' });
    await expect(late).rejects.toMatchObject({ code: 'session_released', data: { identity: 'rick' } });
    const { session_id: wrapped } = await after.handoff.wrap({ as: 'rick', message: 'the end' });
    const over = after.handoff.salvage({ target: wrapped, as: 'donna' });
    await expect(over).rejects.toMatchObject({ code: 'session_ended' });
    await expect(after.handoff.salvage({ target: 'ffffffff' })).rejects.toMatchObject({ code: 'unknown_session' });
  });

  it('goes on where it was cut off between pickup and baton', async () => {
    const { session_id, after } = await died();
    const taken = await after.handoff.pickup({ as: 'erin', fromSession: session_id, force: true, reason: 'salvaged' });
    const saved = await after.handoff.salvage({ target: session_id, as: 'erin' });
    expect(saved).toMatchObject({ session_id: taken.session_id, saved: { paths: ['code.txt', 'new.txt'] } });
    const again = after.handoff.salvage({ target: session_id, as: 'erin' });
    await expect(again).rejects.toMatchObject({ code: 'session_released' });
  });

  it('saves the files of another work tree from here', async () => {
    const place = copy();
    const there = worktree(place, 'side');
    const { session_id } = await died(there);
    const saved = await open(place, { host: later(3600) }).handoff.salvage({ target: session_id, as: 'erin' });
    expect(saved.saved?.paths).toEqual(['code.txt', 'new.txt']);
    expect(git(place.dir, 'status', '--porcelain')).toBe('');
  });

  it('leaves a short baton where a name looks like a secret', async () => {
    const { place, session_id, after } = await died();
    writeFileSync(join(place.dir, TOKEN), 'x');
    const saved = await after.handoff.salvage({ target: session_id, as: 'erin' }).catch((error) => error);
    if (saved.code) expect(saved.code).toBe('secret_found');
    else expect(await body(after, saved.baton.delta_id)).not.toContain(TOKEN);
  });
});

describe('accept', () => {
  it('is a checkpoint that names the baton that was handed over', async () => {
    const place = copy();
    await place.handoff.start({ as: 'donna' });
    const { baton } = await place.handoff.wrap({ as: 'donna', message: 'go on with the writer' });
    await place.handoff.pickup({ as: 'erin' });
    const accepted = await place.handoff.accept({ as: 'erin', text: 'first the tests' });
    expect(accepted.baton).toBe(baton.delta_id);
    const { record } = await place.handoff.show({ record: accepted.delta_id });
    expect(record).toMatchObject({ kind: 'checkpoint', text: 'first the tests', baton: baton.delta_id });
    expect(await place.handoff.accept({ as: 'erin' })).toMatchObject({ baton: baton.delta_id });
    expect(await place.handoff.verify()).toMatchObject({ findings: [] });
  });

  it('is refused where nothing was handed over', async () => {
    const place = copy();
    await place.handoff.start({ as: 'donna' });
    await expect(place.handoff.accept({ as: 'donna', text: 'yes' })).rejects.toMatchObject({ code: 'usage' });
  });
});
