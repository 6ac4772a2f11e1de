import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Place, STORY } from '../handoff.ts';
import { makeKey, signLine } from '../ledger/note-key.ts';
import { checkpointOf, commitHandoff, commitSealed, sealedSession, writeCheckpoint } from '../ledger/sealed.ts';
import { seal } from '../sealing.ts';
import { git } from '../temporary.ts';
import { open } from '../verbs/agents.ts';
import { append, ledgered, onMain } from './ledgers.ts';
import { branch, checkout, code, commitRecords, headOf, honestBranch, merge, type Scenario } from './scenario.ts';

async function rotate(place: Place): Promise<void> {
  await open(place).handoff.identity.rotate({ name: 'maintainer' });
}

/** The ledger, proofs, and what a revoked key had signed. */
export const SEALED: Scenario[] = [
  {
    name: 'a first ledger',
    async build(place) {
      commitSealed(place, 3);
      const base = headOf(place.dir);
      await append(place);
      return { base };
    },
  },
  {
    name: 'sealed sessions and the ledger of them at once',
    isVariant: true,
    async build(place) {
      const base = headOf(place.dir);
      await ledgered(place);
      return { base };
    },
  },
  {
    name: 'an append',
    build: (place) =>
      onMain(place, async () => {
        commitSealed(place, 2);
        await append(place);
      }),
  },
  {
    name: 'an append of sessions whose ids begin alike, of which the first has the largest seal',
    isVariant: true,
    build: (place) =>
      onMain(place, async () => {
        for (const [n, padding] of ['', 'x'].entries()) {
          const options = {
            sessionId: `11111111-51cf-4c61-9a39-2b7fd2f9a1d${n}`,
            at: `2026-02-2${4 - n}T14:30:25.123Z`,
          };
          const larger = seal(null, (honest) => ({ ...honest, x_padding: padding.repeat(1000) }));
          sealedSession(place, { ...options, clock: 40 + n }, [STORY[0]!, larger]);
        }
        commitHandoff(place);
        await append(place);
      }),
  },
  {
    name: 'several appends in one push',
    async build(place) {
      const change = await onMain(place, async () => {
        for (const count of [1, 2, 3]) {
          commitSealed(place, count);
          await append(place);
        }
      });
      return { ...change, replaces: true };
    },
  },
  {
    name: 'a merge, and then an append',
    async build(place) {
      await ledgered(place);
      const { base } = await honestBranch(place);
      sealedSession(place, { clock: 90 });
      commitHandoff(place);
      checkout(place, 'main');
      merge(place, '--no-ff', 'feature');
      await append(place);
      return { base, replaces: true };
    },
  },
  {
    name: 'two merges and an append after each',
    isVariant: true,
    async build(place) {
      await ledgered(place);
      const base = headOf(place.dir);
      for (const name of ['one', 'two']) {
        git(place.dir, 'checkout', '--quiet', '-b', name, base);
        commitSealed(place);
      }
      for (const name of ['one', 'two']) {
        checkout(place, 'main');
        merge(place, '--no-ff', name);
        await append(place);
      }
      return { base, replaces: true };
    },
  },
  {
    name: 'a branch that left before the ledger grew',
    async build(place) {
      await ledgered(place);
      await honestBranch(place);
      checkout(place, 'main');
      commitSealed(place);
      await append(place);
      checkout(place, 'feature');
    },
  },
  {
    name: 'a branch that has merged the ledger that grew',
    isVariant: true,
    async build(place) {
      await ledgered(place);
      await honestBranch(place);
      checkout(place, 'main');
      commitSealed(place);
      await append(place);
      checkout(place, 'feature');
      merge(place, '--no-ff', 'main');
    },
  },
  {
    name: 'the same, and main has gone on since',
    isVariant: true,
    async build(place) {
      await ledgered(place);
      await honestBranch(place);
      checkout(place, 'main');
      commitSealed(place);
      await append(place);
      checkout(place, 'feature');
      merge(place, '--no-ff', 'main');
      checkout(place, 'main');
      commitSealed(place);
      await append(place);
      checkout(place, 'feature');
    },
  },
  {
    name: 'a branch that has merged the ledger that grew, to which main is brought forward',
    async build(place) {
      await ledgered(place);
      await honestBranch(place);
      checkout(place, 'main');
      commitSealed(place);
      await append(place);
      checkout(place, 'feature');
      merge(place, '--no-ff', 'main');
      return { base: 'main', replaces: true };
    },
  },
  {
    name: 'a branch off an append that lost its race, which has merged the one that won',
    isVariant: true,
    async build(place) {
      await ledgered(place);
      const before = headOf(place.dir);
      commitSealed(place);
      await append(place);
      await honestBranch(place);
      git(place.dir, 'branch', '--quiet', '--force', 'main', before);
      rmSync(join(place.dir, '.git/handoff/ledger.json')); // it is another clone that won
      checkout(place, 'main');
      commitSealed(place, 2);
      await append(place);
      checkout(place, 'feature');
      git(place.dir, 'merge', '--quiet', '--no-ff', '--no-commit', '--strategy', 'ours', 'main');
      git(place.dir, 'checkout', '--quiet', '--no-overlay', 'main', '--', '.handoff/ledger');
      git(place.dir, 'checkout', '--quiet', 'main', '--', '.handoff/sessions');
      git(place.dir, 'commit', '--quiet', '--message', 'merge');
    },
  },
  {
    name: 'a cosignature',
    build: (place) =>
      onMain(place, () => {
        const { text, signatures } = checkpointOf(place);
        writeCheckpoint(place, text, signatures, signLine(makeKey('witness.example/w1', 4), text));
        commitRecords(place, 'handoff: cosigned');
      }),
  },
  {
    name: 'a proof',
    async build(place) {
      const records = sealedSession(place, {}, [STORY[0]!, STORY[1]!, STORY[2]!, STORY[3]!, seal()]);
      commitHandoff(place);
      await append(place);
      branch(place, 'feature');
      const { handoff } = open(place);
      for (const { id } of records) await handoff.prove({ record: id, commit: true });
    },
  },
  {
    name: 'a proof that was made again, and one that is taken away',
    isVariant: true,
    async build(place) {
      const records = sealedSession(place);
      commitHandoff(place);
      await append(place);
      for (const { id } of records) await open(place).handoff.prove({ record: id, commit: true });
      commitSealed(place);
      await append(place);
      branch(place, 'feature');
      await open(place).handoff.prove({ record: records[0]!.id, commit: true });
      git(place.dir, 'rm', '--quiet', '--', `.handoff/proofs/${records[1]!.id.slice(7)}.yaml`);
      commitRecords(place);
    },
  },
  {
    name: "a maintainer's key that is rotated, and an append by the new one",
    build: (place) =>
      onMain(place, async () => {
        await rotate(place);
        commitSealed(place);
        await append(place);
      }),
  },
  {
    name: 'an append, and then the rotation of the key that signed it',
    build: (place) =>
      onMain(place, async () => {
        commitSealed(place);
        await append(place);
        await rotate(place);
      }),
  },
  {
    name: 'two rotations of a key, and appends before, between and after them',
    isVariant: true,
    async build(place) {
      const change = await onMain(place, async () => {
        for (const isLast of [false, false, true]) {
          commitSealed(place);
          await append(place);
          if (!isLast) await rotate(place);
        }
      });
      return { ...change, replaces: true };
    },
  },
  {
    name: 'two rotations of a key, and an append between them',
    isVariant: true,
    build: (place) =>
      onMain(place, async () => {
        await rotate(place);
        commitSealed(place);
        await append(place);
        await rotate(place);
      }),
  },
  {
    name: 'a cosignature of what a key signed that was retired since',
    async build(place) {
      await ledgered(place);
      await rotate(place);
      const base = headOf(place.dir);
      const { text, signatures } = checkpointOf(place);
      writeCheckpoint(place, text, signatures, signLine(makeKey('witness.example/w1', 4), text));
      commitRecords(place, 'handoff: cosigned');
      return { base };
    },
  },
  {
    name: 'a main that is brought forward to a branch which merged what a key signed that was retired since',
    async build(place) {
      await ledgered(place);
      await honestBranch(place);
      for (const isLast of [false, true]) {
        checkout(place, 'main');
        if (isLast) await rotate(place);
        commitSealed(place);
        await append(place);
        checkout(place, 'feature');
        merge(place, '--no-ff', 'main');
      }
      return { base: 'main', replaces: true };
    },
  },
  {
    name: 'a ledger that is signed anew since its key was revoked',
    async build(place) {
      await open(place).handoff.identity.add({ name: 'second', role: 'maintainer' });
      commitSealed(place, 2);
      await append(place, { as: 'second' });
      await open(place).handoff.identity.revoke({ name: 'second', as: 'maintainer' });
      const base = headOf(place.dir);
      await append(place);
      return { base };
    },
  },
  {
    name: 'the same, pushed together with what the revoked key had appended',
    async build(place) {
      await open(place).handoff.identity.add({ name: 'second', role: 'maintainer' });
      const base = headOf(place.dir);
      commitSealed(place, 2);
      await append(place, { as: 'second' });
      await open(place).handoff.identity.revoke({ name: 'second', as: 'maintainer' });
      await append(place);
      return { base, replaces: true };
    },
  },
  {
    name: 'an agent that is revoked, whose sealed sessions stand',
    build: (place) =>
      onMain(place, async () => {
        await open(place).handoff.identity.revoke({ name: 'donna' });
      }),
  },
  {
    name: 'an append, and an agent that is revoked, pushed together',
    build: (place) =>
      onMain(place, async () => {
        commitSealed(place);
        await append(place);
        await open(place).handoff.identity.revoke({ name: 'donna' });
        commitSealed(place, 1, { identity: 'erin' });
        await append(place);
      }),
  },
  {
    name: 'an agent that is revoked on a branch while the ledger grows',
    isVariant: true,
    async build(place) {
      await ledgered(place);
      branch(place, 'feature');
      await open(place).handoff.identity.revoke({ name: 'donna' });
      checkout(place, 'main');
      commitSealed(place, 2, { identity: 'erin' });
      await append(place);
      checkout(place, 'feature');
    },
  },
  {
    name: 'a first push of a repository with a ledger, and keys that were revoked since',
    async build(place) {
      // all that donna had written before is sealed first
      const main = git(place.dir, 'rev-parse', 'HEAD');
      commitSealed(place, 2, { identity: 'erin' });
      await append(place);
      await open(place).handoff.identity.revoke({ name: 'erin' });
      if (main === headOf(place.dir)) throw new Error('nothing was committed');
      code(place, { 'README.md': 'a first push\n' });
      return { base: null, head: 'main' };
    },
  },
];
