import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { commitAll, type Place, STORY, writeBytes, writeSession } from '../handoff.ts';
import { git } from '../temporary.ts';
import { template } from '../threats/forge.ts';
import { hooked, open, PROGRAM, pathWithoutNode, tryGit, writeHook } from './hooked.ts';

// What depends on what the gate says: code that no thought covers is refused, records and what a remote has are not.

const place = template();

function commitFile(dir: string, name: string): string {
  writeBytes(dir, name, `${name}\n`);
  git(dir, 'add', name);
  git(dir, 'commit', '--quiet', '-m', name);
  return git(dir, 'rev-parse', 'HEAD');
}

/** Two commits of code on a branch called side, which nobody wrote a thought about. */
async function withSide(): Promise<Place> {
  const here = await hooked(place());
  git(here.dir, 'checkout', '--quiet', '-b', 'side');
  for (const name of ['s1', 's2']) commitFile(here.dir, name);
  git(here.dir, 'checkout', '--quiet', 'main');
  return here;
}

/** A bare repository that judges, with the place's main on it. */
async function withServer(here: Place): Promise<string> {
  const server = join(here.dir, '../server.git');
  git('/', 'init', '--quiet', '--bare', '--initial-branch=main', server);
  git(here.dir, 'remote', 'add', 'origin', server);
  git(here.dir, 'push', '--quiet', 'origin', 'main');
  git(server, 'config', 'handoff.root', here.root);
  await open(server).hooks.install({ server: true });
  return server;
}

describe('into a protected branch', () => {
  const ROUTES: [string, string[][]][] = [
    ['merge', [['merge', '--no-edit', '--no-ff', 'side']]],
    ['fast-forward', [['merge', '--ff-only', 'side']]],
    ['a branch that is pulled', [['pull', '--no-rebase', '.', 'side']]],
    [
      'a branch that is fetched',
      [
        ['checkout', '--quiet', '--detach'],
        ['fetch', '.', 'side:main'],
      ],
    ],
    [
      'a branch that is moved',
      [
        ['checkout', '--quiet', '--detach'],
        ['branch', '-f', 'main', 'side'],
      ],
    ],
    ['a hard reset', [['reset', '--hard', 'side']]],
    ['update-ref', [['update-ref', 'refs/heads/main', 'side']]],
    ['a rebase', [['rebase', 'side', 'main']]],
    ['checkout -B', [['checkout', '-B', 'main', 'side']]],
  ];

  it.each(ROUTES)('%s is judged, and refused', async (_, commands) => {
    const here = await withSide();
    const before = git(here.dir, 'rev-parse', 'main');
    for (const args of commands.slice(0, -1)) expect(tryGit(here.dir, args).code).toBe(0);
    const { code, stderr } = tryGit(here.dir, commands.at(-1)!);
    expect(code).not.toBe(0);
    expect(stderr).toContain('error writeback_missing: ');
    expect(stderr).toContain('git-handoff: refs/heads/main: refused: ');
    expect(git(here.dir, 'rev-parse', 'main')).toBe(before);
  });

  it('a merge where main has moved on is refused before it is a commit', async () => {
    const here = await withSide();
    commitFile(here.dir, 'm');
    const { code, stderr } = tryGit(here.dir, ['merge', '--no-edit', 'side']);
    expect([code, stderr]).toEqual([1, expect.stringContaining('refs/heads/main: refused')]);
    expect(stderr).not.toContain('aborted by hook');
  });

  it('several commits at once are judged, one of our own is not', async () => {
    const here = await withSide();
    expect(tryGit(here.dir, ['cherry-pick', 'side'])).toMatchObject({ code: 0 }); // a new commit, as any other
    git(here.dir, 'checkout', '--quiet', '-b', 'more');
    for (const name of ['a', 'b']) commitFile(here.dir, name);
    git(here.dir, 'checkout', '--quiet', 'main');
    expect(tryGit(here.dir, ['merge', '--ff-only', 'more~1']).code).not.toBe(0); // one commit, but somebody has it
  });

  it('records alone arrive', async () => {
    const here = await hooked(place());
    git(here.dir, 'checkout', '--quiet', '-b', 'records');
    writeSession(here, STORY.slice(0, 2));
    commitAll(here);
    writeSession(here, STORY);
    commitAll(here);
    git(here.dir, 'checkout', '--quiet', 'main');
    expect(tryGit(here.dir, ['merge', '--quiet', '--ff-only', 'records'])).toMatchObject({ code: 0 });
  });

  it('what the remote has was judged there; a branch of another name was not', async () => {
    const here = await withSide();
    git(here.dir, 'update-ref', 'refs/remotes/origin/topic/main', 'side');
    expect(tryGit(here.dir, ['update-ref', 'refs/heads/main', 'side']).code).not.toBe(0);
    git(here.dir, 'update-ref', 'refs/remotes/origin/main', 'side');
    expect(tryGit(here.dir, ['update-ref', 'refs/heads/main', 'side'])).toMatchObject({ code: 0, stderr: '' });
  });

  it('the newest policy says which branches are protected, not one that waits for signatures', async () => {
    const here = place();
    await here.handoff.policy.set({ key: 'protected', value: 'refs/heads/main,refs/heads/release/größe' });
    await hooked(here);
    const policies = join(here.dir, '.handoff/policy');
    writeFileSync(join(policies, '0003.pending.yaml'), 'protected:\n  - refs/heads/other\n');
    for (const name of ['release/größe', 'other']) git(here.dir, 'branch', name);
    git(here.dir, 'checkout', '--quiet', '-b', 'side');
    for (const name of ['s1', 's2']) commitFile(here.dir, name);
    const move = (name: string) => tryGit(here.dir, ['branch', '-f', name, 'side']);
    expect(move('other')).toMatchObject({ code: 0, stderr: '' });
    git(here.dir, 'branch', '-D', 'other');
    expect(move('release/größe').stderr).toContain('git-handoff: refs/heads/release/größe: refused: ');
  });

  it('where the work tree shows no policy, the commit itself is asked', async () => {
    const here = await withSide();
    const before = git(here.dir, 'rev-parse', 'main');
    const { code } = tryGit(join(here.dir, '.git'), ['update-ref', 'refs/heads/main', 'side']);
    expect([code === 0, git(here.dir, 'rev-parse', 'main')]).toEqual([false, before]);
  });
});

describe('a push', () => {
  it('to a protected branch is judged here first', async () => {
    const here = await withSide();
    await withServer(here);
    const { code, stderr } = tryGit(here.dir, ['push', 'origin', 'side:main']);
    expect([code, stderr]).toEqual([1, expect.stringContaining('git-handoff: refs/heads/main: refused: ')]);
    expect(stderr).not.toContain('remote:');
    expect(tryGit(here.dir, ['push', 'origin', ':main']).stderr).toMatch(
      /^git-handoff: refs\/heads\/main: refused: .*deleted/m,
    );
    expect(tryGit(here.dir, ['push', '--quiet', 'origin', 'side', 'main'])).toMatchObject({ code: 0, stderr: '' });
  });

  const AROUND: [string, string[], string[]][] = [
    ['--no-verify', [], ['--no-verify']],
    ['core.hooksPath', ['-c', 'core.hooksPath=/dev/null'], []],
  ];
  it.each(AROUND)('around the hooks by %s ends at the server', async (_, before, after) => {
    const here = await withSide();
    const server = await withServer(here);
    const main = git(server, 'rev-parse', 'main');
    for (const refspec of ['side:main', '+side:main', ':main', `side:refs/replace/${main}`]) {
      const { code, stderr } = tryGit(here.dir, [...before, 'push', ...after, 'origin', refspec]);
      expect([refspec, code, /^remote: git-handoff: refs\/\S+: refused: /m.test(stderr)]).toEqual([refspec, 1, true]);
    }
    expect(git(server, 'rev-parse', 'main')).toBe(main);
  });

  it('around the hooks by writing the ref file ends at the server', async () => {
    const here = await withSide();
    await withServer(here);
    writeFileSync(join(here.dir, '.git/refs/heads/main'), `${git(here.dir, 'rev-parse', 'side')}\n`);
    const { code, stderr } = tryGit(here.dir, ['push', '--no-verify', 'origin', 'main']);
    expect([code, stderr]).toEqual([1, expect.stringContaining('remote: error writeback_missing: ')]);
  });

  it('a protected branch is not deleted', async () => {
    const here = await withSide();
    await withServer(here);
    const { stderr } = tryGit(here.dir, ['push', '--no-verify', 'origin', ':main']);
    expect(stderr).toContain('remote: git-handoff: refs/heads/main: refused: it is protected, and cannot be deleted');
  });

  it('that makes a protected branch is judged against what the server has', async () => {
    const here = place();
    await here.handoff.policy.set({ key: 'protected', value: 'refs/heads/main,refs/heads/release' });
    await withServer(here);
    git(here.dir, 'push', '--quiet', '--no-verify', 'origin', 'main:release');
    git(here.dir, 'push', '--quiet', '--no-verify', 'origin', 'main:free');
    git(here.dir, 'checkout', '--quiet', '-b', 'side');
    commitFile(here.dir, 's1');
    for (const name of ['release', 'main']) expect(tryGit(here.dir, ['push', 'origin', `side:${name}`]).code).toBe(1);
    expect(tryGit(here.dir, ['push', 'origin', 'side:free']).code).toBe(0);
  });

  it('of records alone arrives: what waits in quarantine is read', async () => {
    const here = await hooked(place());
    await withServer(here);
    writeSession(here, STORY);
    commitAll(here);
    const { code, stderr } = tryGit(here.dir, ['push', 'origin', 'main']);
    expect([code, stderr]).toEqual([0, expect.stringContaining('remote: git-handoff: refs/heads/main: accepted')]);
  });

  it('all refs of a push are judged, and one that is refused refuses all', async () => {
    const here = await withSide();
    const server = await withServer(here);
    const { stderr } = tryGit(here.dir, [
      'push',
      '--no-verify',
      'origin',
      'side:main',
      'side:other',
      `side:refs/replace/${git(here.dir, 'rev-parse', 'side')}`,
    ]);
    expect(stderr.match(/: refused: /g)).toHaveLength(2);
    expect(git(server, 'for-each-ref', '--format=%(refname)')).toBe('refs/heads/main');
  });

  it('the first push to an empty server passes if it holds', async () => {
    const here = await hooked(place());
    const server = join(here.dir, '../empty.git');
    git('/', 'init', '--quiet', '--bare', '--initial-branch=main', server);
    git(server, 'config', 'handoff.root', here.root);
    await open(server).hooks.install({ server: true });
    expect(tryGit(here.dir, ['push', server, 'main'])).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('accepted'),
    });
  });

  it('runs nothing that the push brings', async () => {
    const here = await withSide();
    await withServer(here);
    git(here.dir, 'checkout', '--quiet', 'side');
    const canary = join(here.dir, '../canary');
    for (const name of ['pre-receive', 'hooks/pre-receive', '.husky/pre-receive', 'node_modules/.bin/git-handoff-hook'])
      writeHook(join(here.dir, name), `#!/bin/sh\ntouch '${canary}'\n`);
    writeFileSync(join(here.dir, 'package.json'), `{"scripts":{"prepare":"touch '${canary}'"}}`);
    commitAll(here, 'canaries');
    expect(tryGit(here.dir, ['push', '--no-verify', 'origin', 'side:main']).code).toBe(1);
    expect(tryGit(here.dir, ['push', '--no-verify', 'origin', 'side:side']).code).toBe(0);
    expect(() => readFileSync(canary)).toThrow('ENOENT');
  });
});

describe('a server that cannot judge takes nothing', () => {
  it.each([
    ['the script is gone', { hook: '/gone/hook.sh' }, 'the program is gone. Nothing can be judged'],
    ['Node is gone', { node: '/gone/node' }, 'node was not found. Nothing can be judged'],
  ])('%s', async (_, gone, message) => {
    const here = place();
    const server = join(here.dir, '../server.git');
    git('/', 'init', '--quiet', '--bare', '--initial-branch=main', server);
    await open(server, { program: { ...PROGRAM, ...gone } }).hooks.install({ server: true });
    const script = join(server, 'hooks/pre-receive');
    // what is left of a PATH when Node is not on it
    writeFileSync(
      script,
      readFileSync(script, 'utf8').replace('\nhandoff_input=', `\nPATH=${pathWithoutNode()}\nhandoff_input=`),
    );
    const { code, stderr } = tryGit(here.dir, ['push', server, 'main:refs/heads/any']);
    expect([code, stderr]).toEqual([1, expect.stringContaining(message)]);
  });

  it('what comes from a shallow clone', async () => {
    const here = place();
    const server = join(here.dir, '../server.git');
    const shallow = join(here.dir, '../shallow');
    git('/', 'init', '--quiet', '--bare', '--initial-branch=main', server);
    git(server, 'config', 'receive.shallowUpdate', 'true');
    await open(server).hooks.install({ server: true });
    git('/', 'clone', '--quiet', '--depth=1', `file://${here.dir}`, shallow);
    const { code, stderr } = tryGit(shallow, ['push', server, 'main:refs/heads/any']);
    expect([code, stderr]).toEqual([1, expect.stringContaining('it comes from a shallow clone')]);
  });
});
