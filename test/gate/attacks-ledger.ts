import type { KeyObject } from 'node:crypto';
import { chmodSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { newKey, type Place, privateKey, STORY, writeBytes } from '../handoff.ts';
import { writeLedgerOf } from '../ledger/forge-ledger.ts';
import { makeKey, signLine } from '../ledger/note-key.ts';
import {
  CHECKPOINT,
  checkpointOf,
  commitHandoff,
  commitSealed,
  entriesOf,
  sealedSession,
  writeCheckpoint,
} from '../ledger/sealed.ts';
import { seal } from '../sealing.ts';
import { git } from '../temporary.ts';
import { open } from '../verbs/agents.ts';
import { append, forgeLedger, ledgered, onMain, revokeDonna, textOf } from './ledgers.ts';
import {
  branch,
  checkout,
  code,
  commitRecords,
  document,
  headOf,
  identityAfter,
  merge,
  type Scenario,
} from './scenario.ts';

const LEDGER = '.handoff/ledger';
const TILE = `${LEDGER}/tile/0/000.p/3`;
const ENTRIES = `${LEDGER}/tile/entries/000.p/3`;

/** One seal more, which is in the tree, and a ledger that has it, signed as `forgery` says. */
async function grownBy(place: Place, forgery: Parameters<typeof forgeLedger>[2]): Promise<void> {
  const [more] = commitSealed(place);
  await forgeLedger(place, (entries) => [...entries, textOf(more!)], forgery);
}

/** The key that the maintainer had until now. */
async function rotated(place: Place): Promise<KeyObject> {
  const old = privateKey(place, 'maintainer');
  await open(place).handoff.identity.rotate({ name: 'maintainer' });
  return old;
}

function flip({ dir }: Place, path: string, at: number): void {
  const bytes = readFileSync(join(dir, path));
  bytes[at]! ^= 1;
  writeFileSync(join(dir, path), bytes);
}

function logKey(place: Place) {
  return makeKey(`git-handoff/${place.root}`, 1, privateKey(place, 'maintainer'));
}

/** Puts the ledger of another commit in the place of the one that is there. */
function ledgerFrom(place: Place, rev: string): void {
  git(place.dir, 'rm', '--quiet', '-r', '--', LEDGER);
  git(place.dir, 'checkout', '--quiet', rev, '--', LEDGER);
  commitRecords(place, `handoff: ledger of ${rev}`);
}

/** What becomes of the ledger on the protected branch: THREATS 7, 8, 9. */
export const LEDGERS: Scenario[] = [
  {
    name: 'a ledger that shrinks',
    threat: 8,
    expect: 'ledger_rewritten',
    build: (place) => onMain(place, () => forgeLedger(place, (entries) => entries.slice(0, -1))),
  },
  {
    name: 'a ledger as it was, by git revert',
    threat: 8,
    expect: 'ledger_rewritten',
    async build(place) {
      await ledgered(place);
      commitSealed(place);
      await append(place);
      const base = headOf(place.dir);
      git(place.dir, 'revert', '--no-edit', 'HEAD');
      return { base };
    },
  },
  {
    name: 'a ledger with another leaf in the place of one',
    threat: 9,
    expect: 'ledger_rewritten',
    build: (place) =>
      onMain(place, async () => {
        const [other] = commitSealed(place);
        await forgeLedger(place, ([, ...rest]) => [textOf(other!), ...rest]);
      }),
  },
  {
    name: 'a larger ledger with another leaf in the place of one',
    threat: 9,
    expect: 'ledger_rewritten',
    build: (place) =>
      onMain(place, async () => {
        const [one, two] = commitSealed(place, 2);
        await forgeLedger(place, ([, ...rest]) => [textOf(one!), ...rest, textOf(two!)]);
      }),
  },
  {
    name: 'a ledger of the same leaves in another order',
    isVariant: true,
    threat: 9,
    expect: 'ledger_rewritten',
    build: (place) => onMain(place, () => forgeLedger(place, (entries) => entries.reverse())),
  },
  {
    name: 'another text of the same size and root',
    isVariant: true,
    expect: 'ledger_rewritten',
    build: (place) => onMain(place, () => forgeLedger(place, (entries) => entries, { extensions: ['sessions 0123'] })),
  },
  {
    name: 'a root that is not that of the tiles',
    threat: 9,
    expect: 'ledger_rewritten',
    build: (place) =>
      onMain(place, async () => {
        await grownBy(place, {});
        const text = checkpointOf(place).text.replace(/\n[A-Za-z0-9+/]{43}=\n/, `\n${'A'.repeat(43)}=\n`);
        writeCheckpoint(place, text, signLine(logKey(place), text));
        git(place.dir, 'commit', '--quiet', '--all', '--amend', '--no-edit');
      }),
  },
  {
    name: 'a tile that is changed',
    expect: 'ledger_rewritten',
    build: (place) =>
      onMain(place, () => {
        flip(place, TILE, 40);
        commitRecords(place);
      }),
  },
  {
    name: 'an entry that is changed',
    isVariant: true,
    expect: 'ledger_rewritten',
    build: (place) =>
      onMain(place, () => {
        flip(place, ENTRIES, 500);
        commitRecords(place);
      }),
  },
  {
    name: 'an entry that is changed while the ledger grows',
    expect: 'ledger_rewritten',
    build: (place) =>
      onMain(place, async () => {
        const [more] = commitSealed(place);
        await forgeLedger(place, ([first, ...rest]) => [
          first!.replace('clock: 2', 'clock: 3'),
          ...rest,
          textOf(more!),
        ]);
      }),
  },
  {
    name: 'a checkpoint that an agent signs',
    threat: 7,
    expect: 'ledger_rewritten',
    build: (place) => onMain(place, () => grownBy(place, { key: privateKey(place, 'donna') })),
  },
  {
    name: 'a checkpoint that a stranger signs',
    isVariant: true,
    threat: 7,
    expect: 'ledger_rewritten',
    build: (place) => onMain(place, () => grownBy(place, { key: newKey() })),
  },
  {
    name: 'a checkpoint that a revoked maintainer signs',
    threat: 7,
    expect: 'ledger_rewritten',
    async build(place) {
      const { handoff } = open(place);
      await handoff.identity.add({ name: 'second', role: 'maintainer' });
      await handoff.identity.revoke({ name: 'second' });
      return onMain(place, () => grownBy(place, { key: privateKey(place, 'second') }));
    },
  },
  {
    name: 'the same, revoked in the change itself',
    isVariant: true,
    threat: 7,
    expect: 'ledger_rewritten',
    async build(place) {
      await open(place).handoff.identity.add({ name: 'second', role: 'maintainer' });
      return onMain(place, async () => {
        await open(place).handoff.identity.revoke({ name: 'second' });
        await grownBy(place, { key: privateKey(place, 'second') });
      });
    },
  },
  {
    name: 'a checkpoint that a retired key of a maintainer signs',
    threat: 7,
    expect: 'ledger_rewritten',
    async build(place) {
      const old = await rotated(place);
      return onMain(place, () => grownBy(place, { key: old }));
    },
  },
  {
    name: 'a first ledger that a retired key signs',
    isVariant: true,
    threat: 7,
    expect: 'ledger_rewritten',
    async build(place) {
      const old = await rotated(place);
      const seals = commitSealed(place, 2);
      const base = headOf(place.dir);
      await writeLedgerOf(place, seals.map(textOf), { key: old });
      commitRecords(place);
      return { base };
    },
  },
  {
    name: 'a ledger that a retired key makes larger, and an active one after it',
    threat: 7,
    expect: 'ledger_rewritten',
    async build(place) {
      const old = await rotated(place);
      const change = await onMain(place, async () => {
        await grownBy(place, { key: old });
        commitSealed(place);
        await append(place);
      });
      return { ...change, replaces: true };
    },
  },
  {
    name: 'the same, as a merge of a branch that comes with it',
    isVariant: true,
    threat: 7,
    expect: 'ledger_rewritten',
    async build(place) {
      const old = await rotated(place);
      const change = await onMain(place, async () => {
        branch(place, 'side');
        await grownBy(place, { key: old });
        checkout(place, 'main');
        merge(place, '--no-ff', 'side');
        commitSealed(place);
        await append(place);
      });
      return { ...change, replaces: true };
    },
  },
  {
    name: 'a ledger whose signature is replaced by that of a retired key',
    isVariant: true,
    threat: 7,
    expect: 'ledger_rewritten',
    async build(place) {
      const old = await rotated(place);
      return onMain(place, () => {
        const { text } = checkpointOf(place);
        writeCheckpoint(place, text, signLine(makeKey(`git-handoff/${place.root}`, 1, old), text));
        commitRecords(place);
      });
    },
  },
  {
    name: 'a checkpoint that a maintainer signs whom an agent signed in',
    threat: 1,
    expect: ['ledger_rewritten', 'signer_unknown'],
    build: (place) =>
      onMain(place, async () => {
        const fields = identityAfter(place, 'donna', { role: 'maintainer' });
        document(place, 'identities/donna/identity.yaml', fields, [['donna', privateKey(place, 'donna')]]);
        await grownBy(place, { key: privateKey(place, 'donna') });
      }),
  },
  {
    name: 'a checkpoint that only a witness signs',
    isVariant: true,
    expect: 'ledger_rewritten',
    build: (place) =>
      onMain(place, () => {
        const { text } = checkpointOf(place);
        writeCheckpoint(place, text, signLine(makeKey('witness.example/w1', 4), text));
        commitRecords(place);
      }),
  },
  {
    name: 'a checkpoint of another repository',
    threat: 12,
    expect: 'ledger_rewritten',
    build: (place) => onMain(place, () => grownBy(place, { origin: `git-handoff/${'ab'.repeat(32)}` })),
  },
  {
    name: 'an entry that is a record and no seal',
    expect: 'ledger_rewritten',
    build: (place) =>
      onMain(place, async () => {
        const [start] = sealedSession(place);
        commitHandoff(place);
        await forgeLedger(place, (entries) => [...entries, textOf(start!)]);
      }),
  },
  {
    name: 'an entry that is nothing of ours',
    isVariant: true,
    expect: 'ledger_rewritten',
    build: (place) => onMain(place, () => forgeLedger(place, (entries) => [...entries, 'hello\n'])),
  },
  {
    name: 'a seal that is not in the tree',
    expect: 'ledger_rewritten',
    build: (place) =>
      onMain(place, async () => {
        const elsewhere = { ...place, dir: join(place.dir, '..', 'elsewhere') };
        const lost = sealedSession(elsewhere).at(-1)!;
        await forgeLedger(place, (entries) => [...entries, textOf(lost)]);
      }),
  },
  {
    name: 'a seal that was in it already',
    expect: 'ledger_rewritten',
    build: (place) => onMain(place, () => forgeLedger(place, (entries) => [...entries, entries[1]!])),
  },
  {
    name: 'a new seal that comes twice at once',
    isVariant: true,
    expect: 'ledger_rewritten',
    build: (place) =>
      onMain(place, async () => {
        const [more] = commitSealed(place);
        await forgeLedger(place, (entries) => [...entries, textOf(more!), textOf(more!)]);
      }),
  },
  {
    name: 'a first ledger with a seal that is not in the tree',
    isVariant: true,
    expect: 'ledger_rewritten',
    async build(place) {
      const base = headOf(place.dir);
      const elsewhere = { ...place, dir: join(place.dir, '..', 'elsewhere') };
      await writeLedgerOf(place, [textOf(sealedSession(elsewhere).at(-1)!)]);
      commitRecords(place);
      return { base };
    },
  },
  {
    name: 'another file in the folder of the ledger',
    threat: 11,
    expect: ['ledger_rewritten', 'path_mismatch'],
    build: (place) =>
      onMain(place, () => {
        writeBytes(place.dir, `${LEDGER}/notes.txt`, 'mine\n');
        commitRecords(place);
      }),
  },
  {
    name: 'a tile that the ledger has no use for',
    isVariant: true,
    threat: 11,
    expect: 'ledger_rewritten',
    build: (place) =>
      onMain(place, () => {
        writeBytes(place.dir, `${LEDGER}/tile/0/007.p/3`, 'x');
        commitRecords(place);
      }),
  },
  {
    name: 'a tile of before that stays',
    isVariant: true,
    expect: 'ledger_rewritten',
    build: (place) =>
      onMain(place, async () => {
        commitSealed(place);
        await append(place);
        git(place.dir, 'checkout', '--quiet', 'HEAD~1', '--', TILE);
        git(place.dir, 'commit', '--quiet', '--amend', '--no-edit');
      }),
  },
  {
    name: 'a checkpoint that grew without its tiles',
    expect: 'ledger_rewritten',
    build: (place) =>
      onMain(place, async () => {
        const [more] = commitSealed(place);
        const before = entriesOf(place);
        await forgeLedger(place, () => [...before, textOf(more!)]);
        const grown = readFileSync(join(place.dir, CHECKPOINT));
        git(place.dir, 'checkout', '--quiet', 'HEAD~1', '--', LEDGER);
        git(place.dir, 'rm', '--quiet', '-r', '--cached', '--', LEDGER);
        writeFileSync(join(place.dir, CHECKPOINT), grown);
        for (const path of ['0', 'entries']) rmSync(join(place.dir, `${LEDGER}/tile/${path}/000.p/4`), { force: true });
        commitRecords(place);
        git(place.dir, 'reset', '--quiet', '--soft', 'HEAD~2');
        commitRecords(place);
      }),
  },
  {
    name: 'a ledger that is deleted',
    threat: 8,
    expect: 'ledger_rewritten',
    build: (place) =>
      onMain(place, () => {
        git(place.dir, 'rm', '--quiet', '-r', '--', LEDGER);
        commitRecords(place);
      }),
  },
  {
    name: 'a checkpoint that is deleted',
    isVariant: true,
    threat: 8,
    expect: 'ledger_rewritten',
    build: (place) =>
      onMain(place, () => {
        git(place.dir, 'rm', '--quiet', '--', CHECKPOINT);
        commitRecords(place);
      }),
  },
  {
    name: 'a ledger that becomes a link',
    threat: 27,
    expect: ['ledger_rewritten', 'mode_invalid'],
    build: (place) =>
      onMain(place, () => {
        renameSync(join(place.dir, LEDGER), join(place.dir, 'aside'));
        symlinkSync('../aside', join(place.dir, LEDGER));
        commitRecords(place);
      }),
  },
  {
    name: 'a checkpoint that can be run',
    isVariant: true,
    threat: 27,
    expect: ['ledger_rewritten', 'mode_invalid'],
    build: (place) =>
      onMain(place, () => {
        chmodSync(join(place.dir, CHECKPOINT), 0o755);
        commitRecords(place);
      }),
  },
  {
    name: 'a ledger that shrinks and is as before in the next commit',
    threat: 8,
    expect: 'ledger_rewritten',
    build: (place) =>
      onMain(place, async () => {
        const base = headOf(place.dir);
        await forgeLedger(place, (entries) => entries.slice(0, -1));
        ledgerFrom(place, base);
      }).then((change) => ({ ...change, replaces: true })),
  },
  {
    name: 'the same, looked at after the push',
    isLocal: true,
    threat: 8,
    expect: 'ledger_rewritten',
    build: (place) =>
      onMain(place, async () => {
        const base = headOf(place.dir);
        await forgeLedger(place, (entries) => entries.slice(0, -1));
        ledgerFrom(place, base);
      }),
  },
  {
    name: 'the same on a branch that could be fast-forwarded',
    isLocal: true,
    threat: 8,
    expect: 'ledger_rewritten',
    async build(place) {
      await ledgered(place);
      branch(place, 'feature');
      writeBytes(place.dir, CHECKPOINT, 'garbage\n');
      commitRecords(place);
      ledgerFrom(place, 'main');
    },
  },
  {
    name: 'the same on one that main has left behind, and that could be rebased',
    isLocal: true,
    threat: 8,
    expect: 'ledger_rewritten',
    async build(place) {
      await ledgered(place);
      branch(place, 'feature');
      const tip = headOf(place.dir);
      writeBytes(place.dir, CHECKPOINT, 'garbage\n');
      commitRecords(place);
      ledgerFrom(place, tip);
      checkout(place, 'main');
      commitSealed(place);
      checkout(place, 'feature');
    },
  },
  {
    name: 'a ledger that forks and comes back in the next commit, larger',
    threat: 9,
    expect: 'ledger_rewritten',
    async build(place) {
      await ledgered(place);
      const base = headOf(place.dir);
      commitSealed(place);
      await append(place);
      const right = headOf(place.dir);
      git(place.dir, 'reset', '--quiet', '--hard', 'HEAD~1');
      await forgeLedger(place, (entries) => entries.reverse());
      ledgerFrom(place, right);
      return { base, replaces: true };
    },
  },
  {
    name: 'the same behind a merge whose first parent is the branch',
    threat: 8,
    expect: 'ledger_rewritten',
    async build(place) {
      await ledgered(place);
      branch(place, 'feature');
      const tip = headOf(place.dir);
      await forgeLedger(place, (entries) => entries.slice(0, -1));
      ledgerFrom(place, tip);
      checkout(place, 'main');
      commitSealed(place);
      checkout(place, 'feature');
      merge(place, '--no-ff', 'main');
      return { base: 'main', replaces: true };
    },
  },
  {
    name: 'a main that is set back by force to before the ledger grew',
    threat: 8,
    expect: 'ledger_rewritten',
    async build(place) {
      await ledgered(place);
      commitSealed(place);
      await append(place);
      return { base: headOf(place.dir), head: 'HEAD~1', replaces: true };
    },
  },
  {
    name: 'a merge that takes the older ledger',
    threat: 8,
    expect: ['ledger_rewritten'],
    async build(place) {
      await ledgered(place);
      branch(place, 'feature');
      checkout(place, 'main');
      const old = headOf(place.dir);
      commitSealed(place);
      await append(place);
      checkout(place, 'feature');
      merge(place, '--no-ff', 'main');
      ledgerFrom(place, old);
    },
  },
  {
    name: 'a branch that appends, as it should be done on main',
    isLocal: true,
    expect: 'ledger_rewritten',
    async build(place) {
      await ledgered(place);
      commitSealed(place);
      const base = headOf(place.dir);
      await append(place);
      branch(place, 'feature');
      git(place.dir, 'branch', '--quiet', '--force', 'main', base);
    },
  },
  {
    name: 'a branch that adds a cosignature',
    isLocal: true,
    isVariant: true,
    expect: 'ledger_rewritten',
    async build(place) {
      await ledgered(place);
      branch(place, 'feature');
      const { text, signatures } = checkpointOf(place);
      writeCheckpoint(place, text, signatures, signLine(makeKey('witness.example/w1', 4), text));
      commitRecords(place);
    },
  },
  {
    name: 'a first push with a ledger that nobody signed who may',
    expect: 'ledger_inconsistent',
    async build(place) {
      await ledgered(place);
      await forgeLedger(place, (entries) => entries, { key: newKey() });
      return { base: null, head: 'main' };
    },
  },
];

export async function proofOf(place: Place, as = 'maintainer'): Promise<{ path: string; text: string }> {
  const records = sealedSession(place, {}, [STORY[0]!, STORY[1]!, seal()]);
  commitHandoff(place);
  await append(place, { as });
  const { proof } = await open(place).handoff.prove({ record: records[1]!.id, output: '-' });
  return { path: `.handoff/proofs/${records[1]!.id.slice('sha256:'.length)}.yaml`, text: proof };
}

/** Proofs that stand in the tree. */
export const PROOFS: Scenario[] = [
  {
    name: 'a proof that does not hold',
    threat: 7,
    expect: 'proof_invalid',
    async build(place) {
      const { path, text } = await proofOf(place);
      branch(place, 'feature');
      writeBytes(place.dir, path, text.replace('npm and git', 'npm and hg'));
      commitRecords(place);
    },
  },
  {
    name: 'a proof under the name of another record',
    threat: 7,
    expect: 'proof_invalid',
    async build(place) {
      const { text } = await proofOf(place);
      branch(place, 'feature');
      writeBytes(place.dir, `.handoff/proofs/${'ab'.repeat(32)}.yaml`, text);
      commitRecords(place);
    },
  },
  {
    name: 'a proof under no name',
    isVariant: true,
    threat: 11,
    expect: 'path_mismatch',
    async build(place) {
      const { text } = await proofOf(place);
      branch(place, 'feature');
      writeBytes(place.dir, '.handoff/proofs/proof.yaml', text);
      commitRecords(place);
    },
  },
  {
    name: 'a proof whose checkpoint a stranger signed',
    threat: 7,
    expect: 'proof_invalid',
    async build(place) {
      const { path, text } = await proofOf(place);
      const stranger = makeKey(`git-handoff/${place.root}`, 1);
      const { text: checkpoint } = checkpointOf(place);
      const forged = text
        .replaceAll(logKey(place).vkey, stranger.vkey)
        .replace(/— .*\n/, () => signLine(stranger, checkpoint));
      branch(place, 'feature');
      writeBytes(place.dir, path, forged);
      commitRecords(place);
    },
  },
  {
    name: 'a proof that is something else',
    isVariant: true,
    expect: 'proof_invalid',
    async build(place) {
      const { path } = await proofOf(place);
      branch(place, 'feature');
      writeBytes(place.dir, path, 'trust me\n');
      commitRecords(place);
    },
  },
];

/** What a key signed before it was revoked: THREATS 10. */
export const CUTOFFS: Scenario[] = [
  {
    name: 'a cutoff beyond what the ledger has',
    threat: 10,
    expect: 'policy_rollback',
    build: (place) => onMain(place, () => revokeDonna(place, 4)),
  },
  {
    name: 'a cutoff where there is no ledger',
    isVariant: true,
    threat: 10,
    expect: 'policy_rollback',
    build(place) {
      branch(place, 'feature');
      revokeDonna(place, 1);
    },
  },
  {
    name: 'a cutoff that is raised',
    threat: 10,
    expect: 'policy_rollback',
    async build(place) {
      await ledgered(place);
      revokeDonna(place, 1);
      branch(place, 'feature');
      revokeDonna(place, 3);
    },
  },
  {
    name: 'a cutoff for a key that had none',
    isVariant: true,
    threat: 10,
    expect: 'policy_rollback',
    async build(place) {
      await ledgered(place);
      revokeDonna(place);
      branch(place, 'feature');
      revokeDonna(place, 3);
    },
  },
  ...['2001-01-01T00:00:00.000Z', '2099-12-31T23:59:59.999Z'].map((at, n) => ({
    name: `a session of a revoked key that the ledger has not, dated ${at.slice(0, 4)}`,
    isVariant: n > 0,
    threat: 10,
    expect: 'key_revoked',
    async build(place: Place) {
      await ledgered(place);
      revokeDonna(place, 3);
      branch(place, 'feature');
      commitSealed(place, 1, { at, clock: 90 });
    },
  })),
  {
    name: 'a record that a revoked key adds to a session that is in the ledger',
    threat: 10,
    expect: 'key_revoked',
    async build(place) {
      const steps = [STORY[0]!, STORY[1]!, seal()];
      const options = { sessionId: '11111111-51cf-4c61-9a39-2b7fd2f9a1de', clock: 40 };
      sealedSession(place, options, steps);
      commitHandoff(place);
      await append(place);
      revokeDonna(place, 1);
      branch(place, 'feature');
      sealedSession(place, options, [...steps, STORY[3]!]);
      commitHandoff(place);
    },
  },
  {
    name: 'code by a revoked key, with the seal of a session that is in the ledger',
    isVariant: true,
    threat: 10,
    expect: ['files_uncovered', 'key_revoked', 'writeback_missing'],
    async build(place) {
      await ledgered(place);
      revokeDonna(place, 3);
      branch(place, 'feature');
      code(place, { 'src/evil.ts': 'evil\n' });
      commitSealed(place, 1, { clock: 90 });
    },
  },
];
