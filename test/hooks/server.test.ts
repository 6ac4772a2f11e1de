import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Place } from '../handoff.ts';
import { writeBytes } from '../handoff.ts';
import { git } from '../temporary.ts';
import { template } from '../threats/forge.ts';
import { open, tryGit } from './hooked.ts';

// Which branch of a server decides, and which name reaches it: nothing that can be pushed may change either.

const place = template();

/** Code that no thought covers, on a branch called side. */
function withSide(here: Place): void {
  git(here.dir, 'checkout', '--quiet', '-b', 'side');
  writeBytes(here.dir, 's', 's\n');
  git(here.dir, 'add', 's');
  git(here.dir, 'commit', '--quiet', '-m', 's');
}

/** A history that has nothing of this one, on a branch called orphan. */
function withOrphan(here: Place): void {
  git(here.dir, 'checkout', '--quiet', '--orphan', 'orphan');
  git(here.dir, 'rm', '-r', '--quiet', '--force', '.');
  writeBytes(here.dir, 'o', 'o\n');
  git(here.dir, 'add', 'o');
  git(here.dir, 'commit', '--quiet', '-m', 'o');
}

/** A bare repository that judges, with main on it and HEAD on any branch. */
async function withServer(here: Place, head = 'main', isRooted = true): Promise<string> {
  const server = join(here.dir, '../server.git');
  git('/', 'init', '--quiet', '--bare', `--initial-branch=${head}`, server);
  git(here.dir, 'push', '--quiet', server, 'main');
  if (isRooted) git(server, 'config', 'handoff.root', here.root);
  await open(server).hooks.install({ server: true });
  return server;
}

const push = ({ dir }: Place, server: string, refspec: string) => tryGit(dir, ['push', '--force', server, refspec]);
const REFUSED = (ref: string) => expect.stringContaining(`remote: git-handoff: ${ref}: refused: `);

describe('a symbolic ref of the server', () => {
  it.each([
    ['one step', ['trunk']],
    ['as many steps as git takes', ['a', 'b', 'c', 'trunk']],
  ])('is judged as the branch that it leads to: %s', async (_, names) => {
    const here = place();
    withSide(here);
    const server = await withServer(here);
    const main = git(server, 'rev-parse', 'main');
    for (const [at, name] of names.entries())
      writeFileSync(join(server, 'refs/heads', name), `ref: refs/heads/${names[at - 1] ?? 'main'}\n`);
    for (const refspec of ['side:trunk', ':trunk'])
      expect(push(here, server, refspec)).toMatchObject({ code: 1, stderr: REFUSED('refs/heads/trunk') });
    expect(git(server, 'rev-parse', 'main')).toBe(main);
  });

  it('that leads to a free branch is free', async () => {
    const here = place();
    withSide(here);
    const server = await withServer(here);
    git(server, 'symbolic-ref', 'refs/heads/trunk', 'refs/heads/free');
    expect(push(here, server, 'side:trunk')).toMatchObject({ code: 0 });
  });

  it('that leads in a circle, or to replaced objects, takes nothing', async () => {
    const here = place();
    withSide(here);
    const server = await withServer(here);
    const main = git(server, 'rev-parse', 'main');
    writeFileSync(join(server, 'refs/heads/x'), 'ref: refs/heads/y\n');
    writeFileSync(join(server, 'refs/heads/y'), 'ref: refs/heads/x\n');
    writeFileSync(join(server, 'refs/heads/z'), `ref: refs/replace/${main}\n`);
    for (const name of ['x', 'z'])
      expect(push(here, server, `side:${name}`)).toMatchObject({ code: 1, stderr: REFUSED(`refs/heads/${name}`) });
  });
});

describe('a HEAD that names no branch there is', () => {
  it.each(['refs/tags/HEAD', 'refs/heads/HEAD', 'refs/tags/refs/heads/absent', 'refs/heads/refs/heads/absent'])(
    'is not replaced by %s',
    async (name) => {
      const here = place();
      await here.handoff.policy.set({ key: 'protected', value: 'refs/heads/main,refs/heads/release' });
      const server = await withServer(here, 'absent');
      withOrphan(here);
      push(here, server, `orphan:${name}`);
      expect(push(here, server, 'orphan:release')).toMatchObject({ code: 1, stderr: REFUSED('refs/heads/release') });
    },
  );

  it.each([true, false])('is not taken by an orphan (root known: %s)', async (isRooted) => {
    const here = place();
    const server = await withServer(here, 'absent', isRooted);
    withOrphan(here);
    expect(push(here, server, 'orphan:absent')).toMatchObject({ code: 1, stderr: REFUSED('refs/heads/absent') });
    expect(push(here, server, 'main:absent')).toMatchObject({ code: 0 });
    expect(push(here, server, 'orphan:free')).toMatchObject({ code: 0 });
  });
});

describe('a HEAD whose branch has no policy', () => {
  it('leaves it to main, and cannot be given one by strangers', async () => {
    const here = place();
    await here.handoff.policy.set({ key: 'protected', value: 'refs/heads/main,refs/heads/release' });
    const server = await withServer(here, 'old', false);
    withOrphan(here);
    git(server, 'fetch', '--quiet', here.dir, 'orphan:refs/heads/old');
    const stranger = open(here.dir, { env: { ...here.env, HANDOFF_KEYS: join(here.dir, '../other-keys') } });
    git(here.dir, 'config', '--unset', 'handoff.root'); // his own clone trusts nobody else's
    await stranger.init();
    expect(push(here, server, 'orphan:old')).toMatchObject({ code: 1, stderr: REFUSED('refs/heads/old') });
    expect(push(here, server, 'orphan:release')).toMatchObject({ code: 1, stderr: REFUSED('refs/heads/release') });
  });
});
