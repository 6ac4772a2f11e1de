import { usual } from './ready.ts';
import { BATON, branch, checkout, merge, type Scenario, START, session } from './scenario.ts';
import { FINISHED, remark, told, under, WORK } from './tasks.ts';

const NOTE = { kind: 'note' as const, text: 'hello' };
const ID = '22222222-51cf-4c61-9a39-2b7fd2f9a1de';

/** THREATS 62: somebody else has taken the id, or the first half of it, of a session that is still on its way. */
export const SQUATTED: Scenario[] = [
  {
    name: 'a session whose id another identity has brought to main before',
    build(place) {
      session(place, [START, NOTE, NOTE, NOTE, BATON], { identity: 'erin', sessionId: ID, clock: 20 });
      branch(place, 'feature');
      session(place, [START, NOTE, BATON], { sessionId: ID, clock: 30 });
    },
  },
  {
    name: 'a session that goes on, and whose id another identity has brought to main meanwhile',
    build(place) {
      session(place, [START], { sessionId: ID, clock: 20 });
      branch(place, 'feature');
      session(place, [START, NOTE, BATON], { sessionId: ID, clock: 20 });
      checkout(place, 'main');
      session(place, [START, BATON], { identity: 'erin', sessionId: ID, clock: 20 });
      checkout(place, 'feature');
    },
  },
  {
    name: 'two sessions of one id that arrive together, each of another identity',
    isVariant: true,
    build(place) {
      branch(place, 'feature');
      session(place, [START, NOTE, BATON], { sessionId: ID, clock: 30 });
      session(place, [START, BATON], { identity: 'erin', sessionId: ID, clock: 30 });
    },
  },
  {
    name: 'a session whose id begins as one of the same identity that is on main',
    isVariant: true,
    build(place) {
      session(place, [START, BATON], { sessionId: ID, clock: 20 });
      branch(place, 'feature');
      session(place, [START, NOTE, BATON], { sessionId: ID.replace('9a1de', '9a1df'), at: '2026-02-21T14:30:25.123Z' });
    },
  },
  {
    name: 'a session whose id somebody else’s old one has, beside one of theirs that begins like that',
    isVariant: true,
    build(place) {
      session(place, [START, BATON], { identity: 'erin', sessionId: ID, clock: 20 });
      branch(place, 'feature');
      session(place, [START, NOTE, BATON], { sessionId: ID, clock: 30 });
      const like = { sessionId: ID.replace('9a1de', '9a1df'), at: '2026-02-21T14:30:25.123Z' };
      session(place, [START, BATON], { identity: 'erin', ...like, clock: 30 });
    },
  },
  {
    name: 'a task whose number a stranger has brought to main before: it is claimed anew, and said again',
    async build(place) {
      told(place, [under(3, NOTE)], { identity: 'erin', clock: 20 });
      branch(place, 'feature');
      told(place, [under(3, NOTE), under(4, await remark(place)), under(4, FINISHED)], { clock: 30 });
    },
  },
  {
    name: 'a number that a stranger has of the lock of another task',
    isVariant: true,
    async build(place) {
      told(place, [{ ...WORK, lock: { task: 'P0.2', token: 3 } }], { identity: 'erin', clock: 20 });
      branch(place, 'feature');
      told(place, [under(3, await remark(place)), under(3, FINISHED)], { clock: 30 });
    },
  },
  {
    name: 'code with its thought, in a session whose id a stranger has merged first',
    isVariant: true,
    async build(place) {
      const { records } = await usual(place);
      const sessionId = /^session_id: (.*)$/m.exec(Buffer.from(records[0]!.bytes).toString())![1]!;
      checkout(place, 'main');
      session(place, [START, NOTE, BATON], { identity: 'erin', sessionId, clock: 30 });
      checkout(place, 'feature');
      merge(place, 'main');
    },
  },
];
