import type { VerifyOptions, VerifyResult } from '../../../verbs/reading/verify.ts';
import { defineVerb } from '../../command.ts';

export const verify = defineVerb<VerifyOptions, VerifyResult>({
  name: 'verify',
  summary: 'check every record and document of a commit or the index',
  purpose:
    'Checks every signed file under .handoff: bytes, schema, signature, who may sign, chains, and that nothing was ' +
    'changed or rolled back. Prints every problem it finds and exits with 1 if there is one. What a revoked key had ' +
    'signed counts for nothing and is a warning. It changes nothing in the tree.',
  args: [{ name: 'REV', about: 'a commit, branch or tag (default: HEAD)', optional: true }],
  flags: [
    { flags: '--staged', about: 'check what is staged, as a commit would contain it' },
    { flags: '--strict', about: 'warnings are errors: what a revoked key signed, too' },
    { flags: '--root <root>', about: 'the root of trust to insist on, as in CI' },
  ],
  examples: [
    { run: 'git handoff verify', does: 'everything in HEAD' },
    { run: 'git handoff verify origin/main --root ROOT', does: 'in CI: trust this root, whatever is pinned' },
    { run: 'git handoff verify --staged', does: 'before a commit' },
  ],
  run: async (context, options) =>
    (await import('../../../verbs/reading/verify.ts')).verify(await context.repository(), options),
  text: async (result, paint) => (await import('./verify-text.ts')).formatVerify(result, paint),
  refused: ({ valid }) => !valid,
});
