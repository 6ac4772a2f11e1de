import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { bash } from '../cli/cli.ts';
import { git } from '../temporary.ts';
import { template } from '../threats/forge.ts';
import { done, handoff, type Machine, machine } from '../verbs/machines.ts';
import { open } from './hooked.ts';

// Whoever is refused is told what to type, and typing it helps: with a key of their own, and without one.

const place = template();

/** A server that judges, and somebody's clone of it with code that nobody accounts for. */
async function refused(keys: string): Promise<{ here: Machine; maintainer: Machine; recipe: string }> {
  const made = place();
  done({ dir: made.dir, bare: '', env: made.env }, 'task', 'add', 'T1', '--title', 'a task');
  const bare = join(made.dir, '../server.git');
  git('/', 'clone', '--quiet', '--bare', made.dir, bare);
  git(bare, 'config', 'handoff.root', made.root);
  await open(bare).hooks.install({ server: true });
  const maintainer = machine(made, bare, 'maintainer');
  const here = machine(made, bare, 'here');
  for (const { dir } of [maintainer, here]) git(dir, 'config', '--unset', 'handoff.remote');
  here.env = { ...here.env, HANDOFF_KEYS: join(made.dir, '..', keys) };
  writeFileSync(join(here.dir, 'code.txt'), 'some code\n');
  git(here.dir, 'add', 'code.txt');
  git(here.dir, 'commit', '--quiet', '--message', 'code');
  const { code, stderr } = type(here, 'git push --quiet origin main');
  expect(code).toBe(1);
  const recipe = stderr.replaceAll(/^remote: |[ ]+$/gm, '');
  expect(recipe).toContain('git-handoff: to get it in');
  return { here, maintainer, recipe };
}

function type({ dir, env }: Machine, line: string) {
  return bash(line, { cwd: dir, env });
}

/** The commands that stand on lines of their own, with the words that a person fills in. */
function commandsIn(recipe: string, name: string): string[] {
  const lines = [...recipe.matchAll(/^ {2}(git handoff .*?)(?: {3,}.*)?$/gm)].map(([, command]) => command!);
  return lines.map((line) => line.replace('NAME', name).replace('TASK', 'T1'));
}

describe('code that nobody accounts for is refused by a server', () => {
  it('with a key: the commands that are printed, typed as they are, get it in', async () => {
    const { here, recipe } = await refused('keys');
    const commands = commandsIn(recipe, 'donna');
    expect(commands).toHaveLength(3);
    for (const command of [...commands, 'git push --quiet origin main'])
      expect(type(here, command), command).toMatchObject({ code: 0 });
  });

  it('without a key: the line that keygen prints, sent to a maintainer, opens the same way', async () => {
    const { here, maintainer, recipe } = await refused('keys-of-frank');
    expect(type(here, 'git handoff start').stderr).toContain('git handoff identity keygen NAME');
    const [keygen] = /git handoff identity keygen NAME/.exec(recipe)!;
    const { stdout } = type(here, keygen!.replace('NAME', 'frank'));
    const sent = join(maintainer.dir, '..', 'frank.pub');
    writeFileSync(sent, /^ssh-ed25519 .*$/m.exec(stdout)![0]);
    done(maintainer, 'identity', 'add', 'frank', '--key', sent);
    expect(type(maintainer, 'git push --quiet origin main')).toMatchObject({ code: 0 });
    expect(type(here, 'git pull --quiet --rebase')).toMatchObject({ code: 0 });
    for (const command of [...commandsIn(recipe, 'frank'), 'git push --quiet origin main'])
      expect(type(here, command), command).toMatchObject({ code: 0 });
  });

  it('by somebody else: a maintainer who waives the commit that is named lets it in', async () => {
    const { here, maintainer, recipe } = await refused('no-keys');
    expect(type(here, 'git push --quiet origin HEAD:refs/heads/frank/work')).toMatchObject({ code: 0 });
    expect(type(maintainer, 'git fetch --quiet && git merge --quiet --ff-only origin/frank/work')).toMatchObject({
      code: 0,
    });
    const [waiver] = /git handoff waiver \w+ --reason TEXT/.exec(recipe)!;
    done(maintainer, 'start', '--as', 'maintainer');
    expect(type(maintainer, waiver!)).toMatchObject({ code: 0 });
    done(maintainer, 'wrap', '--message', 'waived');
    expect(type(maintainer, 'git push --quiet origin main')).toMatchObject({ code: 0 });
  });

  it('what is accepted, or refused for something else, gets no such lines', async () => {
    const { here } = await refused('keys');
    const record = '.handoff/project.yaml';
    git(here.dir, 'reset', '--quiet', '--hard', 'origin/main');
    renameSync(join(here.dir, record), join(here.dir, '.handoff/other.yaml'));
    git(here.dir, 'add', '--all');
    git(here.dir, 'commit', '--quiet', '--message', 'x');
    const { code, stderr } = type(here, 'git push --quiet origin main');
    expect([code, stderr]).toEqual([1, expect.not.stringContaining('to get it in')]);
    expect(handoff(here, 'status').code).toBe(0);
  });
});
