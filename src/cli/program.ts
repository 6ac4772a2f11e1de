import { resolve } from 'node:path';
import { Argument, Command as Commander, CommanderError, InvalidArgumentError, Option } from 'commander';
import { HandoffError } from '../core/error.ts';
import { typedCommand } from '../core/text/command-line.ts';
import { type Command, type Family, type Flag, GLOBAL_FLAGS, isFamily, type Verb } from './command.ts';
import { describe } from './commands/described.ts';
import { formatFamilyHelp, formatMainHelp, formatVerbHelp } from './help.ts';

/** What the words on the command line ask for. */
export type Parsed =
  | { help: string }
  | { version: true }
  | { verb: Verb; options: Record<string, unknown>; directory: string };

/** Throws `usage` when the words make no sense. No words at all ask for help. */
export async function parse(args: readonly string[], cwd: string): Promise<Parsed> {
  if (args.length === 0) return { help: formatMainHelp(await describeAll()) };
  const { own, command } = splitCommand(args);
  const parsed = await parseOwn(own, cwd);
  if ('verb' in parsed && !command) assertNoCommand(parsed, args);
  return 'verb' in parsed && command ? { ...parsed, options: { ...parsed.options, command } } : parsed;
}

/** `--run -- CMD ARG…`: the words behind are another program's, whatever they look like. */
function splitCommand(args: readonly string[]): { own: readonly string[]; command: readonly string[] | null } {
  const end = args.indexOf('--');
  if (end < 0 || !args.slice(0, end).includes('--run')) return { own: args, command: null };
  return { own: args.slice(0, end), command: args.slice(end + 1) };
}

/** Whoever forgot `--run` would have the command recorded as words, and take it for run. */
function assertNoCommand(
  { verb, options }: { verb: Verb; options: Record<string, unknown> },
  args: readonly string[],
): void {
  const [first, ...more] = args.slice(args.indexOf('--') + 1);
  if (!args.includes('--') || first === undefined || !verb.flags.some(({ flags }) => flags === '--run')) return;
  const isText = /^-|\s/.test(first);
  const hasWords =
    ((options.text as string[] | undefined) ?? []).length > 1 + more.length || options.summary !== undefined;
  if (isText && !hasWords) return;
  throw new HandoffError('usage', 'What stands behind -- is run only with --run.', {
    hint: `--run -- ${typedCommand([first, ...more])} runs it; words of the text go before --, or in quotes.`,
  });
}

async function describeAll(): Promise<readonly Command[]> {
  return (await import('./commands/table.ts')).COMMANDS;
}

async function parseOwn(args: readonly string[], cwd: string): Promise<Parsed> {
  const named = await describe(args);
  try {
    // Whoever misspells a verb is shown the nearest of all; whoever does not need not wait until all are described.
    if (named.length > 0) return parseFor(named, args, cwd, helpNeedsAll);
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
  }
  const all = await describeAll();
  try {
    return parseFor(all, args, cwd, () => formatMainHelp(all));
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    throw (await import('./usage.ts')).wrongUsage(error, args);
  }
}

function helpNeedsAll(): never {
  throw new CommanderError(1, 'all', 'The main help is about all verbs.');
}

function parseFor(
  commands: readonly (Verb | Family)[],
  args: readonly string[],
  cwd: string,
  mainHelp: () => string,
): Parsed {
  let help = '';
  let call: { verb: Verb; options: Record<string, unknown> } | undefined;
  const program = createProgram(
    commands,
    mainHelp,
    (text) => {
      help += text;
    },
    (verb, options) => {
      call = { verb, options };
    },
  );
  try {
    program.parse(args, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError) || error.exitCode !== 0) throw error;
    return error.code === 'commander.version' ? { version: true } : { help };
  }
  const directory = resolve(cwd, program.opts().C ?? '.');
  const { verb, options } = call!;
  return { verb, options: resolvePaths(verb, options, directory), directory };
}

type Call = (verb: Verb, options: Record<string, unknown>) => void;

function createProgram(
  commands: readonly (Verb | Family)[],
  mainHelp: () => string,
  writeOut: (text: string) => void,
  call: Call,
): Commander {
  const program = new Commander('git-handoff')
    .exitOverride()
    .configureOutput({ writeOut, writeErr: () => {}, outputError: () => {} })
    .version('', '-V, --version')
    .helpCommand('help [verb]');
  program.helpInformation = mainHelp;
  for (const flag of GLOBAL_FLAGS) program.addOption(toOption(flag));
  for (const command of commands) {
    if (isFamily(command)) addFamily(program, command, call);
    else addVerb(program, command, '', call);
  }
  return program;
}

function addFamily(program: Commander, family: Family, call: Call): void {
  const parent = program.command(family.name).helpCommand(false);
  parent.helpInformation = () => formatFamilyHelp(family);
  for (const verb of family.verbs) addVerb(parent, verb, family.name, call);
}

function addVerb(parent: Commander, verb: Verb, family: string, call: Call): void {
  const command = parent.command(verb.name, { isDefault: verb.isDefault });
  command.helpInformation = () => formatVerbHelp(verb, family);
  if (verb.alias) command.alias(verb.alias);
  for (const { name, about, optional, variadic, choices } of verb.args) {
    const word = variadic ? `${name}...` : name;
    const argument = new Argument(optional ? `[${word}]` : `<${word}>`, about);
    command.addArgument(choices ? argument.choices(choices) : argument);
  }
  for (const flag of verb.flags) command.addOption(toOption(flag));
  command.action(() => call(verb, optionsOf(verb, command)));
}

/** Positional values and flags as one object, with only the keys that were given. */
function optionsOf(verb: Verb, command: Commander): Record<string, unknown> {
  const named = verb.args.map(({ name }, i) => [name.toLowerCase(), command.processedArgs[i]]);
  const { C: _, json: __, ...flags } = command.optsWithGlobals();
  for (const [name, value] of named) assertOne(name!, value, flags[name!]);
  const entries = [...named, ...Object.entries(flags)].filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries);
}

/** One thing that can be given in two ways. */
function assertOne(name: string, argument: unknown, flag: unknown): void {
  if (argument === undefined || flag === undefined || argument === flag) return;
  throw new HandoffError('usage', `Expected one ${name}, found ${argument} and --${name} ${flag}.`, {
    hint: 'Give it once.',
  });
}

function resolvePaths(verb: Verb, options: Record<string, unknown>, directory: string): Record<string, unknown> {
  const names = verb.flags.filter(({ isPath }) => isPath).map((flag) => toOption(flag).attributeName());
  const paths = names
    .filter((name) => name in options)
    .map((name) => [name, resolve(directory, options[name] as string)]);
  return { ...options, ...Object.fromEntries(paths) };
}

function toOption({ flags, about, choices, atLeast, repeats, required, hidden }: Flag): Option {
  const option = new Option(flags, about).hideHelp(hidden ?? false).makeOptionMandatory(required ?? false);
  if (choices) option.choices(choices);
  if (atLeast !== undefined) option.argParser((value) => parseWhole(value, atLeast));
  if (repeats) option.argParser((value, all: string[] = []) => [...all, value]);
  return option;
}

function parseWhole(value: string, atLeast: number): number {
  const number = Number(value);
  if (/^[0-9]+$/.test(value) && Number.isSafeInteger(number) && number >= atLeast) return number;
  throw new InvalidArgumentError(`Expected a whole number from ${atLeast}.`);
}
