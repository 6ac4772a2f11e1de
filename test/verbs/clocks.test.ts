import { expect, it } from 'vitest';
import { BATON, branch, checkout, commitRecords, judge, merge, START } from '../gate/scenario.ts';
import { type Place, writeSession } from '../handoff.ts';
import { template } from '../threats/forge.ts';
import { open, recordsOf } from './agents.ts';

// THREATS 49: a clock that somebody signed far above all others keeps nobody from writing.

const fresh = template();
const END = 2 ** 48 - 3;

async function clocksOfSession(
  place: Place,
  act: (here: Place) => Promise<unknown> = async () => {},
): Promise<number[]> {
  const here = open(place);
  const { session_id } = await here.handoff.start({ as: 'erin' });
  await here.handoff.note({ text: 'hello', as: 'erin' });
  await act(here);
  await here.handoff.wrap({ as: 'erin', message: 'done' });
  return recordsOf(here, session_id).map(({ fields }) => fields.clock as number);
}

it.each([END, 2 ** 39, 2 ** 30])('on a main that had taken in %d, work goes on and is let in', async (clock) => {
  const place = fresh();
  writeSession(place, [START, { kind: 'note', text: 'x' }, BATON], { clock });
  commitRecords(place);
  branch(place, 'feature');
  expect(Math.max(...(await clocksOfSession(place)))).toBeLessThan(100);
  expect((await judge(place)).findings.filter(({ severity }) => severity === 'error')).toEqual([]);
  checkout(place, 'main');
  merge(place, 'feature');
  expect((await open(place).handoff.verify()).valid).toBe(true);
});

it.each([END, 2 ** 39])(
  'whoever looks at a branch with %d, and writes there, goes on elsewhere as before',
  async (clock) => {
    const place = fresh();
    branch(place, 'evil');
    writeSession(place, [START, BATON], { clock });
    commitRecords(place);
    const here = open(place);
    const { session_id } = await here.handoff.start({ as: 'erin' });
    await here.handoff.note({ text: 'this must not be merged', as: 'erin', stage: false });
    await here.handoff.status();
    branch(place, 'feature', 'main');
    await open(place).handoff.note({ text: 'something else', as: 'erin' });
    await open(place).handoff.wrap({ as: 'erin', message: 'done' });
    expect(Math.max(...recordsOf(place, session_id).map(({ fields }) => fields.clock as number))).toBeLessThan(100);
    expect((await judge(place)).findings.filter(({ severity }) => severity === 'error')).toEqual([]);
  },
);

it('a clock that was remembered from a branch that climbed far is forgotten where the others are', async () => {
  const place = fresh();
  branch(place, 'evil');
  for (let step = 1; step < 9; step++)
    writeSession(place, [START, BATON], { clock: step * 2 ** 20, at: `2026-02-2${step}T14:30:25.123Z` });
  commitRecords(place);
  await open(place).handoff.status();
  checkout(place, 'main');
  branch(place, 'feature');
  expect(Math.max(...(await clocksOfSession(place)))).toBeLessThan(100);
});

it('after the key that signed it was revoked, what it said is the newest no more', async () => {
  const place = fresh();
  writeSession(place, [START, BATON], { clock: 50, identity: 'erin' });
  writeSession(place, [START, BATON], { clock: END });
  commitRecords(place);
  const newest = async () => (await open(place).handoff.status({ as: 'erin' })).baton?.identity;
  expect(await newest()).toBe('donna');
  await open(place).handoff.identity.revoke({ name: 'donna' });
  expect(await newest()).toBe('erin');
});
