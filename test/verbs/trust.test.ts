import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { run } from '../cli/cli.ts';
import { commitAll, emptyPlace, initialised, type Place, STORY, writeSession } from '../handoff.ts';
import { git } from '../temporary.ts';
import { reopen, template } from '../threats/forge.ts';

const fresh = template((place) => {
  writeSession(place, STORY);
  commitAll(place);
});

function clone(place: Place, ...flags: string[]): Place {
  const dir = join(place.dir, '..', flags.includes('--bare') ? 'clone.git' : 'clone');
  git('/', 'clone', '--quiet', ...flags, place.dir, dir);
  return reopen(place, dir);
}

const pin = ({ dir }: Place) => git(dir, 'config', '--default', '', '--get', 'handoff.root');

/** The same files with another genesis in them: a repository that somebody put in the place of the first. */
async function replaceGenesis(place: Place): Promise<string> {
  rmSync(join(place.dir, '.handoff'), { recursive: true });
  commitAll(place, 'away');
  const other = emptyPlace();
  const { root } = await other.handoff.init();
  await other.handoff.close();
  git(place.dir, 'fetch', '--quiet', other.dir, 'main:other');
  git(place.dir, 'checkout', '--quiet', 'other', '--', '.handoff');
  commitAll(place, 'another genesis');
  return root;
}

describe('trust', () => {
  it('pins on first use, says so once, and compares from then on', async () => {
    const there = clone(fresh());
    expect(pin(there)).toBe('');
    expect(await there.handoff.trust()).toEqual({
      ...{ root: there.root, pinned: true, first_use: true, given: false, policy_version: 1, forgotten: false },
    });
    expect(pin(there)).toBe(there.root);
    expect(there.warnings).toEqual([expect.stringContaining(there.root)]);
    const again = reopen(there);
    expect(await again.handoff.trust()).toMatchObject({ first_use: false });
    expect(again.warnings).toEqual([]);
  });

  it('replaces a pin that is wrong only where the root is given and what was seen is forgotten', async () => {
    const there = clone(fresh());
    const wrong = 'a'.repeat(64);
    git(there.dir, 'config', 'handoff.root', wrong);
    await expect(there.handoff.trust({ root: there.root })).rejects.toMatchObject({ code: 'root_mismatch' });
    await expect(there.handoff.trust({ root: wrong, forget: true })).rejects.toMatchObject({ code: 'root_mismatch' });
    expect(pin(there)).toBe(wrong);
    expect(await there.handoff.trust({ root: there.root, forget: true })).toMatchObject({ root: there.root });
    expect(pin(there)).toBe(there.root);
  });

  it('verify pins on first use as well', async () => {
    const there = clone(fresh());
    await there.handoff.verify();
    expect(pin(there)).toBe(there.root);
    expect(there.warnings).toEqual([expect.stringContaining('first use')]);
  });

  it('what is given is pinned as given: there is nothing left to compare', async () => {
    const place = fresh();
    const compare = /first use|[Cc]ompare/;
    const [trusted, verified] = ['trust', 'verify'].map((verb) => {
      const dir = join(place.dir, '..', verb);
      git('/', 'clone', '--quiet', place.dir, dir);
      const result = run(['-C', dir, verb, '--root', place.root], { env: place.env });
      expect(result).toMatchObject({ code: 0, stderr: '' });
      expect(result.stdout).not.toMatch(compare);
      expect(pin({ ...place, dir })).toBe(place.root);
      return result.stdout;
    });
    expect(trusted).toMatch(/^✓ Pinned, as given\n/);
    expect(verified).toMatch(/\(policy 1, root [0-9a-f]{12}, pinned as given\)\n$/);
    const again = reopen(place, join(place.dir, '..', 'verify'));
    expect(await again.handoff.verify({ root: place.root })).toMatchObject({ first_use: false, given: true });
    expect(await again.handoff.trust({ root: place.root })).toMatchObject({ first_use: false, given: true });
    const there = clone(place);
    expect(await there.handoff.verify()).toMatchObject({ first_use: true, given: false });
    expect(there.warnings.join()).toMatch(compare);
  });

  it('another root than the one given: root_mismatch, and nothing is pinned', async () => {
    const there = clone(fresh());
    const root = '0'.repeat(64);
    await expect(there.handoff.trust({ root })).rejects.toMatchObject({
      code: 'root_mismatch',
      exitCode: 1,
      data: { expected: root, found: there.root },
    });
    await expect(there.handoff.verify({ root })).rejects.toMatchObject({ code: 'root_mismatch' });
    expect(pin(there)).toBe('');
    expect(await there.handoff.trust({ root: there.root })).toMatchObject({ pinned: true });
  });

  it('what is no root is usage', async () => {
    const there = fresh();
    for (const root of ['', 'x', '0'.repeat(63), 'A'.repeat(64), `sha256:${there.root}`, '--unset']) {
      await expect(there.handoff.trust({ root }), root).rejects.toMatchObject({ code: 'usage' });
    }
  });

  it('a replaced genesis is root_mismatch for every verb, and the pin stays', async () => {
    const place = fresh();
    const root = await replaceGenesis(place);
    expect(root).not.toBe(place.root);
    const { handoff } = reopen(place);
    for (const run of [
      () => handoff.trust(),
      () => handoff.verify(),
      () => handoff.verify({ staged: true }),
      () => handoff.log(),
      () => handoff.show({ record: 'abcdef' }),
      () => handoff.identity.list(),
      () => handoff.identity.add({ name: 'frank' }),
      () => handoff.identity.export(),
      () => handoff.policy.show(),
      () => handoff.policy.set({ key: 'stale_after', value: '700' }),
      () => handoff.trust({ root }),
    ]) {
      await expect(run(), String(run)).rejects.toMatchObject({ code: 'root_mismatch' });
    }
    expect(pin(place)).toBe(place.root);
  });

  it('the pin holds within one long-lived handle, too', async () => {
    const there = clone(fresh());
    await there.handoff.verify();
    await replaceGenesis(there);
    await expect(there.handoff.verify()).rejects.toMatchObject({ code: 'root_mismatch' });
    expect(pin(there)).toBe(there.root);
  });

  it('a bare server is pinned with --root before its first push, and judges it', async () => {
    const place = fresh();
    const dir = join(place.dir, '..', 'server.git');
    git('/', 'init', '--quiet', '--bare', '--initial-branch=main', dir);
    await expect(reopen(place, dir).handoff.trust()).rejects.toMatchObject({ code: 'not_initialised' });
    expect(await reopen(place, dir).handoff.trust({ root: place.root })).toEqual({
      root: place.root,
      pinned: true,
      first_use: true,
      given: true,
      policy_version: null,
      forgotten: false,
    });
    await expect(reopen(place, dir).handoff.trust({ root: '0'.repeat(64) })).rejects.toMatchObject({
      code: 'root_mismatch',
    });
    git(place.dir, 'push', '--quiet', dir, 'main');
    expect(await reopen(place, dir).handoff.verify()).toMatchObject({ valid: true, records: 4 });
    expect(await reopen(place, dir).handoff.trust()).toMatchObject({ first_use: false, policy_version: 1 });
  });

  it('a server pinned to another root refuses what was pushed', async () => {
    const place = fresh();
    const dir = join(place.dir, '..', 'server.git');
    git('/', 'init', '--quiet', '--bare', '--initial-branch=main', dir);
    await reopen(place, dir).handoff.trust({ root: '0'.repeat(64) });
    git(place.dir, 'push', '--quiet', dir, 'main');
    await expect(reopen(place, dir).handoff.verify()).rejects.toMatchObject({ code: 'root_mismatch' });
  });

  it('outside: not_initialised', async () => {
    const place = emptyPlace();
    await expect(place.handoff.trust()).rejects.toMatchObject({ code: 'not_initialised' });
    await place.handoff.close();
  });
});

describe('what went back', () => {
  it('a revocation that is taken back, with every signature genuine', async () => {
    const place = await initialised();
    writeSession(place, STORY);
    commitAll(place);
    await place.handoff.identity.revoke({ name: 'donna' });
    expect((await place.handoff.verify()).findings).toHaveLength(STORY.length);
    git(place.dir, 'checkout', 'HEAD~1', '--', '.handoff/identities/donna');
    git(place.dir, 'commit', '--quiet', '--message', 'donna is back');
    const { findings } = await place.handoff.verify();
    expect(findings.map(({ code, path }) => `${code} ${path}`)).toEqual([
      'policy_rollback .handoff/identities/donna/identity.yaml',
    ]);
  });

  it('a branch from before a revocation is old, and two branches may each rotate a key', async () => {
    const place = await initialised();
    git(place.dir, 'branch', 'old');
    await place.handoff.identity.rotate({ name: 'donna' });
    expect((await place.handoff.verify()).valid).toBe(true);
    git(place.dir, 'switch', '--quiet', 'old');
    expect((await place.handoff.verify()).valid).toBe(true);
    await place.handoff.identity.revoke({ name: 'donna' });
    expect((await place.handoff.verify()).valid).toBe(true);
  });
});
