import type { Verb } from '../cli/command.ts';
import { HandoffError } from '../core/error.ts';

/** An argument of a tool: which option of the verb it fills, and what it must be. */
export interface Argument {
  option: string;
  about: string;
  type: Type;
  required: boolean;
  choices?: readonly string[];
}

/** A document is a text that the verb takes as the bytes of a file. */
type Type = 'text' | 'document' | 'flag' | 'whole' | 'texts' | 'objects';
export type Arguments = Record<string, Argument>;
export type Values = Record<string, unknown>;

const SCHEMAS: Record<Type, object> = {
  text: { type: 'string' },
  document: { type: 'string' },
  flag: { type: 'boolean' },
  whole: { type: 'integer', minimum: 0 },
  texts: { type: 'array', items: { type: 'string' } },
  objects: { type: 'array', items: { type: 'object' } },
};

const EXPECTED: Record<Type, string> = {
  text: 'a string',
  document: 'a string',
  flag: 'true or false',
  whole: 'a whole number from 0',
  texts: 'an array of strings',
  objects: 'an array of objects',
};

const HOLDS: Record<Type, (value: unknown) => boolean> = {
  text: isText,
  document: isText,
  flag: (value) => typeof value === 'boolean',
  whole: (value) => Number.isSafeInteger(value) && Number(value) >= 0,
  texts: (value) => Array.isArray(value) && value.every(isText),
  objects: (value) => Array.isArray(value) && value.every(isObject),
};

/** What the command line says of an option: an argument is described once. */
export function described(verb: Verb, option: string, required = false): Argument {
  const flag = verb.flags.find(({ flags }) => optionName(flags) === option);
  const positional = verb.args.find(({ name }) => name.toLowerCase() === option);
  const found = flag ?? positional;
  if (!found) throw new Error(`${verb.name} has no option ${option}.`);
  const { about, choices } = found;
  const type = flag ? typeOf(flag.flags, flag) : 'text';
  return { option, about, type, required, ...(choices ? { choices } : {}) };
}

function typeOf(flags: string, { atLeast, repeats }: { atLeast?: number; repeats?: boolean }): Type {
  if (!flags.includes('<')) return 'flag';
  if (atLeast !== undefined) return 'whole';
  return repeats ? 'texts' : 'text';
}

/** `--from-session <id>` fills fromSession. */
function optionName(flags: string): string {
  const word = /--([a-z-]+)/.exec(flags)?.[1] ?? '';
  return word.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** For clients: JSON Schema of all of them. */
export function toSchema(takes: Arguments) {
  const properties = Object.entries(takes).map(([name, { about, type, choices }]) => [
    name,
    { ...SCHEMAS[type], description: about, ...(choices ? { enum: choices } : {}) },
  ]);
  const required = Object.keys(takes).filter((name) => takes[name]!.required);
  return {
    type: 'object' as const,
    properties: Object.fromEntries(properties) as Record<string, object>,
    additionalProperties: false,
    ...(required.length > 0 ? { required } : {}),
  };
}

/** What a client sent, under the names of the verb's options. Throws `usage` where it is not what the schema says. */
export function readArguments(tool: string, takes: Arguments, input: Values): Values {
  for (const name of Object.keys(input)) if (!Object.hasOwn(takes, name)) throw unknownArgument(tool, name, takes);
  const values: Values = {};
  for (const [name, argument] of Object.entries(takes)) {
    const value = Object.hasOwn(input, name) ? input[name] : undefined;
    if (value === undefined || value === null) {
      if (argument.required) throw wrong(tool, name, argument, 'nothing');
    } else values[argument.option] = assertFits(tool, name, argument, value);
  }
  return values;
}

function assertFits(tool: string, name: string, argument: Argument, value: unknown): unknown {
  const fits = HOLDS[argument.type](value) && (argument.choices?.includes(String(value)) ?? true);
  if (!fits) throw wrong(tool, name, argument, brief(value));
  return argument.type === 'document' ? new TextEncoder().encode(String(value)) : value;
}

function wrong(tool: string, name: string, { type, choices }: Argument, found: string): HandoffError {
  const expected = choices ? `one of ${choices.join(', ')}` : EXPECTED[type];
  return new HandoffError('usage', `${tool}: expected ${name} to be ${expected}, found ${found}.`, {
    hint: `Call ${tool} again with ${name} as its schema says.`,
  });
}

function unknownArgument(tool: string, name: string, takes: Arguments): HandoffError {
  return new HandoffError('usage', `${tool} takes no argument called ${brief(name)}.`, {
    hint: `It takes ${Object.keys(takes).join(', ')}.`,
  });
}

const MOST_SHOWN = 60;

function brief(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}…` : text;
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
