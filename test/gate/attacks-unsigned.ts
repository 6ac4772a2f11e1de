import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { nodeHashes } from '../../src/crypto.ts';
import { type Place, writeBytes } from '../handoff.ts';
import { makeKey, signLine } from '../ledger/note-key.ts';
import { checkpointOf, writeCheckpoint } from '../ledger/sealed.ts';
import { proofOf } from './attacks-ledger.ts';
import { ledgered } from './ledgers.ts';
import { branch, commitRecords, document, headOf, identityAfter, type Scenario } from './scenario.ts';
import { put } from './two-maintainers.ts';

const WITNESS = makeKey('witness.example/w1', 4);

/** donna, with a skill that her identity names. */
export function skilled(place: Place): void {
  writeBytes(place.dir, '.handoff/identities/donna/skill.md', 'careful\n');
  const skill = `sha256:${Buffer.from(nodeHashes.sha256(Buffer.from('careful\n'))).toString('hex')}`;
  document(place, 'identities/donna/identity.yaml', identityAfter(place, 'donna', { skill }));
}

/** What nobody signs, and anybody could fill or take away: THREATS 68. */
export const UNSIGNED: Scenario[] = [
  ...[
    ['1.7 MiB of comments', (text: string) => text + `# ${'x'.repeat(98)}\n`.repeat(17_000)],
    [
      'a comment in its middle that is a book',
      (text: string) => text.replace('record:\n', `#${'x'.repeat(9000)}\nrecord:\n`),
    ],
    ['a key in quotes', (text: string) => text.replace(/^vkey: (.*)$/m, 'vkey: "$1"')],
    ['a note that strangers signed', (text: string) => `${text}  — ${'x'.repeat(20_000)} ${'A'.repeat(92)}\n`],
  ].map(([what, change], at) => ({
    name: `a proof with ${what}`,
    threat: 68,
    isVariant: at > 0,
    expect: 'proof_invalid',
    async build(place: Place) {
      const { path, text } = await proofOf(place);
      branch(place, 'feature');
      put(place, path.replace('.handoff/', ''), (change as (text: string) => string)(text));
    },
  })),
  {
    name: 'a skill that is taken from its identity',
    threat: 68,
    expect: 'record_deleted',
    build(place) {
      skilled(place);
      branch(place, 'feature');
      rmSync(join(place.dir, '.handoff/identities/donna/skill.md'));
      commitRecords(place);
    },
  },
  {
    name: 'a checkpoint without its cosignature',
    threat: 68,
    expect: 'ledger_rewritten',
    async build(place) {
      await ledgered(place);
      const { text, signatures } = checkpointOf(place);
      writeCheckpoint(place, text, signatures, signLine(WITNESS, text));
      const base = commitRecords(place, 'handoff: cosigned');
      writeCheckpoint(place, text, signatures);
      commitRecords(place, 'handoff: not cosigned');
      return { base };
    },
  },
  {
    name: 'a checkpoint with another cosignature in the place of the first',
    threat: 68,
    isVariant: true,
    expect: 'ledger_rewritten',
    async build(place) {
      await ledgered(place);
      const { text, signatures } = checkpointOf(place);
      writeCheckpoint(place, text, signatures, signLine(WITNESS, text));
      commitRecords(place, 'handoff: cosigned');
      const base = headOf(place.dir);
      writeCheckpoint(place, text, signatures, signLine(makeKey('witness.example/w2', 4), text));
      commitRecords(place, 'handoff: cosigned by another');
      return { base };
    },
  },
];
