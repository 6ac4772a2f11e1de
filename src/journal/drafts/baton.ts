import { readFile, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { HandoffError } from '../../core/error.ts';
import { MAX_RECORD_BYTES } from '../../core/limits.ts';
import { assertIdentityName } from '../../core/names.ts';
import { assertSize } from '../../core/record/record.ts';
import { assertTask } from '../../core/task/name.ts';
import { asInput, whyUnreadable } from './bad-input.ts';
import type { Draft, DraftFields } from './draft.ts';

/** A baton as somebody gives it. */
export interface BatonInput {
  /** Markdown, with front matter or without. */
  draft?: Uint8Array;
  message?: string;
  summary?: string;
  reason?: string;
  nextAgent?: string;
  focus?: string[];
}

export async function readBaton({ draft, message }: BatonInput): Promise<Draft> {
  if (draft && message !== undefined) {
    const hint = 'Leave one of them out; a summary of the file goes in --summary.';
    throw new HandoffError('usage', 'Expected a baton from a file or with --message, found both.', { hint });
  }
  const read = draft ? await readGiven(draft) : { fields: {}, body: (message ?? '').replaceAll('\r\n', '\n') };
  if (read.body.trim() !== '') return read;
  throw new HandoffError('baton_empty', 'The baton is empty, and an empty baton hands over nothing.', {
    hint: 'Write what was done, what was decided and what comes next: git handoff wrap FILE, or --message TEXT.',
  });
}

/** What reads drafts is loaded for drafts alone: it takes longer than all the rest. */
async function readGiven(draft: Uint8Array): Promise<Draft> {
  const { readDraft } = await import('./draft.ts');
  return asInput(() => readDraft(withoutMarks(draft)));
}

/** What an editor on Windows adds: a byte order mark, and CR before each LF. A file of anything but UTF-8 stays what it is. */
function withoutMarks(bytes: Uint8Array): Uint8Array {
  const text = Buffer.from(bytes).toString('latin1');
  return Buffer.from(text.replace(/^\xef\xbb\xbf/, '').replaceAll('\r\n', '\n'), 'latin1');
}

/** Flags come before what the draft's front matter says. */
export function batonFields(given: DraftFields, { summary, reason, nextAgent, focus }: BatonInput): DraftFields {
  const fields: DraftFields = {
    ...given,
    ...(summary === undefined ? {} : { summary }),
    ...(reason === undefined ? {} : { reason }),
    ...(nextAgent === undefined ? {} : { next_agent: nextAgent }),
    ...(focus === undefined ? {} : { focus }),
  };
  if (fields.next_agent !== undefined) assertIdentityName(fields.next_agent);
  for (const task of fields.focus ?? []) assertTask(task);
  return fields;
}

const SUMMARY = 200;

/** The first line of prose; where there are only headings, the first of them. A comment, such as a draft has, is neither. */
export function firstLine(body: string): string {
  const lines = body.split('\n').filter((line) => words(line) !== '');
  const first = lines.find((line) => !/^(?:#|<!--)/.test(line)) ?? lines[0] ?? body.trim().split('\n', 1)[0]!;
  return (words(first) || first)
    .slice(0, SUMMARY)
    .toWellFormed()
    .replace(/\ufffd$/, '');
}

function words(line: string): string {
  return line.replace(/^#+\s*/, '').trim();
}

/** The file that somebody wrote the baton in. */
export async function readBatonFile(directory: string, file: string): Promise<Uint8Array> {
  const path = resolve(directory, file);
  const stats = await stat(path).catch(missing(path));
  // to read a folder fails, and says what it is
  if (!stats.isFile() && !stats.isDirectory()) missing(path)(new Error('it is no file.'));
  asInput(() => assertSize(stats.size, MAX_RECORD_BYTES, 'baton'));
  return readFile(path).catch(missing(path));
}

function missing(path: string): (cause: NodeJS.ErrnoException) => never {
  return (cause) => {
    throw new HandoffError('baton_missing', `The baton ${path} cannot be read: ${whyUnreadable(cause)}`, {
      hint: 'The session is still open. Write the file, then wrap again.',
      data: { path },
      cause,
    });
  };
}
