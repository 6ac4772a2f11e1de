import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAs, parseRecord } from '../../src/core/record/record.ts';
import { type Draft, newKey, type Place, writeBytes } from '../handoff.ts';
import { commitSealed } from '../ledger/sealed.ts';
import { identityOf, type NamedKey, publicLine, signDocument } from '../threats/forge.ts';
import { open } from '../verbs/agents.ts';
import { proofOf } from './attacks-ledger.ts';
import { append } from './ledgers.ts';
import {
  BATON,
  branch,
  code,
  commitRecords,
  document,
  headOf,
  honestBranch,
  identityAfter,
  policy,
  type Scenario,
  START,
  session,
  taskFields,
  thoughtSince,
} from './scenario.ts';

const SECOND = 'identities/second/identity.yaml';

/** A second maintainer, on the branch that is checked out. */
export function secondMaintainer(place: Place): NamedKey {
  const key = newKey();
  document(place, SECOND, identityOf(place, 'second', key, { role: 'maintainer' }));
  return ['second', key];
}

/** The keys of an identity with the first of them in this state, and others before it. */
export function keysIn(place: Place, name: string, state: string, added: NamedKey[1][] = []) {
  const bytes = readFileSync(join(place.dir, `.handoff/identities/${name}/identity.yaml`));
  const [first, ...rest] = parseAs(bytes, 'identity').fields.keys;
  const fresh = added.map((key) => ({ key: publicLine(key), state: 'active' }));
  return [...fresh, { ...first!, state }, ...rest];
}

/** Documents by hand: nothing else is signed anew. */
export function setState(place: Place, name: string, state: string, added: NamedKey[1][] = []): void {
  const keys = keysIn(place, name, state, added);
  document(place, `identities/${name}/identity.yaml`, identityAfter(place, name, { keys }));
}

export function demote(place: Place, name: string): void {
  document(place, `identities/${name}/identity.yaml`, identityAfter(place, name, { role: 'agent' }));
}

export function waiverOf(commit: string): Draft[] {
  return [START, { kind: 'waiver', commit_sha: commit, reason: 'mine' }, BATON];
}

/** What would be wrong for ever, or without a rule, once it is in: THREATS 64. */
export const DEPENDENTS: Scenario[] = [
  {
    name: 'a maintainer who is one no more, with a task that nobody else has signed',
    threat: 64,
    expect: 'signer_unknown',
    build(place) {
      const second = secondMaintainer(place);
      document(place, 'tasks/P0.7.yaml', taskFields(place, 'P0.7'), [second]);
      branch(place, 'feature');
      demote(place, 'second');
    },
  },
  {
    name: 'the same, with an agent',
    isVariant: true,
    threat: 64,
    expect: 'signer_unknown',
    build(place) {
      const second = secondMaintainer(place);
      document(place, 'identities/frank/identity.yaml', identityOf(place, 'frank', newKey()), [second]);
      branch(place, 'feature');
      demote(place, 'second');
    },
  },
  {
    name: 'the same, with the project',
    isVariant: true,
    threat: 64,
    expect: 'signer_unknown',
    build(place) {
      const second = secondMaintainer(place);
      const { fields } = parseRecord(readFileSync(join(place.dir, '.handoff/project.yaml')));
      writeBytes(place.dir, '.handoff/project.yaml', signDocument({ ...fields, kind: 'project' }, [second]));
      commitRecords(place);
      branch(place, 'feature');
      demote(place, 'second');
    },
  },
  {
    name: 'the same, with the ledger',
    threat: 64,
    expect: 'ledger_inconsistent',
    async build(place) {
      await open(place).handoff.identity.add({ name: 'second', role: 'maintainer' });
      commitSealed(place, 3);
      await append(place, { as: 'second' });
      branch(place, 'feature');
      demote(place, 'second');
    },
  },
  {
    name: 'the same, with a proof under a checkpoint that nobody else has signed',
    threat: 64,
    expect: 'proof_invalid',
    async build(place) {
      await open(place).handoff.identity.add({ name: 'second', role: 'maintainer' });
      const { path, text } = await proofOf(place, 'second');
      writeBytes(place.dir, path, text);
      commitSealed(place);
      await append(place);
      branch(place, 'feature');
      demote(place, 'second');
    },
  },
  {
    name: 'a maintainer whose key was revoked before, and who is one no more, with a task that nobody else has signed',
    threat: 64,
    expect: 'signer_unknown',
    build(place) {
      const second = secondMaintainer(place);
      document(place, 'tasks/P0.7.yaml', taskFields(place, 'P0.7', { proof: 'seal' }), [second]);
      setState(place, 'second', 'revoked');
      branch(place, 'feature');
      demote(place, 'second');
    },
  },
  {
    name: 'the same, with the ledger that only the revoked key has signed',
    threat: 64,
    expect: 'ledger_inconsistent',
    async build(place) {
      await open(place).handoff.identity.add({ name: 'second', role: 'maintainer' });
      commitSealed(place, 3);
      await append(place, { as: 'second' });
      setState(place, 'second', 'revoked');
      branch(place, 'feature');
      demote(place, 'second');
    },
  },
  {
    name: 'a waiver by somebody who is a maintainer no more',
    threat: 64,
    expect: ['files_uncovered', 'signer_not_entitled', 'writeback_missing'],
    build(place) {
      const [, key] = secondMaintainer(place);
      demote(place, 'second');
      branch(place, 'feature');
      session(place, waiverOf(code(place, { 'src/evil.ts': 'evil\n' })), { identity: 'second', key, clock: 40 });
    },
  },
  {
    name: 'a record above the limit that the policy has been given',
    threat: 64,
    expect: 'too_large',
    build(place) {
      policy(place, { limits: { record_bytes: 1500, records_per_push: 10000 } });
      branch(place, 'feature');
      session(place, [START, { kind: 'note', text: 'x'.repeat(2000) }, BATON], { clock: 40 });
    },
  },
  {
    name: 'work by an agent whom only a revoked key has signed in',
    threat: 64,
    expect: ['files_uncovered', 'key_revoked', 'writeback_missing'],
    async build(place) {
      const second = secondMaintainer(place);
      const key = newKey();
      document(place, 'identities/mallory/identity.yaml', identityOf(place, 'mallory', key), [second]);
      setState(place, 'second', 'revoked');
      branch(place, 'feature');
      const base = headOf(place.dir);
      code(place, { 'src/evil.ts': 'evil\n' });
      session(place, [START, await thoughtSince(place, base), BATON], { identity: 'mallory', key, clock: 40 });
    },
  },
  {
    name: 'a task that asked for a seal is done without one, since the key that signed it is revoked',
    threat: 64,
    expect: 'key_revoked',
    async build(place) {
      const second = secondMaintainer(place);
      document(place, 'tasks/P0.1.yaml', taskFields(place, 'P0.1', { proof: 'seal' }), [second]);
      setState(place, 'second', 'revoked');
      await honestBranch(place);
    },
  },
  {
    name: 'a task that a revoked key signs',
    threat: 64,
    expect: 'key_revoked',
    build(place) {
      const second = secondMaintainer(place);
      setState(place, 'second', 'revoked');
      branch(place, 'feature');
      document(place, 'tasks/P0.7.yaml', taskFields(place, 'P0.7'), [second]);
    },
  },
  {
    name: 'a task that a key signs which the change itself revokes',
    isVariant: true,
    threat: 64,
    expect: 'key_revoked',
    build(place) {
      const second = secondMaintainer(place);
      branch(place, 'feature');
      document(place, 'tasks/P0.7.yaml', taskFields(place, 'P0.7'), [second]);
      setState(place, 'second', 'revoked');
    },
  },
];

/** What a key signs that the protected branch has retired: THREATS 67. */
export const RETIRED: Scenario[] = [
  ...['an agent', 'a task'].map(
    (what): Scenario => ({
      name: `${what} that a retired key signs`,
      isVariant: what === 'a task',
      threat: 67,
      expect: 'signer_not_entitled',
      build(place) {
        const second = secondMaintainer(place);
        setState(place, 'second', 'retired', [newKey()]);
        branch(place, 'feature');
        if (what === 'a task') document(place, 'tasks/P0.7.yaml', taskFields(place, 'P0.7'), [second]);
        else document(place, 'identities/mallory/identity.yaml', identityOf(place, 'mallory', newKey()), [second]);
      },
    }),
  ),
  {
    name: 'another key for an agent, by a retired key',
    threat: 67,
    expect: 'signer_not_entitled',
    build(place) {
      const second = secondMaintainer(place);
      setState(place, 'second', 'retired', [newKey()]);
      branch(place, 'feature');
      const keys = keysIn(place, 'donna', 'retired', [newKey()]);
      document(place, 'identities/donna/identity.yaml', identityAfter(place, 'donna', { keys }), [second]);
    },
  },
  {
    name: 'an agent that is distrusted, signed anew by a retired key',
    threat: 67,
    expect: 'signer_not_entitled',
    build(place) {
      const second = secondMaintainer(place);
      const other = newKey();
      setState(place, 'second', 'retired', [other]);
      const fields = identityOf(place, 'mallory', newKey());
      document(place, 'identities/mallory/identity.yaml', fields, [['second', other]]);
      setState(place, 'second', 'revoked');
      branch(place, 'feature');
      document(place, 'identities/mallory/identity.yaml', fields, [['second', other], second]);
    },
  },
  {
    name: 'a task that a retired key signs, beside one that the same change revokes',
    threat: 67,
    expect: 'signer_not_entitled',
    build(place) {
      const second = secondMaintainer(place);
      const other = newKey();
      setState(place, 'second', 'retired', [other]);
      branch(place, 'feature');
      document(place, 'tasks/P0.7.yaml', taskFields(place, 'P0.7'), [['second', other], second]);
      setState(place, 'second', 'revoked');
    },
  },
  {
    name: 'a waiver by a retired key',
    threat: 67,
    expect: 'signer_not_entitled',
    build(place) {
      const [, key] = secondMaintainer(place);
      setState(place, 'second', 'retired', [newKey()]);
      branch(place, 'feature');
      session(place, waiverOf(code(place, { 'src/evil.ts': 'evil\n' })), { identity: 'second', key, clock: 40 });
    },
  },
];
