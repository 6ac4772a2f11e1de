import type { KeyObject } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseAs } from '../../src/core/record/record.ts';
import { commitAll, newKey, type Place, privateKey, STORY, writeBytes, writeSession } from '../handoff.ts';
import { git } from '../temporary.ts';
import {
  findings,
  identityOf,
  policyAfter,
  policyFile,
  printOf,
  publicLine,
  reopen,
  signDocument,
  template,
} from '../threats/forge.ts';
import { open } from './agents.ts';

const fresh = template((place) => {
  writeSession(place, STORY);
  commitAll(place);
});

/** Two root principals, ada and maintainer, with a threshold of 2. */
async function twoOfTwo(): Promise<Place> {
  const place = fresh();
  await place.handoff.identity.add({ name: 'ada', role: 'maintainer' });
  await reopen(place).handoff.policy.set({ key: 'root.keys', value: 'maintainer,ada' });
  expect(
    await reopen(place)
      .handoff.policy.sign({ as: 'ada' })
      .catch((error) => error.code),
  ).toSatisfy((outcome) => outcome === 'usage' || outcome.pending === false);
  await reopen(place).handoff.policy.set({ key: 'root.threshold', value: '2', as: 'maintainer' });
  await reopen(place).handoff.policy.sign({ as: 'ada' });
  expect(await reopen(place).handoff.policy.show()).toMatchObject({ pending: false });
  expect(await findings(place)).toEqual([]);
  return place;
}

describe('policy show and set', () => {
  it('shows the version in force, and who signed it', async () => {
    const { handoff } = fresh();
    expect(await handoff.policy.show()).toMatchObject({
      version: 1,
      signed_by: ['maintainer'],
      pending: false,
      policy: { kind: 'policy', stale_after: 600 },
    });
  });

  it('with one signer a change is in force at once', async () => {
    const place = fresh();
    const result = await place.handoff.policy.set({ key: 'stale_after', value: '900' });
    expect(result).toMatchObject({
      version: 2,
      pending: false,
      signed_by: ['maintainer'],
      policy: { stale_after: 900 },
    });
    expect(result.commit).toBe(git(place.dir, 'rev-parse', 'HEAD'));
    expect(await reopen(place).handoff.policy.show()).toMatchObject({ version: 2, policy: { stale_after: 900 } });
    expect(await findings(place)).toEqual([]);
    expect(existsSync(join(place.dir, policyFile(1)))).toBe(true);
  });

  it.each([
    ['protected', 'refs/heads/main,refs/heads/release', { protected: ['refs/heads/main', 'refs/heads/release'] }],
    ['exempt', 'docs/**, *.md', { exempt: ['docs/**', '*.md'] }],
    ['exempt', '', { exempt: [] }],
    ['writeback.review', 'true', { writeback: { required: true, review: true, open_sessions: 'warning' } }],
    ['writeback.open_sessions', 'error', { writeback: { required: true, review: false, open_sessions: 'error' } }],
    ['limits.record_bytes', '65536', { limits: { record_bytes: 65536, records_per_push: 10000 } }],
    ['sections', 'now,next', { sections: ['now', 'next'] }],
  ])('%s %j', async (key, value, expected) => {
    const place = fresh();
    expect((await place.handoff.policy.set({ key, value })).policy).toMatchObject(expected);
    expect(await findings(place)).toEqual([]);
  });

  it('keys and values that the schema refuses are usage, and change nothing', async () => {
    const place = fresh();
    const wrong: [string, string][] = [
      ...[
        ['stale_after', '0'],
        ['stale_after', '-1'],
        ['stale_after', 'soon'],
        ['stale_after', ''],
        ['stale_after', '1.5'],
      ],
      ...[
        ['limits.record_bytes', '999999'],
        ['writeback.review', 'yes'],
        ['writeback.open_sessions', 'maybe'],
      ],
      ...[
        ['protected', 'main'],
        ...['a..b', '@{u}', '-x', 'x.lock', '.x', 'a//b', 'x/', 'x.'].map((name) => [
          'protected',
          `refs/heads/main,refs/heads/${name}`,
        ]),
        ['root.threshold', '0'],
        ['root.threshold', '2'],
        ['root.threshold', '1e0'],
      ],
      ...[
        ['version', '7'],
        ['nonce', 'x'],
        ['kind', 'x'],
        ['root', 'x'],
        ['writeback', 'true'],
        ['nope', '1'],
        ['writeback.nope', '1'],
      ],
      ...[
        ['', ''],
        ['root.keys.0', 'x'],
        ['__proto__', 'x'],
        ['__proto__.x', 'x'],
        ['constructor', 'x'],
        ['writeback.__proto__', 'x'],
      ],
      ...[
        ['root.keys', ''],
        ['root.keys', 'donna'],
        ['root.keys', 'maintainer,maintainer'],
      ],
    ] as [string, string][];
    for (const [key, value] of wrong) {
      await expect(place.handoff.policy.set({ key, value }), `${key} ${value}`).rejects.toMatchObject({
        code: 'usage',
        exitCode: 2,
      });
    }
    await expect(place.handoff.policy.set({ key: 'root.keys', value: 'ghost' })).rejects.toMatchObject({
      code: 'unknown_identity',
    });
    expect(git(place.dir, 'status', '--porcelain')).toBe('');
  });

  it('only a root principal may', async () => {
    const place = fresh();
    await place.handoff.identity.add({ name: 'ada', role: 'maintainer' });
    for (const as of ['ada', 'donna', 'ghost']) {
      await expect(reopen(place).handoff.policy.set({ key: 'stale_after', value: '900', as })).rejects.toMatchObject({
        code: 'not_entitled',
      });
    }
  });

  it('nothing waits: usage', async () => {
    await expect(fresh().handoff.policy.sign()).rejects.toMatchObject({ code: 'usage' });
  });
});

describe('more root keys', () => {
  it('a second root key with threshold 1: either may sign, and maintainers still hold', async () => {
    const place = fresh();
    await place.handoff.identity.add({ name: 'ada', role: 'maintainer' });
    const { pending } = await reopen(place).handoff.policy.set({ key: 'root.keys', value: 'maintainer,ada' });
    expect(pending).toBe(false);
    expect(await reopen(place).handoff.policy.set({ key: 'stale_after', value: '900', as: 'ada' })).toMatchObject({
      version: 3,
      signed_by: ['ada'],
    });
    expect(await findings(place)).toEqual([]);
    expect((await reopen(place).handoff.identity.list()).identities).toHaveLength(5);
  });

  it('a threshold of 2: a change waits, has no effect, and counts once the second has signed', async () => {
    const place = await twoOfTwo();
    const { version } = await reopen(place).handoff.policy.show();
    const set = await reopen(place).handoff.policy.set({ key: 'stale_after', value: '900', as: 'maintainer' });
    expect(set).toMatchObject({ version: version + 1, pending: true, signed_by: ['maintainer'] });
    expect(await reopen(place).handoff.policy.show()).toMatchObject({
      version,
      pending: true,
      policy: { stale_after: 600 },
    });
    expect(await reopen(place).handoff.verify()).toMatchObject({ valid: true, policy_version: version });
    await expect(reopen(place).handoff.policy.sign({ as: 'maintainer' })).rejects.toMatchObject({
      code: 'usage',
      hint: 'Yet to sign: ada',
    });
    const signed = await reopen(place).handoff.policy.sign({ as: 'ada' });
    expect(signed).toMatchObject({ version: version + 1, pending: false });
    expect([...signed.signed_by].sort()).toEqual(['ada', 'maintainer']);
    expect(await reopen(place).handoff.policy.show()).toMatchObject({
      version: version + 1,
      pending: false,
      policy: { stale_after: 900 },
    });
    expect(git(place.dir, 'status', '--porcelain')).toBe('');
    expect(git(place.dir, 'ls-files', '.handoff/policy')).not.toContain('pending');
    expect(await findings(place)).toEqual([]);
  });

  it('another change takes the place of one that waits, and whoever brings it is told', async () => {
    const place = await twoOfTwo();
    await reopen(place).handoff.policy.set({ key: 'stale_after', value: '900', as: 'maintainer' });
    const { handoff, warnings } = open(place);
    await handoff.policy.set({ key: 'stale_after', value: '901', as: 'ada' });
    expect(warnings).toEqual([
      'It takes the place of policy/4, which waited, signed by maintainer: stale_after: 600 → 900',
    ]);
    expect(await reopen(place).handoff.policy.sign({ as: 'maintainer' })).toMatchObject({
      pending: false,
      policy: { stale_after: 901 },
    });
    expect(git(place.dir, 'ls-files', '.handoff/policy')).not.toContain('pending');
  });

  it('one that needs no other signature does so too', async () => {
    const place = fresh();
    await place.handoff.identity.add({ name: 'ada', role: 'maintainer' });
    await reopen(place).handoff.policy.set({ key: 'root.keys', value: 'maintainer,ada' });
    const waiting = { key: 'root.threshold', value: '2', as: 'maintainer' };
    expect(await reopen(place).handoff.policy.set(waiting)).toMatchObject({ pending: true });
    const other = { key: 'stale_after', value: '900', as: 'maintainer' };
    expect(await reopen(place).handoff.policy.set(other)).toMatchObject({ pending: false });
    expect(git(place.dir, 'ls-files', '.handoff/policy')).not.toContain('pending');
    expect(await findings(place)).toEqual([]);
  });

  it('so it is with identities: a revocation replaces a revocation, and its own key laid down clears it away', async () => {
    const place = await twoOfTwo();
    await reopen(place).handoff.identity.add({ name: 'grace', role: 'maintainer', as: 'maintainer' });
    await reopen(place).handoff.policy.sign({ as: 'ada' });
    await reopen(place).handoff.identity.revoke({ name: 'grace', as: 'maintainer' });
    const again = open(place);
    await again.handoff.identity.revoke({ name: 'grace', as: 'ada' });
    expect(again.warnings.join()).toContain('It takes the place of identity/grace, which waited, signed by maintainer');
    await reopen(place).handoff.identity.revoke({ name: 'grace', as: 'grace' });
    expect(git(place.dir, 'ls-files', '.handoff/identities/grace')).toBe('.handoff/identities/grace/identity.yaml');
    expect(await findings(place)).toEqual([]);
  });

  it('signing without a name takes the principal who has not signed yet', async () => {
    const place = await twoOfTwo();
    await reopen(place).handoff.policy.set({ key: 'stale_after', value: '900', as: 'maintainer' });
    expect(await reopen(place).handoff.policy.sign()).toMatchObject({ pending: false });
  });

  it('a maintainer added under a threshold of 2 counts only when both have signed', async () => {
    const place = await twoOfTwo();
    const added = await reopen(place).handoff.identity.add({ name: 'grace', role: 'maintainer', as: 'maintainer' });
    expect(added).toMatchObject({ pending: true, path: '.handoff/identities/grace/pending.yaml' });
    expect((await reopen(place).handoff.identity.list()).identities.map(({ identity }) => identity)).not.toContain(
      'grace',
    );
    await expect(reopen(place).handoff.identity.add({ name: 'frank', as: 'grace' })).rejects.toMatchObject({
      code: 'unknown_identity',
    });
    expect(await findings(place)).toEqual([]);
    await reopen(place).handoff.policy.sign({ as: 'ada' });
    expect(git(place.dir, 'ls-files', '.handoff/identities/grace')).toBe('.handoff/identities/grace/identity.yaml');
    await reopen(place).handoff.identity.add({ name: 'frank', as: 'grace' });
    expect(await findings(place)).toEqual([]);
  });

  it('agents still take one maintainer', async () => {
    const place = await twoOfTwo();
    expect(await reopen(place).handoff.identity.add({ name: 'frank' })).toMatchObject({ pending: false });
    expect(await findings(place)).toEqual([]);
  });

  it('a root key rotated under a threshold of 2 waits, and the old one can sign until then', async () => {
    const place = await twoOfTwo();
    const { version } = await reopen(place).handoff.policy.show();
    expect(await reopen(place).handoff.identity.rotate({ name: 'maintainer' })).toMatchObject({ pending: true });
    expect(await findings(place)).toEqual([]);
    await reopen(place).handoff.identity.add({ name: 'frank', as: 'maintainer' });
    expect(await reopen(place).handoff.policy.sign({ as: 'ada' })).toMatchObject({
      version: version + 1,
      pending: false,
    });
    expect(await findings(place)).toEqual([]);
    const { identities } = await reopen(place).handoff.identity.list();
    expect(identities.find(({ identity }) => identity === 'maintainer')!.keys.map(({ state }) => state)).toEqual([
      'active',
      'retired',
    ]);
    await reopen(place).handoff.identity.add({ name: 'hedy', as: 'maintainer' });
    expect(await findings(place)).toEqual([]);
  });

  it('from 2 of 2 back to 1 of 1: the other can then be revoked', async () => {
    const place = await twoOfTwo();
    await reopen(place).handoff.policy.set({ key: 'root.threshold', value: '1', as: 'maintainer' });
    await reopen(place).handoff.policy.sign({ as: 'ada' });
    await reopen(place).handoff.policy.set({ key: 'root.keys', value: 'maintainer', as: 'maintainer' });
    await reopen(place).handoff.identity.revoke({ name: 'ada' });
    expect(await findings(place)).toEqual([]);
    expect(await reopen(place).handoff.policy.show()).toMatchObject({ signed_by: ['maintainer'], pending: false });
  });

  it('handing the root over to another: pending until the other has signed, then the first may go', async () => {
    const place = fresh();
    await place.handoff.identity.add({ name: 'ada', role: 'maintainer' });
    expect(await reopen(place).handoff.policy.set({ key: 'root.keys', value: 'ada' })).toMatchObject({ pending: true });
    expect(await findings(place)).toEqual([]);
    expect(await reopen(place).handoff.policy.sign({ as: 'ada' })).toMatchObject({ pending: false });
    expect(await findings(place)).toEqual([]);
    await reopen(place).handoff.identity.revoke({ name: 'maintainer', as: 'ada', resignAll: true });
    expect(await findings(place)).toEqual([]);
    await reopen(place).handoff.identity.add({ name: 'frank' });
    expect(await findings(place)).toEqual([]);
  });
});

describe('what waits and is not what it seems', () => {
  const pendingFile = (version: number) => policyFile(version).replace('.yaml', '.pending.yaml');

  it('a pending policy of another version is not signed into force', async () => {
    const place = fresh();
    writeBytes(
      place.dir,
      pendingFile(2),
      signDocument(policyAfter(place, 1, { version: 99 }), [['mallory', newKey()]]),
    );
    commitAll(place);
    await expect(reopen(place).handoff.policy.sign()).rejects.toMatchObject({ name: 'HandoffError' });
    expect(existsSync(join(place.dir, policyFile(99)))).toBe(false);
    expect(git(place.dir, 'status', '--porcelain')).toBe('');
  });

  it('a pending policy that does not follow from this one is not signed into force', async () => {
    const place = fresh();
    writeBytes(
      place.dir,
      pendingFile(2),
      signDocument(policyAfter(place, 1, { prev: `sha256:${'0'.repeat(64)}` }), [['mallory', newKey()]]),
    );
    commitAll(place);
    await expect(reopen(place).handoff.policy.sign()).rejects.toMatchObject({ name: 'HandoffError' });
    expect(await findings(place)).toEqual([]);
  });

  it('a pending file with nobody’s signature is not shown as valid', async () => {
    const place = fresh();
    const key = newKey();
    const root = { root: { threshold: 1, keys: [`mallory ${publicLine(key)}`] } };
    writeBytes(place.dir, pendingFile(2), signDocument(policyAfter(place, 1, root), [['maintainer', key]]));
    writeBytes(
      place.dir,
      '.handoff/identities/mallory/pending.yaml',
      signDocument(identityOf(place, 'mallory', key), [['maintainer', key]]),
    );
    commitAll(place);
    expect(await findings(place)).toEqual([]);
    for (const record of [pendingFile(2), '.handoff/identities/mallory/pending.yaml']) {
      expect(await reopen(place).handoff.show({ record })).toMatchObject({ valid: false, signer: null });
    }
  });

  it('an older identity is not signed over a newer one', async () => {
    const place = fresh();
    await place.handoff.identity.add({ name: 'grace', role: 'maintainer' });
    const path = '.handoff/identities/grace/identity.yaml';
    const old = readFileSync(join(place.dir, path));
    await reopen(place).handoff.identity.revoke({ name: 'grace' });
    writeBytes(place.dir, '.handoff/identities/grace/pending.yaml', old);
    commitAll(place);
    await expect(reopen(place).handoff.policy.sign()).rejects.toMatchObject({ code: 'usage' });
    expect(parseAs(readFileSync(join(place.dir, path)), 'identity').fields.version).toBe(2);
  });

  it('a maintainer whom no root principal proposed is not signed along with the rest', async () => {
    const place = await twoOfTwo();
    const mallory = signDocument(identityOf(place, 'mallory', newKey(), { role: 'maintainer' }), [
      ['mallory', newKey()],
    ]);
    writeBytes(place.dir, '.handoff/identities/mallory/pending.yaml', mallory);
    commitAll(place);
    await reopen(place).handoff.policy.set({ key: 'stale_after', value: '900', as: 'maintainer' });
    await expect(reopen(place).handoff.policy.sign({ as: 'ada' })).rejects.toMatchObject({
      code: 'signer_unknown',
      message: expect.stringContaining('mallory'),
    });
    expect(readFileSync(join(place.dir, '.handoff/identities/mallory/pending.yaml'))).toEqual(Buffer.from(mallory));
  });

  it('of several documents that wait, none is signed that was not named', async () => {
    const place = await twoOfTwo();
    await reopen(place).handoff.identity.add({ name: 'mallory', role: 'maintainer', as: 'maintainer' });
    const { version } = await reopen(place).handoff.policy.set({ key: 'stale_after', value: '900', as: 'maintainer' });
    const waiting = (await reopen(place).handoff.policy.show()).waiting!;
    expect(waiting).toMatchObject([
      { document: `policy/${version}`, kind: 'policy', version, changes: ['stale_after: 600 → 900'] },
      { document: 'identity/mallory', kind: 'identity', version: 1, signed_by: ['maintainer'] },
    ]);
    const key = printOf(privateKey(place, 'mallory'));
    expect(waiting[1]!.changes).toEqual(['name: mallory', 'role: maintainer', `key ${key}: active`]);
    await expect(reopen(place).handoff.policy.sign({ as: 'ada' })).rejects.toMatchObject({
      code: 'usage',
      hint: expect.stringContaining(
        `git handoff policy sign policy/${version} --as ada or git handoff policy sign identity/mallory --as ada`,
      ),
    });
    const signed = await reopen(place).handoff.policy.sign({ what: [`policy/${version}`], as: 'ada' });
    expect(signed).toMatchObject({ pending: false, version, signed: [{ document: `policy/${version}` }] });
    const { identities } = await reopen(place).handoff.identity.list();
    expect(identities.map(({ identity }) => identity)).not.toContain('mallory');
    expect(await findings(place)).toEqual([]);
    // only one is left, and it is shown
    const last = await reopen(place).handoff.policy.sign({ as: 'ada' });
    expect(last.signed).toMatchObject([{ document: 'identity/mallory', signed_by: ['maintainer', 'ada'] }]);
    expect(await findings(place)).toEqual([]);
  });

  it('a maintainer who only waited for the policy comes into force with it, and that is told', async () => {
    const place = await twoOfTwo();
    await place.handoff.identity.add({ name: 'olga', role: 'maintainer', as: 'ada' });
    const here = reopen(place);
    await here.handoff.policy.set({ key: 'root.threshold', value: '1', as: 'ada' });
    await here.handoff.policy.sign({ as: 'maintainer', what: ['policy/4'] });
    expect(here.warnings).toContainEqual(
      expect.stringMatching(/identity\/olga comes into force with it, signed by ada: .*role: maintainer/),
    );
    expect((await here.handoff.identity.list()).identities.map(({ identity }) => identity)).toContain('olga');
  });

  it('a line under the name of a root principal, by another key, is no signature of theirs', async () => {
    const place = await twoOfTwo();
    const fields = policyAfter(place, 3, { stale_after: 60 });
    const signers = [
      ['ada', privateKey(place, 'ada')],
      ['maintainer', newKey()],
    ] as [string, KeyObject][];
    writeBytes(place.dir, '.handoff/policy/0004.pending.yaml', signDocument(fields, signers));
    expect((await reopen(place).handoff.policy.show()).waiting).toMatchObject([{ signed_by: ['ada'] }]);
  });

  it('a document that was replaced since it was looked at is not signed by its id', async () => {
    const place = await twoOfTwo();
    await reopen(place).handoff.identity.add({ name: 'grace', role: 'maintainer', as: 'maintainer' });
    const [seen] = (await reopen(place).handoff.policy.show()).waiting!;
    const path = '.handoff/identities/grace/pending.yaml';
    const other = identityOf(place, 'grace', newKey(), { role: 'maintainer' });
    writeBytes(place.dir, path, signDocument(other, [['maintainer', privateKey(place, 'maintainer')]]));
    commitAll(place);
    await expect(reopen(place).handoff.policy.sign({ what: [seen!.id], as: 'ada' })).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringContaining('does not wait'),
    });
    const [now] = (await reopen(place).handoff.policy.show()).waiting!;
    expect(now!.id).not.toBe(seen!.id);
    const signed = await reopen(place).handoff.policy.sign({ what: [now!.id], as: 'ada' });
    expect(signed.signed).toMatchObject([{ id: now!.id, path: path.replace('pending', 'identity') }]);
    expect(await findings(place)).toEqual([]);
  });

  it('what waits in the folder of another, or is no identity, is not signed and stops nobody', async () => {
    const place = await twoOfTwo();
    const signer: [string, KeyObject] = ['maintainer', privateKey(place, 'maintainer')];
    const mallory = identityOf(place, 'mallory', newKey(), { role: 'maintainer' });
    writeBytes(place.dir, '.handoff/identities/grace/pending.yaml', signDocument(mallory, [signer]));
    writeBytes(place.dir, '.handoff/identities/hedy/pending.yaml', 'garbage\n');
    commitAll(place);
    await reopen(place).handoff.policy.set({ key: 'stale_after', value: '900', as: 'maintainer' });
    const signed = await reopen(place).handoff.policy.sign({ as: 'ada' });
    expect(signed).toMatchObject({ pending: false, signed: [{ kind: 'policy' }] });
  });

  it('one half of a rotation would leave a maintainer out, and says how to sign both', async () => {
    const place = await twoOfTwo();
    await reopen(place).handoff.identity.rotate({ name: 'maintainer' });
    const { version } = await reopen(place).handoff.policy.show();
    const command = `git handoff policy sign policy/${version + 1} identity/maintainer --as ada`;
    await expect(
      reopen(place).handoff.policy.sign({ what: [`policy/${version + 1}`], as: 'ada' }),
    ).rejects.toMatchObject({ code: 'usage', hint: expect.stringContaining(command) });
    // the other half first: then the policy takes it along, with the signatures that it has
    await reopen(place).handoff.policy.sign({ what: ['identity/maintainer'], as: 'ada' });
    expect(await findings(place)).toEqual([]);
    await reopen(place).handoff.policy.sign({ what: [`policy/${version + 1}`], as: 'ada' });
    expect(await findings(place)).toEqual([]);
    expect((await reopen(place).handoff.policy.show()).waiting).toEqual([]);
  });

  it('donna cannot sign what waits', async () => {
    const place = await twoOfTwo();
    await reopen(place).handoff.policy.set({ key: 'stale_after', value: '900', as: 'maintainer' });
    await expect(reopen(place).handoff.policy.sign({ as: 'donna' })).rejects.toMatchObject({ code: 'not_entitled' });
    expect(privateKey(place, 'donna')).toBeDefined();
  });
});

describe('a section that a policy leaves out', () => {
  it('can be set all the same, and holds no other word than its own', async () => {
    const place = fresh();
    expect((await place.handoff.policy.show()).policy.agents).toBeUndefined();
    const set = (key: string, value: string) => reopen(place).handoff.policy.set({ key, value });
    const refusal = (promise: Promise<unknown>) => promise.catch(({ code, hint }) => `${code} ${hint}`);
    expect(await refusal(set('agents.stop', 'never'))).toContain('usage');
    expect(await refusal(set('agents.go', 'on'))).toMatch(/^usage Keys: .*agents\.stop/);
    expect(await refusal(set('agents', 'block'))).toContain('usage');
    expect((await set('agents.stop', 'block')).policy.agents).toEqual({ stop: 'block' });
    expect((await set('agents.stop', 'off')).policy.agents).toEqual({ stop: 'off' });
    expect(await findings(place)).toEqual([]);
  });
});
