import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { append, ledgered } from '../gate/ledgers.ts';
import { headOf } from '../gate/scenario.ts';
import { commitSealed } from '../ledger/sealed.ts';
import { git, isolatedEnv } from '../temporary.ts';
import { template } from '../threats/forge.ts';
import { open, tryGit } from './hooked.ts';

// Two have appended, one was faster. Whoever has merged what the server has is told what lets the rest in.

const place = template();

it('an append that lost, merged with the ledger that won: what each refusal prints, typed, lets the rest in', async () => {
  const here = place();
  await ledgered(here);
  const start = headOf(here.dir);
  commitSealed(here, 1);
  await append(here);
  git(here.dir, 'branch', 'theirs');
  git(here.dir, 'reset', '--quiet', '--hard', start);
  rmSync(join(here.dir, '.git/handoff/ledger.json')); // it was another clone
  commitSealed(here, 2);
  await append(here);
  const server = join(here.dir, '../server.git');
  git('/', 'init', '--quiet', '--bare', '--initial-branch=main', server);
  git(here.dir, 'push', '--quiet', server, 'theirs:main');
  git(server, 'config', 'handoff.root', here.root);
  await open(server).hooks.install({ server: true });

  const type = (command: string | undefined) => {
    expect(command).toBeDefined();
    const typed = spawnSync('sh', ['-c', command!], { cwd: here.dir, env: isolatedEnv, encoding: 'utf8' });
    expect({ command, ...typed }).toMatchObject({ status: 0 });
  };
  // git leaves the tiles of both in conflict, and a commit of that says what to do
  expect(tryGit(here.dir, ['merge', '--quiet', 'theirs'])).toMatchObject({ code: 1 });
  await open(here.dir).hooks.install();
  tryGit(here.dir, ['add', '--all']);
  const staged = tryGit(here.dir, ['commit', '--message', 'merged']);
  git(here.dir, 'config', 'core.hooksPath', '/dev/null'); // as in a clone without hooks
  git(here.dir, 'reset', '--quiet', '--hard');
  tryGit(here.dir, ['merge', '--quiet', 'theirs']);
  type(/(git rm [^)]*)\)/.exec(staged.stderr)?.[1]?.replace('BASE', 'theirs'));
  git(here.dir, 'commit', '--quiet', '--no-verify', '--message', 'merged');

  const push = () => tryGit(here.dir, ['push', '--no-verify', server, 'main']);
  const { code, stderr } = push();
  expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining('ledger_rewritten') });
  type(/\((git branch [^)]*)\)/.exec(stderr)?.[1]);
  expect(push()).toMatchObject({ code: 0 });
});
