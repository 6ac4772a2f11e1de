import type { TrustOptions, TrustResult } from '../../../verbs/setup/trust.ts';
import { defineVerb } from '../../command.ts';

export const trust = defineVerb<TrustOptions, TrustResult>({
  name: 'trust',
  summary: "pin this repository's root of trust, or compare it",
  purpose:
    'The root is the digest of the first policy. It is pinned in git config on first use; afterwards any other root is ' +
    'refused. Compare it with what a maintainer tells you over another channel, or give theirs with --root. A bare ' +
    'server repository is pinned the same way, before its first push.',
  flags: [
    { flags: '--root <root>', about: 'the root a maintainer gave you: 64 hexadecimal digits' },
    {
      flags: '--forget',
      about:
        'with --root: forget which policies and identities were seen, if a maintainer says that they were never accepted; ' +
        'what was taken back before the next verify is not noticed then',
    },
  ],
  examples: [
    { run: 'git handoff trust', does: 'show the root and pin it, if it is not pinned' },
    { run: 'git handoff -C /srv/project.git trust --root ROOT', does: 'pin a server' },
    { run: 'git handoff trust --root ROOT --forget', does: 'compare with nothing that was seen before' },
  ],
  run: async (context, options) =>
    (await import('../../../verbs/setup/trust.ts')).trust(await context.repository(), options),
  text: async (result, paint) => (await import('./setup-text.ts')).formatTrust(result, paint),
});
