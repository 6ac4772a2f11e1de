import { readFile, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { HandoffError } from '../core/error.ts';
import { MAX_RECORD_BYTES } from '../core/limits.ts';
import { assertIdentityName } from '../core/names.ts';
import { recordName } from '../core/paths.ts';
import { assertSize, parseRecord } from '../core/record.ts';
import { missingSections } from '../core/sections.ts';
import { recordId } from '../core/verify.ts';
import type { YamlMap } from '../core/yaml.ts';
import { nodeSuite } from '../crypto.ts';
import type { DraftFields } from '../journal/draft.ts';
import { readTip } from '../journal/records.ts';
import { isCommitted, type Session } from '../journal/registry.ts';
import { append, type Writer } from './append.ts';
import type { Warning } from './bundle.ts';
import { releaseIdentity } from './open-session.ts';
import { positionFields, readPosition } from './position.ts';
import type { PublishOptions } from './publish.ts';
import { publishRecords, rememberCommitted } from './publish-records.ts';
import { allowedSecret, openWriter, type RecordOptions } from './record-verbs.ts';
import { type Repository, requireWorkTree } from './repository.ts';
import { dirsOf } from './session.ts';
import { assertTask } from './task-name.ts';

export interface WrapOptions extends RecordOptions {
  /** The baton as somebody wrote it: Markdown, with front matter or without. */
  draft?: Uint8Array;
  message?: string;
  summary?: string;
  reason?: string;
  nextAgent?: string;
  focus?: string[];
}

export interface WrapResult {
  session_id: string;
  baton: { delta_id: string; path: string; summary: string };
  commit: string | null;
  warnings: Warning[];
}

/** Ends a session with a baton. SPEC §8.6: bad input leaves the session as it was. */
export async function wrap(repository: Repository, options: WrapOptions): Promise<WrapResult> {
  requireWorkTree(repository);
  const { fields: given, body } = await readBaton(options);
  const fields = batonFields(given, options);
  const writer = await openWriter(repository, options, fields.next_agent ?? null);
  const { session } = writer;
  const left = await unfinishedBaton(repository, session, body);
  if (left) return finish(repository, writer, left, body, options);
  const { summary = firstLine(body), reason, next_agent, focus } = fields;
  const position = positionFields(await readPosition(repository));
  const { delta_id, path } = await append(writer, {
    kind: 'baton',
    fields: withoutAbsent({
      summary,
      reason,
      next_agent,
      focus,
      ...position,
    }),
    body,
    ...allowedSecret(options),
  });
  return finish(repository, writer, { delta_id, path, summary }, body, options);
}

/** From here on nothing is lost; a wrap that is cut off is finished by the same command again. */
async function finish(
  repository: Repository,
  { session, holds, trust }: Writer,
  baton: WrapResult['baton'],
  body: string,
  options: PublishOptions,
): Promise<WrapResult> {
  await releaseIdentity(holds, session);
  const message = `handoff: ${session.identity} wraps\n\n${baton.summary}`;
  const commit = await publishRecords(repository, session, [baton.path], message, options);
  await rememberCommitted(repository, session, commit);
  const sections = trust.policy.document.fields.sections as string[];
  return {
    session_id: session.session_id,
    baton,
    commit,
    warnings: missingSections(body, sections).map((name) => ({
      kind: 'section_missing',
      message: `The baton has no section "${name}", which the policy asks for.`,
    })),
  };
}

/** The baton that an earlier attempt left in the journal, and that no commit is known to hold. */
async function unfinishedBaton(
  repository: Repository,
  { session_id, folder }: Session,
  body: string,
): Promise<WrapResult['baton'] | null> {
  const dirs = dirsOf(repository);
  const tip = await readTip(dirs, session_id);
  if (!tip || !('kind' in tip) || tip.kind !== 'baton' || (await isCommitted(dirs, session_id))) return null;
  const record = parseRecord(tip.bytes);
  if (record.body !== body) return null;
  const path = `${folder}/${recordName(tip.number, 'baton')}`;
  return { delta_id: recordId(record.signedBytes, nodeSuite), path, summary: record.fields.summary as string };
}

/** The file that somebody wrote the baton in. */
export async function readBatonFile(directory: string, file: string): Promise<Uint8Array> {
  const path = resolve(directory, file);
  const size = await stat(path).then(({ size }) => size, missing(path));
  assertSize(size, MAX_RECORD_BYTES, 'baton');
  return readFile(path).catch(missing(path));
}

function missing(path: string): (cause: NodeJS.ErrnoException) => never {
  return (cause) => {
    throw new HandoffError('baton_missing', `The baton ${path} cannot be read: ${cause.message}`, {
      hint: 'The session is still open. Write the file, then wrap again.',
      data: { path },
      cause,
    });
  };
}

/** What reads drafts is loaded for drafts alone: it takes longer than all the rest. */
async function readBaton({ draft, message }: WrapOptions): Promise<{ fields: DraftFields; body: string }> {
  if (draft && message !== undefined) {
    const hint = 'Leave one of them out; a summary of the file goes in --summary.';
    throw new HandoffError('usage', 'Expected a baton from a file or with --message, found both.', { hint });
  }
  const read = draft ? (await import('../journal/draft.ts')).readDraft(draft) : { fields: {}, body: message ?? '' };
  if (read.body.trim() !== '') return read;
  throw new HandoffError('baton_empty', 'The baton is empty, and an empty baton hands over nothing.', {
    hint: 'Write what was done, what was decided and what comes next: git handoff wrap FILE, or --message TEXT.',
  });
}

/** Flags come before what the draft's front matter says. */
function batonFields(given: DraftFields, { summary, reason, nextAgent, focus }: WrapOptions): DraftFields {
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

/** The keys that were given, in the order of the schema. */
function withoutAbsent(fields: Record<string, YamlMap[string]>): YamlMap {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

const SUMMARY = 200;

/** The first line of prose; where there are only headings, the first of them. */
function firstLine(body: string): string {
  const lines = body.split('\n').filter((line) => words(line) !== '');
  const first = lines.find((line) => !line.startsWith('#')) ?? lines[0] ?? body.trim().split('\n', 1)[0]!;
  return (words(first) || first)
    .slice(0, SUMMARY)
    .toWellFormed()
    .replace(/\ufffd$/, '');
}

function words(line: string): string {
  return line.replace(/^#+\s*/, '').trim();
}
