import type { InitOptions, InitResult } from '../../../verbs/setup/init.ts';
import { defineVerb, PUBLISH_FLAGS } from '../../command.ts';

export const init = defineVerb<InitOptions, InitResult>({
  name: 'init',
  summary: 'set up .handoff in this repository',
  purpose:
    'Writes the first policy, a maintainer (named by --as, else "maintainer"), the identity "bot" and project.yaml, ' +
    'keeps line endings of signed files as they are (.gitattributes), commits that, and installs hooks. Private keys stay outside the ' +
    'repository. The root it prints is what others compare before they trust anything here.',
  flags: [
    { flags: '--name <project>', about: "the project's name (default: the directory's)" },
    { flags: '--threshold <n>', about: 'root keys that must sign a policy (1 to begin with)', atLeast: 1 },
    { flags: '--no-hooks', about: 'install no hooks' },
    { flags: '--advisory', about: 'the gate warns of work that no record accounts for, and refuses nothing for that' },
    ...PUBLISH_FLAGS,
  ],
  examples: [
    { run: 'git handoff init --as ada', does: 'set up, with ada as the first maintainer' },
    {
      run: 'git handoff init --advisory',
      does: 'try it out: git handoff policy set writeback.advisory false enforces',
    },
    { run: 'git handoff init --no-commit', does: 'look at the files before committing them' },
  ],
  run: async (context, options) =>
    (await import('../../../verbs/setup/init.ts')).init(await context.repository(), options),
  text: async (result, paint) => (await import('./setup-text.ts')).formatInit(result, paint),
});
