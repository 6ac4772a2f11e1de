import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openRepository } from '../../src/index.ts';
import { initialised, type Place } from '../handoff.ts';
import { git, temporaryDirectory } from '../temporary.ts';

/** donna has put T1 down, for lola. */
async function putDown(before: (place: Place) => void = () => {}) {
  const place = await initialised();
  await place.handoff.identity.add({ name: 'lola' });
  for (const id of ['T1', 'T2']) await place.handoff.task.add({ id, title: 'Work' });
  before(place);
  await place.handoff.claim({ id: 'T1', as: 'donna' });
  const { baton, session_id, saved } = await place.handoff.wrap({ message: 'Half of it.', nextAgent: 'lola' });
  const show = `git handoff show ${baton.delta_id.slice(7, 19)} `;
  return { ...place, baton, session_id, saved, show };
}

describe('a baton that nobody has picked up', () => {
  test('is named to whom it is meant for, where they open fresh work; and the command takes it', async () => {
    const { handoff, show, session_id, baton } = await putDown();
    const { warnings } = await handoff.start({ as: 'lola' });
    expect(warnings).toEqual([{ kind: 'baton_waiting', message: expect.stringContaining(show) }]);
    const take = /--from-session (\w+) --force --reason/.exec(warnings[0]!.message)![1]!;
    expect(session_id.startsWith(take)).toBe(true);
    const taken = await handoff.pickup({ as: 'lola', fromSession: take, force: true, reason: 'that is mine' });
    expect(taken).toMatchObject({ baton: { delta_id: baton.delta_id }, tasks: [{ task_id: 'T1' }] });
  });

  test('is nothing to others who open fresh work, nor to whoever goes on', async () => {
    const { handoff } = await putDown();
    expect((await handoff.start({ as: 'donna' })).warnings).toEqual([]);
    await handoff.start({ as: 'lola' });
    expect((await handoff.start({ as: 'lola' })).warnings).toEqual([]);
  });

  test('is named to whoever claims its task, once', async () => {
    const { handoff, warnings, show } = await putDown();
    await handoff.claim({ id: 'T2', as: 'lola' });
    expect(warnings).toEqual([]);
    await handoff.claim({ id: 'T1', as: 'lola' });
    expect(warnings).toEqual([expect.stringContaining(show)]);
    await handoff.claim({ id: 'T1', as: 'lola' });
    expect(warnings).toHaveLength(1);
  });

  test('with what was saved in another clone says at once how that comes here', async () => {
    const place = await putDown(({ dir }) => writeFileSync(join(dir, 'half'), 'half\n'));
    expect(place.saved?.paths).toEqual(['half']);
    const clone = join(temporaryDirectory(), 'clone');
    git(place.dir, 'clone', '--quiet', '--no-local', place.dir, clone);
    const { handoff } = { handoff: openRepository(clone, { env: place.env }) };
    const ref = `refs/handoff/saved/${place.session_id.slice(0, 8)}`;
    const { warnings } = await handoff.pickup({ as: 'lola' });
    const message = expect.stringContaining(`git fetch origin ${ref}:${ref}`);
    expect(warnings).toContainEqual({ kind: 'saved_elsewhere', message });
    git(clone, 'fetch', '--quiet', 'origin', `${ref}:${ref}`);
    expect((await handoff.restore({ as: 'lola' })).applied).toBe(true);
    await handoff.close();
    expect((await place.handoff.pickup({ as: 'lola' })).warnings).toEqual([]);
  });

  test('that was left on no branch leads to its commit', async () => {
    const place = await putDown(({ dir }) => {
      git(dir, 'switch', '--quiet', '--detach');
      writeFileSync(join(dir, 'code'), 'code\n');
      git(dir, 'add', 'code');
      git(dir, 'commit', '--quiet', '--message', 'code');
    });
    const code = git(place.dir, 'rev-parse', 'HEAD~1');
    git(place.dir, 'switch', '--quiet', 'main');
    const refused = await place.handoff.pickup({ as: 'lola', worktree: true }).catch((error) => error);
    expect(refused).toMatchObject({ code: 'usage', data: { branch: null, commit: code } });
    git(place.dir, ...refused.hint.match(/git (switch -c NAME \w+)/)[1].split(' '));
    expect((await place.handoff.pickup({ as: 'lola' })).baton).toMatchObject({ head: code });
    expect(git(place.dir, 'merge-base', 'HEAD', code)).toBe(code);
  });
});
