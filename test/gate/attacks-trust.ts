import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { newKey, type Place, privateKey, writeBytes } from '../handoff.ts';
import { git } from '../temporary.ts';
import { identityOf, policyAfter, policyFile, publicLine, signDocument, writePolicy } from '../threats/forge.ts';
import { usual } from './ready.ts';
import {
  BATON,
  branch,
  checkout,
  code,
  codesOf,
  commitRecords,
  document,
  identityAfter,
  maintainer,
  policy,
  type Scenario,
  START,
  session,
  thoughtSince,
} from './scenario.ts';

const LOOSE = { writeback: { required: false, review: false, open_sessions: 'warning' } };

/** Code by somebody, with a thought signed by a key of their own. */
async function codeBy(place: Place, identity: string, key = privateKey(place, identity)): Promise<void> {
  const base = git(place.dir, 'rev-parse', 'HEAD');
  code(place, { 'src/evil.ts': 'evil\n' });
  session(place, [START, await thoughtSince(place, base), BATON], { identity, key, clock: 20 });
}

/** The key of donna, in another state; made by a maintainer. */
function setKeyState(place: Place, state: string, version?: number): void {
  const keys = [{ key: publicLine(privateKey(place, 'donna')), state }];
  const fields = identityAfter(place, 'donna', { keys, ...(version ? { version } : {}) });
  document(place, 'identities/donna/identity.yaml', fields);
}

/** Keys, identities and who signs whom: THREATS 1, 3, 5, 10, 12, 15. */
export const KEYS: Scenario[] = [
  {
    name: 'a key that signs itself in, and code under it',
    threat: 1,
    expect: ['files_uncovered', 'signer_unknown', 'writeback_missing'],
    async build(place) {
      branch(place, 'feature');
      const key = newKey();
      document(place, 'identities/mallory/identity.yaml', identityOf(place, 'mallory', key), [['mallory', key]]);
      await codeBy(place, 'mallory', key);
    },
  },
  {
    name: 'a key that an agent signs in',
    isVariant: true,
    threat: 1,
    expect: ['files_uncovered', 'signer_unknown', 'writeback_missing'],
    async build(place) {
      branch(place, 'feature');
      const key = newKey();
      const signer = privateKey(place, 'donna');
      document(place, 'identities/mallory/identity.yaml', identityOf(place, 'mallory', key), [['donna', signer]]);
      await codeBy(place, 'mallory', key);
    },
  },
  {
    name: 'a maintainer that a maintainer who came along signs in',
    threat: 1,
    expect: ['files_uncovered', 'signer_unknown', 'writeback_missing'],
    async build(place) {
      branch(place, 'feature');
      const [key, other] = [newKey(), newKey()];
      const second = identityOf(place, 'second', key, { role: 'maintainer' });
      document(place, 'identities/second/identity.yaml', second, [['second', key]]);
      document(place, 'identities/mallory/identity.yaml', identityOf(place, 'mallory', other), [['second', key]]);
      await codeBy(place, 'mallory', other);
    },
  },
  {
    name: 'an agent who makes itself maintainer',
    threat: 1,
    expect: ['files_uncovered', 'signer_unknown', 'writeback_missing'],
    async build(place) {
      branch(place, 'feature');
      const fields = identityAfter(place, 'donna', { role: 'maintainer' });
      document(place, 'identities/donna/identity.yaml', fields, [['donna', privateKey(place, 'donna')]]);
      const commit = code(place, { 'src/evil.ts': 'evil\n' });
      session(place, [START, { kind: 'waiver', commit_sha: commit, reason: 'mine' }, BATON]);
    },
  },
  {
    name: 'a key slipped into an identity that is signed',
    threat: 1,
    expect: ['files_uncovered', 'policy_rollback', 'signature_invalid', 'signer_unknown', 'writeback_missing'],
    async build(place) {
      branch(place, 'feature');
      const [path, key] = ['.handoff/identities/donna/identity.yaml', newKey()];
      const text = readFileSync(join(place.dir, path), 'utf8');
      const line = `  - key: ${publicLine(key)}\n    state: active\n`;
      writeBytes(place.dir, path, text.replace('keys:\n', `keys:\n${line}`));
      commitRecords(place);
      await codeBy(place, 'donna', key);
    },
  },
  {
    name: 'a record by nobody',
    threat: 1,
    expect: ['files_uncovered', 'signer_unknown', 'writeback_missing'],
    async build(place) {
      branch(place, 'feature');
      await codeBy(place, 'ghost', newKey());
    },
  },
  {
    name: "a record in donna's folder by erin's key",
    threat: 12,
    expect: ['files_uncovered', 'signature_invalid', 'writeback_missing'],
    async build(place) {
      branch(place, 'feature');
      await codeBy(place, 'donna', privateKey(place, 'erin'));
    },
  },
  {
    name: 'a key that was revoked, on a branch from before',
    threat: 3,
    expect: ['files_uncovered', 'key_revoked', 'writeback_missing'],
    async build(place) {
      branch(place, 'feature');
      await codeBy(place, 'donna');
      checkout(place, 'main');
      setKeyState(place, 'revoked');
      checkout(place, 'feature');
    },
  },
  {
    name: 'the same, dated before the revocation',
    isVariant: true,
    threat: 10,
    expect: ['files_uncovered', 'key_revoked', 'writeback_missing'],
    async build(place) {
      const base = git(place.dir, 'rev-parse', 'HEAD');
      setKeyState(place, 'revoked');
      branch(place, 'feature');
      code(place, { 'src/evil.ts': 'evil\n' });
      session(place, [START, await thoughtSince(place, base), BATON], { at: '2001-01-01T00:00:00.000Z', clock: 1 });
    },
  },
  {
    name: 'the same, forced over the revocation',
    threat: 3,
    expect: 'policy_rollback',
    async build(place) {
      branch(place, 'feature');
      await codeBy(place, 'donna');
      checkout(place, 'main');
      setKeyState(place, 'revoked');
      checkout(place, 'feature');
      return { replaces: true };
    },
  },
  {
    name: 'a revoked key that is active again, by a maintainer',
    threat: 3,
    expect: 'policy_rollback',
    build(place) {
      setKeyState(place, 'revoked');
      branch(place, 'feature');
      setKeyState(place, 'active');
    },
  },
  {
    name: 'a revocation taken back by git revert',
    threat: 2,
    expect: 'policy_rollback',
    build(place) {
      setKeyState(place, 'revoked');
      branch(place, 'feature');
      git(place.dir, 'revert', '--no-edit', 'HEAD');
    },
  },
  {
    name: 'a key that vanishes from its identity',
    expect: 'policy_rollback',
    build(place) {
      setKeyState(place, 'revoked');
      branch(place, 'feature');
      const keys = [{ key: publicLine(newKey()), state: 'active' }];
      document(place, 'identities/donna/identity.yaml', identityAfter(place, 'donna', { keys }));
    },
  },
  {
    name: 'another identity of the same version',
    isVariant: true,
    expect: 'policy_rollback',
    build(place) {
      branch(place, 'feature');
      const fields = identityOf(place, 'donna', privateKey(place, 'donna'), { at: '2026-03-20T14:30:25.123Z' });
      document(place, 'identities/donna/identity.yaml', fields);
    },
  },
  {
    name: 'a next version of an identity that does not follow the last',
    isVariant: true,
    expect: 'policy_rollback',
    build(place) {
      branch(place, 'feature');
      const fields = identityAfter(place, 'donna', { prev: `sha256:${'a'.repeat(64)}` });
      document(place, 'identities/donna/identity.yaml', fields);
    },
  },
  {
    name: 'an identity that both sides changed',
    threat: 3,
    expect: 'record_changed',
    build(place) {
      branch(place, 'feature');
      const keys = [publicLine(newKey()), publicLine(privateKey(place, 'donna'))];
      const rotated = [
        { key: keys[0]!, state: 'active' },
        { key: keys[1]!, state: 'retired' },
      ];
      document(place, 'identities/donna/identity.yaml', identityAfter(place, 'donna', { keys: rotated }));
      checkout(place, 'main');
      setKeyState(place, 'revoked');
      checkout(place, 'feature');
    },
  },
  {
    name: 'an identity with the key of another',
    threat: 5,
    expect: 'signer_not_entitled',
    build(place) {
      branch(place, 'feature');
      document(place, 'identities/twin/identity.yaml', identityOf(place, 'twin', privateKey(place, 'donna')));
    },
  },
  {
    name: 'an identity whose name is drawn like another',
    threat: 15,
    expect: 'path_mismatch',
    build(place) {
      branch(place, 'feature');
      writeBytes(place.dir, '.handoff/identities/dоnna/identity.yaml', 'x\n');
      commitRecords(place);
    },
  },
  ...['identities/donna/identity.yaml', 'project.yaml', 'tasks/P0.9.yaml'].map((path) => ({
    name: `${path} is deleted`,
    expect: 'record_deleted',
    build(place: Place) {
      if (path.startsWith('tasks')) taskNine(place);
      branch(place, 'feature');
      rmSync(join(place.dir, '.handoff', path));
      commitRecords(place);
    },
  })),
];

function taskNine(place: Place): void {
  const common = { handoff: 1, kind: 'task-definition' as const, repo: place.root, version: 1, prev: null };
  document(place, 'tasks/P0.9.yaml', { ...common, at: '2026-02-20T14:30:25.123Z', task_id: 'P0.9', title: 'nine' });
}

/** A policy that asks for two of two root principals. Returns the second key. */
function twoOfTwo(place: Place) {
  const key = newKey();
  const keys = [`maintainer ${publicLine(privateKey(place, 'maintainer'))}`, `second ${publicLine(key)}`];
  const signers = [maintainer(place), ['second', key] as [string, typeof key]];
  writePolicy(place, 2, policyAfter(place, 1, { root: { threshold: 2, keys } }), signers);
  const fields = identityAfter(place, 'maintainer', {});
  writeBytes(place.dir, '.handoff/identities/maintainer/identity.yaml', signDocument(fields, signers));
  commitRecords(place);
  return { key, keys };
}

/** Policies: THREATS 2, 4, 5, 6, 11. */
export const POLICIES: Scenario[] = [
  {
    name: 'a weaker policy that nobody signed',
    threat: 11,
    expect: ['files_uncovered', 'policy_invalid', 'writeback_missing'],
    build(place) {
      branch(place, 'feature');
      policy(place, LOOSE, [['mallory', newKey()]]);
      code(place, { 'src/evil.ts': 'evil\n' });
    },
  },
  {
    name: 'a weaker policy that an agent signed',
    isVariant: true,
    expect: ['files_uncovered', 'policy_invalid', 'writeback_missing'],
    build(place) {
      branch(place, 'feature');
      policy(place, LOOSE, [['donna', privateKey(place, 'donna')]]);
      code(place, { 'src/evil.ts': 'evil\n' });
    },
  },
  {
    name: 'a weaker policy that one of two signed',
    threat: 5,
    expect: ['files_uncovered', 'policy_invalid', 'writeback_missing'],
    build(place) {
      twoOfTwo(place);
      branch(place, 'feature');
      policy(place, LOOSE, [maintainer(place)], 2);
      code(place, { 'src/evil.ts': 'evil\n' });
    },
  },
  {
    name: 'a policy that one signed under two names',
    threat: 5,
    expect: 'policy_invalid',
    build(place) {
      twoOfTwo(place);
      branch(place, 'feature');
      policy(place, LOOSE, [maintainer(place), ['second', privateKey(place, 'maintainer')]], 2);
    },
  },
  {
    name: 'a policy that lists one key twice',
    threat: 5,
    expect: 'policy_invalid',
    build(place) {
      branch(place, 'feature');
      const line = publicLine(privateKey(place, 'maintainer'));
      policy(place, { root: { threshold: 2, keys: [`maintainer ${line}`, `second ${line}`] } });
    },
  },
  ...[0, '-1', '1.5', 3].map((threshold) => ({
    name: `a policy with the threshold ${threshold}`,
    isVariant: threshold !== 0,
    threat: 5,
    expect: threshold === 3 ? 'policy_invalid' : 'schema_invalid',
    build(place: Place) {
      branch(place, 'feature');
      const keys = [`maintainer ${publicLine(privateKey(place, 'maintainer'))}`];
      policy(place, { root: { threshold, keys } });
    },
  })),
  {
    name: 'a weaker policy signed as it should be: what it allows holds from the next change on',
    expect: ['files_uncovered', 'writeback_missing'],
    build(place) {
      branch(place, 'feature');
      policy(place, LOOSE);
      code(place, { 'src/evil.ts': 'evil\n' });
    },
  },
  {
    name: 'more paths exempt, and code in them, in one change',
    expect: ['files_uncovered', 'writeback_missing'],
    build(place) {
      branch(place, 'feature');
      policy(place, { exempt: ['src'] });
      code(place, { 'src/evil.ts': 'evil\n' });
    },
  },
  {
    name: 'an empty list of protected branches that nobody signed',
    expect: 'policy_invalid',
    build(place) {
      branch(place, 'feature');
      policy(place, { protected: [] }, [['maintainer', newKey()]]);
    },
  },
  {
    name: 'a policy taken back by git revert',
    threat: 2,
    expect: 'record_deleted',
    build(place) {
      policy(place, { stale_after: 60 });
      branch(place, 'feature');
      git(place.dir, 'revert', '--no-edit', 'HEAD');
    },
  },
  {
    name: 'a protected branch that has itself gone back, where the newer policy was seen',
    threat: 2,
    expect: 'policy_rollback',
    isLocal: true,
    async build(place) {
      policy(place, { stale_after: 60 });
      await codesOf(place, { head: 'main' });
      git(place.dir, 'revert', '--no-edit', 'HEAD');
      branch(place, 'feature');
      session(place, [START, BATON], { clock: 20 });
    },
  },
  {
    name: 'a session that is left open where the policy asks for its end',
    expect: 'session_open',
    build(place) {
      policy(place, { writeback: { required: true, review: false, open_sessions: 'error' } });
      branch(place, 'feature');
      session(place, [START], { clock: 20 });
    },
  },
  {
    name: 'a policy that is changed in its place',
    threat: 2,
    expect: 'record_changed',
    build(place) {
      policy(place, { stale_after: 60 });
      branch(place, 'feature');
      policy(place, { stale_after: 6000 });
    },
  },
  {
    name: 'an older policy under the next number',
    isVariant: true,
    threat: 2,
    expect: 'path_mismatch',
    build(place) {
      policy(place, { stale_after: 60 });
      branch(place, 'feature');
      writeBytes(place.dir, policyFile(3), readFileSync(join(place.dir, policyFile(2))));
      commitRecords(place);
    },
  },
  {
    name: 'a policy far ahead',
    threat: 4,
    expect: 'policy_invalid',
    build(place) {
      branch(place, 'feature');
      writePolicy(place, 900, { ...policyAfter(place, 1, {}), version: 900 }, [maintainer(place)]);
      commitRecords(place);
    },
  },
  {
    name: 'a root that an invalid version brought in',
    threat: 6,
    expect: 'policy_invalid',
    build(place) {
      branch(place, 'feature');
      const key = newKey();
      const keys = [`mallory ${publicLine(key)}`];
      policy(place, { root: { threshold: 1, keys } }, [['mallory', key]]);
      policy(place, LOOSE, [['mallory', key]], 2);
    },
  },
  {
    name: 'a root of which only the new keys signed',
    threat: 6,
    expect: 'policy_invalid',
    build(place) {
      const { keys } = twoOfTwo(place);
      branch(place, 'feature');
      const key = newKey();
      const root = { threshold: 2, keys: [keys[0]!, `third ${publicLine(key)}`] };
      policy(place, { root }, [maintainer(place), ['third', key]], 2);
    },
  },
  {
    name: 'another root altogether',
    threat: 2,
    expect: 'root_mismatch',
    async build(place) {
      await usual(place);
      return { root: 'a'.repeat(64) };
    },
    isLocal: true,
  },
  {
    name: 'a first policy that is not the one that is pinned',
    threat: 2,
    expect: 'root_mismatch',
    build(place) {
      git(place.dir, 'checkout', '--quiet', '--orphan', 'other');
      git(place.dir, 'rm', '--quiet', '-r', '--force', '.');
      code(place, { 'a.ts': 'a\n' });
      const [base, key] = [git(place.dir, 'rev-parse', 'HEAD'), newKey()];
      const fields = { ...policyAfter0(place), root: { threshold: 1, keys: [`mallory ${publicLine(key)}`] } };
      writePolicy(place, 1, fields, [['mallory', key]]);
      commitRecords(place);
      return { base };
    },
  },
  {
    name: 'a first policy that does not hold',
    expect: 'policy_invalid',
    build(place) {
      git(place.dir, 'checkout', '--quiet', '--orphan', 'other');
      git(place.dir, 'rm', '--quiet', '-r', '--force', '.');
      code(place, { 'a.ts': 'a\n' });
      const base = git(place.dir, 'rev-parse', 'HEAD');
      writePolicy(place, 1, policyAfter0(place), [['mallory', newKey()]]);
      commitRecords(place);
      return { base };
    },
  },
];

/** A genesis as init would write it. */
function policyAfter0(place: Place) {
  git(place.dir, 'checkout', '--quiet', 'main', '--', policyFile(1));
  const { repo: _, ...fields } = policyAfter(place, 1, { version: 1, prev: null, nonce: 'ab'.repeat(16) });
  return fields as typeof fields & { kind: 'policy' };
}
