import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Place } from '../handoff.ts';
import { writeBytes } from '../handoff.ts';
import { git } from '../temporary.ts';
import { template } from '../threats/forge.ts';
import { open, tryGit } from './hooked.ts';

// THREATS 65: which branch of a server decides, where HEAD names none that is there and none has a usual name.

const place = template();
const HEADS = 'refs/heads/';

interface ServerOptions {
  /** By name, what of the place is there. */
  branches: Record<string, string>;
  head?: string;
  isRooted?: boolean;
}

/** A bare repository that judges. What is in it was there before the hook. */
async function withServer(here: Place, { branches, head = 'absent', isRooted = true }: ServerOptions): Promise<string> {
  const server = join(here.dir, '../server.git');
  git('/', 'init', '--quiet', '--bare', `--initial-branch=${head}`, server);
  for (const [name, rev] of Object.entries(branches))
    git(here.dir, 'push', '--quiet', server, `${rev}:${name.startsWith('refs/') ? name : HEADS + name}`);
  if (isRooted) git(server, 'config', 'handoff.root', here.root);
  await open(server).hooks.install({ server: true });
  return server;
}

async function protect(here: Place, ...names: string[]): Promise<void> {
  await here.handoff.policy.set({ key: 'protected', value: names.map((name) => HEADS + name).join(',') });
}

/** A history that has nothing of this one, on a branch called orphan. */
function withOrphan({ dir }: Place): void {
  git(dir, 'checkout', '--quiet', '--orphan', 'orphan');
  git(dir, 'rm', '-r', '--quiet', '--force', '.');
  writeBytes(dir, 'o', 'o\n');
  git(dir, 'add', 'o');
  git(dir, 'commit', '--quiet', '-m', 'o');
}

/** The same with policies of somebody else, more than the project has, which protect a branch called trunk. */
async function withStranger(here: Place): Promise<void> {
  git(here.dir, 'checkout', '--quiet', '--orphan', 'trunk');
  git(here.dir, 'rm', '-r', '--quiet', '--force', '.');
  const stranger = open(here.dir, { env: { ...here.env, HANDOFF_KEYS: join(here.dir, '../other-keys') } });
  await stranger.init({ hooks: false });
  for (const value of ['700', '800', '900']) await stranger.policy.set({ key: 'stale_after', value });
}

const push = ({ dir }: Place, server: string, ...refspecs: string[]) =>
  tryGit(dir, ['push', '--force', '--no-verify', server, ...refspecs]);
const refusing = (name: string) => ({
  code: 1,
  stderr: expect.stringContaining(`remote: git-handoff: ${HEADS}${name}: refused: `),
});
const TAKEN = { code: 0 };

describe('a new protected branch is held to the branch that has the policy', () => {
  it.each(['develop', 'trunk', 'x/y'])('%s, whatever its name', async (name) => {
    for (const isRooted of [true, false]) {
      const here = place();
      await protect(here, name, 'release/1');
      const server = await withServer(here, { branches: { [name]: 'main' }, isRooted });
      withOrphan(here);
      expect(push(here, server, 'orphan:release/1')).toMatchObject(refusing('release/1'));
      expect(push(here, server, 'orphan:absent')).toMatchObject(refusing('absent')); // it would decide from then on
      expect(push(here, server, 'orphan:free', 'main:release/1')).toMatchObject(TAKEN);
    }
  });

  it('which need not protect itself, where there is nothing else', async () => {
    const here = place();
    const server = await withServer(here, { branches: { develop: 'main' } });
    withOrphan(here);
    expect(push(here, server, 'orphan:main')).toMatchObject(refusing('main'));
    expect(push(here, server, 'main:main')).toMatchObject(TAKEN);
  });

  it.each([
    ['detached, at what has no policy', (server: string) => git(server, 'update-ref', '--no-deref', 'HEAD', 'old')],
    ['on a tag', (server: string) => git(server, 'symbolic-ref', 'HEAD', 'refs/tags/v1')],
    ['on a branch that has none', (server: string) => git(server, 'symbolic-ref', 'HEAD', 'refs/heads/old')],
  ])('also where HEAD is %s', async (_, move) => {
    const here = place();
    await protect(here, 'develop', 'release');
    withOrphan(here);
    const branches = { develop: 'main', old: 'orphan', 'refs/tags/v1': 'orphan' };
    const server = await withServer(here, { branches });
    move(server);
    expect(push(here, server, 'orphan:release')).toMatchObject(refusing('release'));
    expect(push(here, server, 'main:release')).toMatchObject(TAKEN);
  });
});

describe('nobody becomes the trunk by a name', () => {
  it.each([true, false])('with a policy of his own, as the first in order (root known: %s)', async (isRooted) => {
    const here = place();
    await protect(here, 'zzz', 'release');
    const server = await withServer(here, { branches: { zzz: 'main' }, isRooted });
    await withStranger(here);
    git(here.dir, 'branch', '--quiet', 'aaa', 'trunk');
    push(here, server, 'aaa', 'trunk');
    expect(push(here, server, 'trunk:release')).toMatchObject(refusing('release'));
    expect(push(here, server, 'trunk:zzz')).toMatchObject(refusing('zzz'));
    expect(git(server, 'config', 'handoff.root')).toBe(here.root);
    expect(push(here, server, 'main:release')).toMatchObject(TAKEN);
  });

  it('with an older policy of the project, under which the branch was free', async () => {
    const here = place();
    await protect(here, 'zzz');
    git(here.dir, 'branch', '--quiet', 'aaa');
    await protect(here, 'zzz', 'release');
    const server = await withServer(here, { branches: { zzz: 'main' } });
    expect(push(here, server, 'aaa')).toMatchObject(TAKEN);
    withOrphan(here);
    expect(push(here, server, 'orphan:release')).toMatchObject(refusing('release'));
  });

  it('and a branch that he gave one is as free as it was', async () => {
    const here = place();
    const server = await withServer(here, { branches: { main: 'main' }, head: 'main' });
    await withStranger(here);
    expect(push(here, server, 'trunk')).toMatchObject(TAKEN);
    withOrphan(here);
    expect(push(here, server, 'orphan:trunk')).toMatchObject(TAKEN);
    expect(push(here, server, ':trunk')).toMatchObject(TAKEN);
  });
});

describe('a project that begins on a branch', () => {
  it('goes on as before on main, until that is merged', async () => {
    const here = place();
    git(here.dir, 'branch', '--quiet', '--move', 'main', 'adopt');
    withOrphan(here);
    git(here.dir, 'branch', '--quiet', '--move', 'orphan', 'main');
    const server = await withServer(here, { branches: { main: 'main' }, head: 'main' });
    expect(push(here, server, 'adopt')).toMatchObject(TAKEN);
    writeBytes(here.dir, 'more', 'more\n');
    git(here.dir, 'add', 'more');
    git(here.dir, 'commit', '--quiet', '-m', 'more');
    expect(push(here, server, 'main')).toMatchObject(TAKEN);
    git(here.dir, 'merge', '--quiet', '--no-edit', '--allow-unrelated-histories', 'adopt');
    expect(push(here, server, 'main')).toMatchObject(TAKEN);
    writeBytes(here.dir, 'more', 'other\n');
    git(here.dir, 'commit', '--quiet', '-a', '-m', 'more');
    expect(push(here, server, 'main')).toMatchObject(refusing('main'));
  });

  it('is not kept from it by a folder that only looks like a policy', async () => {
    const here = place();
    withOrphan(here);
    writeBytes(here.dir, '.handoff/policy/README', 'soon\n');
    git(here.dir, 'add', '.handoff');
    git(here.dir, 'commit', '--quiet', '-m', 'soon');
    const server = await withServer(here, { branches: { main: 'orphan' }, head: 'main', isRooted: false });
    git(here.dir, 'rm', '-r', '--quiet', '.handoff');
    git(here.dir, 'commit', '--quiet', '-m', 'not yet');
    expect(push(here, server, 'orphan:main')).toMatchObject(TAKEN);
    git(here.dir, 'merge', '--quiet', '--no-edit', '--allow-unrelated-histories', 'main');
    expect(push(here, server, 'orphan:main')).toMatchObject(TAKEN);
  });
});
