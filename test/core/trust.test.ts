import { describe, expect, test } from 'vitest';
import type { YamlMap } from '../../src/core/bytes/yaml.ts';
import { attachSignatures, formatRecord } from '../../src/core/record/format.ts';
import type { Kind } from '../../src/core/record/kinds.ts';
import { type ParsedRecord, parseAs } from '../../src/core/record/record.ts';
import type { Signature } from '../../src/core/record/signed-parts.ts';
import type { KeyState } from '../../src/core/trust/key-standing.ts';
import {
  assertMaintainer,
  assertSignedByMaintainer,
  assertSucceeds,
  type Identity,
  type Policy,
  type Role,
  readIdentity,
  readPolicy,
  readPublicKey,
  rootSigners,
} from '../../src/core/trust/trust.ts';
import { errorOf, example, nodeSuite, resultOf, SUITES, signatureBy, type TestKey, testKey } from './examples.ts';

const [ada, ben, donna, con, eve] = ['ada', 'ben', 'donna', 'con-1', 'eve'].map(testKey) as [
  TestKey,
  TestKey,
  TestKey,
  TestKey,
  TestKey,
];
const DIGEST = `sha256:${'ab'.repeat(32)}`;

/** A signer by its own name, or `[name, key]`. */
type Signer = TestKey | [name: string, key: TestKey];

function signed<K extends Kind>(
  fields: YamlMap & { kind: K },
  signers: Signer[],
  spoil: (signature: Signature) => Signature = (signature) => signature,
): ParsedRecord<K> {
  const unsigned = formatRecord(fields);
  const lines = signers.map((signer) => {
    const [name, key] = Array.isArray(signer) ? signer : [signer.label, signer];
    return spoil({ ...signatureBy(unsigned, key), identity: name });
  });
  return parseAs(attachSignatures(unsigned, lines), unsigned.kind);
}

const flipped = (signature: Signature): Signature => ({
  ...signature,
  bytes: signature.bytes.map((byte, i) => (i === 5 ? byte ^ 1 : byte)),
});

function policyFields(change: YamlMap, threshold: number, roots: Signer[]): YamlMap & { kind: 'policy' } {
  const keys = roots.map((root) => (Array.isArray(root) ? `${root[0]} ${root[1].line}` : `${root.label} ${root.line}`));
  return { ...example('policy').fields, ...change, kind: 'policy', root: { threshold, keys } };
}

function policy(change: YamlMap, threshold: number, roots: Signer[], signers: Signer[]): Policy {
  return readPolicy(signed(policyFields(change, threshold, roots), signers), nodeSuite);
}

const genesis = policy({}, 2, [ada, ben, con], [ada, ben]);
const ROOT = genesis.id.slice('sha256:'.length);
const NEXT = { version: 2, prev: genesis.id, repo: ROOT, nonce: undefined };

describe('readPolicy', () => {
  test('gives the root principals with their keys', () => {
    expect(genesis).toMatchObject({ version: 1, root: { threshold: 2 } });
    expect([...genesis.root.principals]).toEqual(
      [ada, ben, con].map(({ label, bytes, fingerprint }) => [label, { bytes, fingerprint }]),
    );
  });

  test.each<[string, number, Signer[], string, string]>([
    ['M21: a threshold above the number of keys', 3, [ada, ben], 'a threshold from 1 to 2', '3'],
    ['M21: a principal twice', 1, [ada, ['ada', ben]], 'each principal once', 'ada twice'],
    ['M21: a key under two names', 1, [ada, ['ben', ada]], 'each key once', `${ada.fingerprint} twice`],
    ['M21: the same line twice, to reach a threshold', 2, [ada, ada], 'each principal once', 'ada twice'],
  ])('%s', (_, threshold, roots, expected, found) => {
    const error = errorOf(() => policy({}, threshold, roots, [ada]));
    expect({ code: error.code, ...error.data }).toEqual({ code: 'policy_invalid', expected, found });
  });

  test.each([0, 256])('M21: a threshold of %i is refused by the schema', (threshold) => {
    expect(errorOf(() => policy({}, threshold, [ada], [ada])).code).toBe('schema_invalid');
  });
});

describe('assertSucceeds: genesis', () => {
  test.each<[string, Policy | (() => Policy), string]>([
    ['signed by its threshold', genesis, 'valid'],
    ['signed by more', policy({}, 2, [ada, ben, con], [ada, ben, con]), 'valid'],
    ['signed by strangers too', policy({}, 1, [ada], [eve, ada, donna]), 'valid'],
    ['M22: version 2', policy({ version: 2 }, 1, [ada], [ada]), 'policy_invalid'],
    ['M22: a prev', policy({ prev: DIGEST }, 1, [ada], [ada]), 'policy_invalid'],
    ['M22: a repo', policy({ repo: ROOT }, 1, [ada], [ada]), 'policy_invalid'],
    ['M22: no nonce', policy({ nonce: undefined }, 1, [ada], [ada]), 'policy_invalid'],
    ['M22: one signature of two', policy({}, 2, [ada, ben], [ada]), 'policy_invalid'],
    ['M22: nobody we know', policy({}, 1, [ada], [eve]), 'policy_invalid'],

    ['M23: one key under two names', policy({}, 2, [ada, ben], [ada, ['ben', ada]]), 'policy_invalid'],
    ['M23: the right key under a wrong name', policy({}, 1, [ada], [['eve', ada]]), 'policy_invalid'],
    ['M23: the right name over a wrong key', policy({}, 1, [ada], [['ada', eve]]), 'policy_invalid'],
  ])('%s', async (_, found, expected) => {
    expect(await resultOf(() => assertSucceeds(found as Policy, null, null, nodeSuite))).toBe(expected);
  });
});

describe('assertSucceeds: the next version', () => {
  test.each<[string, Policy, string]>([
    ['signed by the threshold of both', policy(NEXT, 2, [ada, ben, con], [ada, con]), 'valid'],
    ['with other root keys, signed by old and new', policy(NEXT, 1, [eve], [ada, ben, eve]), 'valid'],
    ['with a lower threshold, signed by the old one', policy(NEXT, 1, [ada, ben], [ada, ben]), 'valid'],
    [
      'a principal with a new key, signed by both keys',
      policy(NEXT, 2, [['ada', eve], ben], [['ada', eve], ['ada', ada], ben]),
      'valid',
    ],
    ['M23: the same version', policy({ ...NEXT, version: 1 }, 1, [ada], [ada, ben]), 'policy_invalid'],
    ['M23: a version skipped', policy({ ...NEXT, version: 3 }, 1, [ada], [ada, ben]), 'policy_invalid'],
    ['M23: another predecessor', policy({ ...NEXT, prev: DIGEST }, 1, [ada], [ada, ben]), 'policy_invalid'],
    ['M23: no predecessor', policy({ ...NEXT, prev: null }, 1, [ada], [ada, ben]), 'policy_invalid'],
    ['M23: another repository', policy({ ...NEXT, repo: 'ab'.repeat(32) }, 1, [ada], [ada, ben]), 'policy_invalid'],
    ['M23: no repository', policy({ ...NEXT, repo: undefined }, 1, [ada], [ada, ben]), 'policy_invalid'],
    ['M22: another nonce', policy({ ...NEXT, nonce: '00'.repeat(16) }, 1, [ada], [ada, ben]), 'policy_invalid'],
    ['M23: not by the old threshold: a lower one does not count yet', policy(NEXT, 1, [ada], [ada]), 'policy_invalid'],
    ['M23: not by the new threshold', policy(NEXT, 2, [ada, ben, eve].slice(1), [ada, ben]), 'policy_invalid'],
    ['M23: by a principal who comes with it', policy(NEXT, 2, [ada, eve], [ada, eve]), 'policy_invalid'],
    [
      'M23: by the new key of an old principal only',
      policy(NEXT, 2, [['ada', eve], ben], [['ada', eve], ben]),
      'policy_invalid',
    ],
  ])('%s', async (_, found, expected) => {
    expect(await resultOf(() => assertSucceeds(found, genesis, ROOT, nodeSuite))).toBe(expected);
  });

  test.each(Object.entries(SUITES))(
    'M28: with %s, a wrong signature under a trusted key is never ignored',
    async (_, suite) => {
      const good = policyFields(NEXT, 2, [ada, ben, con]);
      const unsigned = formatRecord(good);
      const lines = [ada, ben, con].map((key) => signatureBy(unsigned, key));
      const spoilt = parseAs(attachSignatures(unsigned, [...lines.slice(0, 2), flipped(lines[2]!)]), 'policy');
      expect(await resultOf(() => assertSucceeds(readPolicy(spoilt, suite), genesis, ROOT, suite))).toBe(
        'signature_invalid',
      );
      const stranger = parseAs(
        attachSignatures(unsigned, [...lines.slice(0, 2), flipped(signatureBy(unsigned, eve))]),
        'policy',
      );
      expect(await resultOf(() => assertSucceeds(readPolicy(stranger, suite), genesis, ROOT, suite))).toBe('valid');
    },
  );

  test('says whose signatures are missing', async () => {
    const next = policy(NEXT, 2, [ada, ben], [ada]);
    await expect(assertSucceeds(next, genesis, ROOT, nodeSuite)).rejects.toMatchObject({
      data: { expected: '2 signatures by root principals of version 1', found: '1' },
    });
  });
});

test('rootSigners counts each principal once, in the order of the lines', async () => {
  const document = signed(policyFields({}, 1, [ada]), [ben, eve, ada, ['ada', eve]]);
  expect([...(await rootSigners(document, genesis.root, nodeSuite))]).toEqual(['ben', 'ada']);
});

const MAINTAINER_FIELDS = identityFields('ada', 'maintainer', [[ada, 'active']]);

function identityFields(name: string, role: Role, keys: [TestKey, KeyState][]): YamlMap & { kind: 'identity' } {
  return {
    ...example('identity').fields,
    kind: 'identity',
    name,
    role,
    keys: keys.map(([key, state]) => ({ key: key.line, state })),
    skill: undefined,
  };
}

function identity(name: string, role: Role, keys: [TestKey, KeyState][], signers: Signer[] = [ada]): Identity {
  return readIdentity(signed(identityFields(name, role, keys), signers), nodeSuite);
}

describe('readIdentity', () => {
  test('gives name, role and keys with their states', () => {
    const found = identity('donna', 'bot', [
      [donna, 'active'],
      [eve, 'revoked'],
    ]);
    expect(found).toMatchObject({ name: 'donna', role: 'bot' });
    expect(found.keys.map(({ fingerprint, state }) => [fingerprint, state])).toEqual([
      [donna.fingerprint, 'active'],
      [eve.fingerprint, 'revoked'],
    ]);
  });

  test('M29: a key listed twice is refused: which of its states would count?', () => {
    const error = errorOf(() =>
      identity('donna', 'agent', [
        [donna, 'active'],
        [donna, 'revoked'],
      ]),
    );
    expect(error.code).toBe('signer_not_entitled');
    expect(error.data).toEqual({ expected: 'each key once', found: donna.fingerprint });
  });

  test('readPublicKey knows the fingerprint that people know', () => {
    expect(readPublicKey(ada.line, nodeSuite)).toEqual({ bytes: ada.bytes, fingerprint: ada.fingerprint });
  });
});

describe('assertMaintainer', () => {
  test.each<[string, Signer[], string]>([
    ['signed by the threshold of root principals', [ada, ben], 'valid'],
    ['signed by strangers too', [eve, ben, con], 'valid'],
    ['M26: by fewer', [ada], 'signer_unknown'],
    ['M26: by one of them under two names', [ada, ['ben', ada]], 'signer_unknown'],
    ['M26: by strangers', [eve, donna], 'signer_unknown'],
  ])('%s', async (_, signers, expected) => {
    const found = readIdentity(signed(MAINTAINER_FIELDS, signers), nodeSuite);
    expect(await resultOf(() => assertMaintainer(found, genesis, nodeSuite))).toBe(expected);
  });

  test('M28: a wrong signature under a root key is refused', async () => {
    const found = readIdentity(signed(MAINTAINER_FIELDS, [ada, ben, con], flipped), nodeSuite);
    expect(await resultOf(() => assertMaintainer(found, genesis, nodeSuite))).toBe('signature_invalid');
  });
});

describe('assertSignedByMaintainer', () => {
  const people = new Map(
    [
      identity('ada', 'maintainer', [
        [ada, 'active'],
        [con, 'revoked'],
      ]),
      identity('ben', 'maintainer', [[ben, 'retired']]),
      identity('donna', 'agent', [[donna, 'active']]),
    ].map((person) => [person.name, person]),
  );
  const project = example('project').fields;

  test.each<[string, Signer[], string]>([
    ['by a maintainer', [ada], 'valid'],
    ['by a key that was retired', [ben], 'valid'],
    ['by a stranger and a maintainer', [eve, ada], 'valid'],
    ['by a revoked key and a good one', [['ada', con], ben], 'valid'],
    ['M27: by an agent', [donna], 'signer_unknown'],
    ['M27: by a stranger', [eve], 'signer_unknown'],
    ['M27: by a stranger who takes the name of a maintainer', [['ada', eve]], 'signer_unknown'],
    ['M27: by a maintainer under the name of another', [['ben', ada]], 'signer_unknown'],
    ['M30: by a revoked key', [['ada', con]], 'key_revoked'],
  ])('%s', async (_, signers, expected) => {
    expect(await resultOf(() => assertSignedByMaintainer(signed(project, signers), people, nodeSuite))).toBe(expected);
  });

  test.each(Object.entries(SUITES))(
    'M28: with %s, a wrong signature under a trusted key is refused',
    async (_, suite) => {
      expect(await resultOf(() => assertSignedByMaintainer(signed(project, [ada], flipped), people, suite))).toBe(
        'signature_invalid',
      );
      expect(
        await resultOf(() => assertSignedByMaintainer(signed(project, [['ada', con]], flipped), people, suite)),
      ).toBe('signature_invalid');
    },
  );

  test('M17: the signature of one kind is none of another', async () => {
    const document = signed(project, [ada]);
    const forged = { ...document, kind: 'task-definition' as Kind } as ParsedRecord;
    expect(await resultOf(() => assertSignedByMaintainer(forged, people, nodeSuite))).toBe('signature_invalid');
  });

  test('says who signed instead', async () => {
    await expect(assertSignedByMaintainer(signed(project, [eve]), people, nodeSuite)).rejects.toMatchObject({
      data: { expected: 'a maintainer', found: `eve ${eve.fingerprint}` },
    });
  });
});
