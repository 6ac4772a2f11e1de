import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isFamily } from '../../src/cli/command.ts';
import { COMMANDS } from '../../src/cli/commands/table.ts';
import { NAMED_ARGUMENTS } from '../../src/cli/completion/words.ts';
import { commitAll, type Place, STORY, writeSession } from '../handoff.ts';
import { git } from '../temporary.ts';
import { template } from '../threats/forge.ts';
import { defineTask } from '../verbs/tasks.ts';
import { bash, CLI, run } from './cli.ts';

const SHIM = `mkdir -p ../bin; printf '#!/bin/sh\\nexec "%s" "%s" "$@"\\n' '${process.execPath}' '${CLI}' > ../bin/git-handoff
  chmod +x ../bin/git-handoff; PATH=$PWD/../bin:$PATH`;

const fresh = template((place) => {
  for (const id of ['P0.1', 'P0.2', 'T7']) defineTask(place, id);
  writeSession(place, STORY, { sessionId: '7c1f09aa-51cf-4c61-9a39-2b7fd2f9a1de' });
  commitAll(place, 'tasks');
});

/** What bash offers in a folder of the repository, and what else it printed. */
function complete({ dir, env }: Place, words: string[], cwd = dir): string[] {
  const script = `cd ${dir}; ${SHIM}; cd ${cwd}; source <(git-handoff completion bash)
    COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')})
    COMP_CWORD=${words.length - 1}; __git_handoff_main; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, stderr } = bash(script, { cwd: dir, env });
  expect(stderr).toBe('');
  return stdout.split('\n').filter((line) => line !== '');
}

describe('bash offers names of the repository', () => {
  it.each([
    [
      ['claim', ''],
      ['P0.1', 'P0.2', 'T7'],
    ],
    [
      ['claim', 'P'],
      ['P0.1', 'P0.2'],
    ],
    [['task', 'show', 'T'], ['T7']],
    [['note', '--as', 'd'], ['donna']],
    [['--as', 'l'], ['lola']],
    [['signal', 'send', 'ma'], ['maintainer']],
    [
      ['wrap', '--next-agent', ''],
      ['bot', 'donna', 'erin', 'lola', 'maintainer'],
    ],
    [
      ['log', '--task', 'P'],
      ['P0.1', 'P0.2'],
    ],
    [['pickup', '--from-session', ''], ['7c1f09aa']],
    [['restore', '7'], ['7c1f09aa']],
    [['task', 'add', ''], []],
    [['note', ''], []],
  ])('%j: %j', async (words, offered) => {
    const place = fresh();
    await place.handoff.identity.add({ name: 'lola' });
    expect(complete(place, ['git-handoff', ...words])).toEqual(offered);
  });

  it('from a folder inside, and none outside of a repository', () => {
    const place = fresh();
    mkdirSync(join(place.dir, 'src/deep'), { recursive: true });
    expect(complete(place, ['git-handoff', 'claim', 'T'], join(place.dir, 'src/deep'))).toEqual(['T7']);
    expect(complete(place, ['git-handoff', 'claim', 'T'], '/')).toEqual([]);
  });
});

describe('a hostile name', () => {
  const HOSTILE = [
    '$(touch x)',
    '`touch x`',
    'a;touch x',
    "a'touch x",
    'a b',
    '*',
    '-rf',
    '\u202egnp',
    ['$', '{x:-$(touch x)}'].join(''),
  ];

  it.each(['tasks', 'identities', 'sessions/donna'])('in %s is offered to no shell, and nothing runs', (room) => {
    const place = fresh();
    for (const name of HOSTILE) {
      mkdirSync(join(place.dir, '.handoff', room), { recursive: true });
      if (room === 'tasks') writeFileSync(join(place.dir, '.handoff', room, `${name}.yaml`), '');
      else mkdirSync(join(place.dir, '.handoff', room, name), { recursive: true });
    }
    for (const words of [
      ['claim', ''],
      ['--as', ''],
      ['restore', ''],
    ]) {
      const offered = complete(place, ['git-handoff', ...words]);
      expect(offered.filter((word) => !/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(word))).toEqual([]);
    }
    expect(readdirSync(place.dir)).not.toContain('x');
    expect(existsSync('/x')).toBe(false);
  });
});

it('the answer starts no git, and is empty for what is no sort of name', () => {
  const place = fresh();
  const at = { cwd: place.dir, env: { ...place.env, PATH: '/nowhere' } };
  expect(run(['complete', 'tasks'], at)).toEqual({ code: 0, stdout: 'P0.1\nP0.2\nT7\n', stderr: '' });
  for (const kind of ['nothing', 'constructor', '']) expect(run(['complete', kind], at).stdout).toBe('');
  git(place.dir, 'rm', '--quiet', '-r', '.handoff');
  expect(run(['complete', 'tasks'], at).stdout).toBe('');
});

it('zsh and fish ask for the same', () => {
  for (const shell of ['zsh', 'fish']) {
    const { stdout } = run(['completion', shell]);
    expect(stdout).toContain('git-handoff complete');
  }
  expect(run(['completion', 'fish']).stdout).toContain("-l as -x -a '(git-handoff complete identities 2>/dev/null)'");
});

it('every command that is completed so exists', () => {
  const paths = COMMANDS.flatMap((command) =>
    isFamily(command) ? command.verbs.map(({ name }) => `${command.name} ${name}`) : [command.name],
  );
  expect(Object.keys(NAMED_ARGUMENTS).filter((path) => !paths.includes(path))).toEqual([]);
});
