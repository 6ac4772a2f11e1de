import { newKey } from '../handoff.ts';
import { git } from '../temporary.ts';
import { identityOf, publicLine } from '../threats/forge.ts';
import { open } from '../verbs/agents.ts';
import { manyWait, proposeRevocation } from './attacks-waiting.ts';
import { branch, document, documentAfter, identityAfter, maintainer, type Scenario } from './scenario.ts';
import { second, twoMaintainers } from './two-maintainers.ts';

const WAITING_SECOND = 'identities/second/pending.yaml';

/** Whoever changes their mind puts something else there; what came into force, or never can, goes. */
export const WAITING: Scenario[] = [
  {
    name: 'a policy that waits, replaced by whoever proposed it',
    async build(place) {
      await twoMaintainers(place);
      await open(place).handoff.policy.set({ key: 'stale_after', value: '900', as: 'maintainer' });
      branch(place, 'feature');
      await open(place).handoff.policy.set({ key: 'stale_after', value: '901', as: 'maintainer' });
    },
  },
  {
    name: 'the same, by the other, and signed by both',
    async build(place) {
      await twoMaintainers(place);
      await open(place).handoff.policy.set({ key: 'stale_after', value: '900', as: 'maintainer' });
      branch(place, 'feature');
      await open(place).handoff.policy.set({ key: 'stale_after', value: '901', as: 'second' });
      await open(place).handoff.policy.sign({ as: 'maintainer' });
    },
  },
  {
    name: 'a revocation that waits, replaced by a rotation',
    async build(place) {
      await twoMaintainers(place);
      const { handoff } = open(place);
      const key = newKey();
      const third = identityOf(place, 'third', key, { role: 'maintainer' });
      document(place, 'identities/third/identity.yaml', third, [maintainer(place), second(place)]);
      await handoff.identity.revoke({ name: 'third', as: 'maintainer' });
      branch(place, 'feature');
      const keys = [
        { key: publicLine(newKey()), state: 'active' },
        { key: publicLine(key), state: 'retired' },
      ];
      document(place, 'identities/third/pending.yaml', identityAfter(place, 'third', { keys }));
    },
  },
  {
    name: 'a revocation that waits, until its own key is laid down',
    async build(place) {
      await twoMaintainers(place);
      proposeRevocation(place);
      branch(place, 'feature');
      await open(place).handoff.identity.revoke({ name: 'second', as: 'second' });
    },
  },
  {
    name: 'a maintainer who waits, and is signed in as an agent instead',
    async build(place) {
      await twoMaintainers(place);
      await open(place).handoff.identity.add({ name: 'third', role: 'maintainer', as: 'maintainer' });
      branch(place, 'feature');
      await open(place).handoff.identity.add({ name: 'third', role: 'agent', as: 'maintainer' });
    },
  },
  {
    name: 'a maintainer whom only somebody proposed who holds no root key any more, given up',
    async build(place) {
      await twoMaintainers(place);
      const third = identityOf(place, 'third', newKey(), { role: 'maintainer' });
      document(place, 'identities/third/pending.yaml', third, [second(place)]);
      branch(place, 'feature');
      const root = { threshold: 1, keys: [`maintainer ${publicLine(maintainer(place)[1])}`] };
      document(place, 'policy/0004.yaml', documentAfter(place, 'policy/0003.yaml', { root }), [
        maintainer(place),
        second(place),
      ]);
      git(place.dir, 'rm', '--quiet', '.handoff/identities/third/pending.yaml');
      git(place.dir, 'commit', '--quiet', '--message', 'given up');
    },
  },
  {
    name: 'what waits for a number far ahead, since an older gate let it in, taken away',
    async build(place) {
      await twoMaintainers(place);
      const fields = documentAfter(place, 'policy/0003.yaml', { version: 9_000_000_000 });
      document(place, 'policy/9000000000.pending.yaml', fields);
      document(place, WAITING_SECOND, identityAfter(place, 'second', { version: 9 }));
      branch(place, 'feature');
      git(place.dir, 'rm', '--quiet', '.handoff/policy/9000000000.pending.yaml', `.handoff/${WAITING_SECOND}`);
      git(place.dir, 'commit', '--quiet', '--message', 'away');
    },
  },
  {
    name: 'a proposal that is taken back before anybody else has it',
    async build(place) {
      await twoMaintainers(place);
      branch(place, 'feature');
      proposeRevocation(place);
      git(place.dir, 'revert', '--no-edit', 'HEAD');
    },
  },
  {
    name: 'as many new maintainers as may wait at once, and one of them proposed anew',
    async build(place) {
      await twoMaintainers(place);
      manyWait(place, 60);
      branch(place, 'feature');
      manyWait(place, 40, 60);
      manyWait(place, 1);
    },
  },
];
