import type { Repository } from '../verbs/repository.ts';
import type { Paint } from './terminal.ts';

/** Who a verb is for: the headings of the main help, in this order. */
export const AUDIENCES = ['Agents', 'Reviewers', 'Maintainers', 'Setup'] as const;
type Audience = (typeof AUDIENCES)[number];

export interface Argument {
  /** As help shows it; in lower case the name of the option it fills. */
  name: string;
  about: string;
  optional?: boolean;
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
  hidden?: boolean;
}

export interface Example {
  run: string;
  does: string;
}

/** What a command says about itself. Help, the man page and completions are made from nothing else. */
interface Description {
  name: string;
  summary: string;
  purpose: string;
  examples: readonly Example[];
}

/** What a verb may reach for. Opened only when asked, closed by the caller. */
export interface Context {
  env: NodeJS.ProcessEnv;
  repository(): Promise<Repository>;
  /** Null outside a repository. */
  anyRepository(): Promise<Repository | null>;
}

interface VerbDefinition<Options, Result> extends Description {
  args?: readonly Argument[];
  flags?: readonly Flag[];
  run(context: Context, options: Options): Promise<Result>;
  text(result: Result, paint: Paint): Promise<string>;
  /** True when the result is a refusal: exit 1. */
  refused?(result: Result): boolean;
}

export type Verb = Required<VerbDefinition<Record<string, unknown>, object>>;

/** Verbs that share a first word: `identity add`, `identity list`. */
export interface Family extends Description {
  verbs: readonly Verb[];
}

export type Command = (Verb | Family) & { audience: Audience };

/** The one place where what commander parsed takes the type of a verb's options. */
export function defineVerb<Options, Result extends object>(definition: VerbDefinition<Options, Result>): Verb {
  return { args: [], flags: [], refused: () => false, ...definition } as unknown as Verb;
}

export function isFamily(command: Verb | Family): command is Family {
  return 'verbs' in command;
}

/** For verbs that write: how far the change goes. */
export const PUBLISH_FLAGS: readonly Flag[] = [
  { flags: '--no-commit', about: 'write and stage, but do not commit' },
  { flags: '--no-stage', about: 'only write the files' },
];

/** Flags of every verb, before or after it. */
export const GLOBAL_FLAGS: readonly Flag[] = [
  { flags: '-C <dir>', about: 'run as if started in <dir>' },
  { flags: '--json', about: 'print one JSON object on stdout' },
  { flags: '--as <identity>', about: 'act as this identity' },
];
