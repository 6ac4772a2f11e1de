import type { Actor } from '../../../journal/keys/signers.ts';
import type { LedgerAppendOptions, LedgerAppendResult } from '../../../verbs/ledger/append.ts';
import type { CheckProofOptions, CheckProofResult } from '../../../verbs/ledger/check-proof.ts';
import type { LedgerKeyResult } from '../../../verbs/ledger/key.ts';
import type { ProveOptions, ProveResult } from '../../../verbs/ledger/prove.ts';
import type { LedgerVerifyOptions, LedgerVerifyResult } from '../../../verbs/ledger/verify.ts';
import type { LedgerRoot, RootOptions, RootResult } from '../../../verbs/seal/root.ts';
import type { SealOptions, SealResult } from '../../../verbs/seal/seal.ts';
import { defineVerb, type Family, type Flag, PUBLISH_FLAGS, STAGE_FLAGS } from '../../command.ts';

const text = () => import('./seals-text.ts');
const SESSION = { name: 'SESSION', about: "its id, or the beginning; default: this work tree's", optional: true };
const SESSION_FLAG: Flag = { flags: '--session <id>', about: 'the same, as other verbs take it' };

export const seal = defineVerb<SealOptions, SealResult>({
  name: 'seal',
  summary: "sign the tree head over a session's records",
  purpose:
    'Signs the root of the Merkle tree over all records of a session, so that none can be changed, added or taken away ' +
    'unnoticed. The final thought comes first: refused while a commit of code has none. With nothing new it gives the same ' +
    'root again. A wrapped session can be sealed too.',
  args: [SESSION],
  flags: [
    SESSION_FLAG,
    ...PUBLISH_FLAGS,
    { flags: '--local', about: 'go on without the remote that handoff.remote names' },
  ],
  examples: [
    { run: 'git handoff seal', does: 'this session, up to here' },
    { run: 'git handoff seal 7c1f09aa', does: 'another one, such as one that is wrapped' },
  ],
  run: async (context, options) =>
    (await import('../../../verbs/seal/seal.ts')).seal(await context.repository(), options),
  text: async (result, paint) => (await text()).formatSeal(result, paint),
});

export const root = defineVerb<RootOptions, RootResult | LedgerRoot>({
  name: 'root',
  summary: 'the root that a session was sealed with',
  purpose: "Prints the root of a session's newest seal, or with --ledger that of the ledger as it is here.",
  args: [SESSION],
  flags: [SESSION_FLAG, { flags: '--ledger', about: "the ledger's root, size and origin" }],
  examples: [
    { run: 'git handoff root 7c1f09aa', does: 'of that session' },
    { run: 'git handoff root --ledger', does: 'of all seals' },
  ],
  run: async (context, options) =>
    (await import('../../../verbs/seal/root.ts')).root(await context.repository(), options),
  text: async (result, paint) => (await text()).formatRoot(result, paint),
});

const WITNESS: Flag = {
  flags: '--witness <vkey>',
  about: 'the public key of a witness; again for more',
  repeats: true,
};

export const prove = defineVerb<ProveOptions, ProveResult>({
  name: 'prove',
  summary: 'write a proof that a record is in the ledger',
  purpose:
    'Writes a proof: with it, anybody who has the public key of the ledger can check that a record is in the ' +
    'ledger, unchanged. The file has the record, its path to the root of its session, and from there to the ' +
    'signed checkpoint. No repository is needed to check it.',
  args: [{ name: 'RECORD', about: 'a path, an id, or six or more digits of one' }],
  flags: [
    { flags: '-o, --output <file>', about: 'where to; - prints it (default: .handoff/proofs/ID.yaml)' },
    { flags: '--commit', about: 'commit it as well' },
    ...STAGE_FLAGS,
  ],
  examples: [
    { run: 'git handoff prove 3f9a1c2b -o proof.yaml', does: 'for somebody elsewhere' },
    { run: 'git handoff ledger key', does: 'what they check it with' },
  ],
  async run(context, { output, record, ...options }) {
    const { resolve } = await import('node:path');
    const { prove: write } = await import('../../../verbs/ledger/prove.ts');
    const { recordSeenFrom } = await import('../../../repository/record-path.ts');
    const repository = await context.repository();
    const file = output && output !== '-' ? resolve(context.directory, output) : output;
    const name = recordSeenFrom(repository, context.directory, record);
    return write(repository, { ...options, record: name, ...(file === undefined ? {} : { output: file }) });
  },
  // byte for byte: it has nothing hidden in it, and escaped once more it would be no proof
  formatted: async ({ proof }, { output }) => (output === '-' ? proof : null),
  text: async (result, paint, cwd) => (await text()).formatProve(result, paint, cwd),
});

export const checkProof = defineVerb<CheckProofOptions & { file: string }, CheckProofResult>({
  name: 'check-proof',
  summary: 'check a proof, without a repository',
  purpose:
    'Checks a proof step by step: record, session, ledger, checkpoint. Give the public key of the ledger, from somebody you ' +
    'trust, with --vkey; inside the repository that the proof is about, the keys of its maintainers do. Elsewhere, without a key, ' +
    'it is only shown to be whole (trusted: false, exit code 0): anyone could have made it.',
  args: [{ name: 'FILE', about: 'the proof; - reads it from standard input' }],
  flags: [
    { flags: '--record <file>', about: 'this file must be the record, byte for byte', isPath: true },
    { flags: '--vkey <vkey>', about: 'what git handoff ledger key prints; again for more', repeats: true },
    WITNESS,
  ],
  examples: [{ run: 'git handoff check-proof proof.yaml --vkey "$VKEY"', does: 'on any machine' }],
  async run(context, { file, ...options }) {
    const { resolve } = await import('node:path');
    const { checkProofFile } = await import('../../../verbs/ledger/check-proof.ts');
    const { MAX_PROOF_BYTES } = await import('../../../core/ledger/proof-text.ts');
    const proof = file === '-' ? await context.readInput(MAX_PROOF_BYTES) : resolve(context.directory, file);
    return checkProofFile({ ...options, file: proof }, context.anyRepository);
  },
  text: async (result, paint) => (await text()).formatCheck(result, paint),
});

export const ledger: Family = {
  name: 'ledger',
  summary: 'the log of all seals',
  purpose:
    'The ledger is the append-only log of all seals, on the protected branch. Its files in .handoff/ledger are a C2SP ' +
    'tlog: any client of such logs can read and check it. Whoever appends signs its head with the key of a maintainer.',
  examples: [{ run: 'git handoff ledger append --push', does: 'after a merge, on the protected branch' }],
  verbs: [
    defineVerb<LedgerAppendOptions, LedgerAppendResult>({
      name: 'append',
      summary: 'add the seals that have arrived',
      purpose:
        'Adds the seals that have been merged to the protected branch, and signs the new head with the key of a maintainer. ' +
        'Where somebody else appended first, what was done here in vain is done again on top of theirs.',
      flags: [
        { flags: '--push', about: 'push the branch, with everything on it; begin again if somebody was faster' },
        { flags: '--all', about: 'look at all sessions again, also where the checkpoint says it has their seals' },
        { flags: '--resign <root>', about: 'its signer was revoked, and you have compared this root: sign it anew' },
        ...PUBLISH_FLAGS,
      ],
      examples: [{ run: 'git handoff ledger append --push', does: 'after a merge' }],
      run: async (context, options) =>
        (await import('../../../verbs/ledger/append.ts')).ledgerAppend(await context.repository(), options),
      text: async (result, paint) => (await text()).formatAppend(result, paint),
    }),
    defineVerb<LedgerVerifyOptions, LedgerVerifyResult>({
      name: 'verify',
      summary: 'check the whole ledger',
      purpose:
        'Checks who signed the ledger, every tile and every seal in it, and that it extends the largest one that this clone ' +
        'has seen. Says how many sessions it does not cover yet.',
      flags: [
        WITNESS,
        { flags: '--max-age <time>', about: 'fail if this clone has not seen it grow for longer: 7d, 12h, 30m' },
      ],
      examples: [{ run: 'git handoff ledger verify --max-age 7d', does: 'in a nightly job that keeps its clone' }],
      run: async (context, options) =>
        (await import('../../../verbs/ledger/verify.ts')).ledgerVerify(await context.repository(), options),
      text: async (result, paint) => (await text()).formatLedger(result, paint),
    }),
    defineVerb<Actor, LedgerKeyResult>({
      name: 'key',
      summary: 'the public key that proofs are checked with',
      purpose: 'Prints the key that signed the ledger, as C2SP writes verifier keys. Give it to whoever checks proofs.',
      examples: [{ run: 'git handoff ledger key', does: 'for check-proof --vkey' }],
      run: async (context, options) =>
        (await import('../../../verbs/ledger/key.ts')).ledgerKey(await context.repository(), options),
      text: async ({ vkey }) => `${vkey}\n`,
    }),
  ],
};
