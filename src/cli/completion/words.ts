import { type Flag, GLOBAL_FLAGS, isFamily, type Verb } from '../command.ts';
import { COMMANDS } from '../commands/table.ts';
import { visibleFlags } from '../help.ts';
import type { NameKind } from './names.ts';

/** A command as completions see it: the words that lead to it, and what may follow. */
export interface Words {
  /** Empty before the first verb. */
  path: string;
  /** The words that come next: verbs, or the choices of an argument. */
  next: readonly { word: string; about: string }[];
  flags: readonly FlagWords[];
  /** The sort of names that the repository has for the argument. */
  named: NameKind | null;
}

/** Arguments that name what is there already; what is new is nobody's to guess. */
export const NAMED_ARGUMENTS: Readonly<Record<string, NameKind>> = {
  ...kinds('tasks', 'claim', 'unclaim', 'done', 'thought', 'review', 'escalate'),
  ...kinds('tasks', 'task show', 'task edit', 'task update'),
  ...kinds('identities', 'signal send', 'identity rotate', 'identity revoke'),
  ...kinds('sessions', 'restore', 'release', 'seal', 'root', 'show', 'audit verify'),
};

/** The same in every verb. */
const NAMED_FLAGS: Readonly<Record<string, NameKind>> = {
  ...kinds('tasks', '--task'),
  ...kinds('identities', '--as', '--identity', '--next-agent'),
  ...kinds('sessions', '--session', '--from-session'),
};

function kinds(kind: NameKind, ...words: string[]): Record<string, NameKind> {
  return Object.fromEntries(words.map((word) => [word, kind]));
}

export interface FlagWords {
  names: readonly string[];
  about: string;
  takesValue: boolean;
  choices: readonly string[];
  named: NameKind | null;
}

/** What a shell runs to be told the names; whatever goes wrong offers none. */
export function askNames(kind: string): string {
  return `git-handoff complete ${kind} 2>/dev/null`;
}

/** For each kind of name, a shell pattern of the flags that take such a name. */
export function namedFlags(): [NameKind, string][] {
  const all: NameKind[] = ['tasks', 'identities', 'sessions'];
  const flagsOf = (kind: NameKind) => Object.keys(NAMED_FLAGS).filter((flag) => NAMED_FLAGS[flag] === kind);
  return all.map((kind) => [kind, flagsOf(kind).join('|')]);
}

export function commandWords(): Words[] {
  const start = {
    path: '',
    next: verbsOf(COMMANDS),
    flags: [toWords({ flags: '-V, --version', about: 'print it' })],
    named: null,
  };
  const rest = COMMANDS.flatMap((command) => {
    if (!isFamily(command)) return [verbWords(command, command.name)];
    const family = { path: command.name, next: verbsOf(command.verbs), flags: [], named: null };
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
  return { path, next, flags: visibleFlags(verb).map(toWords), named: NAMED_ARGUMENTS[path] ?? null };
}

function toWords({ flags, about, choices = [] }: Flag): FlagWords {
  const names = flags.match(/(?<=^|\s)--?[\w-]+/g) ?? [];
  const named = names.map((name) => NAMED_FLAGS[name]).find((kind) => kind !== undefined) ?? null;
  return { names, about, takesValue: flags.includes('<'), choices, named };
}
