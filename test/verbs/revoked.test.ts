import { describe, expect, it } from 'vitest';
import { demote, secondMaintainer, setState } from '../gate/attacks-revoked.ts';
import { ground } from '../gate/ground.ts';
import { addRecord, openSession, openWorld } from '../gate/random-world.ts';
import {
  BATON,
  branch,
  checkout,
  code,
  commitRecords,
  document,
  headOf,
  identityAfter,
  judge,
  START,
  session,
  thoughtSince,
} from '../gate/scenario.ts';
import { newKey, type Place, privateKey, STORY } from '../handoff.ts';
import { commitSealed, sealedSession } from '../ledger/sealed.ts';
import { seal } from '../sealing.ts';
import { git } from '../temporary.ts';
import { publicLine, reopen, template } from '../threats/forge.ts';
import { open } from './agents.ts';

const place = template(ground);

async function errors(here: Place): Promise<string[]> {
  const { findings } = await reopen(here).handoff.verify();
  return findings.filter(({ severity }) => severity === 'error').map(({ code, path }) => `${code} ${path}`);
}

describe('the ledger after a revocation', () => {
  it('that only a revoked key signed is a warning, until somebody signs it anew', async () => {
    const here = place();
    await open(here).handoff.identity.add({ name: 'second', role: 'maintainer' });
    commitSealed(here, 2);
    await open(here).handoff.ledger.append({ as: 'second' });
    await open(here).handoff.identity.revoke({ name: 'second', as: 'maintainer' });
    const { valid, findings } = await reopen(here).handoff.verify();
    expect(valid).toBe(true);
    expect(findings).toMatchObject([{ code: 'ledger_inconsistent', severity: 'warning' }]);
    await open(here).handoff.ledger.append({ as: 'maintainer' });
    expect((await reopen(here).handoff.verify()).findings).toEqual([]);
  });

  it('may lack the seals of whoever was distrusted for a while', async () => {
    const here = place();
    await open(here).handoff.identity.add({ name: 'second', role: 'maintainer' });
    await open(here).handoff.identity.add({ name: 'frank', as: 'second' });
    commitSealed(here, 1, { identity: 'frank', key: privateKey(here, 'frank') });
    commitSealed(here, 1);
    await open(here).handoff.identity.revoke({ name: 'second', as: 'maintainer' });
    expect(await open(here).handoff.ledger.append({ as: 'maintainer' })).toMatchObject({ appended: 1 });
    await open(here).handoff.identity.resign({ document: ['frank'], as: 'maintainer' });
    expect(await errors(here)).toEqual([]);
    expect(await open(here).handoff.ledger.append({ as: 'maintainer', all: true })).toMatchObject({ appended: 1 });
    expect(await errors(here)).toEqual([]);
  });

  it('takes a seal that counts although a record under it does not', async () => {
    const here = place();
    const [, key] = secondMaintainer(here);
    const waiver = { kind: 'waiver' as const, commit_sha: headOf(here.dir), reason: 'mine' };
    sealedSession(here, { identity: 'second', key }, [STORY[0]!, waiver, seal()]);
    commitRecords(here);
    demote(here, 'second');
    expect(await open(here).handoff.ledger.append()).toMatchObject({ appended: 1 });
    expect(await errors(here)).toEqual([]);
  });
});

describe('work after a revocation', () => {
  it('a branch in review is refused, and what the hint says gets it in', async () => {
    const here = place();
    branch(here, 'feature');
    const base = headOf(here.dir);
    const commit = code(here, { 'src/a.ts': 'a\n' });
    session(here, [START, await thoughtSince(here, base), BATON], { clock: 40 });
    checkout(here, 'main');
    setState(here, 'donna', 'revoked');
    checkout(here, 'feature');
    const refused = await judge(here);
    const { hint } = refused.findings.find(({ code }) => code === 'key_revoked')!;
    const [, folder = ''] = /git rm -r --quiet (\S+),/.exec(hint)!;
    git(here.dir, 'rm', '-r', '--quiet', folder);
    git(here.dir, 'commit', '--quiet', '--no-verify', '--message', 'without what a revoked key signed');
    session(here, [START, await thoughtSince(here, base, commit), BATON], { identity: 'erin', clock: 60 });
    expect((await judge(here)).findings.filter(({ severity }) => severity === 'error')).toEqual([]);
  });

  it('a colleague is told, and goes on', async () => {
    const here = place();
    const { session_id } = await open(here).handoff.start({ as: 'donna' });
    await open(here).handoff.wrap({ as: 'donna', message: 'half way' });
    await open(here).handoff.identity.revoke({ name: 'donna' });
    const picking = open(here).handoff.pickup({ as: 'erin', fromSession: session_id });
    await expect(picking).rejects.toMatchObject({ code: 'key_revoked', hint: expect.stringContaining('git handoff') });
    const { warnings, baton } = await open(here).handoff.pickup({ as: 'erin' });
    expect(baton).toBeNull();
    expect(warnings.map(({ kind }) => kind)).toContain('key_revoked');
    const { records } = await open(here).handoff.log({ session: session_id });
    expect(records.map(({ valid, reason }) => `${valid} ${reason}`)).toEqual([
      'false key_revoked',
      'false key_revoked',
    ]);
  });

  it('what another key signed in the same session still counts', async () => {
    const here = place();
    const world = openWorld(here, 1);
    const [old, key] = [privateKey(here, 'donna'), newKey()];
    const mixed = openSession(world, 'donna', null);
    addRecord(world, mixed, START, old);
    addRecord(world, mixed, { kind: 'task', task_id: 'P0.9', status: 'in_progress' }, key);
    const keys = [
      { key: publicLine(key), state: 'active' },
      { key: publicLine(old), state: 'revoked' },
    ];
    document(here, 'identities/donna/identity.yaml', identityAfter(here, 'donna', { keys }));
    expect(await errors(here)).toEqual([]);
    const { records } = await open(here).handoff.log({ session: mixed.id });
    expect(records.map(({ seq, valid }) => `${seq} ${valid}`)).toEqual(['2 true', '1 false']);
    const { sessions } = await open(here).handoff.sessions();
    expect(sessions.map(({ session_id }) => session_id)).toContain(mixed.id);
  });
});
