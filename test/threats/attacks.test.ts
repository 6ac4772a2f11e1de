import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { consistencyProof, inclusionProof, leafHash, merkleRoot, parseRecord } from '../../src/core.ts';
import { HandoffError, openRepository } from '../../src/index.ts';
import { commitAll, initialised, type Place, STORY, writeSession } from '../handoff.ts';
import { git, gitInput, isolatedEnv } from '../temporary.ts';

// What an attacker found once, and must not find again.

async function codes(place: Place, rev = 'HEAD'): Promise<string[]> {
  return (await place.handoff.verify({ rev })).findings.map(({ code }) => code);
}

/** A commit whose root tree has one more entry, with a name that git itself would never write. */
function commitWithRootEntry(place: Place, name: Buffer): string {
  const { dir } = place;
  const raw = git(dir, 'rev-parse', 'HEAD:.gitattributes');
  const listing = git(dir, 'ls-tree', 'HEAD')
    .split('\n')
    .map((line) => /^(\d+) \w+ (\w+)\t(.*)$/.exec(line)!);
  const entries = [
    ...listing.map(([, mode, oid, entry]) => ({ mode: mode!, oid: oid!, name: Buffer.from(entry!) })),
    { mode: '100644', oid: raw, name },
  ];
  const bytes = Buffer.concat(
    entries.map(({ mode, oid, name }) =>
      Buffer.concat([Buffer.from(`${mode.replace(/^0/, '')} `), name, Buffer.from([0]), Buffer.from(oid, 'hex')]),
    ),
  );
  const tree = gitInput(dir, bytes, 'hash-object', '-t', 'tree', '-w', '--literally', '--stdin');
  return git(dir, 'commit-tree', '-p', 'HEAD', '-m', 'odd', tree);
}

describe('THREATS 27: root entries that reach into .handoff', () => {
  it.each(['.handoff\\', '.handoff\\x'])('%j', async (name) => {
    const place = await initialised();
    expect(await codes(place, commitWithRootEntry(place, Buffer.from(name)))).toEqual(['name_lookalike']);
  });

  it.each(['.handoff/evil.yaml', '.handoff/', './.handoff', ''])('%j, which is no name', async (name) => {
    const place = await initialised();
    const rev = commitWithRootEntry(place, Buffer.from(name));
    await expect(codes(place, rev)).rejects.toMatchObject({ code: 'bytes_invalid', hint: expect.any(String) });
  });

  it('bytes that are no text', async () => {
    const place = await initialised();
    const name = Buffer.concat([Buffer.from('.handoff'), Buffer.from([0xff])]);
    expect(await codes(place, commitWithRootEntry(place, name))).toEqual(['name_lookalike']);
  });
});

describe('THREATS 2: another line of policies', () => {
  it('a fork that an old root key made longer than the pinned line', async () => {
    const place = await initialised();
    cpSync(place.keys, `${place.keys}-old`, { recursive: true });
    git(place.dir, 'branch', 'evil');
    await place.handoff.identity.rotate({ name: 'maintainer' });
    expect(await codes(place)).toEqual([]);
    git(place.dir, 'switch', '--quiet', 'evil');
    const evil = openRepository(place.dir, { env: { ...place.env, HANDOFF_KEYS: `${place.keys}-old` } });
    for (const value of ['601', '602']) await evil.policy.set({ key: 'stale_after', value });
    expect(await codes(place)).toContain('policy_rollback');
    expect(await codes(place)).toContain('policy_rollback');
  });

  it('a criss-cross history whose other merge base is younger', async () => {
    const place = await initialised();
    git(place.dir, 'switch', '--quiet', '--create', 'q');
    const env = { ...isolatedEnv, GIT_COMMITTER_DATE: '2040-01-01T00:00:00Z' };
    const { execFileSync } = await import('node:child_process');
    execFileSync('git', ['-C', place.dir, 'commit', '--quiet', '--allow-empty', '-m', 'q'], { env });
    const q = git(place.dir, 'rev-parse', 'HEAD');
    git(place.dir, 'switch', '--quiet', 'main');
    await place.handoff.policy.set({ key: 'stale_after', value: '700' });
    const p = git(place.dir, 'rev-parse', 'HEAD');
    git(place.dir, 'merge', '--quiet', '--no-edit', 'q');
    expect(await codes(place)).toEqual([]);
    const crossed = git(place.dir, 'commit-tree', '-p', p, '-p', q, '-m', 'e', `${q}^{tree}`);
    expect(await codes(place, crossed)).toEqual(['policy_rollback']);
  });
});

describe('THREATS 43: keys that end up in a work tree', () => {
  it('a relative XDG_CONFIG_HOME is ignored', async () => {
    const place = await initialised();
    const { HANDOFF_KEYS: _, ...env } = place.env;
    const home = join(place.dir, '..', 'home');
    const handoff = openRepository(place.dir, { env: { ...env, XDG_CONFIG_HOME: 'rel', HOME: home } });
    const { path } = await handoff.identity.keygen({ name: 'zoe' });
    expect(path.startsWith(join(home, '.config'))).toBe(true);
    expect(git(place.dir, 'status', '--porcelain')).toBe('');
  });

  it('a key file that is a link into the work tree', async () => {
    const place = await initialised();
    const key = join(place.keys, place.root.slice(0, 12), 'maintainer.pem');
    cpSync(key, join(place.dir, 'leak.pem'));
    rmSync(key);
    symlinkSync(join(place.dir, 'leak.pem'), key);
    await expect(place.handoff.identity.add({ name: 'eve' })).rejects.toMatchObject({ code: 'key_in_tree' });
  });
});

describe('THREATS 33: the index that a hook is asked about', () => {
  it('a commit -a is judged by its own index', async () => {
    const place = await initialised();
    const [, note] = writeSession(place, STORY);
    commitAll(place);
    const path = join(place.dir, note!.path);
    writeFileSync(path, readFileSync(path, 'utf8').replace('npm', 'yarn'));
    const index = join(place.dir, '.git', 'next-index-1.lock');
    cpSync(join(place.dir, '.git', 'index'), index);
    const { execFileSync } = await import('node:child_process');
    execFileSync('git', ['-C', place.dir, 'add', '--all'], { env: { ...isolatedEnv, GIT_INDEX_FILE: index } });
    const asked = (file: string) =>
      openRepository(place.dir, { env: { ...place.env, GIT_INDEX_FILE: file } }).verify({ staged: true });
    expect((await asked('.git/next-index-1.lock')).valid).toBe(false);
    cpSync(index, join(place.keys, 'index'));
    expect((await asked(join(place.keys, 'index'))).valid).toBe(true);
  });
});

describe('a write that fails', () => {
  it('leaves nothing behind, and can be tried again', async () => {
    const place = await initialised();
    const index = join(place.dir, '.git', 'index');
    const before = readFileSync(index);
    writeFileSync(index, 'no index');
    await expect(place.handoff.identity.add({ name: 'eve' })).rejects.toMatchObject({ code: 'io', exitCode: 4 });
    expect(existsSync(join(place.dir, '.handoff/identities/eve/identity.yaml'))).toBe(false);
    writeFileSync(index, before);
    expect(await place.handoff.identity.add({ name: 'eve' })).toMatchObject({ identity: 'eve' });
    expect(await codes(place)).toEqual([]);
  });

  it('waits for a git process that holds the index for a moment', async () => {
    const place = await initialised();
    const lock = join(place.dir, '.git', 'index.lock');
    writeFileSync(lock, '');
    setTimeout(() => rmSync(lock), 300);
    expect(await place.handoff.identity.add({ name: 'eve' })).toMatchObject({ identity: 'eve' });
  });
});

it('HANDOFF_IDENTITY is preferred where it is entitled, and only there', async () => {
  const place = await initialised();
  await place.handoff.identity.add({ name: 'olga', role: 'maintainer' });
  const signer = async (wish: string, name: string) => {
    const handoff = openRepository(place.dir, { env: { ...place.env, HANDOFF_IDENTITY: wish } });
    await handoff.identity.add({ name });
    return /- (\S+) SHA256/.exec(
      readFileSync(join(place.dir, `.handoff/identities/${name}/identity.yaml`), 'utf8'),
    )![1];
  };
  expect(await signer('olga', 'one')).toBe('olga');
  expect(await signer('donna', 'two')).toBe('maintainer');
});

it('a document in the place of a record is a finding, not the end of the verdict', async () => {
  const place = await initialised();
  const [, note] = writeSession(place, STORY);
  cpSync(join(place.dir, '.handoff/policy/0001.yaml'), join(place.dir, note!.path));
  commitAll(place);
  expect(await codes(place)).toEqual(['path_mismatch']);
});

it('a record in the place of an identity is a finding, not the end of the verdict', async () => {
  const place = await initialised();
  const [start] = writeSession(place, STORY);
  const base = commitAll(place);
  cpSync(join(place.dir, start!.path), join(place.dir, '.handoff/identities/donna/identity.yaml'));
  commitAll(place);
  const { findings } = await place.handoff.gate({ base, head: 'HEAD' });
  expect(findings.map(({ code }) => code)).toContain('path_mismatch');
});

it('a skill.md beyond the limit is a finding, not the end of the verdict', async () => {
  const place = await initialised();
  mkdirSync(join(place.dir, '.handoff/identities/donna'), { recursive: true });
  writeFileSync(join(place.dir, '.handoff/identities/donna/skill.md'), 'x'.repeat(300_000));
  commitAll(place);
  expect(await codes(place)).toEqual(['too_large']);
});

it('the library answers bad input with its own error', () => {
  const bad = [null, undefined, 0, '', 'abc', {}, [null], ['a'], { length: 1e12 }] as unknown as Uint8Array[];
  for (const value of bad) {
    for (const call of [
      () => parseRecord(value),
      () => leafHash(value),
      () => merkleRoot(value as unknown as Uint8Array[]),
      () => inclusionProof(value as unknown as Uint8Array[], 0),
      () => consistencyProof(value as unknown as Uint8Array[], 1),
      () => inclusionProof([new Uint8Array(1)], Symbol('x') as unknown as number),
    ]) {
      expect(call).toThrow(HandoffError);
    }
  }
});

it('a configuration that cannot be written: verify answers and says so, trust does not claim a pin', async () => {
  const place = await initialised();
  git(place.dir, 'config', '--unset', 'handoff.root');
  writeFileSync(join(place.dir, '.git', 'config.lock'), '');
  const warnings: string[] = [];
  const handoff = openRepository(place.dir, { env: place.env, warn: (text) => warnings.push(text) });
  expect((await handoff.verify()).valid).toBe(true);
  expect(warnings).toEqual([expect.stringContaining('not pinned')]);
  await expect(handoff.trust()).rejects.toMatchObject({ code: 'io' });
});
