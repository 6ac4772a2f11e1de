import type { Place } from '../handoff.ts';
import { writeLedgerOf } from '../ledger/forge-ledger.ts';
import { commitSealed } from '../ledger/sealed.ts';
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
