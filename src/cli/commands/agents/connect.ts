import { RUNTIME_NAMES } from '../../../runtimes/runtime.ts';
import type { ConnectOptions, ConnectResult } from '../../../verbs/agents/connect.ts';
import type { DisconnectOptions } from '../../../verbs/agents/disconnect.ts';
import { type Context, defineVerb, type Flag } from '../../command.ts';

const RUNTIME = { name: 'RUNTIME', about: 'which; without one all of them', optional: true, variadic: true };
const ARGS = [{ ...RUNTIME, choices: RUNTIME_NAMES }];
const FLAGS: readonly Flag[] = [
  { flags: '--user', about: 'in your own settings, for all repositories' },
  { flags: '--dry-run', about: 'only show what would change' },
];
const text = () => import('./connect-text.ts');

export const connect = defineVerb<ConnectOptions, ConnectResult>({
  name: 'connect',
  summary: "tell agents' own programs of this repository's handoffs",
  purpose:
    'Adds hooks, the MCP server and a skill to the settings of the programs that agents run in, and shows what it changes: by itself a ' +
    'session is then shown where it stands, and reminded of what it owes. Only ours is added; what is there stays as it is, to the byte. ' +
    'With --as the hooks act as that identity.',
  args: ARGS,
  flags: FLAGS,
  examples: [
    { run: 'git handoff connect', does: 'every program that is installed' },
    { run: 'git handoff connect claude --dry-run', does: 'what would change for one' },
  ],
  run: async (context, options) =>
    (await import('../../../verbs/agents/connect.ts')).connect(await stand(context), options),
  text: async (result, paint, cwd) => (await text()).formatConnected(result, paint, cwd),
});

export const disconnect = defineVerb<DisconnectOptions, ConnectResult>({
  name: 'disconnect',
  summary: 'take out what connect added',
  purpose:
    'Takes ours out of the settings of the programs that agents run in. Where nobody has changed a file since, it is to the byte what ' +
    'it was; what connect made and nobody else uses is removed.',
  args: ARGS,
  flags: FLAGS,
  examples: [{ run: 'git handoff disconnect', does: 'no program is told of us any more' }],
  run: async (context, options) =>
    (await import('../../../verbs/agents/disconnect.ts')).disconnect(await stand(context), options),
  text: async (result, paint, cwd) => (await text()).formatDisconnected(result, paint, cwd),
});

async function stand(
  context: Context,
): Promise<{ repository: Awaited<ReturnType<Context['anyRepository']>>; env: NodeJS.ProcessEnv }> {
  return { repository: await context.anyRepository(), env: context.env };
}
