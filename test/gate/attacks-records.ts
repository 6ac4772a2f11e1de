import { cpSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { nodeHashes } from '../../src/crypto.ts';
import { type Draft, type Place, privateKey, writeBytes, writeSession } from '../handoff.ts';
import { git } from '../temporary.ts';
import { policyAfter } from '../threats/forge.ts';
import { folderOf, groundFolder } from './ground.ts';
import { usual } from './ready.ts';
import {
  BATON,
  branch,
  checkout,
  code,
  commitRecords,
  document,
  IN_PROGRESS,
  identityAfter,
  merge,
  policy,
  type Scenario,
  START,
  session,
  taskFields,
  thoughtSince,
} from './scenario.ts';

const NOTE: Draft = { kind: 'note', text: 'hello' };
const OTHER = '7c1f09aa-51cf-4c61-9a39-2b7fd2f9a1de';

/** A session whose second record says something that it should not. */
function forged(name: string, expect: string | string[], fields: object, threat = 12): Scenario {
  return {
    name,
    threat,
    expect,
    isVariant: threat === 12 && expect !== 'repo_mismatch',
    build(place) {
      branch(place, 'feature');
      session(place, [START, { ...NOTE, ...fields }, BATON]);
    },
  };
}

/** Records that were written for something else, or twice: THREATS 12, 13, 14, 23, 41. */
export const REPLAYED: Scenario[] = [
  forged('a record of another repository', 'repo_mismatch', { repo: 'a'.repeat(64) }),
  forged('a record of another session', 'path_mismatch', { session_id: OTHER }),
  forged('a record of another identity', 'path_mismatch', { identity: 'erin' }),
  forged('a record with another number', 'path_mismatch', { seq: 7 }),
  forged('a record that follows another', 'chain_broken', { prev: `sha256:${'a'.repeat(64)}` }),
  forged('a record whose clock stands still', 'chain_broken', { clock: 1 }),
  forged('a record that inherits from nobody it knows', 'chain_broken', { inherited_from: OTHER }),
  forged('a record with a key that nobody knows', 'schema_invalid', { approved: 'yes' }, 11),
  forged('a secret in a record', 'secret_found', { text: `token ghp_${'aB3dE6gH9j'.repeat(4).slice(0, 36)}` }, 41),
  {
    name: 'a record that goes by another kind',
    threat: 12,
    expect: 'path_mismatch',
    build(place) {
      branch(place, 'feature');
      const written = writeSession(place, [START, NOTE]);
      const path = join(place.dir, folderOf(written));
      cpSync(join(path, '0002-note.yaml'), join(path, '0002-checkpoint.yaml'));
      rmSync(join(path, '0002-note.yaml'));
      commitRecords(place);
    },
  },
  {
    name: 'a document at the path of a record',
    threat: 12,
    expect: 'path_mismatch',
    build(place) {
      branch(place, 'feature');
      const written = writeSession(place, [START, NOTE]);
      cpSync(join(place.dir, '.handoff/policy/0001.yaml'), join(place.dir, written[1]!.path));
      commitRecords(place);
    },
  },
  {
    name: 'a record of a kind that does not exist',
    threat: 11,
    expect: 'path_mismatch',
    build(place) {
      branch(place, 'feature');
      const written = writeSession(place, [START, BATON]);
      writeBytes(place.dir, `${folderOf(written)}/0003-blessing.yaml`, 'x\n');
      commitRecords(place);
    },
  },
  {
    name: 'a signature that was copied from another record',
    threat: 14,
    expect: 'signature_invalid',
    build(place) {
      branch(place, 'feature');
      const written = writeSession(place, [START, NOTE]);
      const line = (at: number) => /signature: .*\n/.exec(Buffer.from(written[at]!.bytes).toString())![0];
      const text = Buffer.from(written[1]!.bytes).toString().replace(line(1), line(0));
      writeBytes(place.dir, written[1]!.path, text);
      commitRecords(place);
    },
  },
  {
    name: 'a record that was changed after it was signed',
    isVariant: true,
    expect: 'signature_invalid',
    build(place) {
      branch(place, 'feature');
      const written = writeSession(place, [START, NOTE]);
      writeBytes(place.dir, written[1]!.path, Buffer.from(written[1]!.bytes).toString().replace('hello', 'hallo'));
      commitRecords(place);
    },
  },
  {
    name: 'a session copied to another folder',
    threat: 13,
    expect: 'chain_broken',
    build(place) {
      branch(place, 'feature');
      const folder = groundFolder(place);
      cpSync(join(place.dir, folder), join(place.dir, folder.replace('/2026', '/2027')), { recursive: true });
      commitRecords(place);
    },
  },
  {
    name: 'a session copied to another identity',
    threat: 12,
    expect: 'path_mismatch',
    build(place) {
      branch(place, 'feature');
      const folder = groundFolder(place);
      cpSync(join(place.dir, folder), join(place.dir, folder.replace('donna', 'erin')), { recursive: true });
      commitRecords(place);
    },
  },
  {
    name: 'one session in two new folders',
    isVariant: true,
    threat: 13,
    expect: 'chain_broken',
    build(place) {
      branch(place, 'feature');
      const folder = folderOf(writeSession(place, [START, BATON]));
      cpSync(join(place.dir, folder), join(place.dir, folder.replace('/2026', '/2027')), { recursive: true });
      commitRecords(place);
    },
  },
  ...['checkpoint', 'wip'].map((kind) => ({
    name: `a second record with a number that is taken, a ${kind}`,
    isVariant: kind === 'wip',
    threat: 13,
    expect: 'chain_broken',
    build(place: Place) {
      const id = '11111111-51cf-4c61-9a39-2b7fd2f9a1de';
      const [first] = session(place, [START, NOTE], { sessionId: id });
      branch(place, 'feature');
      const other = kind === 'wip' ? { kind, key: 'k', state: 'open', text: 'x' } : { kind, text: 'x' };
      const drafts = [START, { ...other, prev: first!.id } as Draft];
      const [, second] = writeSession({ ...place, dir: join(place.dir, '..', 'scratch') }, drafts, { sessionId: id });
      writeBytes(place.dir, second!.path, second!.bytes);
      commitRecords(place);
    },
  })),
  {
    name: 'records after the baton',
    expect: 'chain_broken',
    build(place) {
      const id = '11111111-51cf-4c61-9a39-2b7fd2f9a1de';
      session(place, [START, BATON], { sessionId: id });
      branch(place, 'feature');
      session(place, [START, BATON, NOTE], { sessionId: id });
    },
  },
  {
    name: 'a session that begins in the middle',
    expect: 'chain_broken',
    build(place) {
      branch(place, 'feature');
      const written = writeSession(place, [START, NOTE, BATON]);
      rmSync(join(place.dir, written[0]!.path));
      commitRecords(place);
    },
  },
  {
    name: 'two sessions with one number of a lock',
    isVariant: true,
    expect: 'stale_token',
    build(place) {
      branch(place, 'feature');
      const lock = { task: 'P0.1', token: 3 };
      session(place, [START, { ...NOTE, lock }, BATON]);
      session(place, [START, { ...NOTE, lock }, BATON], { clock: 20 });
    },
  },
  {
    name: 'a number of a lock that was held before',
    expect: 'stale_token',
    build(place) {
      const lock = { task: 'P0.1', token: 3 };
      session(place, [START, { ...NOTE, lock }, BATON]);
      branch(place, 'feature');
      session(place, [START, { ...IN_PROGRESS, lock }, BATON], { identity: 'erin' });
    },
  },
  {
    name: 'a number of a lock that goes down',
    expect: 'stale_token',
    build(place) {
      branch(place, 'feature');
      const lock = (token: number) => ({ ...NOTE, lock: { task: 'P0.1', token } });
      session(place, [START, lock(3), lock(2), BATON]);
    },
  },
  {
    name: 'more files than the policy takes at once',
    threat: 23,
    expect: 'too_large',
    build(place) {
      policy(place, { limits: { record_bytes: 262144, records_per_push: 3 } });
      branch(place, 'feature');
      session(place, [START, NOTE, NOTE, BATON]);
    },
  },
  {
    name: 'a record that is larger than the policy takes',
    threat: 23,
    expect: 'too_large',
    build(place) {
      policy(place, { limits: { record_bytes: 1024, records_per_push: 100 } });
      branch(place, 'feature');
      session(place, [START, { ...NOTE, text: 'x '.repeat(1000) }, BATON]);
    },
  },
  {
    name: 'a task that nobody who may signed',
    expect: 'signer_unknown',
    build(place) {
      branch(place, 'feature');
      document(place, 'tasks/P0.5.yaml', taskFields(place, 'P0.5'), [['donna', privateKey(place, 'donna')]]);
    },
  },
  {
    name: 'a task in the file of another',
    isVariant: true,
    expect: 'path_mismatch',
    build(place) {
      branch(place, 'feature');
      document(place, 'tasks/P0.6.yaml', taskFields(place, 'P0.5'));
    },
  },
  {
    name: 'a task that goes back to what it was',
    threat: 2,
    expect: 'policy_rollback',
    build(place) {
      document(place, 'tasks/P0.5.yaml', taskFields(place, 'P0.5'));
      const first = readFileSync(join(place.dir, '.handoff/tasks/P0.5.yaml'));
      document(
        place,
        'tasks/P0.5.yaml',
        taskFields(place, 'P0.5', { version: 2, prev: `sha256:${'a'.repeat(64)}`, proof: 'seal' }),
      );
      branch(place, 'feature');
      writeBytes(place.dir, '.handoff/tasks/P0.5.yaml', first);
      commitRecords(place);
    },
  },
  {
    name: 'a task that differs from another only in its case',
    threat: 27,
    expect: 'name_lookalike',
    build(place) {
      document(place, 'tasks/P0.5.yaml', taskFields(place, 'P0.5'));
      branch(place, 'feature');
      document(place, 'tasks/p0.5.yaml', taskFields(place, 'p0.5'));
    },
  },
  {
    name: 'a skill that its identity does not name',
    expect: 'signature_invalid',
    build(place) {
      branch(place, 'feature');
      writeBytes(place.dir, '.handoff/identities/donna/skill.md', 'obey\n');
      commitRecords(place);
    },
  },
];

/** What was there is gone or different. */
export const TAKEN_BACK: Scenario[] = [
  {
    name: 'a record that is deleted',
    isVariant: true,
    expect: 'record_deleted',
    build(place) {
      branch(place, 'feature');
      rmSync(join(place.dir, groundFolder(place), '0003-baton.md'));
      commitRecords(place);
    },
  },
  {
    name: 'a session that is deleted',
    expect: 'record_deleted',
    build(place) {
      branch(place, 'feature');
      rmSync(join(place.dir, groundFolder(place)), { recursive: true });
      commitRecords(place);
    },
  },
  {
    name: 'everything that is deleted',
    expect: 'record_deleted',
    build(place) {
      branch(place, 'feature');
      git(place.dir, 'rm', '--quiet', '-r', '.handoff');
      git(place.dir, 'commit', '--quiet', '--message', 'no more');
    },
  },
  {
    name: 'a session that is moved',
    expect: ['chain_broken', 'record_deleted'],
    build(place) {
      branch(place, 'feature');
      const folder = groundFolder(place);
      git(place.dir, 'mv', folder, folder.replace('/2026', '/2027'));
      commitRecords(place);
    },
  },
  {
    name: 'a record that is signed again with other words',
    expect: 'record_changed',
    build(place) {
      const id = '11111111-51cf-4c61-9a39-2b7fd2f9a1de';
      session(place, [START, NOTE, BATON], { sessionId: id });
      branch(place, 'feature');
      session(place, [START, { ...NOTE, text: 'other words' }, BATON], { sessionId: id });
    },
  },
  {
    name: 'a merge taken back by git revert, records and all',
    expect: ['files_uncovered', 'record_deleted', 'writeback_missing'],
    async build(place) {
      await usual(place);
      checkout(place, 'main');
      merge(place, '--no-ff', 'feature');
      branch(place, 'back');
      git(place.dir, 'revert', '--no-edit', '--mainline', '1', 'HEAD');
    },
  },
  {
    name: 'a force push that drops records',
    expect: 'record_deleted',
    async build(place) {
      const base = git(place.dir, 'rev-parse', 'HEAD');
      session(place, [START, BATON]);
      branch(place, 'rewritten', base);
      session(place, [START, BATON], { identity: 'erin' });
      return { replaces: true };
    },
  },
  {
    name: 'a force push back to what was there long ago',
    expect: ['files_uncovered', 'record_deleted', 'writeback_missing'],
    build() {
      return { head: 'main~2', replaces: true };
    },
  },
  {
    name: 'a branch that deletes a record, behind the protected one',
    expect: 'record_deleted',
    build(place) {
      branch(place, 'feature');
      rmSync(join(place.dir, groundFolder(place), '0003-baton.md'));
      commitRecords(place);
      checkout(place, 'main');
      session(place, [START, BATON], { identity: 'erin' });
      checkout(place, 'feature');
    },
  },
  {
    name: 'the same record, on both sides, with other words',
    expect: 'record_changed',
    build(place) {
      const id = '11111111-51cf-4c61-9a39-2b7fd2f9a1de';
      branch(place, 'feature');
      session(place, [START, NOTE], { sessionId: id });
      checkout(place, 'main');
      session(place, [START, { ...NOTE, text: 'other words' }], { sessionId: id });
      checkout(place, 'feature');
    },
  },
  {
    name: 'a record that is deleted where the two sides have met twice',
    expect: 'record_deleted',
    build(place) {
      const { dir } = place;
      branch(place, 'feature');
      session(place, [START, BATON], { identity: 'erin' });
      const ours = git(dir, 'rev-parse', 'HEAD');
      checkout(place, 'main');
      const [first] = session(place, [START, BATON]);
      const theirs = git(dir, 'rev-parse', 'HEAD');
      merge(place, '--no-ff', ours);
      checkout(place, 'feature');
      merge(place, '--no-ff', theirs);
      rmSync(join(dir, folderOf([first!])), { recursive: true });
      commitRecords(place);
    },
  },
  {
    name: 'a code commit whose thought is dropped by the merge',
    expect: ['files_uncovered', 'writeback_missing'],
    async build(place) {
      branch(place, 'feature');
      code(place, { 'src/a.ts': 'a\n' });
      const thought = await thoughtSince(place, 'main');
      session(place, [START, thought, BATON]);
      git(place.dir, 'rm', '--quiet', '-r', '.handoff/sessions');
      git(place.dir, 'checkout', '--quiet', 'main', '--', '.handoff');
      commitRecords(place);
    },
  },
  {
    name: 'a policy that waits for signatures, for another repository',
    threat: 12,
    expect: 'policy_invalid',
    build(place) {
      branch(place, 'feature');
      document(place, 'policy/0002.pending.yaml', policyAfter(place, 1, { repo: 'a'.repeat(64) }));
    },
  },
  {
    name: 'an identity that names another skill than the one that stays',
    expect: 'signature_invalid',
    build(place) {
      const skill = (text: string) => `sha256:${Buffer.from(nodeHashes.sha256(Buffer.from(text))).toString('hex')}`;
      writeBytes(place.dir, '.handoff/identities/donna/skill.md', 'careful\n');
      const path = 'identities/donna/identity.yaml';
      document(place, path, identityAfter(place, 'donna', { skill: skill('careful\n') }));
      branch(place, 'feature');
      document(place, path, identityAfter(place, 'donna', { skill: skill('careless\n') }));
    },
  },
];
