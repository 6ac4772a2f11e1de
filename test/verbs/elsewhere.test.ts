import { rmSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { initialised, type Place } from '../handoff.ts';

/** donna has claimed with a work tree, and whoever calls is in the first one. */
async function backInFirst(): Promise<Place & { cd: string; session_id: string }> {
  const place = await initialised();
  await place.handoff.identity.add({ name: 'lola' });
  for (const id of ['T1', 'T2']) await place.handoff.task.add({ id, title: 'Work' });
  const { cd, session_id } = await place.handoff.claim({ id: 'T1', worktree: true, as: 'donna' });
  expect(cd).toMatch(/^cd /);
  return { ...place, cd: cd!, session_id };
}

describe('whoever claimed with a work tree, and is back in the first one', () => {
  test('hears from a verb that writes where the session is', async () => {
    const { handoff, cd, session_id } = await backInFirst();
    const told = { code: 'no_session', data: { session_id, identity: 'donna' } };
    await expect(handoff.note({ text: 'here', as: 'donna' })).rejects.toMatchObject({ ...told, hint: cd });
    const unsure = expect.stringContaining(`If that is yours: ${cd}. Else git handoff start`);
    await expect(handoff.note({ text: 'here' })).rejects.toMatchObject({ ...told, hint: unsure });
  });

  test('hears it from the same claim, from another one, and from pickup, before any talk of force', async () => {
    const { handoff, cd } = await backInFirst();
    const hint = expect.stringContaining(`: ${cd}. `);
    const same = handoff.claim({ id: 'T1', worktree: true, as: 'donna' });
    await expect(same).rejects.toMatchObject({ code: 'task_claimed', hint });
    const other = handoff.claim({ id: 'T2', as: 'donna' });
    await expect(other).rejects.toMatchObject({ code: 'identity_conflict', hint });
    await expect(handoff.pickup({ as: 'donna' })).rejects.toMatchObject({ code: 'identity_conflict', hint });
  });

  test('sees it in the status, and nobody else does', async () => {
    const { handoff, cd } = await backInFirst();
    expect(await handoff.status({ as: 'donna' })).toMatchObject({ session: null, cd });
    expect(await handoff.status({ as: 'lola' })).toMatchObject({ session: null, cd: null });
    const elsewhere = { hint: expect.stringContaining(cd) };
    await expect(handoff.note({ text: 'here', as: 'lola' })).rejects.not.toMatchObject(elsewhere);
    await expect(handoff.claim({ id: 'T1', as: 'lola' })).rejects.not.toMatchObject(elsewhere);
  });

  test('is not sent to a work tree that is gone', async () => {
    const { handoff, cd } = await backInFirst();
    rmSync(cd.slice('cd '.length), { recursive: true });
    const hint = expect.stringContaining('git handoff start');
    await expect(handoff.note({ text: 'here', as: 'donna' })).rejects.toMatchObject({ hint });
  });
});
