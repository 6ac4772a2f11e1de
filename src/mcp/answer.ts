import type { CallToolResult } from '@modelcontextprotocol/server';
import type { Verb } from '../cli/command.ts';
import { toFailure } from '../cli/failure.ts';
import { PLAIN } from '../cli/terminal.ts';
import { escapeLine, escapeResult, escapeText } from '../cli/text/escape.ts';
import type { Tool } from './tool-table.ts';

/** About 2,000 tokens, words and object together. */
const MOST_BYTES = 8_000;

export interface Told {
  result: object;
  /** What the command line would have said on stderr. */
  warnings: readonly string[];
  directory: string;
  /** All of it, however long. */
  isFull: boolean;
}

/** What `--json` prints, and what a person is shown: words of others are fenced in it. */
export async function toAnswer({ verb }: Tool, { result, warnings, directory, isFull }: Told): Promise<CallToolResult> {
  const said = warnings.map((message) => `warning: ${escapeLine(message)}\n`).join('');
  const toText = (object: object) => asText(verb, object, directory);
  const whole = answer(said + (await toText(result)), asJson(result));
  if (isFull || byteLength(whole) <= MOST_BYTES) return whole;
  const smaller = cut(asJson(result), (MOST_BYTES - said.length) / 2);
  // cut before it is fenced: so a fence has an end
  return answer(`${said}${await toText(smaller)}${LEFT_OUT}\n`, { ...smaller, cut: LEFT_OUT });
}

export function toRefusal(error: unknown): CallToolResult {
  const { code, message, hint, data, stack } = toFailure(error);
  const lines = [`${code}: ${message}`, ...(hint ? [`hint: ${hint}`] : []), ...(stack ? [stack] : [])];
  return {
    ...answer(lines.map((line) => escapeLine(line)).join('\n'), asJson({ error: { code, message, hint, data } })),
    isError: true,
  };
}

/** As a person is shown it, without colours. */
export function asText(verb: Verb, result: object, directory: string): Promise<string> {
  return verb.text(escapeResult(result), PLAIN, directory);
}

type Json = Record<string, unknown>;

function answer(text: string, structuredContent: Json): CallToolResult {
  return { content: [{ type: 'text', text }], structuredContent };
}

/** The object that the command line prints, with what cannot be seen written out: a model reads the values, and no escapes. */
function asJson(value: object): Json {
  const visible = (_: string, item: unknown) => (typeof item === 'string' ? escapeText(item) : item);
  return JSON.parse(JSON.stringify(value), visible) as Json; // a verb answers with an object
}

function byteLength(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

const LEFT_OUT = 'This is not all of it: call again with detail: "full".';

/** How long texts and lists may be, harder from step to step. An id is never cut. */
const STEPS = [
  { letters: 2_000, items: 10 },
  { letters: 1_000, items: 6 },
  { letters: 400, items: 4 },
  { letters: 160, items: 2 },
];

/** The same object with the same keys, and less of what is long. */
function cut(object: Json, most: number): Json {
  const smaller = STEPS.map((step) => shorten(object, step) as Json);
  return smaller.find((one) => byteLength(one) <= most) ?? smaller.at(-1)!;
}

function shorten(value: unknown, step: { letters: number; items: number }): unknown {
  if (typeof value === 'string') return cutText(value, step.letters);
  if (Array.isArray(value)) return value.slice(0, step.items).map((item) => shorten(item, step));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, shorten(item, step)]));
}

function cutText(text: string, room: number): string {
  if (text.length <= room) return text;
  const end = /[\ud800-\udbff]$/.test(text.slice(0, room)) ? room - 1 : room; // no half of a character
  return `${text.slice(0, end)}… (${text.length - end} more characters)`;
}
