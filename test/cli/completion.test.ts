import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { bash, run } from './cli.ts';

const GIT_COMPLETION = '/usr/share/bash-completion/completions/git';

/** What bash would offer for these words, the last one being typed. */
function complete(words: string[]): string[] {
  const script = `source <("$@" completion bash); COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')})
    COMP_CWORD=${words.length - 1}; __git_handoff_main; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, stderr } = bash(script);
  expect(stderr).toBe('');
  return stdout.split('\n').filter((line) => line !== '');
}

describe('bash', () => {
  it.each([
    [['git-handoff', 've'], ['verify']],
    [
      ['git-handoff', 'identity', 'r'],
      ['rotate', 'revoke', 'resign'],
    ],
    [['git-handoff', '-C', 'identity', 've'], ['verify']],
    [
      ['git-handoff', 'verify', '--s'],
      ['--staged', '--strict'],
    ],
    [['git-handoff', 'identity', 'add', 'x', '--role', 'm'], ['maintainer']],
    [
      ['git-handoff', 'completion', ''],
      ['bash', 'zsh', 'fish'],
    ],
    [['git-handoff', 'log', '--kind', 'ba'], ['baton']],
    [['git-handoff', 'verify', '--root', ''], []],
    [['git-handoff', '--js'], ['--json']],
  ])('%j offers %j', (words, offered) => {
    expect(complete(words)).toEqual(offered);
  });

  it('offers the flags that begin so', () => {
    expect(complete(['git-handoff', 'init', '--no-'])).toEqual(['--no-hooks', '--no-commit', '--no-stage']);
  });

  it('is registered for git-handoff', () => {
    expect(bash('source <("$@" completion bash); complete -p git-handoff').stdout).toContain(
      '__git_handoff_main git-handoff',
    );
  });

  it.skipIf(!existsSync(GIT_COMPLETION))("git's own completion finds it for git handoff", () => {
    const script = `source ${GIT_COMPLETION}; source <("$@" completion bash)
      for line in 'git handoff ve' 'git -C / handoff identity ke'; do
        COMP_WORDS=($line); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); COMP_LINE=$line; COMP_POINT=\${#line}; COMPREPLY=()
        __git_wrap__git_main; echo "\${COMPREPLY[@]}"
      done`;
    expect(bash(script).stdout.split(/\s+/).filter(Boolean)).toEqual(['verify', 'keygen']);
  });
});

describe('other shells', () => {
  it.each(['zsh', 'fish'])('%s gets every verb', (shell) => {
    const { code, stdout } = run(['completion', shell]);
    expect(code).toBe(0);
    for (const verb of ['verify', 'keygen', 'trust', 'show', 'completion']) expect(stdout).toContain(verb);
  });

  it('zsh keeps its search path: no variable is called path', () => {
    expect(run(['completion', 'zsh']).stdout).not.toMatch(/\bpath=/);
  });

  it('the script is a value with --json', () => {
    expect(JSON.parse(run(['completion', 'fish', '--json']).stdout).script).toBe(run(['completion', 'fish']).stdout);
  });
});
