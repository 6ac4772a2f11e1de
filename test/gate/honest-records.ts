import { join } from 'node:path';
import { merkleRoot } from '../../src/core/seal/merkle.ts';
import { nodeHashes } from '../../src/crypto.ts';
import { type Draft, newKey, openPlace, type Place, privateKey, writeBytes } from '../handoff.ts';
import { git } from '../temporary.ts';
import { identityOf, policyAfter, publicLine, signDocument, writePolicy } from '../threats/forge.ts';
import { open } from '../verbs/agents.ts';
import { usual } from './ready.ts';
import {
  BATON,
  branch,
  checkout,
  code,
  commitRecords,
  DONE,
  document,
  headOf,
  honestBranch,
  IN_PROGRESS,
  identityAfter,
  maintainer,
  merge,
  policy,
  type Scenario,
  START,
  session,
  taskFields,
  thoughtSince,
} from './scenario.ts';

const REVIEW = { writeback: { required: true, review: true, open_sessions: 'warning' } };

/** Policies, keys and identities: each by the verbs where there are verbs. */
export const TRUST: Scenario[] = [
  {
    name: 'a change of the policy',
    async build(place) {
      branch(place, 'feature');
      await open(place).handoff.policy.set({ key: 'stale_after', value: '900' });
    },
  },
  {
    name: 'several changes of the policy at once',
    isVariant: true,
    async build(place) {
      branch(place, 'feature');
      const { handoff } = open(place);
      await handoff.policy.set({ key: 'stale_after', value: '900' });
      await handoff.policy.set({ key: 'exempt', value: 'docs,*.md' });
      await handoff.policy.set({ key: 'writeback.review', value: 'true' });
    },
  },
  {
    name: 'a second maintainer, whose key joins the root with a threshold of two',
    async build(place) {
      branch(place, 'feature');
      const { handoff } = open(place);
      await handoff.identity.add({ name: 'second', role: 'maintainer' });
      await handoff.policy.set({ key: 'root.keys', value: 'maintainer,second' });
      await handoff.policy.set({ key: 'root.threshold', value: '2', as: 'maintainer' });
      await handoff.policy.sign({ as: 'second' });
    },
  },
  {
    name: 'a policy that waits for signatures',
    isVariant: true,
    async build(place) {
      const { handoff } = open(place);
      await handoff.identity.add({ name: 'second', role: 'maintainer' });
      await handoff.policy.set({ key: 'root.keys', value: 'maintainer,second' });
      await handoff.policy.set({ key: 'root.threshold', value: '2', as: 'maintainer' });
      await handoff.policy.sign({ as: 'second' });
      branch(place, 'feature');
      await handoff.policy.set({ key: 'stale_after', value: '900', as: 'maintainer' });
    },
  },
  {
    name: 'a root key that is rotated',
    async build(place) {
      branch(place, 'feature');
      await open(place).handoff.identity.rotate({ name: 'maintainer' });
    },
  },
  {
    name: 'the key of an agent that is rotated, and work under the new one',
    async build(place) {
      branch(place, 'feature');
      await open(place).handoff.identity.rotate({ name: 'donna' });
      const base = headOf(place.dir);
      code(place, { 'src/a.ts': 'a\n' });
      session(place, [START, await thoughtSince(place, base), BATON], { clock: 30 });
    },
  },
  {
    name: 'a key that is revoked, of an identity that has signed nothing',
    isVariant: true,
    async build(place) {
      branch(place, 'feature');
      await open(place).handoff.identity.revoke({ name: 'erin' });
    },
  },
  {
    name: 'a key that is revoked, although sessions were signed with it',
    async build(place) {
      branch(place, 'feature');
      await open(place).handoff.identity.revoke({ name: 'donna' });
    },
  },
  {
    name: 'the same document signed by one more',
    isVariant: true,
    build(place) {
      const key = newKey();
      document(place, 'identities/second/identity.yaml', identityOf(place, 'second', key, { role: 'maintainer' }));
      const fields = taskFields(place, 'P0.5');
      document(place, 'tasks/P0.5.yaml', fields);
      branch(place, 'feature');
      document(place, 'tasks/P0.5.yaml', fields, [maintainer(place), ['second', key]]);
    },
  },
  {
    name: 'a new identity and its first session at once',
    async build(place) {
      branch(place, 'feature');
      const here = open(place);
      await here.handoff.identity.add({ name: 'fay' });
      const base = headOf(place.dir);
      code(place, { 'src/a.ts': 'a\n' });
      session(here, [START, await thoughtSince(place, base), BATON], { identity: 'fay' });
    },
  },
  {
    name: 'the same of somebody called as every object of JavaScript has something called',
    async build(place) {
      branch(place, 'feature');
      const here = open(place);
      await here.handoff.identity.add({ name: 'constructor' });
      const base = headOf(place.dir);
      code(place, { 'src/a.ts': 'a\n' });
      const thought = { ...(await thoughtSince(place, base)), task_id: 'toString' };
      const work = [IN_PROGRESS, thought, DONE].map((draft) => ({ ...draft, task_id: 'toString' }));
      session(here, [START, ...work, BATON], { identity: 'constructor' });
    },
  },
  {
    name: 'a new maintainer, and a task that they sign',
    build(place) {
      branch(place, 'feature');
      const key = newKey();
      document(place, 'identities/second/identity.yaml', identityOf(place, 'second', key, { role: 'maintainer' }));
      document(place, 'tasks/P0.5.yaml', taskFields(place, 'P0.5'), [['second', key]]);
    },
  },
  {
    name: 'a new maintainer by two of two',
    isVariant: true,
    build(place) {
      const key = newKey();
      const keys = [`maintainer ${publicLine(privateKey(place, 'maintainer'))}`, `second ${publicLine(key)}`];
      const signers = [maintainer(place), ['second', key] as [string, typeof key]];
      writePolicy(place, 2, policyAfter(place, 1, { root: { threshold: 2, keys } }), signers);
      const again = signDocument(identityAfter(place, 'maintainer', {}), signers);
      writeBytes(place.dir, '.handoff/identities/maintainer/identity.yaml', again);
      commitRecords(place);
      branch(place, 'feature');
      const third = identityOf(place, 'third', newKey(), { role: 'maintainer' });
      document(place, 'identities/third/identity.yaml', third, signers);
    },
  },
  {
    name: 'a skill, and the identity that names it',
    build(place) {
      branch(place, 'feature');
      writeBytes(place.dir, '.handoff/identities/donna/skill.md', 'careful\n');
      const skill = `sha256:${Buffer.from(nodeHashes.sha256(Buffer.from('careful\n'))).toString('hex')}`;
      document(place, 'identities/donna/identity.yaml', identityAfter(place, 'donna', { skill }));
    },
  },
];

/** A session as the verbs write it, with code and a thought in the middle. */
async function worked(place: Place, as: string, opening: 'start' | 'pickup', file: string): Promise<void> {
  const { handoff } = open(place);
  await handoff[opening]({ as });
  code(place, { [file]: `${as}\n` });
  await handoff.note({ as, text: `${file} is there` });
  await handoff.wrap({ as, message: `# Current work\n\n${file}\n` });
}

/** Sessions, tasks and what is said about them. */
export const WORK: Scenario[] = [
  {
    name: 'several sessions that pick each other up in one branch',
    async build(place) {
      const base = headOf(place.dir);
      branch(place, 'feature');
      await worked(place, 'donna', 'start', 'src/a.ts');
      await worked(place, 'erin', 'pickup', 'src/b.ts');
      await worked(place, 'donna', 'pickup', 'src/c.ts');
      session(place, [START, await thoughtSince(place, base), BATON], { identity: 'erin', clock: 100 });
    },
  },
  {
    name: 'a session that goes on over two pull requests',
    async build(place) {
      const sessionId = '11111111-51cf-4c61-9a39-2b7fd2f9a1de';
      const base = headOf(place.dir);
      code(place, { 'src/a.ts': 'a\n' });
      const first = { ...(await thoughtSince(place, base)), task_id: 'P0.1' };
      session(place, [START, first], { sessionId, clock: 30 });
      branch(place, 'feature');
      const next = headOf(place.dir);
      code(place, { 'src/b.ts': 'b\n' });
      session(place, [START, first, await thoughtSince(place, next), BATON], { sessionId, clock: 30 });
    },
  },
  {
    name: 'a session that is still open',
    isVariant: true,
    async build(place) {
      branch(place, 'feature');
      code(place, { 'src/a.ts': 'a\n' });
      session(place, [START, await thoughtSince(place, 'main')]);
    },
  },
  {
    name: 'a thought in one pull request and done in the next',
    async build(place) {
      code(place, { 'src/a.ts': 'a\n' });
      session(place, [START, IN_PROGRESS, await thoughtSince(place, 'HEAD~1'), BATON], { clock: 30 });
      branch(place, 'feature');
      session(place, [START, DONE, BATON], { clock: 50 });
    },
  },
  {
    name: 'the same, after the first was squashed',
    async build(place) {
      const base = headOf(place.dir);
      branch(place, 'first');
      code(place, { 'src/a.ts': 'a\n' });
      code(place, { 'src/b.ts': 'b\n' });
      session(place, [START, IN_PROGRESS, await thoughtSince(place, base), BATON], { clock: 30 });
      checkout(place, 'main');
      git(place.dir, 'merge', '--quiet', '--squash', 'first');
      git(place.dir, 'commit', '--quiet', '--message', 'squashed');
      git(place.dir, 'branch', '--quiet', '-D', 'first');
      branch(place, 'feature');
      session(place, [START, DONE, BATON], { clock: 50 });
    },
  },
  {
    name: 'done and squashed',
    isVariant: true,
    async build(place) {
      const { base } = await usual(place);
      checkout(place, 'main');
      git(place.dir, 'merge', '--quiet', '--squash', 'feature');
      git(place.dir, 'commit', '--quiet', '--message', 'squashed');
      return { base };
    },
  },
  {
    name: 'done, with nothing to show but words',
    async build(place) {
      branch(place, 'feature');
      const thought = { ...(await thoughtSince(place, 'main')), commit_sha: 'a'.repeat(40), files_changed: [] };
      session(place, [START, IN_PROGRESS, thought, DONE, BATON]);
    },
  },
  {
    name: 'a task that is added and done',
    async build(place) {
      const base = headOf(place.dir);
      branch(place, 'feature');
      document(place, 'tasks/P0.1.yaml', taskFields(place, 'P0.1', { depends_on: ['P0.0'], tags: ['core'] }));
      code(place, { 'src/a.ts': 'a\n' });
      session(place, [START, IN_PROGRESS, await thoughtSince(place, base), DONE, BATON]);
    },
  },
  {
    name: 'a task that asks for a seal, and has it',
    async build(place) {
      document(place, 'tasks/P0.1.yaml', taskFields(place, 'P0.1', { proof: 'seal' }));
      const base = headOf(place.dir);
      branch(place, 'feature');
      code(place, { 'src/a.ts': 'a\n' });
      const sessionId = '11111111-51cf-4c61-9a39-2b7fd2f9a1de';
      const drafts: Draft[] = [START, IN_PROGRESS, await thoughtSince(place, base), DONE, BATON];
      const leaves = session(place, drafts, { sessionId }).map(({ bytes }) => bytes);
      const root = Buffer.from(merkleRoot(leaves, nodeHashes.sha256)).toString('hex');
      session(place, [...drafts, { kind: 'seal', tree_size: 5, root }], { sessionId });
    },
  },
  {
    name: 'a task that is to do again after a revert',
    async build(place) {
      const { commit } = await usual(place);
      checkout(place, 'main');
      merge(place, '--no-ff', 'feature');
      const base = headOf(place.dir);
      branch(place, 'back');
      git(place.dir, 'revert', '--no-edit', commit);
      const reinstated: Draft = { kind: 'task', task_id: 'P0.1', status: 'todo', reason: 'reverted' };
      const thought = { ...(await thoughtSince(place, base)), task_id: 'P0.7' };
      session(place, [START, thought, reinstated, BATON], { clock: 60 });
    },
  },
  {
    name: 'a waiver by a maintainer',
    build(place) {
      branch(place, 'feature');
      const commit = code(place, { 'src/a.ts': 'a\n' });
      const waiver: Draft = { kind: 'waiver', commit_sha: commit, reason: 'the site was down' };
      session(place, [START, waiver, BATON], { identity: 'maintainer' });
    },
  },
  {
    name: 'a waiver for a merge that takes a side',
    async build(place) {
      await honestBranch(place, 'feature', { 'src/lib.ts': 'feature\n' });
      checkout(place, 'main');
      code(place, { 'src/lib.ts': 'main\n' });
      checkout(place, 'feature');
      merge(place, '--strategy=ours', 'main');
      const waiver: Draft = { kind: 'waiver', commit_sha: headOf(place.dir), reason: 'main was wrong' };
      session(place, [START, waiver, BATON], { identity: 'maintainer' });
    },
  },
  {
    name: 'a review by somebody else',
    async build(place) {
      policy(place, REVIEW);
      const { records } = await honestBranch(place);
      const review: Draft = { kind: 'review', task_id: 'P0.1', verdict: 'approve', thought: records[2]!.id };
      session(place, [START, review, BATON], { clock: 20, identity: 'erin' });
    },
  },
  {
    name: 'a review of the thought that makes up for one that was refused',
    isVariant: true,
    async build(place) {
      policy(place, REVIEW);
      const { base, records } = await honestBranch(place);
      const review = (verdict: string, thought: string): Draft => ({
        kind: 'review',
        task_id: 'P0.1',
        verdict,
        thought,
      });
      session(place, [START, review('reject', records[2]!.id), BATON], { clock: 20, identity: 'erin' });
      code(place, { 'src/a.ts': 'better\n' });
      const second = session(place, [START, await thoughtSince(place, base), BATON], { clock: 30 });
      session(place, [START, review('approve', second[1]!.id), BATON], { clock: 40, identity: 'erin' });
    },
  },
  {
    name: 'a review, and then a rebase',
    async build(place) {
      policy(place, REVIEW);
      const { records } = await honestBranch(place);
      const review: Draft = { kind: 'review', task_id: 'P0.1', verdict: 'approve', thought: records[2]!.id };
      session(place, [START, review, BATON], { clock: 20, identity: 'erin' });
      checkout(place, 'main');
      code(place, { 'src/main.ts': 'main\n' });
      checkout(place, 'feature');
      git(place.dir, 'rebase', '--quiet', 'main');
    },
  },
  {
    name: 'a lock that two sessions hold one after the other',
    build(place) {
      branch(place, 'feature');
      const note = (token: number): Draft => ({ kind: 'note', text: 'mine', lock: { task: 'P0.1', token } });
      session(place, [START, note(3), BATON]);
      session(place, [START, note(4), BATON], { identity: 'erin' });
    },
  },
];

/** Where it begins, and where it is judged. */
export const PLACES: Scenario[] = [
  { name: 'a first push', build: () => ({ base: null, head: 'main' }) },
  {
    name: 'a first push without git-handoff',
    build(place) {
      git(place.dir, 'checkout', '--quiet', '--orphan', 'plain');
      git(place.dir, 'rm', '--quiet', '-r', '--force', '.');
      code(place, { 'a.ts': 'a\n' });
      return { base: null };
    },
  },
  {
    name: 'a push where there is no policy yet',
    build(place) {
      git(place.dir, 'checkout', '--quiet', '--orphan', 'plain');
      git(place.dir, 'rm', '--quiet', '-r', '--force', '.');
      const base = code(place, { 'a.ts': 'a\n' });
      code(place, { 'b.ts': 'b\n' });
      return { base };
    },
  },
  {
    name: 'an old repository that adopts git-handoff',
    build(place) {
      git(place.dir, 'checkout', '--quiet', '--orphan', 'plain');
      git(place.dir, 'rm', '--quiet', '-r', '--force', '.');
      const base = code(place, { 'a.ts': 'a\n' });
      git(place.dir, 'checkout', '--quiet', 'main', '--', '.handoff', '.gitattributes');
      git(place.dir, 'commit', '--quiet', '--message', 'handoff: init');
      return { base };
    },
  },
  {
    name: 'a linked work tree',
    isVariant: true,
    async build(place) {
      await usual(place);
      const dir = join(place.dir, '..', 'tree');
      git(place.dir, 'worktree', 'add', '--quiet', '--detach', dir, 'feature');
      place.dir = dir;
    },
  },
  {
    name: 'a bare repository',
    isVariant: true,
    async build(place) {
      await usual(place);
      const dir = join(place.dir, '..', 'bare.git');
      git('/', 'clone', '--quiet', '--bare', place.dir, dir);
      place.dir = dir;
      return { head: 'feature' };
    },
  },
  {
    name: 'a SHA-256 repository',
    async build(place) {
      const dir = join(place.dir, '..', 'sha256');
      git('/', 'init', '--quiet', '--object-format=sha256', '--initial-branch=main', dir);
      const other = openPlace(dir, place.keys, '');
      const { root } = await open(other).handoff.init();
      await open(other).handoff.identity.add({ name: 'donna' });
      Object.assign(place, { dir, root });
      await honestBranch(place);
    },
    isLocal: true,
  },
];
