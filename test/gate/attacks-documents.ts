import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { newKey, type Place, privateKey } from '../handoff.ts';
import { git } from '../temporary.ts';
import { identityOf, type NamedKey, printOf, publicLine, signDocument } from '../threats/forge.ts';
import { open } from '../verbs/agents.ts';
import {
  branch,
  checkout,
  document,
  documentAfter,
  identityAfter,
  maintainer,
  type Scenario,
  taskFields,
} from './scenario.ts';
import { proposeKeys, put, second, secondKey, signAlong, throwaways, twoMaintainers } from './two-maintainers.ts';

const SECOND = 'identities/second/identity.yaml';

/** One maintainer of two, against the other: THREATS 50. */
export const ONE_OF_TWO: Scenario[] = [
  ...(['agent', 'bot'] as const).map((role) => ({
    name: `one of two maintainers makes the other one a ${role}`,
    threat: 50,
    isVariant: role === 'bot',
    expect: 'signer_unknown',
    async build(place: Place) {
      await twoMaintainers(place);
      branch(place, 'feature');
      document(place, SECOND, identityAfter(place, 'second', { role }));
    },
  })),
  {
    name: 'one of two demotes and revokes the other',
    threat: 50,
    expect: 'signer_unknown',
    async build(place) {
      await twoMaintainers(place);
      branch(place, 'feature');
      const keys = [{ key: publicLine(secondKey(place)), state: 'revoked' }];
      document(place, SECOND, identityAfter(place, 'second', { role: 'agent', keys }));
    },
  },
  {
    name: 'one of two revokes the key of the other',
    threat: 50,
    expect: 'signer_unknown',
    async build(place) {
      await twoMaintainers(place);
      branch(place, 'feature');
      const keys = [{ key: publicLine(secondKey(place)), state: 'revoked' }];
      document(place, SECOND, identityAfter(place, 'second', { keys }));
    },
  },
  {
    name: 'one of two gives the other a key of their own',
    threat: 50,
    isVariant: true,
    expect: 'signer_unknown',
    async build(place) {
      await twoMaintainers(place);
      branch(place, 'feature');
      const keys = [publicLine(newKey()), publicLine(secondKey(place))].map((key) => ({ key, state: 'active' }));
      document(place, SECOND, identityAfter(place, 'second', { keys }));
    },
  },
  {
    name: 'one of two demotes the other, in two versions of one branch',
    threat: 50,
    expect: 'signer_unknown',
    async build(place) {
      await twoMaintainers(place);
      branch(place, 'feature');
      document(place, SECOND, identityAfter(place, 'second', { role: 'agent' }));
      document(place, SECOND, identityAfter(place, 'second', { role: 'bot' }));
    },
  },
  ...(['active', 'revoked'] as const).map((state) => ({
    name: `one of two root principals makes a maintainer without a root key an agent, its key ${state}`,
    threat: 50,
    isVariant: state === 'revoked',
    expect: 'signer_unknown',
    async build(place: Place) {
      await twoMaintainers(place);
      const [key, path] = [newKey(), 'identities/third/identity.yaml'];
      const fields = identityOf(place, 'third', key, { role: 'maintainer' });
      document(place, path, fields, [maintainer(place), second(place)]);
      branch(place, 'feature');
      const keys = [{ key: publicLine(key), state }];
      document(place, path, identityAfter(place, 'third', { role: 'agent', keys }));
    },
  })),
  {
    name: 'one of two makes an agent a maintainer',
    threat: 50,
    expect: 'signer_unknown',
    async build(place) {
      await twoMaintainers(place);
      branch(place, 'feature');
      document(place, 'identities/donna/identity.yaml', identityAfter(place, 'donna', { role: 'maintainer' }));
    },
  },
  {
    name: 'an agent that a single maintainer calls as a root principal is called',
    threat: 50,
    expect: 'signer_unknown',
    build(place) {
      rootWithoutIdentity(place);
      branch(place, 'feature');
      document(place, 'identities/third/identity.yaml', identityOf(place, 'third', newKey()));
    },
  },
  {
    name: 'an agent that a single maintainer gives the key of a root principal',
    threat: 50,
    expect: 'signer_unknown',
    build(place) {
      const key = rootWithoutIdentity(place);
      branch(place, 'feature');
      document(place, 'identities/mallory/identity.yaml', identityOf(place, 'mallory', key));
    },
  },
  {
    name: 'a maintainer laid down by a key that was retired',
    threat: 50,
    expect: 'signer_unknown',
    async build(place) {
      await twoMaintainers(place);
      const [old, key] = [newKey(), publicLine(secondKey(place))];
      const both = [maintainer(place), second(place)];
      const keys = (state: string) => [
        { key, state: state === 'revoked' ? state : 'active' },
        { key: publicLine(old), state },
      ];
      document(place, SECOND, identityAfter(place, 'second', { keys: keys('retired') }), both);
      branch(place, 'feature');
      document(place, SECOND, identityAfter(place, 'second', { keys: keys('revoked') }), [['second', old]]);
    },
  },
  {
    name: 'a maintainer who lays down their key, and takes a skill along',
    threat: 50,
    isVariant: true,
    expect: 'signer_unknown',
    async build(place) {
      await twoMaintainers(place);
      branch(place, 'feature');
      const keys = [{ key: publicLine(secondKey(place)), state: 'revoked' }];
      const fields = identityAfter(place, 'second', { keys, skill: `sha256:${'a'.repeat(64)}` });
      document(place, SECOND, fields, [second(place)]);
    },
  },
  {
    name: 'a maintainer who lays down their key, and lists one more that is revoked',
    threat: 50,
    isVariant: true,
    expect: 'signer_unknown',
    async build(place) {
      await twoMaintainers(place);
      branch(place, 'feature');
      const keys = [secondKey(place), newKey()].map((key) => ({ key: publicLine(key), state: 'revoked' }));
      document(place, SECOND, identityAfter(place, 'second', { keys }), [second(place)]);
    },
  },
  {
    name: 'an agent who becomes a maintainer by laying down a key',
    threat: 50,
    expect: 'signer_unknown',
    build(place) {
      branch(place, 'feature');
      const key = privateKey(place, 'donna');
      const keys = [{ key: publicLine(key), state: 'revoked' }];
      const fields = identityAfter(place, 'donna', { role: 'maintainer', keys });
      document(place, 'identities/donna/identity.yaml', fields, [['donna', key]]);
    },
  },
  {
    name: 'a new maintainer with no key but revoked ones, who signs itself in',
    threat: 50,
    isVariant: true,
    expect: 'signer_unknown',
    build(place) {
      branch(place, 'feature');
      const key = newKey();
      const keys = [{ key: publicLine(key), state: 'revoked' }];
      const fields = identityOf(place, 'mallory', key, { role: 'maintainer', keys });
      document(place, 'identities/mallory/identity.yaml', fields, [['mallory', key]]);
    },
  },
];

/** A root principal called `third`, whose key is in the policy alone, with a threshold of two. */
function rootWithoutIdentity(place: Place) {
  const key = newKey();
  const keys = [`maintainer ${publicLine(privateKey(place, 'maintainer'))}`, `third ${publicLine(key)}`];
  const signers: NamedKey[] = [maintainer(place), ['third', key]];
  document(
    place,
    'policy/0002.yaml',
    documentAfter(place, 'policy/0001.yaml', { root: { threshold: 2, keys } }),
    signers,
  );
  document(place, 'identities/maintainer/identity.yaml', identityAfter(place, 'maintainer', {}), signers);
  return key;
}

const LAST = 2147483647;
const NOWHERE = `sha256:${'a'.repeat(64)}`;

/** Versions that nobody can follow: THREATS 57. */
export const VERSIONS: Scenario[] = [
  ...[LAST, 9007199254740991, 3].map((version) => ({
    name: `an identity that jumps to version ${version}`,
    threat: 57,
    isVariant: version !== LAST,
    expect: 'policy_rollback',
    build(place: Place) {
      branch(place, 'feature');
      document(place, 'identities/donna/identity.yaml', identityAfter(place, 'donna', { version }));
    },
  })),
  {
    name: 'a new identity of the last version there is',
    threat: 57,
    expect: 'policy_rollback',
    build(place) {
      branch(place, 'feature');
      const fields = identityOf(place, 'fay', newKey(), { version: LAST, prev: NOWHERE });
      document(place, 'identities/fay/identity.yaml', fields);
    },
  },
  {
    name: 'a task that jumps ahead',
    threat: 57,
    expect: 'policy_rollback',
    build(place) {
      document(place, 'tasks/P0.5.yaml', taskFields(place, 'P0.5'));
      branch(place, 'feature');
      document(place, 'tasks/P0.5.yaml', documentAfter(place, 'tasks/P0.5.yaml', { version: LAST }));
    },
  },
  {
    name: 'a new task far ahead',
    threat: 57,
    isVariant: true,
    expect: 'policy_rollback',
    build(place) {
      branch(place, 'feature');
      document(place, 'tasks/P0.5.yaml', taskFields(place, 'P0.5', { version: LAST, prev: NOWHERE }));
    },
  },
  {
    name: 'a project that jumps ahead',
    threat: 57,
    isVariant: true,
    expect: 'policy_rollback',
    build(place) {
      branch(place, 'feature');
      document(place, 'project.yaml', documentAfter(place, 'project.yaml', { version: LAST }));
    },
  },
  {
    name: 'versions of a branch of which one is missing',
    threat: 57,
    expect: 'policy_rollback',
    build(place) {
      branch(place, 'feature');
      document(place, 'identities/donna/identity.yaml', identityAfter(place, 'donna', {}));
      document(place, 'identities/donna/identity.yaml', identityAfter(place, 'donna', { version: 4 }));
    },
  },
  {
    name: 'versions of a branch of which one says that it is far ahead',
    threat: 57,
    expect: 'policy_rollback',
    build(place) {
      branch(place, 'feature');
      document(place, 'identities/donna/identity.yaml', identityAfter(place, 'donna', { version: LAST }));
      document(place, 'identities/donna/identity.yaml', identityAfter(place, 'donna', { version: 3 }));
    },
  },
  {
    name: 'versions of a line that the protected branch has left',
    threat: 57,
    expect: 'policy_rollback',
    build(place) {
      const path = 'identities/donna/identity.yaml';
      branch(place, 'given-up');
      for (const at of ['1', '2', '3']) document(place, path, identityAfter(place, 'donna', { x_line: at }));
      const text = git(place.dir, 'show', `HEAD:.handoff/${path}`);
      checkout(place, 'main');
      document(place, path, identityAfter(place, 'donna', { x_line: 'another' }));
      branch(place, 'feature');
      git(place.dir, 'merge', '--quiet', '--strategy=ours', '--no-edit', 'given-up');
      put(place, path, `${text}\n`);
    },
  },
];

/** A task that `maintainer` and `second` have signed. */
async function taskOfTwo(place: Place): Promise<void> {
  await twoMaintainers(place);
  document(place, 'tasks/P0.5.yaml', taskFields(place, 'P0.5'), [maintainer(place), second(place)]);
}

function readDocument({ dir }: Place, path: string): string {
  return readFileSync(join(dir, '.handoff', path), 'utf8');
}

/** The document with another line beneath it. */
function withLine(place: Place, path: string, line: string): void {
  put(place, path, `${readDocument(place, path)}  - ${line}\n`);
}

const JUNK = `${'A'.repeat(86)}==`;

/** Signatures, and what waits for them: THREATS 68. */
export const LINES: Scenario[] = [
  {
    name: 'a maintainer whose lines one of two fills up, with keys of a policy that only they propose',
    threat: 68,
    expect: 'signer_unknown',
    async build(place) {
      await twoMaintainers(place);
      branch(place, 'feature');
      const keys = throwaways(200);
      proposeKeys(place, keys);
      signAlong(place, 'maintainer', keys);
    },
  },
  {
    name: 'a maintainer without the signature of a key that is being rotated',
    threat: 68,
    expect: 'signature_invalid',
    async build(place) {
      await twoMaintainers(place);
      const path = 'identities/maintainer/identity.yaml';
      const before = readDocument(place, path);
      await open(place).handoff.identity.rotate({ name: 'second' });
      branch(place, 'feature');
      put(place, path, before);
    },
  },
  {
    name: 'a task without the signature of a key that was rotated since',
    threat: 68,
    isVariant: true,
    expect: 'signature_invalid',
    async build(place) {
      await taskOfTwo(place);
      await open(place).handoff.identity.rotate({ name: 'second' });
      await open(place).handoff.policy.sign({ as: 'maintainer' });
      branch(place, 'feature');
      put(place, 'tasks/P0.5.yaml', readDocument(place, 'tasks/P0.5.yaml').replace(/ {2}- second .*\n/, ''));
    },
  },
  {
    name: 'a task without one of its signatures',
    threat: 68,
    expect: 'signature_invalid',
    async build(place) {
      await taskOfTwo(place);
      branch(place, 'feature');
      put(place, 'tasks/P0.5.yaml', readDocument(place, 'tasks/P0.5.yaml').replace(/ {2}- second .*\n/, ''));
    },
  },
  {
    name: 'a task with one signature instead of another',
    threat: 68,
    isVariant: true,
    expect: 'signature_invalid',
    async build(place) {
      await twoMaintainers(place);
      const fields = taskFields(place, 'P0.5');
      document(place, 'tasks/P0.5.yaml', fields);
      branch(place, 'feature');
      document(place, 'tasks/P0.5.yaml', fields, [second(place)]);
    },
  },
  ...['project.yaml', 'identities/donna/identity.yaml', 'identities/maintainer/identity.yaml'].map((path, at) => ({
    name: `${path} with a signature of nobody`,
    threat: 68,
    isVariant: at > 0,
    expect: 'signer_unknown',
    build(place: Place) {
      branch(place, 'feature');
      withLine(place, path, `mallory ${printOf(newKey())} ${JUNK}`);
    },
  })),
  {
    name: 'a project that an agent signs along',
    threat: 68,
    expect: 'signer_unknown',
    build(place) {
      branch(place, 'feature');
      const fields = documentAfter(place, 'project.yaml', { phase: 'two' });
      document(place, 'project.yaml', fields, [maintainer(place), ['donna', privateKey(place, 'donna')]]);
    },
  },
  {
    name: 'a maintainer with a wrong signature by another, who holds no root key',
    threat: 68,
    expect: 'signature_invalid',
    build(place) {
      const key = newKey();
      document(place, 'identities/third/identity.yaml', identityOf(place, 'third', key, { role: 'maintainer' }));
      branch(place, 'feature');
      withLine(place, 'identities/maintainer/identity.yaml', `third ${printOf(key)} ${JUNK}`);
    },
  },
  {
    name: 'a new task with a signature of nobody',
    threat: 68,
    isVariant: true,
    expect: 'signer_unknown',
    build(place) {
      branch(place, 'feature');
      const stranger: NamedKey = ['mallory', newKey()];
      document(place, 'tasks/P0.5.yaml', taskFields(place, 'P0.5'), [maintainer(place), stranger]);
    },
  },
  {
    name: 'a policy with a signature of nobody',
    threat: 68,
    expect: 'signer_unknown',
    build(place) {
      branch(place, 'feature');
      const fields = documentAfter(place, 'policy/0001.yaml', { stale_after: 60 });
      document(place, 'policy/0002.yaml', fields, [maintainer(place), ['mallory', newKey()]]);
    },
  },
  {
    name: 'a policy that waits, proposed by nobody',
    threat: 68,
    expect: 'signer_unknown',
    async build(place) {
      await twoMaintainers(place);
      branch(place, 'feature');
      const fields = documentAfter(place, 'policy/0003.yaml', { stale_after: 1 });
      document(place, 'policy/0004.pending.yaml', fields, [['mallory', newKey()]]);
    },
  },
  {
    name: 'a policy that waits, proposed by whom it would make a root principal',
    threat: 68,
    isVariant: true,
    expect: 'signer_unknown',
    async build(place) {
      await twoMaintainers(place);
      branch(place, 'feature');
      const key = newKey();
      const named: NamedKey[] = [maintainer(place), ['mallory', key]];
      const keys = named.map(([name, each]) => `${name} ${publicLine(each)}`);
      const fields = documentAfter(place, 'policy/0003.yaml', { root: { threshold: 1, keys } });
      document(place, 'policy/0004.pending.yaml', fields, [['mallory', key]]);
    },
  },
  {
    name: 'a policy that waits, replaced by that of an agent',
    threat: 68,
    expect: 'signer_unknown',
    async build(place) {
      await twoMaintainers(place);
      await open(place).handoff.policy.set({ key: 'stale_after', value: '900', as: 'maintainer' });
      branch(place, 'feature');
      const fields = documentAfter(place, 'policy/0003.yaml', { stale_after: 1 });
      document(place, 'policy/0004.pending.yaml', fields, [['donna', privateKey(place, 'donna')]]);
    },
  },
  {
    name: 'a policy that waits, whose signature is of somebody else',
    threat: 68,
    isVariant: true,
    expect: 'signature_invalid',
    async build(place) {
      await twoMaintainers(place);
      branch(place, 'feature');
      const fields = documentAfter(place, 'policy/0003.yaml', { stale_after: 1 });
      const text = Buffer.from(signDocument(fields, [['maintainer', newKey()]])).toString();
      const print = printOf(privateKey(place, 'maintainer'));
      put(place, 'policy/0004.pending.yaml', text.replace(/SHA256:\S+/, print));
    },
  },
  {
    name: 'a maintainer who waits, without a signature that was there',
    threat: 68,
    expect: 'signature_invalid',
    async build(place) {
      await twoMaintainers(place);
      await open(place).handoff.policy.set({ key: 'root.threshold', value: '1', as: 'maintainer' });
      const waiting = identityOf(place, 'third', newKey(), { role: 'maintainer' });
      const path = 'identities/third/pending.yaml';
      document(place, path, waiting, [maintainer(place), second(place)]);
      branch(place, 'feature');
      put(place, path, readDocument(place, path).replace(/ {2}- second .*\n/, ''));
    },
  },
  {
    name: 'a maintainer who waits in the folder of another',
    threat: 68,
    expect: 'path_mismatch',
    async build(place) {
      await twoMaintainers(place);
      branch(place, 'feature');
      const fields = identityOf(place, 'mallory', newKey(), { role: 'maintainer' });
      document(place, 'identities/third/pending.yaml', fields);
    },
  },
  {
    name: 'a task that waits where a maintainer would',
    threat: 68,
    isVariant: true,
    expect: 'path_mismatch',
    build(place) {
      branch(place, 'feature');
      document(place, 'identities/third/pending.yaml', taskFields(place, 'P0.5'));
    },
  },
];
