import { type Flag, GLOBAL_FLAGS, isFamily, type Verb } from '../command.ts';
import { COMMANDS } from '../commands/table.ts';
import { visibleFlags } from '../help.ts';

/** A command as completions see it: the words that lead to it, and what may follow. */
export interface Words {
  /** Empty before the first verb. */
  path: string;
  /** The words that come next: verbs, or the choices of an argument. */
  next: readonly { word: string; about: string }[];
  flags: readonly FlagWords[];
}

export interface FlagWords {
  names: readonly string[];
  about: string;
  takesValue: boolean;
  choices: readonly string[];
}

export function commandWords(): Words[] {
  const start = { path: '', next: verbsOf(COMMANDS), flags: [toWords({ flags: '-V, --version', about: 'print it' })] };
  const rest = COMMANDS.flatMap((command) => {
    if (!isFamily(command)) return [verbWords(command, command.name)];
    const family = { path: command.name, next: verbsOf(command.verbs), flags: [] };
    return [family, ...command.verbs.map((verb) => verbWords(verb, `${command.name} ${verb.name}`))];
  });
  return [start, ...rest];
}

export const GLOBAL_WORDS: readonly FlagWords[] = [
  ...GLOBAL_FLAGS.map(toWords),
  toWords({ flags: '-h, --help', about: 'explain it' }),
];

/** A shell pattern of the flags, of any verb, whose value is the next word. */
export function valuedFlags(): string {
  const flags = [...GLOBAL_WORDS, ...commandWords().flatMap(({ flags }) => flags)];
  return [...new Set(flagNames(flags.filter(({ takesValue }) => takesValue)))].join('|');
}

/** A shell pattern of the first words after which another verb follows. */
export function familyNames(): string {
  return COMMANDS.filter(isFamily)
    .map(({ name }) => name)
    .join('|');
}

export function flagNames(flags: readonly FlagWords[]): string[] {
  return flags.flatMap(({ names }) => names);
}

/** In single quotes, for each of the three shells. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function verbsOf(commands: readonly { name: string; summary: string }[]): Words['next'] {
  return commands.map(({ name, summary }) => ({ word: name, about: summary }));
}

function verbWords(verb: Verb, path: string): Words {
  const next = (verb.args[0]?.choices ?? []).map((word) => ({ word, about: '' }));
  return { path, next, flags: visibleFlags(verb).map(toWords) };
}

function toWords({ flags, about, choices = [] }: Flag): FlagWords {
  const names = flags.match(/(?<=^|\s)--?[\w-]+/g) ?? [];
  return { names, about, takesValue: flags.includes('<'), choices };
}
