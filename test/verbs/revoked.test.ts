import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { demote, secondMaintainer, setState } from '../gate/attacks-revoked.ts';
import { skilled } from '../gate/attacks-unsigned.ts';
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
import { newKey, type Place, privateKey, STORY, writeBytes } from '../handoff.ts';
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

/** A second maintainer, whose key a thief has by the end of it, and what the thief signed in. */
async function stolen(here: Place): Promise<void> {
  await open(here).handoff.identity.add({ name: 'second', role: 'maintainer' });
  code(here, { 'README.md': 'hello\n' });
  await open(here).handoff.identity.add({ name: 'mallory', as: 'second' });
}

const MALLORY = '.handoff/identities/mallory/identity.yaml';

describe('a date at which the key was in good hands', () => {
  it('is no tag of that name, which anybody may push', async () => {
    const here = place();
    await stolen(here);
    git(here.dir, 'tag', '2001-01-01');
    const revoking = open(here).handoff.identity.revoke({ name: 'second', as: 'maintainer', since: '2001-01-01' });
    await expect(revoking).rejects.toMatchObject({ code: 'unknown_commit' });
  });

  it('is not that which a commit gives itself, on top of newer ones', async () => {
    const here = place();
    await stolen(here);
    const [tree, parent] = git(here.dir, 'rev-parse', 'HEAD^{tree}', 'HEAD^').split('\n') as [string, string];
    const person = 'm <m@example.com> 978307200 +0000';
    const text = `tree ${tree}\nparent ${parent}\nauthor ${person}\ncommitter ${person}\n\nhandoff: sign in mallory\n`;
    writeFileSync(join(here.dir, '..', 'commit'), text);
    git(
      here.dir,
      'reset',
      '--quiet',
      git(here.dir, 'hash-object', '-t', 'commit', '-w', join(here.dir, '..', 'commit')),
    );
    const revoking = open(here).handoff.identity.revoke({ name: 'second', as: 'maintainer', since: '2001-06-01' });
    await expect(revoking).rejects.toMatchObject({ code: 'unknown_commit' });
  });

  it('is told as the commit that it is taken to be', async () => {
    const here = place();
    await stolen(here);
    const there = open(here);
    const revoking = there.handoff.identity.revoke({ name: 'second', as: 'maintainer', since: '2099-01-01' });
    const head = headOf(here.dir).slice(0, 12);
    expect(await revoking).toMatchObject({ resigned: [MALLORY] });
    expect(there.warnings).toEqual([expect.stringContaining(head)]);
  });
});

describe('the skill of an agent whom a stolen key has changed', () => {
  const skill = '.handoff/identities/donna/skill.md';

  /** By the thief. */
  function deprave(here: Place): void {
    writeBytes(here.dir, skill, 'careless\n');
    const digest = `sha256:${createHash('sha256').update('careless\n').digest('hex')}`;
    const fields = identityAfter(here, 'donna', { skill: digest });
    document(here, 'identities/donna/identity.yaml', fields, [['second', privateKey(here, 'second')]]);
  }

  it.each([true, false])('is set back with the agent, where there was one before: %s', async (isSkilled) => {
    const here = place();
    await open(here).handoff.identity.add({ name: 'second', role: 'maintainer' });
    if (isSkilled) skilled(here);
    const since = headOf(here.dir);
    deprave(here);
    branch(here, 'feature');
    await open(here).handoff.identity.revoke({ name: 'second', as: 'maintainer', since });
    expect(existsSync(join(here.dir, skill)) && readFileSync(join(here.dir, skill), 'utf8')).toBe(
      isSkilled && 'careful\n',
    );
    expect((await judge(here)).findings).toEqual([]);
    expect(await errors(here)).toEqual([]);
  });

  it('is no error while the agent is distrusted', async () => {
    const here = place();
    await open(here).handoff.identity.add({ name: 'second', role: 'maintainer' });
    deprave(here);
    await open(here).handoff.identity.revoke({ name: 'second', as: 'maintainer' });
    expect(await errors(here)).toEqual([]);
  });
});
