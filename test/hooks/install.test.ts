import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { git, temporaryDirectory } from '../temporary.ts';
import { CLIENT, open, PROGRAM, snapshot, tryGit, writeHook } from './hooked.ts';

function repository(name = 'work'): string {
  const dir = join(temporaryDirectory(), name);
  git('/', 'init', '--quiet', '--initial-branch=main', '--template=', dir);
  return dir;
}

const hooksOf = (dir: string) => join(dir, '.git/hooks');

/** Every kind of hook that may be there before, and whether git runs it. */
const BEFORE: [string, string | Uint8Array, number][] = [
  ['a shell script', '#!/bin/sh\necho before\n', 0o755],
  ['a shell script by env', '#!/usr/bin/env bash\nset -eu\necho before\n', 0o755],
  ['a shell script with options', '#! /bin/sh -e\necho before\n', 0o700],
  ['a line without an end', '#!/bin/sh', 0o755],
  ['a shell and nothing else', '#!/bin/sh\n', 0o755],
  ['no last line break', '#!/bin/sh\necho before', 0o755],
  ['carriage returns', '#!/bin/sh\r\necho before\r\n', 0o755],
  ['a Python script', '#!/usr/bin/env python3\nprint("before")\n', 0o755],
  ['no first line that says what it is', 'echo before\n', 0o755],
  ['a program', new Uint8Array([0x7f, 0x45, 0x4c, 0x46, 0, 1, 255, 254]), 0o755],
  ['a shell script that may not be run', '#!/bin/sh\necho before\n', 0o644],
  ['bytes that are no UTF-8', Buffer.from('#!/bin/sh\necho \xff\xfe\n', 'latin1'), 0o755],
  ['nothing at all', '', 0o755],
];

describe('install and uninstall', () => {
  it('where there is no hook: ours are made, and none is left', async () => {
    const dir = repository();
    const result = await open(dir).hooks.install();
    const files = CLIENT.map((name) => join(hooksOf(dir), name));
    expect(result).toEqual({ installed: CLIENT, chained: [], hooks_path: hooksOf(dir), files });
    expect(Object.keys(snapshot(hooksOf(dir))).sort()).toEqual([...CLIENT].sort());
    expect(await open(dir).hooks.uninstall()).toEqual({
      installed: [],
      chained: [],
      hooks_path: hooksOf(dir),
      files: [],
    });
    expect(snapshot(hooksOf(dir))).toEqual({});
  });

  it.each(BEFORE)('%s comes back to the byte, with its mode', async (_, text, mode) => {
    const dir = repository();
    for (const name of CLIENT) writeHook(join(hooksOf(dir), name), text, mode);
    const before = snapshot(hooksOf(dir));
    const { installed, chained } = await open(dir).hooks.install();
    expect([installed, chained]).toEqual([CLIENT, CLIENT]);
    expect(snapshot(hooksOf(dir))).not.toEqual(before);
    expect(await open(dir).hooks.uninstall()).toMatchObject({ installed: [], chained: [] });
    expect(snapshot(hooksOf(dir))).toEqual(before);
  });

  it.each(BEFORE)('%s: a second time changes nothing', async (_, text, mode) => {
    const dir = repository();
    for (const name of CLIENT) writeHook(join(hooksOf(dir), name), text, mode);
    const first = await open(dir).hooks.install();
    const once = snapshot(hooksOf(dir));
    expect(await open(dir).hooks.install()).toEqual(first);
    expect(await open(dir).hooks.status()).toEqual({ ...first, missing: [] });
    expect(snapshot(hooksOf(dir))).toEqual(once);
  });

  it('status says what is missing, and why, after others have written hooks; install puts it back', async () => {
    const dir = repository();
    const at = (name: string) => join(hooksOf(dir), name);
    expect((await open(dir).hooks.status()).missing).toEqual(CLIENT.map((hook) => ({ hook, reason: 'absent' })));
    const first = await open(dir).hooks.install();
    writeHook(at('pre-push'), '#!/bin/sh\necho theirs\n');
    rmSync(at('pre-merge-commit'));
    chmodSync(at('prepare-commit-msg'), 0o644);
    writeFileSync(
      at('reference-transaction'),
      readFileSync(at('reference-transaction'), 'utf8').replace('exit $?', 'true'),
    );
    expect(await open(dir).hooks.status()).toMatchObject({
      installed: ['pre-commit', 'reference-transaction'],
      missing: [
        { hook: 'prepare-commit-msg', reason: 'not_executable' },
        { hook: 'pre-merge-commit', reason: 'absent' },
        { hook: 'pre-push', reason: 'rewritten' },
        { hook: 'reference-transaction', reason: 'outdated' },
      ],
    });
    expect(await open(dir).hooks.install()).toEqual({ ...first, chained: ['pre-push'] });
    expect((await open(dir).hooks.status()).missing).toEqual([]);
  });

  it('a second time takes the path of a program that has moved', async () => {
    const dir = repository();
    writeHook(join(hooksOf(dir), 'pre-commit'), '#!/bin/sh\necho before\n');
    await open(dir, { program: { node: '/old/node', hook: '/old/hook.sh' } }).hooks.install();
    await open(dir).hooks.install();
    for (const name of CLIENT) {
      const text = readFileSync(join(hooksOf(dir), name), 'utf8');
      expect(text).not.toContain('/old/');
      expect(text.match(/>>> git-handoff/g)).toHaveLength(1);
    }
    await open(dir).hooks.uninstall();
    expect(snapshot(hooksOf(dir))).toEqual({ 'pre-commit': '100755 #!/bin/sh\necho before\n' });
  });

  it('what somebody added to a hook of ours stays', async () => {
    const dir = repository();
    await open(dir).hooks.install();
    const path = join(hooksOf(dir), 'pre-commit');
    writeFileSync(path, `${readFileSync(path, 'utf8')}echo mine\n`);
    expect(await open(dir).hooks.status()).toMatchObject({ chained: ['pre-commit'] });
    await open(dir).hooks.uninstall();
    expect(snapshot(hooksOf(dir))).toEqual({ 'pre-commit': '100755 #!/bin/sh\necho mine\n' });
  });

  it('a link is moved, never written through', async () => {
    const dir = repository();
    const target = join(temporaryDirectory(), 'theirs');
    writeHook(target, '#!/bin/sh\necho linked\n');
    mkdirSync(hooksOf(dir));
    symlinkSync(target, join(hooksOf(dir), 'pre-commit'));
    symlinkSync('/nowhere', join(hooksOf(dir), 'pre-push'));
    const before = snapshot(hooksOf(dir));
    await open(dir).hooks.install();
    expect(readFileSync(target, 'utf8')).toBe('#!/bin/sh\necho linked\n');
    expect(tryGit(dir, ['commit', '--allow-empty', '-m', 'x'])).toMatchObject({ code: 0, stderr: 'linked\n' });
    await open(dir).hooks.uninstall();
    expect(snapshot(hooksOf(dir))).toEqual(before);
  });

  it('is refused where another hook was moved aside before', async () => {
    const dir = repository();
    writeHook(join(hooksOf(dir), 'pre-commit'), '#!/usr/bin/env python3\n');
    writeHook(join(hooksOf(dir), 'pre-commit.before-handoff'), '#!/usr/bin/env perl\n');
    const before = snapshot(hooksOf(dir));
    await expect(open(dir).hooks.install()).rejects.toMatchObject({ code: 'io' });
    expect(snapshot(hooksOf(dir))).toEqual(before);
  });
});

describe('where hooks are', () => {
  it.each([
    ['relative', '.githooks'],
    ['absolute', null],
  ])(
    'core.hooksPath, %s, in the work tree: others get the file, so it names nothing of this machine',
    async (_, path) => {
      const dir = repository();
      git(dir, 'config', 'core.hooksPath', path ?? join(dir, '.githooks'));
      writeHook(join(dir, '.githooks/pre-commit'), '#!/bin/sh\necho before\n');
      const { hooks_path } = await open(join(dir, '.git/..')).hooks.install();
      expect(hooks_path).toBe(join(dir, '.githooks'));
      for (const name of CLIENT) {
        const text = readFileSync(join(dir, '.githooks', name), 'utf8');
        expect(text).not.toContain(PROGRAM.hook);
        expect(text).not.toContain(process.execPath);
      }
      expect(existsSync(hooksOf(dir))).toBe(false);
      expect(git(dir, 'config', 'core.hooksPath')).toBe(path ?? join(dir, '.githooks'));
      // and does nothing where the program is not installed
      expect(tryGit(dir, ['commit', '--allow-empty', '-m', 'x'])).toMatchObject({ code: 0, stderr: 'before\n' });
    },
  );

  it('outside the repository: other repositories use it too, so only by force', async () => {
    const dir = repository();
    const theirs = join(temporaryDirectory(), 'all');
    mkdirSync(theirs);
    git(dir, 'config', 'core.hooksPath', theirs);
    await expect(open(dir).hooks.install()).rejects.toMatchObject({ code: 'usage', data: { hooks_path: theirs } });
    expect(snapshot(theirs)).toEqual({});
    expect(await open(dir).hooks.install({ force: true })).toMatchObject({ installed: CLIENT, hooks_path: theirs });
    await open(dir).hooks.uninstall();
    expect(snapshot(theirs)).toEqual({});
  });

  it('a link out of the repository is outside', async () => {
    const dir = repository();
    symlinkSync(temporaryDirectory(), join(dir, 'hooks'));
    git(dir, 'config', 'core.hooksPath', 'hooks');
    await expect(open(dir).hooks.install()).rejects.toMatchObject({ code: 'usage' });
  });

  it('a linked work tree has those of its repository', async () => {
    const dir = repository();
    git(dir, 'commit', '--quiet', '--allow-empty', '-m', 'first');
    const linked = join(dir, '../linked');
    git(dir, 'worktree', 'add', '--quiet', linked);
    expect(await open(linked).hooks.install()).toMatchObject({
      installed: CLIENT,
      chained: [],
      hooks_path: hooksOf(dir),
    });
    expect(await open(dir).hooks.status()).toMatchObject({ installed: CLIENT });
  });

  it.each(["it's $HOME", 'a "b" `c`', 'line\nbreak', 'ünï', '-dash'])('in a directory called %j', async (name) => {
    const dir = repository(name);
    const hook = join(temporaryDirectory(), name, 'hook.sh');
    writeHook(hook, '#!/bin/sh\necho "ran $*" >&2\n');
    await open(dir, { program: { node: process.execPath, hook } }).hooks.install();
    const { code, stderr } = tryGit(dir, ['commit', '--allow-empty', '-m', 'x']);
    expect([code, stderr]).toEqual([
      0,
      'ran pre-commit\nran prepare-commit-msg .git/COMMIT_EDITMSG message\nran reference-transaction prepared\n',
    ]);
    await open(dir).hooks.uninstall();
    expect(snapshot(hooksOf(dir))).toEqual({});
  });
});

describe('husky', () => {
  const SHIM = '#!/usr/bin/env sh\n. "$(dirname "$0")/h"';
  const H = `#!/usr/bin/env sh
n=$(basename "$0")
s=$(dirname "$(dirname "$0")")/$n
[ ! -f "$s" ] && exit 0
sh -e "$s" "$@"
`;

  function huskyRepository(): string {
    const dir = repository();
    for (const name of ['pre-commit', 'prepare-commit-msg', 'pre-merge-commit', 'pre-push', 'commit-msg'])
      writeHook(join(dir, '.husky/_', name), SHIM);
    writeHook(join(dir, '.husky/_/h'), H, 0o644);
    writeHook(join(dir, '.husky/pre-commit'), 'echo tests pass\n', 0o644);
    git(dir, 'config', 'core.hooksPath', '.husky/_');
    return dir;
  }

  it('ours go where a project keeps its own, and what husky does not pass on goes beside its shims', async () => {
    const dir = huskyRepository();
    const before = snapshot(join(dir, '.husky'));
    const result = await open(dir).hooks.install();
    expect(result).toMatchObject({ installed: CLIENT, chained: ['pre-commit'], hooks_path: join(dir, '.husky') });
    expect(await open(dir).hooks.status()).toEqual({ ...result, missing: [] });
    expect(readFileSync(join(dir, '.husky/_/pre-commit'), 'utf8')).toBe(SHIM);
    expect(statSync(join(dir, '.husky/pre-commit')).mode & 0o777).toBe(0o644);
    const bin = temporaryDirectory();
    const env = { PATH: `${bin}:${process.env.PATH}` };
    symlinkSync(PROGRAM.hook, join(bin, 'git-handoff-hook'));
    mkdirSync(join(dir, '.git/handoff-sessions'));
    writeFileSync(join(dir, '.git/handoff-sessions/donna'), 'Handoff-Session: s\n');
    const { code, stderr } = tryGit(dir, ['commit', '--allow-empty', '-m', 'x'], env);
    expect([code, stderr]).toEqual([0, 'tests pass\n']);
    expect(git(dir, 'log', '-1', '--format=%B')).toContain('Handoff-Session: s');
    await open(dir).hooks.uninstall();
    expect(snapshot(join(dir, '.husky'))).toEqual(before);
  });
});

describe('a server', () => {
  function bare(): string {
    const dir = join(temporaryDirectory(), 'server.git');
    git('/', 'init', '--quiet', '--bare', '--initial-branch=main', '--template=', dir);
    return dir;
  }
  const fsck = (dir: string) => tryGit(dir, ['config', '--local', 'receive.fsckObjects']).stdout.trim();

  it.each(['', 'false', 'true', 'no'])(
    'checks what it receives, and puts back that it was set to %j',
    async (value) => {
      const dir = bare();
      if (value !== '') git(dir, 'config', 'receive.fsckObjects', value);
      const expected = {
        installed: ['pre-receive'],
        chained: [],
        hooks_path: join(dir, 'hooks'),
        files: [join(dir, 'hooks/pre-receive')],
      };
      expect(await open(dir).hooks.install({ server: true })).toEqual(expected);
      expect(await open(dir).hooks.install({ server: true })).toEqual(expected);
      expect(fsck(dir)).toBe('true');
      await open(dir).hooks.uninstall();
      expect([fsck(dir), snapshot(join(dir, 'hooks'))]).toEqual([value, {}]);
    },
  );

  it('what somebody has set since is theirs', async () => {
    const dir = bare();
    await open(dir).hooks.install({ server: true });
    git(dir, 'config', 'receive.fsckObjects', 'false');
    await open(dir).hooks.uninstall();
    expect(fsck(dir)).toBe('false');
  });

  it('says that no root is pinned', async () => {
    const dir = bare();
    const here = open(dir);
    await here.hooks.install({ server: true });
    expect(here.warnings).toEqual([expect.stringContaining('git handoff trust --root')]);
    git(dir, 'config', 'handoff.root', '0'.repeat(64));
    const pinned = open(dir);
    await pinned.hooks.install({ server: true });
    expect(pinned.warnings).toEqual([]);
  });

  it('is no clone, and a clone is no server', async () => {
    const [server, clone] = [bare(), repository()];
    await expect(open(server).hooks.install()).rejects.toMatchObject({
      code: 'usage',
      hint: expect.stringContaining('--server'),
    });
    await expect(open(clone).hooks.install({ server: true })).rejects.toMatchObject({ code: 'usage' });
    expect([snapshot(join(server, 'hooks')), snapshot(hooksOf(clone))]).toEqual([{}, {}]);
  });
});

describe('what was there before', () => {
  const record = (file: string) =>
    `{ printf '<%s>' "$@"; echo; case $0 in *push*|*transaction*) cat;; esac; } >>'${file}'\n`;

  it.each([
    ['a shell script', '#!/bin/sh\n'],
    ['bash', '#!/bin/bash\nset -euo pipefail\n'],
    ['what is not known to be a shell', '#!/usr/bin/env -S /bin/sh\n'],
    ['no first line', ''],
  ])('%s: gets the same arguments and input', async (_, head) => {
    const seen = join(temporaryDirectory(), 'seen');
    const run = async (ours: boolean) => {
      const dir = repository();
      const server = join(dir, '../server.git');
      git('/', 'init', '--quiet', '--bare', server);
      for (const name of CLIENT) writeHook(join(hooksOf(dir), name), head + record(seen));
      if (ours) await open(dir).hooks.install();
      rmSync(seen, { force: true });
      for (const args of [
        ['commit', '--allow-empty', '-m', 'x'],
        ['branch', 'a-b'],
        ['push', '../server.git', 'main', 'a-b:c/d'],
        ['push', '../server.git', 'main'],
      ])
        expect(tryGit(dir, args).code).toBe(0);
      return readFileSync(seen, 'utf8').replaceAll(dir, 'DIR');
    };
    const [without, withOurs] = [await run(false), await run(true)];
    expect(without).toContain('refs/heads/c/d');
    expect(withOurs).toBe(without);
  });

  it.each(['#!/bin/sh\n', '#!/usr/bin/env python3\nimport sys\nsys.'])('decides as before: %j', async (head) => {
    const dir = repository();
    writeHook(join(hooksOf(dir), 'pre-commit'), `${head}exit(7)\n`.replace('#!/bin/sh\nexit(7)', '#!/bin/sh\nexit 7'));
    await open(dir).hooks.install();
    expect(tryGit(dir, ['commit', '--allow-empty', '-m', 'x']).code).toBe(1);
    expect(tryGit(dir, ['hook', 'run', 'pre-commit']).code).toBe(7);
  });

  it('what git did not run does not run because of us', async () => {
    const dir = repository();
    const marker = join(dir, 'ran');
    for (const name of CLIENT) writeHook(join(hooksOf(dir), name), `#!/bin/sh\ntouch '${marker}'\nexit 1\n`, 0o644);
    await open(dir).hooks.install();
    expect(tryGit(dir, ['commit', '--allow-empty', '-m', 'x']).code).toBe(0);
    expect(existsSync(marker)).toBe(false);
  });

  it('thousands of refs arrive as they were', async () => {
    const dir = repository();
    const seen = join(temporaryDirectory(), 'seen');
    writeHook(join(hooksOf(dir), 'reference-transaction'), `#!/bin/sh\n[ "$1" != prepared ] || cat >'${seen}'\n`);
    await open(dir).hooks.install();
    git(dir, 'commit', '--quiet', '--allow-empty', '-m', 'x');
    const head = git(dir, 'rev-parse', 'HEAD');
    const names = Array.from({ length: 3000 }, (_, i) => `refs/heads/branch-${i}`);
    expect(
      tryGit(dir, ['update-ref', '--stdin'], {}, names.map((name) => `create ${name} ${head}\n`).join('')).code,
    ).toBe(0);
    expect(readFileSync(seen, 'utf8')).toBe(names.map((name) => `${'0'.repeat(40)} ${head} ${name}\n`).join(''));
  });
});

it('a hook that was switched off is not installed', async () => {
  const dir = repository();
  await open(dir).hooks.install();
  chmodSync(join(hooksOf(dir), 'pre-push'), 0o644);
  expect((await open(dir).hooks.status()).installed).not.toContain('pre-push');
  expect((await open(dir).hooks.install()).installed).toContain('pre-push');
});
