import { execFileSync, spawnSync } from 'node:child_process';
import { createPrivateKey } from 'node:crypto';
import { chmodSync, copyFileSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parseRecord } from '../../src/core/record/record.ts';
import { identityKeygen } from '../../src/verbs/setup/identity-keygen.ts';
import { commitAll, newKey, type Place, privateKey, STORY, writeBytes, writeSession } from '../handoff.ts';
import { git, isolatedEnv, temporaryDirectory } from '../temporary.ts';
import { codes, commitAndFind, findings, printOf, publicLine, reopen, template } from '../threats/forge.ts';

const fresh = template();

const states = async (place: Place) =>
  Object.fromEntries(
    (await reopen(place).handoff.identity.list()).identities.map(({ identity, keys }) => [
      identity,
      keys.map(({ state }) => state),
    ]),
  );

function publicKeyFile(place: Place, line: string): string {
  const path = join(place.dir, '..', 'key.pub');
  writeFileSync(path, line);
  return path;
}

describe('identity add', () => {
  it('signs in an agent with a key made here; its records verify', async () => {
    const place = fresh();
    const result = await place.handoff.identity.add({ name: 'frank' });
    expect(result).toEqual({
      identity: 'frank',
      role: 'agent',
      fingerprint: printOf(privateKey(place, 'frank')),
      path: '.handoff/identities/frank/identity.yaml',
      signed_by: ['maintainer'],
      commit: git(place.dir, 'rev-parse', 'HEAD'),
      pending: false,
    });
    writeSession(place, STORY, { identity: 'frank' });
    expect(await commitAndFind(place)).toEqual([]);
  });

  it('takes a .pub file with a comment, and leaves the comment out', async () => {
    const place = fresh();
    const key = newKey();
    const result = await place.handoff.identity.add({
      name: 'frank',
      key: publicKeyFile(place, `${publicLine(key)} frank@laptop\n`),
    });
    expect(result.fingerprint).toBe(printOf(key));
    expect(readFileSync(join(place.dir, result.path), 'utf8')).not.toContain('laptop');
    expect(readdirSync(join(place.keys, place.root.slice(0, 12)))).not.toContain('frank.pem');
  });

  it('takes the key that keygen made before', async () => {
    const place = fresh();
    const { fingerprint } = await place.handoff.identity.keygen({ name: 'frank' });
    expect(await place.handoff.identity.add({ name: 'frank' })).toMatchObject({ fingerprint });
  });

  it.each([
    ['an RSA key', 'ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAAAgQ== x\n'],
    ['two lines', `${publicLine(newKey())}\n${publicLine(newKey())}\n`],
    ['nothing', ''],
    ['a key cut short', publicLine(newKey()).slice(0, -8)],
    ['options before the key', `no-pty ${publicLine(newKey())}`],
  ])('refuses %s', async (_, text) => {
    const place = fresh();
    await expect(place.handoff.identity.add({ name: 'frank', key: publicKeyFile(place, text) })).rejects.toMatchObject({
      code: 'usage',
    });
    await expect(place.handoff.identity.add({ name: 'frank', key: '/no/such.pub' })).rejects.toMatchObject({
      code: 'usage',
    });
    expect(git(place.dir, 'status', '--porcelain')).toBe('');
  });

  it('refuses a name that is taken and a key that is used, in whatever state', async () => {
    const place = fresh();
    await expect(place.handoff.identity.add({ name: 'donna' })).rejects.toMatchObject({ code: 'usage' });
    const old = publicKeyFile(place, publicLine(privateKey(place, 'donna')));
    await expect(place.handoff.identity.add({ name: 'frank', key: old })).rejects.toMatchObject({ code: 'usage' });
    await place.handoff.identity.rotate({ name: 'donna' });
    await expect(place.handoff.identity.add({ name: 'frank', key: old })).rejects.toMatchObject({ code: 'usage' });
  });

  it('only a maintainer may: not_entitled, unknown_identity, no_key', async () => {
    const place = fresh();
    const { identity } = reopen(place).handoff;
    await expect(identity.add({ name: 'frank', as: 'donna' })).rejects.toMatchObject({ code: 'not_entitled' });
    await expect(identity.add({ name: 'frank', as: 'ghost' })).rejects.toMatchObject({ code: 'unknown_identity' });
    rmSync(join(place.keys, place.root.slice(0, 12), 'maintainer.pem'));
    await expect(identity.add({ name: 'frank' })).rejects.toMatchObject({
      code: 'no_key',
      hint: expect.stringContaining('HANDOFF_KEYS'),
    });
    expect(git(place.dir, 'status', '--porcelain')).toBe('');
  });

  it('a second maintainer signs in agents too', async () => {
    const place = fresh();
    await place.handoff.identity.add({ name: 'ada', role: 'maintainer' });
    await reopen(place).handoff.identity.add({ name: 'frank', as: 'ada' });
    const { signatures } = parseRecord(readFileSync(join(place.dir, '.handoff/identities/frank/identity.yaml')));
    expect(signatures.map(({ identity }) => identity)).toEqual(['ada']);
    expect(await findings(place)).toEqual([]);
  });

  it('before init: not_initialised; in a bare repository: usage', async () => {
    const dir = join(temporaryDirectory(), 'x');
    git('/', 'init', '--quiet', dir);
    const place = fresh();
    await expect(reopen(place, dir).handoff.identity.add({ name: 'frank' })).rejects.toMatchObject({
      code: 'not_initialised',
      exitCode: 4,
    });
    const bare = join(place.dir, '..', 'bare.git');
    git('/', 'clone', '--quiet', '--bare', place.dir, bare);
    await expect(reopen(place, bare).handoff.identity.add({ name: 'frank' })).rejects.toMatchObject({ code: 'usage' });
    expect((await reopen(place, bare).handoff.identity.list()).identities).toHaveLength(4);
  });

  it('--no-commit, --stage and --no-stage', async () => {
    const place = fresh();
    const head = git(place.dir, 'rev-parse', 'HEAD');
    await place.handoff.identity.add({ name: 'frank', commit: false, stage: true });
    await place.handoff.identity.add({ name: 'grace', stage: false });
    await place.handoff.identity.add({ name: 'heidi', commit: false });
    expect(git(place.dir, 'status', '--porcelain')).toBe(
      'A  .handoff/identities/frank/identity.yaml\n?? .handoff/identities/grace/\n?? .handoff/identities/heidi/',
    );
    expect(git(place.dir, 'rev-parse', 'HEAD')).toBe(head);
    expect(await findings(place, { staged: true })).toEqual([]);
  });
});

describe('identity keygen', () => {
  it('signs nothing in', async () => {
    const place = fresh();
    const result = await place.handoff.identity.keygen({ name: 'frank' });
    expect(result).toEqual({
      identity: 'frank',
      fingerprint: printOf(createPrivateKey(readFileSync(result.path))),
      public_key: expect.stringMatching(/^ssh-ed25519 \S{68} frank$/),
      path: join(place.keys, place.root.slice(0, 12), 'frank.pem'),
      signed_in: false,
      state: null,
    });
    expect(git(place.dir, 'status', '--porcelain')).toBe('');
    expect(await states(place)).not.toHaveProperty('frank');
  });

  it('of a key that is there: shows its public line again, and leaves it alone', async () => {
    const place = fresh();
    const first = await place.handoff.identity.keygen({ name: 'frank' });
    const bytes = readFileSync(first.path);
    expect(await reopen(place).handoff.identity.keygen({ name: 'frank' })).toEqual(first);
    expect(readFileSync(first.path)).toEqual(bytes);
    expect(first).toMatchObject({ signed_in: false, state: null });
    await reopen(place).handoff.identity.add({ name: 'frank' });
    expect(await reopen(place).handoff.identity.keygen({ name: 'frank' })).toMatchObject({ state: 'active' });
  });

  it('of somebody who is signed in: the key is to be rotated in, not added', async () => {
    const place = fresh();
    rmSync(join(place.keys, place.root.slice(0, 12), 'donna.pem'));
    await expect(reopen(place).handoff.start({ as: 'donna' })).rejects.toMatchObject({
      code: 'no_key',
      hint: expect.stringContaining('git handoff identity rotate donna --key donna.pub'),
    });
    const { public_key, signed_in } = await place.handoff.identity.keygen({ name: 'donna' });
    expect(signed_in).toBe(true);
    await reopen(place).handoff.identity.rotate({ name: 'donna', key: publicKeyFile(place, public_key) });
    await reopen(place).handoff.start({ as: 'donna' });
  });

  it('outside a repository the key serves every repository', async () => {
    const place = fresh();
    const { path, fingerprint } = await identityKeygen({ repository: null, env: place.env }, { name: 'frank' });
    expect(path).toBe(join(place.keys, 'frank.pem'));
    expect(await place.handoff.identity.add({ name: 'frank' })).toMatchObject({ fingerprint });
  });
});

describe('identity rotate', () => {
  it('of an agent: what the old key signed stands, the new key signs on', async () => {
    const place = fresh();
    writeSession(place, STORY);
    commitAll(place);
    const old = privateKey(place, 'donna');
    const result = await place.handoff.identity.rotate({ name: 'donna' });
    expect(result.fingerprint).toBe(printOf(privateKey(place, 'donna')));
    expect(result.fingerprint).not.toBe(printOf(old));
    expect(result.retired).toEqual([printOf(old)]);
    expect((await states(place)).donna).toEqual(['active', 'retired']);
    writeSession(place, STORY);
    expect(await commitAndFind(place)).toEqual([]);
    const { fields } = parseRecord(readFileSync(join(place.dir, result.path)));
    expect(fields).toMatchObject({ version: 2, prev: expect.stringMatching(/^sha256:/) });
  });

  it('keeps the old private key under another name, and twice', async () => {
    const place = fresh();
    await place.handoff.identity.rotate({ name: 'donna' });
    await reopen(place).handoff.identity.rotate({ name: 'donna' });
    const names = readdirSync(join(place.keys, place.root.slice(0, 12))).filter((name) => name.startsWith('donna'));
    expect(names).toHaveLength(3);
    expect(names.filter((name) => name.includes('.retired-'))).toHaveLength(2);
    expect((await states(place)).donna).toEqual(['active', 'retired', 'retired']);
  });

  it('the old key signs a new record: nothing but order could tell, so verify takes it; no verb signs with it', async () => {
    const place = fresh();
    const old = privateKey(place, 'donna');
    await place.handoff.identity.rotate({ name: 'donna' });
    writeSession(place, STORY, { key: old });
    expect(await commitAndFind(place)).toEqual([]);
  });

  it('of a root maintainer: policy 2, and everything still verifies and can be changed', async () => {
    const place = fresh();
    await place.handoff.identity.add({ name: 'ada', role: 'maintainer' });
    writeSession(place, STORY);
    commitAll(place);
    expect(await findings(place)).toEqual([]);
    const result = await reopen(place).handoff.identity.rotate({ name: 'maintainer' });
    expect(result).toMatchObject({ identity: 'maintainer', role: 'maintainer', pending: false });
    expect(await findings(place)).toEqual([]);
    const { handoff } = reopen(place);
    expect(await handoff.verify()).toMatchObject({ policy_version: 2, root: place.root });
    expect((await states(place)).maintainer).toEqual(['active', 'retired']);
    await handoff.identity.add({ name: 'frank' });
    await handoff.policy.set({ key: 'stale_after', value: '700' });
    await reopen(place).handoff.identity.rotate({ name: 'maintainer' });
    expect(await findings(place)).toEqual([]);
    expect((await reopen(place).handoff.verify()).policy_version).toBe(4);
  });

  it('with --key of a key that is elsewhere', async () => {
    const place = fresh();
    const key = newKey();
    await place.handoff.identity.rotate({ name: 'donna', key: publicKeyFile(place, publicLine(key)) });
    writeSession(place, STORY, { key });
    expect(await commitAndFind(place)).toEqual([]);
  });

  it('without the old key here: no_key, and nothing changes', async () => {
    const place = fresh();
    rmSync(join(place.keys, place.root.slice(0, 12), 'donna.pem'));
    await expect(place.handoff.identity.rotate({ name: 'donna' })).rejects.toMatchObject({ code: 'no_key' });
    expect(git(place.dir, 'status', '--porcelain')).toBe('');
    expect(readdirSync(join(place.keys, place.root.slice(0, 12)))).not.toContain('donna.pem.new');
  });

  it('where no maintainer has a key here, it prints the line that one signs in elsewhere, and the old key signs until then', async () => {
    const place = fresh();
    const folder = join(place.keys, place.root.slice(0, 12));
    const elsewhere = join(place.dir, '..', 'maintainer.pem');
    renameSync(join(folder, 'maintainer.pem'), elsewhere);
    const before = git(place.dir, 'rev-parse', 'HEAD');
    const asked = await reopen(place).handoff.identity.rotate({ name: 'donna' });
    expect(asked).toMatchObject({ pending: true, commit: null, retired: [], path: join(folder, 'donna.pem.new') });
    expect(await reopen(place).handoff.identity.rotate({ name: 'donna' })).toEqual(asked);
    expect(git(place.dir, 'rev-parse', 'HEAD')).toBe(before);
    await reopen(place).handoff.start({ as: 'donna' });
    await reopen(place).handoff.wrap({ as: 'donna', message: 'By the old key.' });

    renameSync(elsewhere, join(folder, 'maintainer.pem'));
    const key = publicKeyFile(place, asked.public_key!);
    expect(await reopen(place).handoff.identity.rotate({ name: 'donna', key })).toMatchObject({ pending: false });
    renameSync(join(folder, 'maintainer.pem'), elsewhere);
    const { session_id } = await reopen(place).handoff.pickup({ as: 'donna' });
    const { records } = await reopen(place).handoff.log({ session: session_id });
    expect(records).toMatchObject([{ kind: 'pickup', valid: true }]);
    expect((await reopen(place).handoff.show({ record: records[0]!.id })).signer).toMatchObject({
      fingerprint: asked.fingerprint,
    });
    expect(await findings(place)).toEqual([]);
  });

  it('after a revocation, on its own machine: keygen says what became of the key, and rotate asks for the next one', async () => {
    const place = fresh();
    await place.handoff.identity.revoke({ name: 'donna' });
    const folder = join(place.keys, place.root.slice(0, 12));
    const elsewhere = join(place.dir, '..', 'maintainer.pem');
    renameSync(join(folder, 'maintainer.pem'), elsewhere);
    await expect(reopen(place).handoff.start({ as: 'donna' })).rejects.toMatchObject({
      code: 'no_key',
      hint: expect.stringContaining('git handoff identity rotate donna on its own machine'),
    });
    expect(await reopen(place).handoff.identity.keygen({ name: 'donna' })).toMatchObject({ state: 'revoked' });
    const asked = await reopen(place).handoff.identity.rotate({ name: 'donna' });
    expect(asked).toMatchObject({ pending: true, signs: false });
    renameSync(elsewhere, join(folder, 'maintainer.pem'));
    const key = publicKeyFile(place, asked.public_key!);
    await reopen(place).handoff.identity.rotate({ name: 'donna', key });
    expect(await reopen(place).handoff.start({ as: 'donna' })).toMatchObject({ identity: 'donna' });
  });

  it('by somebody who is named and whose key is not here is refused, whoever else could ask', async () => {
    const place = fresh();
    rmSync(join(place.keys, place.root.slice(0, 12), 'maintainer.pem'));
    const rotated = place.handoff.identity.rotate({ name: 'donna', as: 'maintainer' });
    await expect(rotated).rejects.toMatchObject({ code: 'no_key' });
    expect(readdirSync(join(place.keys, place.root.slice(0, 12)))).not.toContain('donna.pem.new');
  });

  it('that a hook stopped can be run again', async () => {
    const place = fresh();
    const hook = join(place.dir, '.git/hooks/commit-msg');
    writeFileSync(hook, '#!/bin/sh\nexit 1\n');
    chmodSync(hook, 0o755);
    await expect(place.handoff.identity.rotate({ name: 'donna' })).rejects.toMatchObject({ code: 'io' });
    rmSync(hook);
    await reopen(place).handoff.identity.rotate({ name: 'donna' });
    commitAll(place);
    writeSession(place, STORY, { key: privateKey(place, 'donna') });
    expect(await commitAndFind(place)).toEqual([]);
  });
});

describe('identity revoke', () => {
  it('of an agent: everything it signed is key_revoked; others stand; a new key may follow', async () => {
    const place = fresh();
    writeSession(place, STORY);
    writeSession(place, STORY, { identity: 'erin' });
    commitAll(place);
    const result = await place.handoff.identity.revoke({ name: 'donna' });
    expect(result).toMatchObject({
      identity: 'donna',
      revoked: [printOf(privateKey(place, 'donna'))],
      resigned: [],
      withdrawn: [],
      distrusted: [],
    });
    const found = await findings(place);
    expect(found).toHaveLength(STORY.length);
    expect(found.every((line) => line.startsWith('key_revoked sessions/donna/'))).toBe(true);
    expect((await states(place)).donna).toEqual(['revoked']);
    const key = newKey();
    const rotated = reopen(place).handoff.identity.rotate({
      name: 'donna',
      key: publicKeyFile(place, publicLine(key)),
    });
    expect(await rotated).toMatchObject({ retired: [] });
    expect((await states(place)).donna).toEqual(['active', 'revoked']);
  });

  it('of one key by its fingerprint, retired ones too', async () => {
    const place = fresh();
    const old = printOf(privateKey(place, 'donna'));
    await place.handoff.identity.rotate({ name: 'donna' });
    const { handoff } = reopen(place);
    await expect(handoff.identity.revoke({ name: 'donna', key: 'SHA256:nope' })).rejects.toMatchObject({
      code: 'usage',
      hint: expect.stringContaining(old),
    });
    expect(await handoff.identity.revoke({ name: 'donna', key: old })).toMatchObject({ revoked: [old] });
    expect((await states(place)).donna).toEqual(['active', 'revoked']);
  });

  it('is a warning for what it signed, and an error for whoever wants it so', async () => {
    const place = fresh();
    writeSession(place, STORY);
    commitAll(place);
    await place.handoff.identity.revoke({ name: 'donna' });
    const { valid, findings: found } = await reopen(place).handoff.verify();
    expect(valid).toBe(true);
    expect(found.map(({ code, severity }) => `${code} ${severity}`)).toEqual(STORY.map(() => 'key_revoked warning'));
    expect((await reopen(place).handoff.verify({ strict: true })).valid).toBe(false);
    const { records } = await reopen(place).handoff.log({});
    expect(records.map(({ valid, reason, summary }) => ({ valid, reason, summary }))).toEqual(
      STORY.map(() => ({ valid: false, reason: 'key_revoked', summary: '' })),
    );
  });

  it('of a maintainer: an agent that nobody confirms counts for nothing, and comes back when somebody does', async () => {
    const place = fresh();
    await place.handoff.identity.add({ name: 'ada', role: 'maintainer' });
    await reopen(place).handoff.identity.add({ name: 'frank', as: 'ada' });
    writeSession(place, STORY, { identity: 'frank', key: privateKey(place, 'frank') });
    expect(await commitAndFind(place)).toEqual([]);
    const path = '.handoff/identities/frank/identity.yaml';
    expect(await reopen(place).handoff.identity.revoke({ name: 'ada' })).toMatchObject({
      resigned: [],
      withdrawn: [],
      distrusted: [path],
    });
    const { valid, findings: found } = await reopen(place).handoff.verify();
    expect(valid).toBe(true);
    expect(found.map(({ code, path: at }) => `${code} ${at}`)).toContain(`key_revoked ${path}`);
    expect(found).toHaveLength(1 + STORY.length);
    expect((await reopen(place).handoff.status()).warnings).toMatchObject([{ kind: 'key_revoked' }]);
    expect(await reopen(place).handoff.identity.resign()).toEqual({ resigned: [], distrusted: [path], commit: null });
    expect(await reopen(place).handoff.identity.resign({ document: ['frank'] })).toMatchObject({ resigned: [path] });
    expect(await findings(place)).toEqual([]);
    expect((await reopen(place).handoff.status()).warnings).toEqual([]);
  });

  it('of a maintainer, since a commit: what it had signed by then is signed anew, what it changed is set back', async () => {
    const place = fresh();
    await place.handoff.identity.add({ name: 'ada', role: 'maintainer' });
    await reopen(place).handoff.identity.add({ name: 'frank', as: 'ada' });
    await reopen(place).handoff.identity.add({ name: 'gina', as: 'ada' });
    await reopen(place).handoff.task.add({ id: 'T1', title: 'One', proof: 'seal', as: 'ada' });
    const since = git(place.dir, 'rev-parse', 'HEAD');
    const stolen = newKey();
    await reopen(place).handoff.identity.rotate({
      name: 'gina',
      key: publicKeyFile(place, publicLine(stolen)),
      as: 'ada',
    });
    await reopen(place).handoff.identity.add({ name: 'mallory', as: 'ada' });
    await reopen(place).handoff.task.edit({ id: 'T1', title: 'Two', as: 'ada' });
    const base = git(place.dir, 'rev-parse', 'HEAD');
    expect(await reopen(place).handoff.identity.revoke({ name: 'ada', since })).toMatchObject({
      resigned: ['.handoff/identities/frank/identity.yaml'],
      withdrawn: ['.handoff/identities/gina/identity.yaml', '.handoff/tasks/T1.yaml'],
      distrusted: ['.handoff/identities/mallory/identity.yaml'],
    });
    expect((await states(place)).gina).toEqual(['revoked', 'retired']);
    expect((await reopen(place).handoff.task.show({ id: 'T1' })).title).toBe('One');
    expect((await reopen(place).handoff.verify()).valid).toBe(true);
    expect((await reopen(place).handoff.gate({ base, head: 'HEAD' })).pass).toBe(true);
  });

  it('names what it does not know', async () => {
    const place = fresh();
    await place.handoff.identity.add({ name: 'ada', role: 'maintainer' });
    const { handoff } = reopen(place);
    const hint = expect.any(String);
    await expect(handoff.identity.revoke({ name: 'ada', since: 'nowhere' })).rejects.toMatchObject({
      code: 'unknown_commit',
      hint,
    });
    await expect(handoff.identity.revoke({ name: 'ada', resign: ['nobody'] })).rejects.toMatchObject({
      code: 'usage',
      hint,
    });
  });

  it.each(['ada', 'zoe'])(
    'of %s, a maintainer who signed agents: they are signed by another who looked',
    async (name) => {
      const place = fresh();
      await place.handoff.identity.add({ name, role: 'maintainer' });
      await reopen(place).handoff.identity.add({ name: 'frank', as: name });
      writeSession(place, STORY, { identity: 'frank', key: privateKey(place, 'frank') });
      expect(await commitAndFind(place)).toEqual([]);
      const result = await reopen(place).handoff.identity.revoke({ name, resignAll: true });
      expect(result.resigned).toEqual(['.handoff/identities/frank/identity.yaml']);
      expect(await findings(place)).toEqual([]);
      await expect(reopen(place).handoff.identity.add({ name: 'grace', as: name })).rejects.toMatchObject({
        name: 'HandoffError',
      });
    },
  );

  it('of a root key is refused: it takes a new policy', async () => {
    const place = fresh();
    await expect(place.handoff.identity.revoke({ name: 'maintainer' })).rejects.toMatchObject({
      code: 'usage',
      hint: expect.stringContaining('root.keys'),
    });
  });

  it('of what is revoked already: usage; of nobody: unknown_identity', async () => {
    const place = fresh();
    await place.handoff.identity.revoke({ name: 'donna' });
    await expect(reopen(place).handoff.identity.revoke({ name: 'donna' })).rejects.toMatchObject({ code: 'usage' });
    await expect(place.handoff.identity.revoke({ name: 'ghost' })).rejects.toMatchObject({ code: 'unknown_identity' });
  });
});

describe('identity list and export', () => {
  it('lists roles, fingerprints and states', async () => {
    const place = fresh();
    const { identities } = await place.handoff.identity.list();
    expect(identities).toContainEqual({
      identity: 'donna',
      role: 'agent',
      keys: [{ fingerprint: printOf(privateKey(place, 'donna')), state: 'active' }],
    });
    expect(identities.map(({ role }) => role).sort()).toEqual(['agent', 'agent', 'bot', 'maintainer']);
  });

  it('exports what ssh-keygen -Y verify takes, without revoked keys', async () => {
    const place = fresh();
    const [start, , decision] = writeSession(place, STORY);
    commitAll(place);
    const signers = join(place.dir, '..', 'allowed_signers');
    writeFileSync(signers, (await place.handoff.identity.export()).allowed_signers);
    for (const [record, kind] of [
      [start!, 'start'],
      [decision!, 'decision'],
    ] as const) {
      const out = join(place.dir, '..', kind);
      await place.handoff.show({ record: record.id, sshsig: out });
      expect(sshVerify(signers, 'donna', kind, out)).toBe(0);
      expect(sshVerify(signers, 'erin', kind, out)).not.toBe(0);
      expect(sshVerify(signers, 'donna', 'note', out)).not.toBe(0);
    }
    await reopen(place).handoff.identity.revoke({ name: 'donna' });
    const { allowed_signers } = await reopen(place).handoff.identity.export();
    expect(allowed_signers).not.toMatch(/^donna /m);
    expect(allowed_signers.split('\n').filter(Boolean)).toHaveLength(3);
  });

  it('the same file verifies commits that the key signed', async () => {
    const place = fresh();
    const key = sshKey(temporaryDirectory());
    await place.handoff.identity.add({ name: 'frank', key: `${key}.pub` });
    const signers = join(place.dir, '..', 'allowed_signers');
    writeFileSync(signers, (await reopen(place).handoff.identity.export()).allowed_signers);
    const sign = [
      '-c',
      'gpg.format=ssh',
      '-c',
      `user.signingKey=${key}`,
      '-c',
      `gpg.ssh.allowedSignersFile=${signers}`,
    ];
    git(place.dir, ...sign, 'commit', '--quiet', '--allow-empty', '-S', '-m', 'signed');
    expect(git(place.dir, ...sign, 'log', '-1', '--format=%G? %GS')).toBe('G frank');
  });
});

function sshVerify(signers: string, identity: string, kind: string, out: string): number | null {
  const args = [
    '-Y',
    'verify',
    '-f',
    signers,
    '-I',
    identity,
    '-n',
    `git-handoff/v1/${kind}`,
    '-s',
    join(out, 'payload.sig'),
  ];
  return spawnSync('ssh-keygen', args, { input: readFileSync(join(out, 'payload')) }).status;
}

function sshKey(dir: string, name = 'id_ed25519'): string {
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', 'ada@laptop', '-f', join(dir, name)]);
  return join(dir, name);
}

describe('an SSH key of the maintainer', () => {
  async function initWith(
    setting: (key: string) => string,
    env: NodeJS.ProcessEnv = {},
    prepare = (_: string) => {},
  ): Promise<Place> {
    const base = temporaryDirectory();
    const key = sshKey(base);
    prepare(key);
    const dir = join(base, 'work');
    git('/', 'init', '--quiet', '--initial-branch=main', dir);
    git(dir, 'config', 'handoff.signingKey', setting(key));
    const keys = join(base, 'keys');
    const place = {
      dir,
      keys,
      env: { ...isolatedEnv, HANDOFF_KEYS: keys, HOME: base, ...env },
      root: '',
      warnings: [] as string[],
    };
    const there = reopen(place as unknown as Place);
    const { root } = await there.handoff.init({ as: 'ada' });
    return { ...there, root };
  }

  it.each([
    ['the public half', (key: string) => `${key}.pub`],
    ['the private half', (key: string) => key],
    ['a path from home', () => '~/id_ed25519.pub'],
  ])('signs everything when git config handoff.signingKey names %s', async (_, setting) => {
    const place = await initWith(setting);
    await reopen(place).handoff.identity.add({ name: 'donna' });
    await reopen(place).handoff.policy.set({ key: 'stale_after', value: '700' });
    expect(readdirSync(join(place.keys, place.root.slice(0, 12))).sort()).toEqual(['bot.pem', 'donna.pem']);
    expect(await findings(place)).toEqual([]);
  });

  it('signs when only an ssh-agent holds the private half', async () => {
    const socket = join(temporaryDirectory(), 'agent');
    const started = execFileSync('ssh-agent', ['-a', socket, '-s']).toString();
    const pid = Number(/SSH_AGENT_PID=(\d+)/.exec(started)![1]);
    onTestFinished(() => void process.kill(pid));
    const place = await initWith(
      (key) => `${key}.pub`,
      { SSH_AUTH_SOCK: socket },
      (key) => {
        execFileSync('ssh-add', ['-q', key], { env: { ...process.env, SSH_AUTH_SOCK: socket }, stdio: 'pipe' });
        rmSync(key);
      },
    );
    await reopen(place).handoff.identity.add({ name: 'donna' });
    expect(await findings(place)).toEqual([]);
    const without = reopen(place, place.dir, { ...place.env, SSH_AUTH_SOCK: '' });
    await expect(without.handoff.identity.add({ name: 'erin' })).rejects.toMatchObject({
      code: 'no_key',
      hint: expect.stringContaining('ssh-agent'),
    });
    expect(git(place.dir, 'status', '--porcelain')).toBe('');
  });

  it('that is missing, or of another kind, is no_key or usage', async () => {
    const place = fresh();
    git(place.dir, 'config', 'handoff.signingKey', '/no/such/key');
    await expect(reopen(place).handoff.identity.add({ name: 'frank' })).rejects.toMatchObject({ code: 'no_key' });
    writeBytes(place.dir, '../rsa.pub', 'ssh-rsa AAAAB3NzaC1yc2E= x\n');
    git(place.dir, 'config', 'handoff.signingKey', join(place.dir, '../rsa.pub'));
    await expect(reopen(place).handoff.identity.add({ name: 'frank' })).rejects.toMatchObject({ name: 'HandoffError' });
  });

  it('whose two halves do not belong together signs nothing that is then committed', async () => {
    const place = await initWith((key) => `${key}.pub`);
    const base = join(place.dir, '..');
    copyFileSync(sshKey(base, 'other'), join(base, 'id_ed25519'));
    await expect(reopen(place).handoff.identity.add({ name: 'donna' })).rejects.toMatchObject({ name: 'HandoffError' });
    expect(await codes(place)).toEqual([]);
  });
});
