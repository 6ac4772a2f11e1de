import type { CommanderError } from 'commander';
import { HandoffError } from '../core/error.ts';
import { type Command, isFamily } from './command.ts';
import { COMMANDS } from './commands/table.ts';

/** Commander's words, `error: unknown option '--x'\n(Did you mean --y?)`, as a message and a hint of ours. */
export function wrongUsage(error: CommanderError, args: readonly string[]): HandoffError {
  // the word that comes first: verbs of a family may be called like others
  const places = COMMANDS.map((command) => ({ command, at: args.indexOf(command.name) })).filter(({ at }) => at >= 0);
  const command = places.sort((a, b) => a.at - b.at)[0]?.command;
  if (error.code === 'commander.help') return noVerb(command);
  const [first = '', ...rest] = error.message.replace(/^error: /, '').split('\n');
  const suggestion = /Did you mean .*\?/.exec(rest.join(' '))?.[0];
  const message = first.charAt(0).toUpperCase() + first.slice(1) + (/[.?!]$/.test(first) ? '' : '.');
  return new HandoffError('usage', message, { hint: suggestion ?? `See ${explain(command, args)}` });
}

function noVerb(command: Command | undefined): HandoffError {
  const verbs = command && isFamily(command) ? command.verbs : COMMANDS;
  const message = `${['git handoff', command?.name ?? []].flat().join(' ')} needs a verb`;
  const names = verbs.map(({ name }) => name).join(', ');
  return new HandoffError('usage', `${message}: ${names}.`, { hint: `See ${explain(command, [])}` });
}

/** The help of what was probably meant. */
function explain(command: Command | undefined, args: readonly string[]): string {
  const verb = command && isFamily(command) ? command.verbs.find(({ name }) => args.includes(name)) : undefined;
  return ['git handoff', command?.name, verb?.name, '-h'].filter((word) => word !== undefined).join(' ');
}
