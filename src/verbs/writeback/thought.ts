import { HandoffError } from '../../core/error.ts';
import type { ThoughtRecord } from '../../core/generated/types.ts';
import { ROOT } from '../../core/paths.ts';
import { present } from '../../core/record/present.ts';
import { assertTask } from '../../core/task/name.ts';
import { commandLine } from '../../core/text/command-line.ts';
import { quoteWord } from '../../core/text/quote.ts';
import { isClean } from '../../git/index/status.ts';
import { append, assertDraft, type Writer } from '../../journal/append.ts';
import { publishRecords } from '../../journal/commits/publish-records.ts';
import { asIo } from '../../journal/drafts/kept-draft.ts';
import type { RecordDraft } from '../../journal/drafts/record-draft.ts';
import type { Blocker, ThoughtFields } from '../../journal/drafts/thought-file.ts';
import { tryRememberClock } from '../../journal/sessions/next-clock.ts';
import { assertWritable, withLiveness } from '../../journal/sessions/session-state.ts';
import type { GitAccess } from '../../repository/parts.ts';
import { enterWorkTree, type Repository } from '../../repository/repository.ts';
import type { CommandToRun } from '../../writeback/run-command.ts';
import { gatherEvidence } from '../../writeback/run-evidence.ts';
import { type KeptThought, type PlannedThought, planThought, readThought } from '../../writeback/thought-record.ts';
import { allowedSecret, authorOf, openWriter, type RecordOptions, type RecordResult } from '../session/record-verbs.ts';

/** `commit` is the commit that it is about; the record itself waits for the next commit. */
export interface ThoughtOptions extends Omit<RecordOptions, 'commit'> {
  id: string;
  commit?: string;
  branch?: string;
  /** Where the work began, if not where it left the protected branch or where the session began. */
  base?: string;
  tests?: string[];
  summary?: string;
  blockers?: Blocker[];
  files?: string[];
  related?: string[];
  /** A file with the same fields, as JSON or YAML. What is given here goes before it. */
  file?: string;
  run?: CommandToRun;
  /** False: there is none in this repository, and the thought covers nothing. */
  code?: boolean;
}

export interface ThoughtResult extends RecordResult {
  record: ThoughtRecord;
}

/** The writeback for a task. SPEC §9.2 */
export async function thought(repository: Repository, options: ThoughtOptions): Promise<ThoughtResult> {
  enterWorkTree(repository);
  const { id } = options;
  assertTask(id);
  const given = givenFields(options);
  try {
    return await write(repository, options, given);
  } catch (error) {
    throw asWritebackFailure(error, id);
  }
}

async function write(repository: Repository, options: ThoughtOptions, given: ThoughtFields): Promise<ThoughtResult> {
  const { commit: _, ...recordOptions } = options;
  const writer = await openWriter(repository, recordOptions, null);
  const planned = await planGiven(writer, options, given);
  assertSummary(planned, options.id);
  if (!planned.fields.no_code) await warnIfNothing(repository, planned.fields);
  return writeThought(writer, planned, options);
}

/** A user who names something that does not exist is told so before anything else is asked. */
export function planGiven(writer: Writer, { id }: ThoughtOptions, given: ThoughtFields): Promise<PlannedThought> {
  return planThought(writer.repository, writer.trust, writer.session, id, given);
}

/** Runs what is to be run, and records the thought. */
export async function writeThought(
  writer: Writer,
  planned: PlannedThought,
  options: ThoughtOptions,
): Promise<ThoughtResult> {
  const { repository } = writer;
  const { commit: _, run, ...recordOptions } = options;
  const draft = toDraft(run ? await withRun(writer, planned, run, options) : planned, options);
  tryRememberClock(repository, planned.clock);
  const { delta_id, path, fields: record } = await append(writer, draft);
  await publishRecords(repository, writer.session, [path], null, recordOptions);
  return { ...authorOf(writer.session), delta_id, path, record };
}

export function givenFields(options: ThoughtOptions): ThoughtFields {
  const { commit, branch, base, tests, summary, blockers, files, related, file, code } = options;
  if (code === false && base !== undefined) throw baseOfNothing();
  const flags = {
    commit_sha: commit,
    branch,
    base,
    tests_run: tests,
    summary,
    blockers,
    files_changed: files,
    related_thought_records: related,
    no_code: code === false ? true : undefined,
  };
  const entries = Object.entries(flags).filter(([, value]) => value !== undefined);
  const told = file === undefined ? {} : readThought(file);
  const isAnother = commit !== undefined || base !== undefined || code === false;
  return { ...(isAnother ? withoutDerived(told) : told), ...Object.fromEntries(entries) };
}

/** What follows from the commit that a file names does not follow from another one. */
function withoutDerived({ tree: _, patch_id: __, commit_patch_ids: ___, ...told }: ThoughtFields): ThoughtFields {
  return told;
}

/** Everything else is judged before it runs: nobody waits for tests to hear of a typing error. */
async function withRun(
  { repository, session, trust }: Writer,
  planned: PlannedThought,
  run: CommandToRun,
  options: ThoughtOptions,
): Promise<PlannedThought> {
  assertWritable(withLiveness(repository, trust, session));
  const tests_run = [...new Set([...planned.fields.tests_run, commandLine(run)])];
  assertDraft(trust, session.identity, toDraft(withFields(planned, { tests_run }), options));
  const ran = await gatherEvidence(repository, { session, trust }, run);
  const evidence = [...(planned.fields.evidence ?? []), ran];
  return withFields(planned, { tests_run, evidence });
}

/** In the order of the schema, whatever is added. */
function withFields({ fields, kept, clock }: PlannedThought, added: Partial<ThoughtRecord>): PlannedThought {
  return { fields: inOrder({ ...fields, ...added }), kept: inOrder({ ...kept, ...added }), clock };
}

function inOrder(thought: KeptThought): KeptThought {
  const { tests_run, evidence, summary, blockers, files_changed, related_thought_records, ...rest } = thought;
  const { no_code, base, ...before } = rest;
  const after = { tests_run, evidence, summary, blockers, files_changed, related_thought_records, no_code, base };
  return { ...before, ...present(after) };
}

function toDraft({ fields, kept }: PlannedThought, options: ThoughtOptions): RecordDraft<'thought'> {
  return { kind: 'thought', fields, kept, ...allowedSecret(options) };
}

/** Record first: a task whose thought could not be written stays in progress. SPEC §9.4 */
export function asWritebackFailure(thrown: unknown, id: string): unknown {
  const error = asIo(thrown);
  if (!(error instanceof HandoffError) || error.code !== 'io' || error.data?.written) return error;
  const draft = error.data?.draft;
  const retry =
    typeof draft !== 'string' ? '' : `git handoff thought ${quoteWord(id)} --file ${quoteWord(draft)} tries again; `;
  return new HandoffError('writeback_failed', `Writeback failed: unable to insert thought_record. ${error.message}`, {
    hint: `The task stays in progress. ${retry}git handoff escalate ${quoteWord(id)} prints it for a person to write.`,
    data: { ...error.data, task_id: id },
    cause: error,
  });
}

async function warnIfNothing(repository: Repository, fields: PlannedThought['fields']): Promise<void> {
  if (fields.files_changed.length === 0) repository.warn(`${await whyNothing(repository, fields)}.`);
}

/** What a thought that covers nothing ought to be told. */
export async function whyNothing(
  { git }: GitAccess,
  { commit_sha }: Pick<PlannedThought['fields'], 'commit_sha'>,
): Promise<string> {
  const what = `Up to commit ${commit_sha.slice(0, 12)} nothing has changed outside ${ROOT}`;
  // the comparison was spared, so there is a process left to look
  if (await isClean(git, ROOT, true)) return `${what}; --base names where the work began`;
  return `${what}: what is in the work tree is not in the commit; commit first`;
}

export function assertSummary({ fields }: PlannedThought, id: string): void {
  if (fields.summary.trim() !== '') return;
  throw new HandoffError('usage', 'A thought needs a summary: what was done, in a few sentences.', {
    hint: `git handoff thought ${quoteWord(id)} --summary TEXT, the words themselves, or - for standard input.`,
  });
}

function baseOfNothing(): HandoffError {
  return new HandoffError('usage', '--no-code says that there is nothing to compare, and --base with what.', {
    hint: 'Leave one of them out.',
  });
}
