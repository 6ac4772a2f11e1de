import { HandoffError } from '../../core/error.ts';
import { assertTask } from '../../core/task/name.ts';
import { stateOf, type TaskStatus, type TaskTrail, writebackOf } from '../../core/task/state.ts';
import { quoteWord } from '../../core/text/quote.ts';
import { decisiveAmong } from '../../core/writeback/runs.ts';
import { pickedUpTwice } from '../../custody/baton/picked-up-twice.ts';
import { knownTrail } from '../../custody/known-sessions.ts';
import { tidyKnownSessions } from '../../custody/tidy.ts';
import { runGit } from '../../git/run.ts';
import type { Writer } from '../../journal/append.ts';
import type { LockState } from '../../journal/locks/open-locks.ts';
import { taskClaimed } from '../../journal/locks/task-lock.ts';
import { assertNotReleased, withLiveness } from '../../journal/sessions/session-state.ts';
import type { GitAccess } from '../../repository/parts.ts';
import { enterWorkTree, type Repository } from '../../repository/repository.ts';
import { requireTask } from '../../repository/task-definitions.ts';
import { judgeTold, readThoughts, toldBy } from '../../repository/told-thoughts.ts';
import { type Board, readBoard } from '../../tasks/board.ts';
import { alternatives, otherHolder } from '../../tasks/rivals.ts';
import { askedEvidence, assertRuns, refusesFailedRuns } from '../../writeback/assert-runs.ts';
import { openWriter, type RecordOptions, type RecordResult, writeRecord } from '../session/record-verbs.ts';

export interface TaskUpdateOptions extends RecordOptions {
  id: string;
  status?: TaskStatus;
  progress?: number;
  notes?: string;
}

export interface TaskUpdateResult extends RecordResult {
  task_id: string;
  status: TaskStatus;
  progress: number | null;
}

/** A change of a task's state. SPEC §9.1: nothing is done without a thought record. */
export async function taskUpdate(repository: Repository, options: TaskUpdateOptions): Promise<TaskUpdateResult> {
  enterWorkTree(repository);
  assertUpdate(options);
  const updating = await openTask(repository, options);
  const { trail } = updating;
  const status = options.status ?? stateOf(trail)?.status ?? 'todo';
  if (options.status === 'done') {
    await assertWriteback(repository, trail, options.id);
    await assertEvidence(updating, options.id);
  }
  return writeStatus(updating, status, options);
}

/** Whoever changes a task, and what is known of it. */
export interface Updating {
  writer: Writer;
  board: Board;
  trail: TaskTrail;
  /** Who has the task's lock; null where it is free. */
  held: LockState | null;
}

/** Says no where there is no such task, or somebody else is at work on it. */
export async function openTask(repository: Repository, options: RecordOptions & { id: string }): Promise<Updating> {
  const { id } = options;
  const writer = await openWriter(repository, options, null);
  const board = await readBoard(repository, writer.trust);
  requireTask(board.tasks, id);
  const held = await writer.locks.read(`task/${id}`);
  const other = await otherHolder(writer, board.knownSessions, held);
  if (other) {
    assertNotReleased(withLiveness(repository, writer.trust, writer.session)); // the more telling of the two
    throw taskClaimed(id, other, alternatives(board, id));
  }
  for (const { message } of pickedUpTwice(board.knownSessions, writer.session)) repository.warn(message);
  return { writer, board, trail: await knownTrail(board.knownSessions, id), held };
}

export async function writeStatus(
  { writer, board, trail }: Updating,
  status: TaskStatus,
  options: Omit<TaskUpdateOptions, 'status'>,
): Promise<TaskUpdateResult> {
  const { id, notes } = options;
  const progress = options.progress ?? progressOf(trail, status);
  const fields = { task_id: id, status, ...(progress === null ? {} : { progress }), ...(notes ? { notes } : {}) };
  const message = `handoff: ${writer.session.identity}, ${id} is ${status}`;
  await tidyKnownSessions(writer.repository, writer.trust, board.knownSessions);
  const written = await writeRecord(writer, { kind: 'task', fields }, message, options);
  return { task_id: id, status, progress, ...written };
}

function assertUpdate({ id, status, progress, notes }: TaskUpdateOptions): void {
  assertTask(id);
  if (status === undefined && progress === undefined && notes === undefined)
    throw new HandoffError('usage', 'There is nothing to change.', { hint: '--status, --progress or --notes' });
  if (progress === undefined || (Number.isInteger(progress) && progress >= 0 && progress <= 100)) return;
  throw new HandoffError('usage', `--progress: expected a whole number from 0 to 100, found ${progress}.`);
}

/** Fields that the user does not name stay as they were. */
function progressOf(trail: TaskTrail, status: TaskStatus): number | null {
  const before = stateOf(trail);
  if (status === 'done') return 100;
  return before?.status === status ? before.progress : null;
}

/** As a gate will judge it. SPEC §10.5 */
async function assertEvidence({ writer, board, trail }: Updating, id: string): Promise<void> {
  const { repository, trust } = writer;
  const told = await toldBy(repository, trail, await readThoughts(board.knownSessions.evidence, [trail]));
  const asked = askedEvidence(trust);
  const verdict = await judgeTold(repository, told, asked);
  if (refusesFailedRuns(trust) || verdict.lack) assertRuns(id, verdict, asked);
  else if (verdict.failed) repository.warn(`${verdict.failed.line} failed, and ${id} is said to be done all the same.`);
  const decisive = decisiveAmong(told.since);
  if (decisive && decisive.files.length === 0 && !decisive.isNoCode) repository.warn(aboutNothing(id));
}

/** A thought was recorded, and that is all that this verb has ever asked for. */
function aboutNothing(id: string): string {
  return `${id} is said to be done by a thought about nothing. Commit the work and write another one, or say that it asked for no code: git handoff done ${quoteWord(id)} TEXT --no-code`;
}

/** A thought since the task last entered in_progress, about a commit that is not lost. */
async function assertWriteback(repository: Repository, trail: TaskTrail, id: string): Promise<void> {
  const thought = writebackOf(trail);
  if (thought && (await isReachable(repository, thought.commit))) return;
  throw new HandoffError(
    'writeback_required',
    'Writeback required: thought_record must be recorded before task completion.',
    {
      hint: `git handoff thought ${quoteWord(id)} --summary TEXT, then the same command again.${thought ? ` The last one names ${thought.commit}, which no branch has.` : ''}`,
      data: { task_id: id, thought: thought?.delta_id ?? null, commit_sha: thought?.commit ?? null },
    },
  );
}

export async function isReachable({ git }: GitAccess, commit: string): Promise<boolean> {
  const { code, stdout } = await runGit(git, [
    'rev-list',
    '--max-count=1',
    `${commit}^{commit}`,
    '--not',
    '--all',
    'HEAD',
  ]);
  return code === 0 && stdout.length === 0;
}
