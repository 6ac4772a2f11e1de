import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { bash } from '../cli/cli.ts';
import { git } from '../temporary.ts';
import { template } from '../threats/forge.ts';
import { done, type Machine, machine } from '../verbs/machines.ts';
import { open } from './hooked.ts';

// Two people work on the protected branch itself, as small projects do: git pull stands in nobody's way, and the server judges.

const place = template();

/** A server that judges, and two clones with our hooks. */
async function pair(): Promise<{ donna: Machine; erin: Machine }> {
  const made = place();
  for (const id of ['A', 'B']) done({ dir: made.dir, bare: '', env: made.env }, 'task', 'add', id, '--title', id);
  const bare = join(made.dir, '../server.git');
  git('/', 'clone', '--quiet', '--bare', made.dir, bare);
  git(bare, 'config', 'handoff.root', made.root);
  await open(bare).hooks.install({ server: true });
  const [donna, erin] = ['donna', 'erin'].map((name) => {
    const here = machine(made, bare, name);
    git(here.dir, 'config', '--unset', 'handoff.remote');
    git(here.dir, 'config', 'handoff.identity', name);
    done(here, 'hooks', 'install');
    return here;
  });
  return { donna: donna!, erin: erin! };
}

const type = ({ dir, env }: Machine, line: string) => bash(line, { cwd: dir, env });

function code(here: Machine, name: string): void {
  writeFileSync(join(here.dir, name), `${name}\n`);
  git(here.dir, 'add', name);
  expect(type(here, `git commit --quiet --message ${name}`).code).toBe(0);
}

/** A task from claim to push. */
function deliver(here: Machine, task: string): void {
  done(here, 'claim', task);
  code(here, `${task}.txt`);
  expect(type(here, `git handoff done ${task} 'It is done.' --run -- true`).code).toBe(0);
  done(here, 'wrap', '--message', 'done');
  expect(type(here, 'git pull --quiet --rebase && git push --quiet')).toMatchObject({ code: 0 });
}

describe('on the protected branch', () => {
  it('git pull merges what the server took, with tasks that are done there', async () => {
    const { donna, erin } = await pair();
    code(erin, 'own.txt');
    deliver(donna, 'A');
    expect(type(erin, 'git pull --quiet --no-rebase --no-edit')).toMatchObject({ code: 0 });
    expect(type(erin, 'git log -1 --format=%P').stdout.trim().split(' ')).toHaveLength(2);
  });

  it('git pull --rebase moves several commits of its own, while their thought waits for a commit', async () => {
    const { donna, erin } = await pair();
    done(erin, 'claim', 'B');
    code(erin, 'one.txt');
    code(erin, 'two.txt');
    expect(type(erin, "git handoff done B 'Both are done.' --run -- true").code).toBe(0);
    deliver(donna, 'A');
    expect(type(erin, 'git pull --quiet --rebase')).toMatchObject({ code: 0 });
    expect(git(erin.dir, 'symbolic-ref', 'HEAD')).toBe('refs/heads/main');
    done(erin, 'wrap', '--message', 'done');
    expect(type(erin, 'git push --quiet')).toMatchObject({ code: 0 });
  });

  it('what somebody puts there in place of its own commits is judged all the same', async () => {
    const { donna, erin } = await pair();
    code(erin, 'own.txt');
    deliver(donna, 'A');
    git(erin.dir, 'fetch', '--quiet');
    git(erin.dir, 'switch', '--quiet', '--create', 'side', 'origin/main');
    for (const name of ['x.txt', 'y.txt']) code(erin, name);
    git(erin.dir, 'switch', '--quiet', 'main');
    const reset = type(erin, 'git reset --quiet --hard side');
    const main = git(erin.dir, 'rev-parse', 'main');
    expect(reset.stderr).toContain('writeback_missing');
    expect(main).not.toBe(git(erin.dir, 'rev-parse', 'side'));
    expect(type(erin, 'git push --quiet origin side:main').stderr).toContain('writeback_missing');
  });
});
