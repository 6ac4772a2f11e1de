import type { Repository } from '../repository/repository.ts';
import type { Paint } from './terminal.ts';

/** Who a verb is for: the headings of the main help, in this order. */
export const AUDIENCES = ['Agents', 'Reviewers', 'Maintainers', 'Setup'] as const;
type Audience = (typeof AUDIENCES)[number];

export interface Argument {
  /** As help shows it; in lower case the name of the option it fills. */
  name: string;
  about: string;
  optional?: boolean;
  /** All the words that are left. */
  variadic?: boolean;
  choices?: readonly string[];
}

export interface Flag {
  /** As commander reads it: `-n, --limit <N>`. */
  flags: string;
  about: string;
  choices?: readonly string[];
  /** The smallest whole number it takes; without it, any text. */
  atLeast?: number;
  /** Names a file or directory, seen from where -C says. */
  isPath?: boolean;
  /** May be given several times: all of its values. */
  repeats?: boolean;
  /** The verb makes no sense without it. */
  required?: boolean;
  hidden?: boolean;
}

export interface Example {
  run: string;
  does: string;
}

/** What a command says about itself. Help, the man page and completions are made from nothing else. */
interface Description {
  name: string;
  /** Another name it answers to. */
  alias?: string;
  summary: string;
  purpose: string;
  examples: readonly Example[];
}

/** What a verb may reach for. Opened only when asked, closed by the caller. */
export interface Context {
  env: NodeJS.ProcessEnv;
  /** What paths on the command line are seen from. */
  directory: string;
  /** Whether a person is there, who can be shown an editor. */
  isTerminal: boolean;
  /** All of standard input; where it has more than `limit` bytes, some more than that. */
  readInput(limit?: number): Promise<Uint8Array>;
  /** What another program prints, as it is: on stderr, because stdout is for the answer. */
  showOutput(bytes: Uint8Array): void;
  /** Another program that must not outlive this one is sent the signal that ends this one, until what is returned is called. */
  passSignals(send: (signal: NodeJS.Signals) => void): () => void;
  repository(): Promise<Repository>;
  /** The one that git means where it runs a hook. */
  hookRepository(): Promise<Repository>;
  /** The one around another directory, for what an agent's program tells: that is no verb of somebody at work. */
  eventRepository(directory: string): Promise<Repository>;
  /** Null outside a repository. */
  anyRepository(): Promise<Repository | null>;
  /** Speaks MCP on standard input and output until the client closes its end. */
  serveClient(): Promise<void>;
}

interface VerbDefinition<Options, Result> extends Description {
  args?: readonly Argument[];
  flags?: readonly Flag[];
  run(context: Context, options: Options): Promise<Result>;
  /** `cwd`: where the shell is, from which people see files. */
  text(result: Result, paint: Paint, cwd: string): Promise<string>;
  /** For a reader that is no terminal, where the options name one: it escapes by that reader's rules. Null: `text`. */
  formatted?(result: Result, options: Options, version: string): Promise<string | null>;
  /** Of its family the one that is meant where the first word names none: `relay SESSION`. */
  isDefault?: boolean;
  /** True when the result is a refusal: exit 1. */
  refused?(result: Result): boolean;
}

export type Verb = Required<Omit<VerbDefinition<Record<string, unknown>, object>, 'alias'>> & { alias?: string };

/** Verbs that share a first word: `identity add`, `identity list`. */
export interface Family extends Description {
  verbs: readonly Verb[];
}

/** `row`: what the main help says of it and its neighbours, in one line for all that share it. */
export type Command = (Verb | Family) & { audience: Audience; row: string };

/** The one place where what commander parsed takes the type of a verb's options. */
export function defineVerb<Options, Result extends object>(definition: VerbDefinition<Options, Result>): Verb {
  return {
    args: [],
    flags: [],
    isDefault: false,
    refused: () => false,
    formatted: async () => null,
    ...definition,
  } as unknown as Verb;
}

export function isFamily(command: Verb | Family): command is Family {
  return 'verbs' in command;
}

/** Nothing is staged that is not committed, unless somebody asks for it. */
export const STAGE_FLAGS: readonly Flag[] = [
  { flags: '--stage', about: 'stage what is written and not committed' },
  { flags: '--no-stage', about: 'only write the files' },
];

/** For verbs that write: how far the change goes. */
export const PUBLISH_FLAGS: readonly Flag[] = [{ flags: '--no-commit', about: 'only write the files' }, ...STAGE_FLAGS];

/** For verbs that add a record to a session. */
export const RECORD_FLAGS: readonly Flag[] = [
  { flags: '--session <id>', about: "not this work tree's session but that one; the beginning is enough" },
  { flags: '--commit', about: 'commit the session as well' },
  ...STAGE_FLAGS,
  { flags: '--allow-secret', about: 'a person has looked: what seems to be a secret is none' },
  { flags: '--local', about: 'go on without the remote that handoff.remote names' },
];

/** For verbs whose last argument is a text. */
export const TEXT_FLAG: Flag = { flags: '--file <file>', about: 'the text is in this file', isPath: true };

export function textArgument(about: string, optional = true): Argument {
  return { name: 'TEXT', about: `${about}; - reads it from standard input`, optional, variadic: true };
}

/** Flags of every verb, before or after it. */
export const GLOBAL_FLAGS: readonly Flag[] = [
  { flags: '-C <dir>', about: 'run as if started in <dir>' },
  { flags: '--json', about: 'print one JSON object on stdout' },
  { flags: '--as <identity>', about: 'act as this identity' },
];
