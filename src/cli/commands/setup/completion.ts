import { defineVerb } from '../../command.ts';

type Shell = 'bash' | 'zsh' | 'fish';

export const completion = defineVerb<{ shell: Shell }, { shell: Shell; script: string }>({
  name: 'completion',
  summary: 'a completion script for bash, zsh or fish',
  purpose:
    'Prints a script that completes verbs, flags, and the names of tasks, identities and sessions, for "git handoff" (with git\'s own completion loaded) and for ' +
    '"git-handoff".',
  args: [{ name: 'SHELL', about: 'bash, zsh or fish', choices: ['bash', 'zsh', 'fish'] }],
  examples: [
    { run: 'source <(git handoff completion bash)', does: 'for this shell; put it in ~/.bashrc' },
    { run: 'git handoff completion fish > ~/.config/fish/completions/git-handoff.fish', does: 'for fish' },
  ],
  run: async (_, { shell }) => ({ shell, script: (await import('../../completion.ts')).completionScript(shell) }),
  text: async ({ script }) => script,
});
