import { chmodSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openRepository } from '../../src/index.ts';
import { initialised, type Place } from '../handoff.ts';
import { git } from '../temporary.ts';
import { worktree } from '../verbs/agents.ts';

async function twoAgents(): Promise<Place> {
  const place = await initialised();
  await place.handoff.identity.add({ name: 'eve' });
  return place;
}

const state = ({ dir }: Place, ...path: string[]) => join(dir, '.git/handoff', ...path);
const codeOf = (error: { code: string }) => error.code;

describe('what an attacker, or an accident, may try', () => {
  it('a commit that is refused does not swallow the signals that a pickup has received', async () => {
    const place = await twoAgents();
    await place.handoff.start({ as: 'donna' });
    await place.handoff.signal.send({ name: 'eve', text: 'urgent' });
    await place.handoff.wrap({ as: 'donna', message: 'over to you' });
    mkdirSync(join(place.dir, '.git/hooks'), { recursive: true });
    writeFileSync(join(place.dir, '.git/hooks/commit-msg'), '#!/bin/sh\nexit 1\n');
    chmodSync(join(place.dir, '.git/hooks/commit-msg'), 0o755);
    const { baton, pending_signals, commit, warnings } = await place.handoff.pickup({ as: 'eve' });
    expect([baton?.body, pending_signals[0]?.text, commit]).toEqual(['over to you', 'urgent', null]);
    expect(warnings.map(({ kind }) => kind)).toContain('not_committed');
  });

  it('whoever was released, and names nobody, does not go on in the session of another', async () => {
    const place = await twoAgents();
    await place.handoff.start({ as: 'eve' });
    const { session_id } = await place.handoff.start({ as: 'donna' });
    await place.handoff.release({ target: session_id, reason: 'out', as: 'eve' });
    expect(await place.handoff.note({ text: 'still here' }).catch(codeOf)).toBe('session_released');
  });

  it('whoever has wrapped, and names nobody, does not go on in the session of another', async () => {
    const place = await twoAgents();
    await place.handoff.start({ as: 'eve' });
    await place.handoff.start({ as: 'donna' });
    await place.handoff.wrap({ as: 'donna', message: 'done' });
    expect(await place.handoff.note({ text: 'an afterthought' }).catch(codeOf)).toBe('session_ended');
    expect(await place.handoff.wrap({ message: 'again' }).catch(codeOf)).toBe('session_ended');
    await place.handoff.note({ as: 'eve', text: 'mine' });
  });

  it('nobody releases in the name of somebody who is not signed in', async () => {
    const place = await twoAgents();
    const { session_id } = await place.handoff.start({ as: 'eve' });
    const release = place.handoff.release({ target: session_id, reason: 'out', as: 'nobody' });
    expect(await release.catch(codeOf)).toBe('unknown_identity');
    await place.handoff.note({ as: 'eve', text: 'still here' });
  });

  it('a baton of another work tree can be shown again', async () => {
    const place = await twoAgents();
    await place.handoff.start({ as: 'donna' });
    const { baton } = await place.handoff.wrap({ message: 'over to you' });
    const side = worktree(place, 'side');
    git(side.dir, 'reset', '--quiet', '--hard', 'HEAD~1');
    await side.handoff.pickup({ as: 'eve' });
    const shown = await side.handoff.show({ record: baton.delta_id.slice('sha256:'.length, 20) });
    expect(shown).toMatchObject({
      id: baton.delta_id,
      body: 'over to you',
      valid: true,
      signer: { identity: 'donna' },
    });
  });

  it('a branch whose name is no UTF-8 gets its own commit', async () => {
    const place = await twoAgents();
    const name = Buffer.from('ref: refs/heads/caf\xe9\n', 'latin1');
    git(place.dir, 'update-ref', 'refs/heads/x', 'HEAD');
    writeFileSync(
      join(place.dir, '.git/packed-refs'),
      Buffer.from(`${git(place.dir, 'rev-parse', 'HEAD')} refs/heads/caf\xe9\n`, 'latin1'),
    );
    writeFileSync(join(place.dir, '.git/HEAD'), name);
    await place.handoff.start({ as: 'donna' });
    const { commit } = await place.handoff.wrap({ message: 'done' });
    expect(git(place.dir, 'rev-parse', 'HEAD')).toBe(commit);
  });

  it('one clock at the end of all numbers keeps nobody from writing', async () => {
    const place = await twoAgents();
    mkdirSync(state(place), { recursive: true });
    writeFileSync(state(place, 'clock'), '9007199254740990\n');
    await place.handoff.start({ as: 'eve' });
    await place.handoff.wrap({ as: 'eve', message: 'far' });
    await place.handoff.pickup({ as: 'donna' });
    expect((await place.handoff.verify()).valid).toBe(true);
  });

  it('a baton is not hidden by a pickup that came before it', async () => {
    const place = await twoAgents();
    await place.handoff.start({ as: 'donna', commit: true });
    const clone = `${place.dir}-clone`;
    git('/', 'clone', '--quiet', place.dir, clone);
    const other = openRepository(clone, { env: place.env });
    await other.pickup({ as: 'eve' });
    await other.wrap({ as: 'eve', message: 'the older one' });
    await place.handoff.note({ as: 'donna', text: 'on and on' });
    for (let more = 0; more < 4; more++) await place.handoff.note({ as: 'donna', text: 'and on' });
    await place.handoff.wrap({ as: 'donna', message: 'the newest' });
    git(place.dir, 'pull', '--quiet', '--no-edit', '--no-rebase', clone, 'main');
    expect((await place.handoff.pickup({ as: 'bot' })).baton?.body).toBe('the newest');
    await other.close();
  });

  it.each([
    ['an empty session', (place: Place, id: string) => writeFileSync(state(place, 'sessions', id, 'session.json'), '')],
    [
      'a session that says nothing',
      (place: Place, id: string) => writeFileSync(state(place, 'sessions', id, 'session.json'), '{}'),
    ],
    [
      'a record that is none',
      (place: Place, id: string) => writeFileSync(state(place, 'sessions', id, 'records/000002'), 'x'),
    ],
    [
      'an end that is none',
      (place: Place, id: string) => writeFileSync(state(place, 'sessions', id, 'records/000002'), '{}'),
    ],
    [
      'a lock that nobody holds',
      (place: Place, id: string) => writeFileSync(state(place, 'locks/session', id, '00000002.lock'), 'null'),
    ],
    [
      'a lock that leads nowhere',
      (place: Place, id: string) => symlinkSync('nowhere', state(place, 'locks/session', id, '00000002.lock')),
    ],
  ])('%s in the state directory is named, and nothing hangs', async (_, spoil) => {
    const place = await twoAgents();
    const { session_id } = await place.handoff.start({ as: 'donna' });
    spoil(place, session_id);
    const failure = await place.handoff.status().catch((error) => error);
    expect(failure).toMatchObject({ code: 'io', hint: expect.any(String) });
    expect(failure.message).toContain(session_id);
  });

  it('a secret in a list, or in the reason of a release, is found', async () => {
    const place = await twoAgents();
    const token = `ghp_${'a1B2c3D4e5F6'.repeat(3)}`;
    const { session_id } = await place.handoff.start({ as: 'donna' });
    expect(await place.handoff.wrap({ message: 'x', focus: [token] }).catch(codeOf)).toBe('secret_found');
    expect(await place.handoff.release({ target: session_id, reason: token }).catch(codeOf)).toBe('secret_found');
  });

  it('state that depends on where one stands is refused', () => {
    expect(() => openRepository('.', { env: { HANDOFF_STATE: 'here' } })).toThrow(/absolute/);
  });

  it.runIf(existsSync('/proc/self'))(
    'state where no folder can ever be made is refused, and nobody tries for ever',
    () => {
      for (const state of ['/proc/nowhere', '/proc/nowhere/deep/er'])
        expect(() => openRepository('.', { env: { HANDOFF_STATE: state } })).toThrow(/no directory can be made/);
    },
  );
});
