import { newKey, type Place, writeBytes } from '../handoff.ts';
import { git } from '../temporary.ts';
import { identityOf, publicLine, signDocument } from '../threats/forge.ts';
import { open } from '../verbs/agents.ts';
import {
  branch,
  commitRecords,
  document,
  documentAfter,
  identityAfter,
  maintainer,
  type Scenario,
} from './scenario.ts';
import { secondKey, twoMaintainers } from './two-maintainers.ts';

const WAITING_SECOND = 'identities/second/pending.yaml';

/** One of two maintainers says that the key of the other is to be revoked: the threshold is missing one signature. */
export function proposeRevocation(place: Place): void {
  const keys = [{ key: publicLine(secondKey(place)), state: 'revoked' }];
  document(place, WAITING_SECOND, identityAfter(place, 'second', { keys }));
}

async function proposePolicy(place: Place): Promise<void> {
  await open(place).handoff.policy.set({ key: 'stale_after', value: '900', as: 'maintainer' });
}

async function proposeThird(place: Place): Promise<void> {
  await open(place).handoff.identity.add({ name: 'third', role: 'maintainer', as: 'maintainer' });
}

/** What one root principal of two fills the repository with. */
const FLOODED: Scenario[] = [
  {
    name: 'a policy that waits for a number far ahead',
    threat: 68,
    expect: 'policy_rollback',
    async build(place) {
      await twoMaintainers(place);
      branch(place, 'feature');
      const fields = documentAfter(place, 'policy/0003.yaml', { version: 9_000_000_000 });
      document(place, 'policy/9000000000.pending.yaml', fields);
    },
  },
  {
    name: 'a policy that waits although its version is in force',
    threat: 68,
    isVariant: true,
    expect: 'policy_rollback',
    async build(place) {
      await twoMaintainers(place);
      branch(place, 'feature');
      document(place, 'policy/0003.pending.yaml', documentAfter(place, 'policy/0002.yaml', { stale_after: 60 }));
    },
  },
  {
    name: 'an identity that waits for a version far ahead',
    threat: 68,
    expect: 'policy_rollback',
    async build(place) {
      await twoMaintainers(place);
      branch(place, 'feature');
      document(place, WAITING_SECOND, identityAfter(place, 'second', { version: 9 }));
    },
  },
  {
    name: 'a new identity that waits, and begins with its second version',
    threat: 68,
    isVariant: true,
    expect: 'policy_rollback',
    async build(place) {
      await twoMaintainers(place);
      branch(place, 'feature');
      const fields = { ...identityOf(place, 'third', newKey(), { role: 'maintainer' }), version: 2 };
      document(place, 'identities/third/pending.yaml', { ...fields, prev: `sha256:${'a'.repeat(64)}` });
    },
  },
  {
    name: 'very many new maintainers who wait',
    threat: 68,
    expect: 'too_large',
    async build(place) {
      await twoMaintainers(place);
      branch(place, 'feature');
      manyWait(place, 101);
    },
  },
];

export function manyWait(place: Place, count: number, first = 0): void {
  const key = newKey();
  for (let at = first; at < first + count; at++) {
    const bytes = signDocument(identityOf(place, `n${at}`, key, { role: 'maintainer' }), [maintainer(place)]);
    writeBytes(place.dir, `.handoff/identities/n${at}/pending.yaml`, bytes);
  }
  commitRecords(place);
}

const PROPOSALS: [string, (place: Place) => Promise<void> | void, string][] = [
  ['the revocation of a maintainer', proposeRevocation, WAITING_SECOND],
  ['a policy', proposePolicy, 'policy/0004.pending.yaml'],
  ['a new maintainer', proposeThird, 'identities/third/pending.yaml'],
];

/** Whoever could take away what waits would have the last word about it, without a key. */
const WITHDRAWN: Scenario[] = PROPOSALS.map(([what, propose, path], at) => ({
  name: `${what}, taken away while it waits`,
  threat: 68,
  isVariant: at > 0,
  expect: 'record_deleted',
  async build(place) {
    await twoMaintainers(place);
    await propose(place);
    branch(place, 'feature');
    git(place.dir, 'rm', '--quiet', `.handoff/${path}`);
    git(place.dir, 'commit', '--quiet', '--message', 'away');
  },
}));

export const WAITING: Scenario[] = [...FLOODED, ...WITHDRAWN];
