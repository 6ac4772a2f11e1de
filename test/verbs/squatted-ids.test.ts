import { describe, expect, it } from 'vitest';
import { BATON, branch, checkout, commitRecords, judge, merge, START } from '../gate/scenario.ts';
import { type Place, writeSession } from '../handoff.ts';
import { template } from '../threats/forge.ts';
import { open } from './agents.ts';

// THREATS 62: ids of sessions can be seen. Whoever uses another's for a session of its own is in nobody's way.

const fresh = template();
const ID = '22222222-51cf-4c61-9a39-2b7fd2f9a1de';
const NOTE = { kind: 'note' as const, text: 'mine' };

/** Of donna, wrapped; of erin, with the same id, longer and newer. */
function squatted(): Place {
  const place = fresh();
  writeSession(place, [START, NOTE, { ...BATON, summary: 'by donna', body: 'by donna\n' }], { sessionId: ID });
  const baton = { ...BATON, summary: 'by erin', body: 'by erin\n' };
  writeSession(place, [START, NOTE, NOTE, NOTE, baton], { sessionId: ID, identity: 'erin', clock: 50 });
  commitRecords(place);
  return place;
}

describe('two identities with a session of the same id', () => {
  it('hold as a tree, and each of them is known by itself', async () => {
    const { handoff } = open(squatted());
    expect(await handoff.verify()).toMatchObject({ valid: true, findings: [] });
    const { sessions } = await handoff.sessions();
    expect(
      sessions
        .filter(({ session_id }) => session_id === ID)
        .map(({ identity }) => identity)
        .sort(),
    ).toEqual(['donna', 'erin']);
    expect(await handoff.audit.verify()).toMatchObject({ valid: true });
  });

  it('are told apart by name, as the error says', async () => {
    const place = squatted();
    const taken = open(place).handoff.pickup({ as: 'bot', fromSession: ID });
    await expect(taken).rejects.toMatchObject({
      code: 'unknown_session',
      hint: expect.stringContaining(`donna/${ID}`),
    });
    const { baton } = await open(place).handoff.pickup({ as: 'bot', fromSession: `donna/${ID}` });
    expect(baton).toMatchObject({ agent_identity: 'donna', body: 'by donna\n' });
    // and so it stays: the baton in hand is that of whom it was taken from
    expect((await open(place).handoff.status({ as: 'bot' })).baton).toMatchObject({ identity: 'donna' });
  });

  it('have each their verdict', async () => {
    const { handoff } = open(squatted());
    const count = async (session: string) => (await handoff.audit.verify({ session })).record_count;
    expect([await count(`donna/${ID}`), await count(`erin/${ID.slice(0, 8)}`), await count(ID)]).toEqual([3, 5, 8]);
  });
});

it('a session under way is not what a stranger’s of the same id says', async () => {
  const place = fresh();
  const here = open(place);
  branch(place, 'feature');
  const { session_id } = await here.handoff.start({ as: 'donna' });
  await here.handoff.note({ text: 'one', as: 'donna', commit: true });
  checkout(place, 'main');
  writeSession(place, [START, NOTE, NOTE, NOTE, BATON], { sessionId: session_id, identity: 'erin', clock: 90 });
  commitRecords(place);
  checkout(place, 'feature');
  merge(place, 'main');
  await here.handoff.note({ text: 'two', as: 'donna' });
  expect(await here.handoff.status({ as: 'donna' })).toMatchObject({ session: { session_id, state: 'active' } });
  await here.handoff.wrap({ as: 'donna', message: 'done' });
  expect((await judge(place)).findings.filter(({ severity }) => severity === 'error')).toEqual([]);
  checkout(place, 'main');
  merge(place, 'feature');
  expect(await open(place).handoff.verify()).toMatchObject({ valid: true });
});
