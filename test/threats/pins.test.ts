import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { commitAll, type Place, writeBytes } from '../handoff.ts';
import { git } from '../temporary.ts';
import { commitAndFind, findings, reopen, template } from './forge.ts';

// SPEC §5.9: what a clone remembers against rollback is what a protected branch has had, and nothing that somebody threw away.

const fresh = template();

/** A server, and a clone of it that pushes there. */
function cloned(place: Place): Place {
  const server = join(place.dir, '../server.git');
  git('/', 'clone', '--quiet', '--bare', place.dir, server);
  git('/', 'clone', '--quiet', server, join(place.dir, '../clone'));
  return reopen(place, join(place.dir, '../clone'));
}

async function setPolicy(place: Place, value: string): Promise<void> {
  await reopen(place).handoff.policy.set({ key: 'stale_after', value });
}

const ROLLED = 'policy_rollback policy';

describe('a policy that its maintainer threw away before anybody else had it', () => {
  it('is not missed: verify and gate go on with the one that she makes in its place', async () => {
    const here = cloned(fresh());
    await setPolicy(here, '700');
    expect(await findings(here)).toEqual([]);
    git(here.dir, 'reset', '--quiet', '--hard', 'HEAD~1');
    expect(await findings(here)).toEqual([]);
    for (const value of ['800', '900']) {
      await setPolicy(here, value);
      expect(await findings(here)).toEqual([]);
      const { findings: found } = await reopen(here).handoff.gate({ base: 'origin/main', head: 'HEAD' });
      expect(found).toEqual([]);
    }
  });

  it('is missed once the protected branch has had it, on whatever branch it was seen', async () => {
    const here = cloned(fresh());
    await setPolicy(here, '700');
    git(here.dir, 'push', '--quiet', 'origin', 'main');
    git(here.dir, 'switch', '--quiet', '--create', 'feature');
    writeBytes(here.dir, 'f', 'f\n');
    commitAll(here);
    expect(await findings(here)).toEqual([]);
    git(here.dir, 'rm', '--quiet', '.handoff/policy/0002.yaml');
    commitAll(here);
    expect(await findings(here)).toEqual([ROLLED]);
    git(here.dir, 'reset', '--quiet', '--hard', 'HEAD~2');
    git(here.dir, 'reset', '--quiet', '--hard', 'HEAD~1');
    await setPolicy(here, '800'); // another one of that version
    expect(await findings(here)).toEqual([ROLLED]);
  });
});

describe('a commit that nobody who is trusted made, with files that are', () => {
  it('is looked at, and no branch is missed for it', async () => {
    const there = fresh();
    const here = cloned(there);
    expect(await findings(here)).toEqual([]);
    git(here.dir, 'switch', '--quiet', '--create', 'feature');
    writeBytes(here.dir, 'f', 'f\n');
    commitAll(here);
    await setPolicy(there, '700');
    const server = join(there.dir, '../server.git');
    git(there.dir, 'push', '--quiet', server, 'main');
    git(
      there.dir,
      'push',
      '--quiet',
      server,
      `${git(there.dir, 'commit-tree', '-m', 'x', 'HEAD^{tree}')}:refs/heads/look`,
    );
    git(here.dir, 'fetch', '--quiet');
    expect(await findings(here, { rev: 'origin/look' })).toEqual([]);
    expect(await reopen(here).handoff.gate({ base: 'origin/look', head: 'origin/look' })).toMatchObject({
      findings: [],
    });
    for (const rev of ['origin/main', 'feature']) expect(await findings(here, { rev }), rev).toEqual([]);
    expect(await findings(here, { rev: 'origin/look' })).toEqual([]);
  });
});

describe('trust --forget', () => {
  it('is the way out that the finding names, needs the root, and says what it gives up', async () => {
    const here = fresh(); // without a remote its own main is what is remembered
    await setPolicy(here, '700');
    expect(await findings(here)).toEqual([]);
    git(here.dir, 'reset', '--quiet', '--hard', 'HEAD~1');
    await setPolicy(here, '800');
    const { findings: found } = await reopen(here).handoff.verify();
    expect(found).toEqual([
      expect.objectContaining({
        code: 'policy_rollback',
        hint: expect.stringMatching(/^.*git fetch.*trust .*--forget$/),
      }),
    ]);
    for (const options of [{ forget: true }, { forget: true, root: '0'.repeat(64) }]) {
      const code = options.root ? 'root_mismatch' : 'usage';
      await expect(reopen(here).handoff.trust(options)).rejects.toMatchObject({ code });
      expect(await findings(here)).toEqual([ROLLED]);
    }
    const again = reopen(here);
    expect(await again.handoff.trust({ root: here.root, forget: true })).toMatchObject({ forgotten: true });
    expect(again.warnings).toEqual([expect.stringMatching(/not noticed here.*policy show.*identity list/)]);
    expect(await findings(here)).toEqual([]);
    git(here.dir, 'rm', '--quiet', '.handoff/policy/0002.yaml');
    expect(await commitAndFind(here)).toEqual([ROLLED]); // it remembers anew
  });

  it('helps where the pins cannot be read, too', async () => {
    const here = fresh();
    writeBytes(here.dir, '.git/handoff/pins.json', '');
    await expect(reopen(here).handoff.verify()).rejects.toMatchObject({
      code: 'io',
      hint: expect.stringContaining('--forget'),
    });
    await reopen(here).handoff.trust({ root: here.root, forget: true });
    expect(await findings(here)).toEqual([]);
  });
});
