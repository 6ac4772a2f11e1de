import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ledgered } from '../gate/ledgers.ts';
import {
  BATON,
  branch,
  checkout,
  code,
  codesOf,
  DONE,
  document,
  headOf,
  honestBranch,
  identityAfter,
  judge,
  maintainer,
  merge,
  policy,
  START,
  session,
  taskFields,
  thoughtSince,
} from '../gate/scenario.ts';
import { secondKey } from '../gate/two-maintainers.ts';
import { type Place, privateKey } from '../handoff.ts';
import { git } from '../temporary.ts';
import { identityOf, type NamedKey, publicLine, template } from '../threats/forge.ts';
import { open, tryGit } from './hooked.ts';

// A protected branch that has not got what the trunk has decided since: it takes nothing that the trunk would refuse for that.

const PROTECTED = ['refs/heads/main', 'refs/heads/release'];
const REVIEW = { writeback: { required: true, open_sessions: 'warning' as const, review: true } };

const place = template(async ({ handoff }) => {
  await handoff.policy.set({ key: 'protected', value: PROTECTED.join() });
  await handoff.identity.add({ name: 'second', role: 'maintainer' });
});

interface Lagging {
  name: string;
  /** On both, before they part. */
  early?(here: Place): unknown;
  /** On release alone, before the trunk decides; git takes it without being asked. */
  there?(here: Place): unknown;
  /** On main, after that. */
  decided(here: Place): unknown;
  /** On a branch `feature`, for release. */
  build(here: Place): unknown;
  expect: string[];
}

const revoke =
  (name: string) =>
  ({ handoff }: Place) =>
    handoff.identity.revoke({ name });

/** The code of a branch with a waiver of `second` for it. */
function waived(here: Place): void {
  branch(here, 'feature', 'release');
  const commit_sha = code(here, { 'src/a.ts': 'a\n' });
  const waiver = { kind: 'waiver' as const, commit_sha, reason: 'in a hurry' };
  session(here, [START, waiver, BATON], { identity: 'second', key: secondKey(here) });
}

function signedIn(here: Place, signer: NamedKey): void {
  document(here, 'identities/frank/identity.yaml', identityOf(here, 'frank', privateKey(here, 'frank')), [signer]);
}

/** By somebody whom only this branch knows. */
async function byFrank(here: Place): Promise<void> {
  const base = git(here.dir, 'rev-parse', 'release');
  branch(here, 'feature', 'release');
  code(here, { 'src/a.ts': 'a\n' });
  const drafts = [START, await thoughtSince(here, base), BATON];
  session(here, drafts, { identity: 'frank', key: privateKey(here, 'frank') });
}

async function fromRelease(here: Place): Promise<void> {
  checkout(here, 'release');
  await honestBranch(here);
}

/** A key that nobody has signed in yet. */
const keygen = ({ handoff }: Place) => handoff.identity.keygen({ name: 'frank' });
const second = (here: Place): NamedKey => ['second', secondKey(here)];

let stolen: NamedKey;
const rotated = async (here: Place) => {
  stolen = maintainer(here);
  await here.handoff.identity.rotate({ name: 'maintainer' });
};

const rotatesDonna = ({ handoff }: Place) => handoff.identity.rotate({ name: 'donna' });

/** No code of the trunk. */
function whomMainTrusts({ dir }: Place): void {
  git(dir, 'checkout', '--quiet', 'main', '--', '.handoff/policy', '.handoff/identities');
  git(dir, 'commit', '--quiet', '--message', 'handoff: whom main trusts');
}

const REFUSED: Lagging[] = [
  {
    name: 'a thought by a key that the trunk has revoked',
    decided: revoke('donna'),
    build: fromRelease,
    expect: ['files_uncovered', 'key_revoked', 'writeback_missing'],
  },
  {
    name: 'code of a thought that was there before its key was revoked',
    async there(here) {
      const base = git(here.dir, 'rev-parse', 'HEAD');
      branch(here, 'feature');
      const commit = code(here, { 'src/a.ts': 'a\n' });
      checkout(here, 'release');
      session(here, [START, await thoughtSince(here, base, commit), BATON]);
    },
    decided: revoke('donna'),
    build(here) {
      checkout(here, 'feature');
      merge(here, 'release');
    },
    expect: ['files_uncovered', 'writeback_missing'],
  },
  {
    name: 'a waiver of a maintainer whom the trunk has revoked',
    decided: revoke('second'),
    build: waived,
    expect: ['files_uncovered', 'key_revoked', 'writeback_missing'],
  },
  {
    name: 'a waiver of a maintainer whom the trunk has demoted',
    decided: (here) =>
      document(here, 'identities/second/identity.yaml', identityAfter(here, 'second', { role: 'agent' })),
    build: waived,
    expect: ['files_uncovered', 'signer_not_entitled', 'writeback_missing'],
  },
  {
    name: 'a thought of whom a maintainer signed in whom the trunk has revoked since',
    early: keygen,
    there: (here) => signedIn(here, second(here)),
    decided: revoke('second'),
    build: byFrank,
    expect: ['files_uncovered', 'key_revoked', 'writeback_missing'],
  },
  {
    name: 'an identity that a key signs which the trunk has retired',
    early: keygen,
    decided: rotated,
    build(here) {
      branch(here, 'feature', 'release');
      signedIn(here, stolen);
    },
    expect: ['signer_not_entitled'],
  },
  {
    name: 'policies by a root key that the trunk has replaced',
    decided: rotated,
    build(here) {
      branch(here, 'feature', 'release');
      policy(here, { protected: ['refs/heads/main'] }, [stolen], 2);
      policy(here, { protected: [] }, [stolen], 3);
    },
    expect: ['policy_invalid', 'record_changed'],
  },
  {
    name: 'a record that the trunk has elsewhere, or otherwise, by a key that it has revoked',
    async decided(here) {
      session(here, [START, BATON]);
      await revoke('donna')(here);
    },
    build(here) {
      branch(here, 'feature', 'release');
      session(here, [START, BATON]);
    },
    expect: ['key_revoked'],
  },
  {
    name: 'code that nobody has reviewed, where the trunk asks for a review',
    decided: (here) => policy(here, REVIEW, [maintainer(here)], 2),
    build: fromRelease,
    expect: ['review_missing'],
  },
  {
    name: 'a merge of the trunk that leaves out what that has revoked',
    decided: revoke('donna'),
    build(here) {
      branch(here, 'feature', 'release');
      merge(here, '--strategy=ours', 'main');
    },
    expect: ['policy_rollback'],
  },
  {
    name: 'a merge of the trunk that leaves out its policy, and code that this refuses',
    decided: (here) => policy(here, REVIEW, [maintainer(here)], 2),
    async build(here) {
      branch(here, 'merged', 'release');
      merge(here, '--strategy=ours', 'main');
      await honestBranch(here);
    },
    expect: ['record_deleted', 'review_missing'],
  },
  {
    name: 'an identity that keeps more than is sealed here, and is not the one that the trunk has',
    decided: ledgered,
    build(here) {
      branch(here, 'feature', 'release');
      const keys = [{ key: publicLine(privateKey(here, 'donna')), state: 'revoked', cutoff: 3 }];
      document(here, 'identities/donna/identity.yaml', identityAfter(here, 'donna', { keys }));
    },
    expect: ['policy_rollback'],
  },
  {
    name: 'an identity two versions further, by way of one that nobody has',
    decided: rotatesDonna,
    build(here) {
      branch(here, 'feature', 'release');
      const changes = { version: 3, prev: `sha256:${'0'.repeat(64)}` };
      document(here, 'identities/donna/identity.yaml', identityAfter(here, 'donna', changes));
    },
    expect: ['policy_rollback'],
  },
  {
    name: 'code that nobody has reviewed, and along with it the policy that asks for that',
    decided: (here) => policy(here, REVIEW, [maintainer(here)], 2),
    async build(here) {
      await fromRelease(here);
      merge(here, 'main');
    },
    expect: ['review_missing'],
  },
];

const ACCEPTED: Lagging[] = [
  {
    name: 'work of those who are trusted by both',
    decided: revoke('erin'),
    build: fromRelease,
    expect: [],
  },
  {
    name: 'work of somebody whom only this branch has signed in',
    early: keygen,
    there: (here) => signedIn(here, second(here)),
    decided: revoke('erin'),
    build: byFrank,
    expect: [],
  },
  {
    name: 'what the trunk has decided, by a merge',
    async decided(here) {
      await honestBranch(here, 'earlier', { 'src/b.ts': 'b\n' });
      checkout(here, 'main');
      merge(here, 'earlier');
      await revoke('erin')(here);
    },
    build(here) {
      branch(here, 'feature', 'release');
      merge(here, 'main');
    },
    expect: [],
  },
  {
    name: 'an older commit of the trunk, with what a key signed there that was revoked since',
    async decided(here) {
      await honestBranch(here, 'earlier', { 'src/b.ts': 'b\n' });
      checkout(here, 'main');
      merge(here, 'earlier');
      await revoke('donna')(here);
    },
    build: (here) => branch(here, 'feature', 'earlier'),
    expect: [],
  },
  {
    name: 'all of it, with what keys signed that the trunk has revoked since',
    async decided(here) {
      document(here, 'tasks/P0.7.yaml', taskFields(here, 'P0.7'), [second(here)]);
      session(here, [START, BATON]);
      await revoke('donna')(here);
      await here.handoff.identity.revoke({ name: 'second' });
    },
    build(here) {
      branch(here, 'feature', 'release');
      merge(here, 'main');
    },
    expect: [],
  },
  {
    name: 'half of it, from when the trunk had no more',
    async decided(here) {
      await here.handoff.identity.rotate({ name: 'donna' });
      git(here.dir, 'tag', 'then');
      await here.handoff.identity.rotate({ name: 'donna' });
    },
    build(here) {
      branch(here, 'feature', 'release');
      merge(here, '--no-ff', 'then');
    },
    expect: [],
  },
  {
    name: 'nothing but whom the trunk trusts',
    async decided(here) {
      await rotated(here);
      await revoke('erin')(here);
    },
    build(here) {
      branch(here, 'feature', 'release');
      whomMainTrusts(here);
    },
    expect: [],
  },
  {
    name: 'nothing but whom the trunk trusts, of whom one keeps what its ledger has sealed',
    async decided(here) {
      await ledgered(here);
      await revoke('donna')(here);
    },
    build(here) {
      branch(here, 'feature', 'release');
      whomMainTrusts(here);
    },
    expect: [],
  },
  {
    name: 'nothing but whom the trunk trusts, of whom one has changed twice, and work under the newest key',
    async decided(here) {
      await rotatesDonna(here);
      await rotatesDonna(here);
    },
    async build(here) {
      branch(here, 'merged', 'release');
      whomMainTrusts(here);
      await honestBranch(here);
    },
    expect: [],
  },
];

/** A server with both branches, and `feature` in a clone of it. */
async function laid({ early, there, decided, build }: Lagging): Promise<{ here: Place; server: string }> {
  const here = place();
  const server = join(here.dir, '../server.git');
  git('/', 'init', '--quiet', '--bare', '--initial-branch=main', server);
  git(server, 'config', 'handoff.root', here.root);
  await early?.(here);
  branch(here, 'release');
  await there?.(here);
  checkout(here, 'main');
  await decided(here);
  git(here.dir, 'push', '--quiet', server, 'main', 'release');
  await open(server).hooks.install({ server: true });
  await build(here);
  return { here, server };
}

describe.each([
  ['takes', ACCEPTED],
  ['does not take', REFUSED],
] as const)('M99: a protected branch that lags behind the trunk %s', (_, scenarios) => {
  it.each(scenarios.map((each) => [each.name, each] as const))('%s', async (_, scenario) => {
    const { here, server } = await laid(scenario);
    expect(await codesOf(here, { base: 'release', head: 'feature' })).toEqual(scenario.expect);
    const { code: exit, stderr } = tryGit(here.dir, ['push', '--no-verify', server, 'feature:release']);
    expect({ exit, stderr }).toMatchObject({
      exit: scenario.expect.length > 0 ? 1 : 0,
      stderr: expect.stringContaining(`refs/heads/release: ${scenario.expect.length > 0 ? 'refused' : 'accepted'}`),
    });
  });
});

it('what the trunk itself takes is judged by itself', async () => {
  const { here, server } = await laid({ ...ACCEPTED[0]!, build() {} });
  checkout(here, 'main');
  await honestBranch(here, 'work');
  session(here, [START, DONE, BATON], { clock: 50 });
  expect(tryGit(here.dir, ['push', '--no-verify', server, 'work:main'])).toMatchObject({ code: 0 });
});

it('what is judged has not been taken because the branch of that name is there already', async () => {
  const here = place();
  const base = headOf(here.dir);
  await revoke('donna')(here);
  await honestBranch(here);
  checkout(here, 'main');
  merge(here, 'feature'); // no server was asked
  expect(await codesOf(here, { base, head: 'main' })).toEqual(['files_uncovered', 'key_revoked', 'writeback_missing']);
});

it('what the trunk has decided otherwise is taken from there, as the finding says', async () => {
  const here = place();
  branch(here, 'release');
  checkout(here, 'main');
  await revoke('donna')(here);
  branch(here, 'feature', 'release');
  await open(here.dir, { env: here.env }).identity.revoke({ name: 'donna' });
  const findingsOf = async () =>
    (await judge(here, 'release', 'feature', { trunk: git(here.dir, 'rev-parse', 'main') })).findings;
  const [found] = await findingsOf();
  expect(found).toMatchObject({ code: 'record_changed', path: '.handoff/identities/donna/identity.yaml' });
  const [, command] = /: (git checkout .*?), then git commit/.exec(found!.hint)!;
  git(here.dir, ...command!.split(' ').slice(1));
  git(here.dir, 'commit', '--quiet', '--amend', '--no-edit');
  expect(await findingsOf()).toEqual([]);
});
