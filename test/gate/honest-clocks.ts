import { BATON, branch, checkout, merge, type Scenario, START, session } from './scenario.ts';

const SLACK = 2 ** 20;
const NOTE = { kind: 'note' as const, text: 'hello' };

/** Clocks as they come about: whoever writes has seen more, or less, than main has. */
export const COUNTED: Scenario[] = [
  {
    name: 'a branch that began long before, with clocks that main has left behind',
    build(place) {
      branch(place, 'feature');
      session(place, [START, NOTE, BATON], { clock: 5 });
      checkout(place, 'main');
      session(place, [START, NOTE, BATON], { clock: 500_000, identity: 'erin' });
      checkout(place, 'feature');
    },
  },
  {
    name: 'a branch that brings another one along, with the same clocks',
    isVariant: true,
    build(place) {
      branch(place, 'other');
      session(place, [START, NOTE, BATON], { clock: 30, identity: 'erin' });
      branch(place, 'feature', 'main');
      session(place, [START, NOTE, BATON], { clock: 30 });
      merge(place, 'other');
    },
  },
  {
    name: 'a writer who has seen many branches that are not merged yet',
    isVariant: true,
    build(place) {
      branch(place, 'feature');
      session(place, [START, NOTE, BATON], { clock: 900_000 });
    },
  },
  {
    name: 'two agents who go on from one session',
    isVariant: true,
    build(place) {
      const id = '11111111-51cf-4c61-9a39-2b7fd2f9a1de';
      session(place, [START, BATON], { sessionId: id, clock: 20 });
      branch(place, 'feature');
      const pickup = { kind: 'pickup' as const, predecessor_session_id: id, baton: null, inherited_from: id };
      for (const identity of ['donna', 'erin'])
        session(place, [pickup, { ...BATON, inherited_from: id }], { identity, clock: 30 });
    },
  },
  {
    name: 'work on a main whose clocks are high, by whom it is not the newest session',
    build(place) {
      session(place, [START, BATON], { clock: 5 * SLACK, identity: 'erin', at: '2025-02-20T14:30:25.123Z' });
      session(place, [START, BATON], { clock: 100, identity: 'erin' });
      branch(place, 'feature');
      session(place, [START, NOTE, BATON], { clock: 5 * SLACK + 5 });
    },
  },
  {
    name: 'work on a main that somebody has brought a clock to at which nobody counts',
    isVariant: true,
    build(place) {
      session(place, [START, BATON], { clock: 2 ** 48 - 3, identity: 'erin' });
      branch(place, 'feature');
      session(place, [START, NOTE, BATON], { clock: 40 });
    },
  },
];
