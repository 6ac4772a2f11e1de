import { writeSession } from '../handoff.ts';
import { BATON, branch, commitRecords, type Scenario, START, session } from './scenario.ts';

const SLACK = 2 ** 20;
const NOTE = { kind: 'note' as const, text: 'hello' };

function jump(name: string, clock: number, isVariant = false): Scenario {
  return {
    name,
    threat: 49,
    expect: 'chain_broken',
    isVariant,
    build(place) {
      branch(place, 'feature');
      session(place, [START, BATON], { clock });
    },
  };
}

/** THREATS 49: records that nobody could count on from. Main is at 13 in the ground. */
export const CLOCKS: Scenario[] = [
  jump('a clock at the end of all clocks', 2 ** 48 - 3),
  jump('a clock where nobody counts', 2 ** 40, true),
  jump('a clock one beyond what a change of two records may have', 13 + SLACK + 1, true),
  {
    name: 'a clock that jumps within a session',
    threat: 49,
    expect: 'chain_broken',
    isVariant: true,
    build(place) {
      branch(place, 'feature');
      session(place, [START, NOTE, { ...BATON, clock: 2 ** 47 }], { clock: 20 });
    },
  },
  {
    name: 'a clock that jumps in a session that was there before',
    threat: 49,
    expect: 'chain_broken',
    isVariant: true,
    build(place) {
      const id = '11111111-51cf-4c61-9a39-2b7fd2f9a1de';
      session(place, [START, NOTE], { sessionId: id, clock: 20 });
      branch(place, 'feature');
      writeSession(place, [START, NOTE, { ...BATON, clock: 2 ** 39 }], { sessionId: id, clock: 20 });
      commitRecords(place);
    },
  },
  {
    name: 'many records that climb to where no other is',
    threat: 49,
    expect: 'chain_broken',
    isVariant: true,
    build(place) {
      branch(place, 'feature');
      for (let step = 1; step < 8; step++)
        writeSession(place, [START, BATON], { clock: step * SLACK, at: `2026-02-2${step}T14:30:25.123Z` });
      commitRecords(place);
    },
  },
  {
    name: 'a clock far beyond a high one of main',
    threat: 49,
    expect: 'chain_broken',
    isVariant: true,
    build(place) {
      session(place, [START, BATON], { clock: 5 * SLACK, identity: 'erin', at: '2025-02-20T14:30:25.123Z' });
      session(place, [START, BATON], { clock: 100, identity: 'erin' });
      branch(place, 'feature');
      session(place, [START, BATON], { clock: 6 * SLACK + 3 });
    },
  },
  {
    name: 'a clock far beyond those of main, but for one at which nobody counts and an older gate let in',
    threat: 49,
    expect: 'chain_broken',
    isVariant: true,
    build(place) {
      session(place, [START, BATON], { clock: 2 ** 48 - 3, identity: 'erin' });
      branch(place, 'feature');
      session(place, [START, BATON], { clock: 2 ** 39 });
    },
  },
];
