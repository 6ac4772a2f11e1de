import { HandoffError } from '../../core/error.ts';
import type { ThoughtRecord } from '../../core/generated/types.ts';
import type { PlacedRecord } from '../../core/record/record-summary.ts';
import { assertTask } from '../../core/task/name.ts';
import { stateOf, thoughtsSinceEntered } from '../../core/task/state.ts';
import { listSome } from '../../core/text/list-some.ts';
import { quoteWord } from '../../core/text/quote.ts';
import { lastRunIn, type RunVerdict, type Told, type ToldOfTask, toTold } from '../../core/writeback/runs.ts';
import type { Uncommitted } from '../../git/index/uncommitted.ts';
import type { ThoughtFields } from '../../journal/drafts/thought-file.ts';
import { isHeldBy } from '../../journal/locks/open-locks.ts';
import { shownPath } from '../../journal/saved/saved-name.ts';
import { assertWritable, withLiveness } from '../../journal/sessions/session-state.ts';
import { enterWorkTree, type Repository } from '../../repository/repository.ts';
import { judgeTold, readThoughts, toldBy } from '../../repository/told-thoughts.ts';
import { askedEvidence, assertRuns } from '../../writeback/assert-runs.ts';
import type { PlannedThought } from '../../writeback/thought-record.ts';
import { type Author, authorOf } from '../session/record-verbs.ts';
import {
  assertSummary,
  asWritebackFailure,
  givenFields,
  planGiven,
  type ThoughtOptions,
  type ThoughtResult,
  whyNothing,
  writeThought,
} from '../writeback/thought.ts';
import { saysTheSame } from './says-the-same.ts';
import { openTask, type Updating, writeStatus } from './update.ts';

export interface DoneResult extends Author {
  task_id: string;
  status: 'done';
  thought: { delta_id: string; path: string };
  delta_id: string;
  /** The thought, whole. */
  record: ThoughtRecord;
}

/** The thought and the status in one. SPEC §9.1: record first, then `done`. What can be refused is refused before anything runs. */
export async function done(repository: Repository, options: ThoughtOptions): Promise<DoneResult> {
  enterWorkTree(repository);
  const { id } = options;
  assertTask(id);
  const given = givenFields(options);
  const { commit: _, ...recordOptions } = options;
  const task = await openTask(repository, recordOptions);
  assertWritable(withLiveness(repository, task.writer.trust, task.writer.session));
  const finishing = await prepare(task, options, given).catch(failing(id));
  const { delta_id, path, record } = await tell(task, finishing, options).catch(failing(id));
  const state = stateOf(task.trail);
  // whoever says the same again is told the same again
  const isSaid = finishing.earlier !== null && state?.status === 'done';
  const change = isSaid ? state : await writeStatus(task, 'done', { ...recordOptions, id });
  return {
    ...authorOf(task.writer.session),
    task_id: id,
    status: 'done',
    thought: { delta_id, path },
    delta_id: change.delta_id,
    record,
  };
}

function failing(id: string): (error: unknown) => never {
  return (error) => {
    throw asWritebackFailure(error, id);
  };
}

interface Finishing {
  planned: PlannedThought;
  /** Somebody has told already what was done, as whoever was cut off behind the thought. Null where something is to run. */
  earlier: PlacedRecord<'thought'> | null;
  told: ToldOfTask;
}

async function prepare(task: Updating, options: ThoughtOptions, given: ThoughtFields): Promise<Finishing> {
  const { writer, board, trail } = task;
  const { repository } = writer;
  const planned = await planGiven(writer, options, given);
  const whole = await readThoughts(board.knownSessions.evidence, [trail]);
  const newest = thoughtsSinceEntered(trail)[0];
  const last = newest === undefined ? null : (whole.get(newest.delta_id) ?? null);
  const same = last !== null && (await saysTheSame(task, last, planned, given)) ? last : null;
  if (!same) assertSummary(planned, options.id);
  const earlier = options.run ? null : same; // what is to run is run, whatever it said before
  await assertSomething(repository, options.id, earlier?.record.fields ?? planned.fields);
  if (!earlier) await warnIfBefore(task, planned.fields, options.id);
  const told = await toldBy(repository, trail, whole);
  if (!options.run) await assertProvable(task, { planned, earlier, told }, options.id);
  return { planned: same ? inItsWords(planned, same) : planned, earlier, told };
}

/** Whoever only runs it again need not say again what was done. */
function inItsWords(planned: PlannedThought, { record }: PlacedRecord<'thought'>): PlannedThought {
  const { summary } = record.fields;
  return { ...planned, fields: { ...planned.fields, summary }, kept: { ...planned.kept, summary } };
}

/** The thought that is there, or a new one with what it ran. */
async function tell(
  { writer, trail }: Updating,
  { planned, earlier, told }: Finishing,
  options: ThoughtOptions,
): Promise<Pick<ThoughtResult, 'delta_id' | 'path' | 'record'>> {
  if (earlier) return { delta_id: earlier.record.id, path: earlier.path, record: earlier.record.fields };
  const { id, run } = options;
  if (!run) return writeThought(writer, planned, options);
  const refuse = (uncommitted: readonly Uncommitted[]) => notAllCommitted(id, uncommitted);
  const asked = askedEvidence(writer.trust);
  const provable = asked === 'passed' ? { ...run, refuse } : run;
  const written = await writeThought(writer, planned, { ...options, run: provable });
  const now = toTold(written.record, written);
  const ran = lastRunIn(now);
  // whatever it ran on: who has just seen it fail is not done
  const seen: RunVerdict | null = ran && ran.exit_code !== 0 ? { failed: ran, lack: null } : null;
  const verdict = seen ?? (await judgeTold(writer.repository, withNewest(told, now), asked));
  if (verdict.failed && stateOf(trail)?.status === 'done') writer.repository.warn(stillDone(id));
  assertRuns(id, verdict, asked);
  return written;
}

/** A status is what somebody said, and nobody has said another one. */
function stillDone(id: string): string {
  return `${id} was done before, and is listed so; the gate goes by the newest run. To open it again: git handoff task update ${quoteWord(id)} --status in_progress`;
}

function withNewest({ all, since }: ToldOfTask, newest: Told): ToldOfTask {
  return { all: [newest, ...all], since: [newest, ...since] };
}

/**
 * It is taken all the same: code has to be accounted for, whenever it was written, and one commit may do two tasks. But whoever forgot to
 * commit hears of it.
 */
async function warnIfBefore(
  { writer: { repository, session }, held }: Updating,
  { commit_sha, no_code }: PlannedThought['fields'],
  id: string,
): Promise<void> {
  if (no_code || !held || !isHeldBy(held, session)) return;
  const { committer } = await repository.store.readCommit(commit_sha);
  const committed = Number(/ (\d+) [+-]\d{4}$/.exec(committer)?.[1]) * 1000;
  const claimed = Math.floor(Date.parse(held.holder.at) / 1000) * 1000;
  if (!(committed < claimed)) return;
  const newest = commit_sha.slice(0, 12);
  repository.warn(`Everything that it is about was committed before ${id} was claimed, up to ${newest}.`);
}

/** A thought about nothing is none. */
async function assertSomething(repository: Repository, id: string, thought: PlannedThought['fields']): Promise<void> {
  if (thought.files_changed.length > 0 || thought.no_code) return;
  throw new HandoffError('nothing_done', `${id} is not done: ${await whyNothing(repository, thought)}.`, {
    hint: `Where the task asks for no code in this repository, say so: git handoff done ${quoteWord(id)} TEXT --no-code`,
    data: { task_id: id, commit_sha: thought.commit_sha },
  });
}

/** Where none is to come. */
async function assertProvable(
  { writer: { repository, trust } }: Updating,
  { planned, earlier, told }: Finishing,
  id: string,
): Promise<void> {
  const thoughts = earlier ? told : withNewest(told, toTold(planned.fields, { delta_id: null, path: '' }));
  const asked = askedEvidence(trust);
  assertRuns(id, await judgeTold(repository, thoughts, asked), asked);
}

/** Before it runs: a run on what is not committed proves nothing. */
function notAllCommitted(id: string, changes: readonly Uncommitted[]): HandoffError {
  const uncommitted = changes.map(({ path }) => shownPath(path));
  const what = `the policy asks that a run passed with everything committed, and this is not: ${listSome(uncommitted, 5)}`;
  return new HandoffError('evidence_missing', `${id} is not done: ${what}.`, {
    hint: `Commit it, or let git ignore it (.gitignore); then git handoff done ${quoteWord(id)} TEXT --run -- COMMAND`,
    data: { task_id: id, asked: 'passed', uncommitted: uncommitted.slice(0, 100) },
  });
}
