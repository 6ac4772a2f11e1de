import type { LedgerRoot, RootOptions, RootResult } from '../../verbs/root.ts';
import type { SealOptions, SealResult } from '../../verbs/seal.ts';
import { defineVerb, PUBLISH_FLAGS } from '../command.ts';

const text = () => import('../text/seals.ts');
const SESSION = { name: 'SESSION', about: "its id, or the beginning; default: this work tree's", optional: true };

export const seal = defineVerb<SealOptions, SealResult>({
  name: 'seal',
  summary: "sign the tree head over a session's records",
  purpose:
    'Signs the root of the Merkle tree over all records of a session, so that none can be changed, added or taken away ' +
    'unnoticed. The final thought comes first: refused while a commit of code has none. With nothing new it gives the same ' +
    'root again. A wrapped session can be sealed too.',
  args: [SESSION],
  flags: [...PUBLISH_FLAGS, { flags: '--local', about: 'go on without the remote that handoff.remote names' }],
  examples: [
    { run: 'git handoff seal', does: 'this session, up to here' },
    { run: 'git handoff wrap baton.md --seal', does: 'wrap and seal in one commit' },
  ],
  run: async (context, options) => (await import('../../verbs/seal.ts')).seal(await context.repository(), options),
  text: async (result, paint) => (await text()).formatSeal(result, paint),
});

export const root = defineVerb<RootOptions, RootResult | LedgerRoot>({
  name: 'root',
  summary: 'the root that a session was sealed with',
  purpose: "Prints the root of a session's newest seal, or with --ledger that of the ledger as it is here.",
  args: [SESSION],
  flags: [{ flags: '--ledger', about: "the ledger's root, size and origin" }],
  examples: [
    { run: 'git handoff root 7c1f09aa', does: 'of that session' },
    { run: 'git handoff root --ledger', does: 'of all seals' },
  ],
  run: async (context, options) => (await import('../../verbs/root.ts')).root(await context.repository(), options),
  text: async (result, paint) => (await text()).formatRoot(result, paint),
});
