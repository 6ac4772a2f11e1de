import type { HookResult } from '../../../hooks/run.ts';
import { CLIENT_HOOKS, type HookName, SERVER_HOOKS } from '../../../repository/git-hooks/section.ts';
import type { HooksOptions, HooksResult, HooksStatus } from '../../../verbs/setup/hooks.ts';
import { defineVerb, type Family } from '../../command.ts';

const verbs = () => import('../../../verbs/setup/hooks.ts');
const text = () => import('./hooks-text.ts');

const install = defineVerb<HooksOptions, HooksResult>({
  name: 'install',
  summary: 'let git ask before it commits, merges and pushes',
  purpose:
    'Adds a marked section to the hooks of this repository: commits name the session and take along the records that wait for ' +
    'one, staged records must hold, and what arrives on a protected branch is judged as the gate judges it. Hooks that are there run as before, after ' +
    'ours. Local hooks are early advice; a server enforces (--server, in its bare repository).',
  flags: [
    { flags: '--server', about: 'pre-receive, in the bare repository that others push to' },
    { flags: '--force', about: 'also in a directory of hooks that other repositories share' },
  ],
  examples: [
    { run: 'git handoff hooks install', does: 'in a clone' },
    { run: 'git handoff -C /srv/git/project.git hooks install --server', does: 'on a server' },
  ],
  run: async (context, options) => (await verbs()).hooksInstall(await context.repository(), options),
  text: async (result, paint) => (await text()).formatHooks(result, paint),
});

const uninstall = defineVerb<object, HooksResult>({
  name: 'uninstall',
  summary: 'take out what install added',
  purpose: 'Takes our sections out of the hooks again, and puts back to the byte what was there before.',
  examples: [{ run: 'git handoff hooks uninstall', does: 'git asks no more' }],
  run: async (context) => (await verbs()).hooksUninstall(await context.repository()),
  text: async (result, paint) => (await text()).formatHooks(result, paint),
});

const status = defineVerb<object, HooksStatus>({
  name: 'status',
  summary: 'which hooks are installed, and where',
  purpose:
    'Shows which hooks have our section, which of them also run what somebody else put there, and what is missing, as ' +
    'after another tool has written its hooks anew.',
  examples: [{ run: 'git handoff hooks status', does: 'what git asks, and where its hooks are' }],
  run: async (context) => (await verbs()).hooksStatus(await context.repository()),
  text: async (result, paint) => (await text()).formatHooksStatus(result, paint),
});

const run = defineVerb<{ name: HookName; arguments?: string[] }, HookResult>({
  name: 'run',
  summary: 'what a hook calls; rarely by hand',
  purpose:
    'Answers as one of the hooks, with the arguments and the standard input that git gives it. The installed hooks ' +
    'call this when a shell cannot answer.',
  args: [
    { name: 'NAME', about: 'which hook', choices: [...CLIENT_HOOKS, ...SERVER_HOOKS] },
    { name: 'ARGUMENTS', about: 'what git gives it', optional: true, variadic: true },
  ],
  examples: [{ run: 'git handoff hooks run pre-commit', does: 'what a commit would hear now' }],
  async run(context, options) {
    const { runHook } = await import('../../../hooks/run.ts');
    const readInput = async () => Buffer.from(await context.readInput()).toString('utf8');
    const call = { args: options.arguments ?? [], env: context.env, readInput };
    return runHook(await context.hookRepository(), options.name, call);
  },
  text: async (result, paint) => (await text()).formatHookResult(result, paint),
  refused: ({ pass }) => !pass,
});

export const hooks: Family = {
  name: 'hooks',
  summary: 'let git ask before it commits, merges, pushes and receives',
  purpose:
    'Git runs the hooks by itself. In a clone they warn early; on a server they enforce. They take a few ' +
    'milliseconds when there is nothing to judge, and run the hooks that were there before them.',
  examples: [{ run: 'git handoff hooks install', does: 'in a clone; init has done it' }],
  verbs: [install, uninstall, status, run],
};
