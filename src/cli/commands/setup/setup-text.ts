import type { InitResult } from '../../../verbs/setup/init.ts';
import type { TrustResult } from '../../../verbs/setup/trust.ts';
import type { Paint } from '../../terminal.ts';
import { committed, count, fields, lines } from '../../text/layout.ts';

export function formatInit({ created, hooks, commit, root, identity, fingerprint }: InitResult, paint: Paint): string {
  const facts: [string, string][] = [
    ['root', root],
    ['maintainer', `${identity} ${fingerprint}`],
    ['hooks', hooks.join(', ') || 'none'],
  ];
  return lines(
    `${paint('green', '✓')} Set up: ${count(created.length, 'file')} (${committed(commit)})`,
    ...created.map((path) => `  ${path}`),
    '',
    ...fields(facts, paint),
    '',
    'Tell the root to everyone who will verify; they compare it with git handoff trust.',
    'Next:',
    '  git handoff identity add NAME   sign in an agent',
    '  git handoff verify              check everything that is committed',
  );
}

export function formatTrust({ root, first_use, given, policy_version }: TrustResult, paint: Paint): string {
  const pinned = given ? 'Pinned, as given' : 'Pinned on first use';
  const facts: [string, string][] = [
    ['root', root],
    ['policy', policy_version === null ? 'none here yet' : `version ${policy_version}`],
  ];
  const advice =
    first_use && !given ? ['', 'Compare the root with what a maintainer tells you over another channel.'] : [];
  return lines(`${paint('green', '✓')} ${first_use ? pinned : 'As pinned'}`, ...fields(facts, paint), ...advice);
}
