import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { run } from '../cli/cli.ts';
import type { Place } from '../handoff.ts';
import { git, isolatedEnv } from '../temporary.ts';
import { template } from '../threats/forge.ts';
import { ground } from './ground.ts';
import { branch, checkout, code, headOf, write } from './scenario.ts';
import { mainOf, push, serverTemplate } from './server.ts';

// THREATS 25, 26: hooks on one's own machine are advice. Every way around them ends at the server.

const place = template(async (here) => {
  await ground(here);
  expect(run(['-C', here.dir, 'hooks', 'install']).code).toBe(0);
});
const server = serverTemplate();

/** Code that nobody accounts for, on a branch that no hook looks at. */
function evil(here: Place): string {
  branch(here, 'evil');
  const commit = code(here, { 'src/evil.ts': 'evil\n' });
  checkout(here, 'main');
  return commit;
}

/** Around every hook there is on this side. */
function quietly({ dir }: Place, ...args: string[]): void {
  git(dir, '-c', 'core.hooksPath=/dev/null', ...args);
}

const WAYS: [string, (here: Place) => void][] = [
  [
    'git commit --no-verify',
    (here) => {
      write(here, 'src/lib.ts', 'evil\n');
      git(here.dir, 'commit', '--quiet', '--all', '--no-verify', '--message', 'quick fix');
    },
  ],
  ['git merge --no-verify', (here) => spawnGit(here, 'merge', '--no-ff', '--no-verify', '--no-edit', evil(here))],
  ['-c core.hooksPath=/dev/null', (here) => quietly(here, 'merge', '--quiet', '--no-ff', '--no-edit', evil(here))],
  [
    'core.hooksPath in the configuration',
    (here) => {
      git(here.dir, 'config', 'core.hooksPath', '/dev/null');
      git(here.dir, 'merge', '--quiet', evil(here));
    },
  ],
  [
    'the hooks are removed',
    (here) => {
      rmSync(join(here.dir, '.git/hooks'), { recursive: true });
      git(here.dir, 'merge', '--quiet', evil(here));
    },
  ],
  [
    'the file of the ref is written',
    (here) => writeFileSync(join(here.dir, '.git/refs/heads/main'), `${evil(here)}\n`),
  ],
  ['git update-ref', (here) => quietly(here, 'update-ref', 'refs/heads/main', evil(here))],
  ['a fast-forward', (here) => quietly(here, 'merge', '--quiet', '--ff-only', evil(here))],
  [
    'a squash',
    (here) => {
      quietly(here, 'merge', '--quiet', '--squash', evil(here));
      quietly(here, 'commit', '--quiet', '--message', 'squashed');
    },
  ],
  [
    'a rebase',
    (here) => {
      const commit = evil(here);
      quietly(here, 'commit', '--quiet', '--allow-empty', '--message', 'mine');
      quietly(here, 'rebase', '--quiet', commit);
    },
  ],
  ['a cherry-pick', (here) => quietly(here, 'cherry-pick', evil(here))],
  ['git reset --hard', (here) => quietly(here, 'reset', '--quiet', '--hard', evil(here))],
  [
    'git branch --force',
    (here) => {
      const commit = evil(here);
      checkout(here, 'evil');
      quietly(here, 'branch', '--force', 'main', commit);
    },
  ],
  [
    'git fetch into the branch',
    (here) => {
      evil(here);
      checkout(here, 'evil');
      quietly(here, 'fetch', '--quiet', '.', '+evil:main');
    },
  ],
  [
    'git replace',
    (here) => {
      const [good, commit] = [headOf(here.dir), evil(here)];
      quietly(here, 'reset', '--quiet', '--hard', commit);
      quietly(here, 'replace', commit, good);
    },
  ],
  [
    'a clone that never had hooks',
    (here) => {
      const commit = evil(here);
      const dir = join(here.dir, '..', 'plain');
      git('/', 'clone', '--quiet', '--template=', here.dir, dir);
      git(dir, 'merge', '--quiet', commit);
      here.dir = dir;
    },
  ],
  [
    'hooks of another path, in a configuration that is included',
    (here) => {
      mkdirSync(join(here.dir, '..', 'none'));
      writeFileSync(join(here.dir, '..', 'own.config'), `[core]\n\thooksPath = ${join(here.dir, '..', 'none')}\n`);
      git(here.dir, 'config', 'include.path', join(here.dir, '..', 'own.config'));
      git(here.dir, 'merge', '--quiet', evil(here));
    },
  ],
];

/** Whatever it answers: a hook that could not be skipped may have said no. */
function spawnGit({ dir }: Place, ...args: string[]): void {
  spawnSync('git', ['-C', dir, ...args], { env: isolatedEnv });
}

describe('ways around the hooks of a clone end at the server', () => {
  test.each(WAYS)('%s', (_, go) => {
    const here = place();
    const base = headOf(here.dir);
    go(here);
    const main = git(here.dir, '--no-replace-objects', 'rev-parse', 'main');
    const bare = server(here, base);
    const { code: status, stderr } = push(here, bare, main === base ? 'evil' : main, ['--force']);
    expect({ status, stderr, main: mainOf(bare) }).toEqual({
      status: 1,
      stderr: expect.stringMatching(/remote rejected/),
      main: base,
    });
  });

  test('git push --no-verify, and to a ref that is forced', () => {
    const here = place();
    const base = headOf(here.dir);
    const bare = server(here, base);
    const commit = evil(here);
    for (const flags of [[], ['--force'], ['--force-with-lease'], ['--atomic'], ['--push-option=skip']]) {
      expect(push(here, bare, commit, flags).code).not.toBe(0);
      expect(mainOf(bare)).toBe(base);
    }
    expect(push(here, bare, '').code).not.toBe(0); // nor is it deleted
    expect(mainOf(bare)).toBe(base);
  });

  test('what no branch protects may be pushed', () => {
    const here = place();
    const bare = server(here, headOf(here.dir));
    evil(here);
    git(here.dir, 'push', '--quiet', '--no-verify', bare, 'evil:refs/heads/evil');
    expect(git(bare, 'rev-parse', 'evil')).toBe(git(here.dir, 'rev-parse', 'evil'));
  });
});
