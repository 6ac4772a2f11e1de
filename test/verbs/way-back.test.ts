import { describe, expect, it } from 'vitest';
import { document, identityAfter } from '../gate/scenario.ts';
import { twoMaintainers } from '../gate/two-maintainers.ts';
import type { Place } from '../handoff.ts';
import { git } from '../temporary.ts';
import { findings, reopen, template } from '../threats/forge.ts';

// Nobody is locked out: after each of these somebody has a way back, by the verbs and as they say.

const fresh = template();

async function statesOf(place: Place, name: string): Promise<string[]> {
  const { identities } = await reopen(place).handoff.identity.list();
  return identities.find(({ identity }) => identity === name)!.keys.map(({ state }) => state);
}

async function gateOf(place: Place, base: string): Promise<string[]> {
  const { findings } = await reopen(place).handoff.gate({ base, head: 'HEAD' });
  return findings.filter(({ severity }) => severity === 'error').map(({ code }) => code);
}

describe('an identity that was let jump to version 2147483647 (THREATS 57)', () => {
  it('is revoked and rotated as any other, and clones that have seen it follow', async () => {
    const place = fresh();
    document(place, 'identities/donna/identity.yaml', identityAfter(place, 'donna', { version: 2147483647 }));
    expect(await findings(place)).toEqual([]); // remembers it
    const base = git(place.dir, 'rev-parse', 'HEAD');
    await reopen(place).handoff.identity.revoke({ name: 'donna' });
    await reopen(place).handoff.identity.rotate({ name: 'donna' });
    expect(await statesOf(place, 'donna')).toEqual(['active', 'revoked']);
    expect(await gateOf(place, base)).toEqual([]);
    expect(await findings(place)).toEqual([]);
    git(place.dir, 'revert', '--no-edit', 'HEAD', 'HEAD~1');
    expect(await findings(place)).toEqual(['policy_rollback identities/donna/identity.yaml']);
  });
});

describe('a maintainer whose key is stolen, where the threshold is two (THREATS 50)', () => {
  it('lays it down alone and at once, and both have a new one signed in', async () => {
    const place = fresh();
    await twoMaintainers(place);
    const base = git(place.dir, 'rev-parse', 'HEAD');
    const here = reopen(place);
    const result = await here.handoff.identity.revoke({ name: 'second', as: 'second' });
    expect(result).toMatchObject({ pending: false, path: '.handoff/identities/second/identity.yaml' });
    expect(here.warnings.join()).toContain('git handoff identity rotate second');
    expect(await statesOf(place, 'second')).toEqual(['revoked']);
    expect(await gateOf(place, base)).toEqual([]);
    expect(await findings(place)).toEqual([]);
    await expect(reopen(place).handoff.task.add({ id: 'T1', title: 'x', as: 'second' })).rejects.toMatchObject({
      code: 'no_key',
    });
    const laid = git(place.dir, 'rev-parse', 'HEAD');
    // as the warning says
    await reopen(place).handoff.identity.rotate({ name: 'second', as: 'second' });
    await reopen(place).handoff.policy.sign({ what: ['identity/second'], as: 'maintainer' });
    expect(await statesOf(place, 'second')).toEqual(['active', 'revoked']);
    await reopen(place).handoff.policy.set({ key: 'root.keys', value: 'maintainer,second', as: 'second' });
    expect(await reopen(place).handoff.policy.sign({ as: 'maintainer' })).toMatchObject({ pending: true });
    expect(await reopen(place).handoff.policy.sign({ as: 'second' })).toMatchObject({ pending: false });
    expect(await reopen(place).handoff.policy.show()).toMatchObject({ pending: false, waiting: [], version: 4 });
    expect(await gateOf(place, laid)).toEqual([]);
    expect(await findings(place)).toEqual([]);
    await reopen(place).handoff.task.add({ id: 'T1', title: 'x', as: 'second' });
    expect(await findings(place)).toEqual([]);
  });

  it('has the key replaced in the policy, whoever of the two proposes it', async () => {
    const place = fresh();
    await twoMaintainers(place);
    await reopen(place).handoff.identity.revoke({ name: 'second', as: 'second' });
    await reopen(place).handoff.identity.rotate({ name: 'second', as: 'second' });
    await reopen(place).handoff.policy.sign({ as: 'maintainer' });
    await reopen(place).handoff.policy.set({ key: 'root.keys', value: 'maintainer,second', as: 'maintainer' });
    expect(await reopen(place).handoff.policy.sign({ as: 'second' })).toMatchObject({ pending: true }); // the old key
    expect(await reopen(place).handoff.policy.sign({ as: 'second' })).toMatchObject({ pending: false }); // the new one
    expect(await findings(place)).toEqual([]);
  });

  it('cannot lay down the key of the other', async () => {
    const place = fresh();
    await twoMaintainers(place);
    await reopen(place).handoff.identity.add({ name: 'third', role: 'maintainer', as: 'maintainer' });
    await reopen(place).handoff.policy.sign({ as: 'second' });
    const result = await reopen(place).handoff.identity.revoke({ name: 'third', as: 'second' });
    expect(result).toMatchObject({ pending: true, path: '.handoff/identities/third/pending.yaml' });
    expect(await statesOf(place, 'third')).toEqual(['active']);
    await reopen(place).handoff.policy.sign({ what: ['identity/third'], as: 'maintainer' });
    expect(await statesOf(place, 'third')).toEqual(['revoked']);
    expect(await findings(place)).toEqual([]);
  });

  it('who alone is the root does not lay it down', async () => {
    const place = fresh();
    await expect(place.handoff.identity.revoke({ name: 'maintainer', as: 'maintainer' })).rejects.toMatchObject({
      code: 'usage',
      hint: expect.stringContaining('git handoff identity rotate maintainer'),
    });
  });
});

describe('a policy that lets in one file at once', () => {
  const limit = async (place: Place, value: string) => {
    await reopen(place).handoff.policy.set({ key: 'limits.records_per_push', value, as: 'maintainer' });
    await reopen(place).handoff.policy.sign({ as: 'second' });
  };

  it('is followed by one with another limit, which takes two files where it waited for signatures', async () => {
    const place = fresh();
    await twoMaintainers(place);
    await limit(place, '1');
    const base = git(place.dir, 'rev-parse', 'HEAD');
    await reopen(place).handoff.policy.set({ key: 'limits.records_per_push', value: '100', as: 'maintainer' });
    const waits = git(place.dir, 'rev-parse', 'HEAD');
    expect(await gateOf(place, base)).toEqual([]);
    await reopen(place).handoff.policy.sign({ as: 'second' });
    expect(await gateOf(place, waits)).toEqual([]);
    expect(await gateOf(place, base)).toEqual([]);
    expect(await findings(place)).toEqual([]);
  });

  it('counts every file but these', async () => {
    const place = fresh();
    await twoMaintainers(place);
    await limit(place, '1');
    const base = git(place.dir, 'rev-parse', 'HEAD');
    await limit(place, '100');
    await reopen(place).handoff.task.add({ id: 'T1', title: 'x', as: 'second' });
    expect(await gateOf(place, base)).toEqual([]);
    await reopen(place).handoff.task.add({ id: 'T2', title: 'x', as: 'second' });
    expect(await gateOf(place, base)).toEqual(['too_large']);
  });
});

describe('a policy that protects nothing', () => {
  it('breaks neither verify nor the verbs of the ledger, and can be changed again', async () => {
    const place = fresh();
    await reopen(place).handoff.start({ as: 'donna' });
    await reopen(place).handoff.wrap({ as: 'donna', message: 'done', seal: true });
    expect(await reopen(place).handoff.ledger.append({ as: 'maintainer' })).toMatchObject({ size: 1 });
    await reopen(place).handoff.policy.set({ key: 'protected', value: 'none' });
    expect(await findings(place)).toEqual([]);
    expect(await reopen(place).handoff.ledger.verify()).toMatchObject({ valid: true, size: 1 });
    await expect(reopen(place).handoff.ledger.append({ as: 'maintainer' })).rejects.toMatchObject({
      code: 'not_protected_branch',
      hint: expect.stringContaining('policy set protected'),
    });
    await reopen(place).handoff.policy.set({ key: 'protected', value: 'refs/heads/main' });
    expect(await reopen(place).handoff.ledger.append({ as: 'maintainer' })).toMatchObject({ size: 1 });
  });
});
