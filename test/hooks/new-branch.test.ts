import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Place } from '../handoff.ts';
import { git } from '../temporary.ts';
import { template } from '../threats/forge.ts';
import { work } from '../verbs/tasks.ts';
import { open, tryGit } from './hooked.ts';

// A protected branch that is new at a server is held to the trunk. One that begins at an older commit of it brings nothing.

const place = template();

/** Main, an older commit of it, and a server that has main. */
async function served(
  name: string,
  change: (here: Place) => Promise<unknown> = async () => {},
): Promise<{ here: Place; server: string; older: string }> {
  const here = place();
  await here.handoff.policy.set({ key: 'protected', value: `refs/heads/main,refs/heads/${name}` });
  const older = git(here.dir, 'rev-parse', 'HEAD');
  await change(here);
  await here.handoff.start({ as: 'donna' });
  await here.handoff.wrap({ as: 'donna', message: 'nothing yet' });
  git(here.dir, 'add', '--all');
  git(here.dir, 'commit', '--quiet', '--allow-empty', '--message', 'records');
  const server = join(here.dir, '../server.git');
  git('/', 'init', '--quiet', '--bare', '--initial-branch=main', server);
  git(here.dir, 'push', '--quiet', server, 'main');
  git(server, 'config', 'handoff.root', here.root);
  await open(server).hooks.install({ server: true });
  return { here, server, older };
}

const push = ({ dir }: Place, server: string, refspec: string) => tryGit(dir, ['push', '--no-verify', server, refspec]);

describe('a new protected branch', () => {
  it('may begin at an older commit of the trunk, and is judged from then on', async () => {
    const { here, server, older } = await served('release');
    expect(push(here, server, `${older}:refs/heads/release`)).toMatchObject({ code: 0 });
    git(here.dir, 'checkout', '--quiet', '-b', 'fix', older);
    work(here, { 'fix.ts': 'fix\n' });
    expect(push(here, server, 'fix:refs/heads/release')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('writeback_missing'),
    });
  });

  const since: [string, (here: Place) => Promise<unknown>][] = [
    ['the policy', ({ handoff }) => handoff.policy.set({ key: 'writeback.review', value: 'true' })],
    ['a key, which is revoked', ({ handoff }) => handoff.identity.revoke({ name: 'erin' })],
    ['a key, which is rotated', ({ handoff }) => handoff.identity.rotate({ name: 'erin' })],
  ];
  it.each(since)('may not begin at a commit of the trunk since which it has changed %s', async (_, change) => {
    const { here, server, older } = await served('release', change);
    expect(push(here, server, `${older}:refs/heads/release`)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/begin the branch at a newer commit, or .*git update-ref REF COMMIT/),
    });
    expect(push(here, server, 'main:refs/heads/release')).toMatchObject({ code: 0 });
  });

  it('may begin at one since which others were signed in', async () => {
    const add = ({ handoff }: Place) => handoff.identity.add({ name: 'frank' });
    const { here, server, older } = await served('release', add);
    expect(push(here, server, `${older}:refs/heads/release`)).toMatchObject({ code: 0 });
  });

  it('may not begin beside the trunk, with code that nobody accounts for', async () => {
    const { here, server, older } = await served('release');
    git(here.dir, 'checkout', '--quiet', '-b', 'fix', older);
    work(here, { 'fix.ts': 'fix\n' });
    expect(push(here, server, 'fix:refs/heads/release')).toMatchObject({ code: 1 });
  });

  it.each(['HEAD', 'main'])('that would be the trunk from then on may not begin at an older one: %s', async (how) => {
    const { here, server, older } = await served('develop');
    const name = how === 'HEAD' ? 'develop' : 'main';
    if (how === 'HEAD') git(server, 'symbolic-ref', 'HEAD', 'refs/heads/develop');
    else {
      git(server, 'update-ref', 'refs/heads/master', 'refs/heads/main');
      git(server, 'update-ref', '-d', 'refs/heads/main');
    }
    expect(push(here, server, `${older}:refs/heads/${name}`)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('record_deleted'),
    });
  });
});
