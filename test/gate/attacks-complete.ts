import type { Place } from '../handoff.ts';
import { writeLedgerOf } from '../ledger/forge-ledger.ts';
import { commitHandoff, commitSealed, sealedSession } from '../ledger/sealed.ts';
import { git } from '../temporary.ts';
import { forgeLedger, onMain, textOf } from './ledgers.ts';
import { branch, checkout, commitRecords, type Scenario } from './scenario.ts';

function sessionsOf({ dir }: Place, rev = 'HEAD'): string {
  return `sessions ${git(dir, 'rev-parse', `${rev}:.handoff/sessions`)}`;
}

/** A checkpoint that says it has seen what is not in its ledger: the next append would pass over it for ever. */
export const LEFT_OUT: Scenario[] = [
  {
    name: 'a ledger that leaves a seal out, and says that it has them all',
    threat: 63,
    expect: 'ledger_rewritten',
    build: (place) =>
      onMain(place, async () => {
        const [one] = commitSealed(place, 2);
        await forgeLedger(place, (entries) => [...entries, textOf(one!)], { extensions: [sessionsOf(place)] });
      }),
  },
  {
    name: 'a ledger that leaves out the first seal of an identity that it has nothing of',
    threat: 63,
    isVariant: true,
    expect: 'ledger_rewritten',
    build: (place) =>
      onMain(place, async () => {
        const [one] = commitSealed(place);
        commitSealed(place, 1, { identity: 'erin' });
        await forgeLedger(place, (entries) => [...entries, textOf(one!)], { extensions: [sessionsOf(place)] });
      }),
  },
  {
    name: 'a ledger that leaves out the seal of a session whose id begins like that of one which it has',
    threat: 63,
    isVariant: true,
    expect: 'ledger_rewritten',
    build: (place) =>
      onMain(place, async () => {
        const [one] = ['20', '21'].map((day, n) => {
          const sessionId = `11111111-51cf-4c61-9a39-2b7fd2f9a1d${n}`;
          return sealedSession(place, { sessionId, at: `2026-02-${day}T14:30:25.123Z` }).at(-1)!;
        });
        commitHandoff(place);
        await forgeLedger(place, (entries) => [...entries, textOf(one!)], { extensions: [sessionsOf(place)] });
      }),
  },
  {
    name: 'a ledger that leaves a seal out, and says so in the second of two such lines',
    threat: 63,
    isVariant: true,
    expect: 'ledger_rewritten',
    build: (place) =>
      onMain(place, async () => {
        const before = sessionsOf(place);
        const [one] = commitSealed(place, 2);
        const extensions = [sessionsOf(place), before];
        await forgeLedger(place, (entries) => [...entries, textOf(one!)], { extensions });
      }),
  },
  {
    name: 'a first ledger that leaves a seal out',
    threat: 63,
    isVariant: true,
    expect: 'ledger_rewritten',
    async build(place) {
      const [one] = commitSealed(place, 2);
      const base = git(place.dir, 'rev-parse', 'HEAD');
      await writeLedgerOf(place, [textOf(one!)], { extensions: [sessionsOf(place)] });
      commitRecords(place, 'handoff: ledger');
      return { base };
    },
  },
  {
    name: 'a ledger that says it has the seals of a folder which is yet to come',
    threat: 63,
    expect: 'ledger_rewritten',
    build: (place) =>
      onMain(place, async () => {
        const [one] = commitSealed(place);
        branch(place, 'later');
        commitSealed(place);
        const extensions = [sessionsOf(place)];
        checkout(place, 'main');
        await forgeLedger(place, (entries) => [...entries, textOf(one!)], { extensions });
      }),
  },
  {
    name: 'a ledger that says it has the seals of a folder which nobody has',
    threat: 63,
    isVariant: true,
    expect: 'ledger_rewritten',
    build: (place) =>
      onMain(place, async () => {
        const [one] = commitSealed(place);
        const extensions = [`sessions ${'a'.repeat(40)}`];
        await forgeLedger(place, (entries) => [...entries, textOf(one!)], { extensions });
      }),
  },
];
