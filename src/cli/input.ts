import { readFile } from 'node:fs/promises';
import { HandoffError } from '../core/error.ts';
import type { Context } from './command.ts';

/** A text as the command line gives it: the words themselves, `--file F`, or `-` for standard input. */
export interface TextInput {
  text?: string[];
  file?: string;
}

export async function readText(context: Context, { text = [], file }: TextInput): Promise<string> {
  if (file !== undefined && text.length > 0) throw both();
  if (file !== undefined) return decode(await readFile(file).catch((cause: Error) => fail(file, cause)));
  if (text.length === 1 && text[0] === '-') return decode(await context.readInput());
  return text.join(' ');
}

/** Anything but UTF-8 would be signed as something else than what was meant. */
function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    if (!(cause instanceof TypeError)) throw cause;
    throw new HandoffError('usage', 'The text is not UTF-8.', { hint: 'Save it as UTF-8.', cause });
  }
}

function fail(file: string, cause: Error): never {
  throw new HandoffError('usage', `The text cannot be read from ${file}: ${cause.message}`, {
    hint: 'Name a file that you may read, or give the text on standard input, as the word -',
    cause,
  });
}

function both(): HandoffError {
  return new HandoffError('usage', 'Expected the words or --file, found both.', { hint: 'Leave one of them out.' });
}

/** `A,B` as a list. */
export function parseList(text: string | undefined): string[] | undefined {
  return text
    ?.split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

/** The same of a flag that may be given again and again. */
export function parseLists(texts: readonly string[] | undefined): string[] | undefined {
  return texts?.flatMap((text) => parseList(text)!);
}
