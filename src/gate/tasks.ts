import type { ChangedSession } from '../audit/delta/sessions.ts';
import type { Evidence } from '../audit/evidence/evidence.ts';
import type { Source } from '../audit/source/source.ts';
import { isSealed } from '../audit/tree/sealed.ts';
import { type Budget, whileTime } from '../core/budget.ts';
import { type Finding, HandoffError } from '../core/error.ts';
import { once, oncePer } from '../core/once.ts';
import { isOfKind } from '../core/record/kinds.ts';
import type { PlacedRecord } from '../core/record/record-summary.ts';
import { byNewest } from '../core/session/newest.ts';
import { recordsByTask } from '../core/task/records-by-task.ts';
import {
  stateOf,
  type TaskThought,
  type TaskToken,
  type TaskTrail,
  type TracedRecord,
  wholeTrail,
  writebackOf,
} from '../core/task/state.ts';
import { quoteWord } from '../core/text/quote.ts';
import type { Account } from '../core/writeback/account.ts';
import type { Definitions } from './definitions.ts';

/** A task that the change says is done, and nobody has changed since. */
export interface DoneTask {
  id: string;
  change: PlacedRecord;
  /** The thought that makes it done, wherever it is. */
  thought: TaskThought | null;
  isDone: boolean;
}

/** Everything that is known about a task once the change is there. */
export interface Trails {
  trailOf(id: string): Promise<TaskTrail>;
  /** Who wrote under its lock, which is less to read. */
  tokensOf(id: string): Promise<TaskToken[]>;
}

/**
 * What the protected branch has, all of it, and what arrives. Only of tasks that records which were not there before change, or
 * under whose lock they were written: these are asked for at once, as a push may name thousands.
 */
export function openTrails(
  evidence: Evidence,
  sessions: readonly ChangedSession[],
  added: readonly PlacedRecord[],
): Trails {
  const arrived = recordsByTask(sessions.flatMap(({ records }) => records));
  const locked = new Set(added.flatMap(({ record }) => record.fields.lock?.task ?? []));
  const ofTasks = once(async () => recordsByTask(await evidence.ofTasks(changedTasks(added))));
  const holders = once(async () => recordsByTask(await evidence.holdersOf(locked)));
  const whole = (id: string, there: ReadonlyMap<string, TracedRecord[]>): TaskTrail =>
    wholeTrail(id, [...(there.get(id) ?? []), ...(arrived.get(id) ?? [])]);
  return {
    trailOf: oncePer(async (id: string) => whole(id, await ofTasks())),
    tokensOf: oncePer(async (id: string) => whole(id, await holders()).tokens),
  };
}

/** The tasks that records change. */
export function changedTasks(added: readonly PlacedRecord[]): Set<string> {
  return new Set(added.filter(isOfKind('task')).map(({ record }) => record.fields.task_id));
}

export async function doneTasks(
  added: readonly PlacedRecord[],
  { trailOf }: Trails,
  budget: Budget,
): Promise<DoneTask[]> {
  const tasks: DoneTask[] = [];
  const done = added.filter(isOfKind('task')).filter(({ record }) => record.fields.status === 'done');
  const byId = new Map(done.map((change) => [change.record.id, change]));
  for (const id of whileTime(budget, changedTasks(done))) {
    const trail = await trailOf(id);
    const state = stateOf(trail);
    const change = byId.get(state?.delta_id ?? '');
    if (state && change) tasks.push({ id, change, thought: writebackOf(trail), isDone: state.status === 'done' });
  }
  return tasks;
}

export interface TaskCase {
  /** The tree as it is to be. */
  source: Source;
  definitions: Definitions;
  done: readonly DoneTask[];
  budget: Budget;
  /** Whether the commit a thought names is part of what is to be, itself or as a commit that does the same. */
  isAnchored(thought: TaskThought): Promise<boolean>;
}

/** SPEC §10.5: what is said to be done has its writeback, and its proof where one is asked for. */
export async function judgeTasks(input: TaskCase): Promise<Finding[]> {
  const findings: Finding[] = [];
  const isFolderSealed = oncePer((folder: string) => isSealed(input.source, folder)); // one session may do many tasks
  for (const { id, change, thought, isDone } of whileTime(input.budget, input.done)) {
    if (!isDone || !thought) findings.push(notDone(change, id));
    else if (!(await input.isAnchored(thought))) findings.push(notLanded(change, id, thought));
    else if ((await proofOf(input, id)) === 'seal' && !(await isFolderSealed(folderOf(thought.path))))
      findings.push(notSealed(change, id));
  }
  return findings;
}

async function proofOf({ definitions }: TaskCase, id: string): Promise<unknown> {
  const read = await definitions.read(id);
  if (read instanceof HandoffError) return null; // one that does not hold asks for nothing, and is a finding of its own when it arrives
  return read?.fields.proof ?? null;
}

function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/'));
}

function notDone({ path, record }: PlacedRecord, id: string): Finding {
  return {
    code: 'done_without_thought',
    severity: 'error',
    path,
    record: record.id,
    message: `${id} is said to be done, and no thought record that counts says what was done.`,
    hint: `git handoff thought ${quoteWord(id)} on the commit that did it, then git handoff task update ${quoteWord(id)} --status done`,
  };
}

function notLanded({ path, record }: PlacedRecord, id: string, { commit }: TaskThought): Finding {
  const command = `git handoff thought ${quoteWord(id)} --commit COMMIT --base COMMIT^`;
  return {
    code: 'done_without_thought',
    severity: 'error',
    path,
    record: record.id,
    message: `${id} is said to be done, and what its thought record is about, commit ${commit.slice(0, 12)}, is not found here, whole.`,
    hint: `Bring that commit's branch. If it has landed as another COMMIT: ${command}, then git handoff task update ${quoteWord(id)} --status done`,
  };
}

function notSealed({ path, record }: PlacedRecord, id: string): Finding {
  return {
    code: 'seal_missing',
    severity: 'error',
    path,
    record: record.id,
    message: `${id} asks for a sealed session, and the session of its thought record does not end in a seal that holds.`,
    hint: 'The session that wrote the thought must end in a seal over all its records: git handoff seal SESSION, where its branch is checked out, before it is merged.',
  };
}

/** What was run for the newest thought of each task and did not pass: the record says so, and a reviewer should not have to look for it. */
export function failedRuns(accounts: readonly Account[]): Finding[] {
  return newestOfEach(accounts).flatMap(({ path, delta_id, task_id, failed }) =>
    failed.map((run) => ({
      code: 'run_failed' as const,
      severity: 'warning' as const,
      path,
      record: delta_id,
      message: `What was run for ${task_id} did not pass: ${run}.`,
      hint: `Mend it, then run it again for a new record: git handoff thought ${quoteWord(task_id)} --run -- COMMAND`,
    })),
  );
}

function newestOfEach(accounts: readonly Account[]): Account[] {
  const newest = new Map<string, Account>();
  for (const account of accounts) {
    const other = newest.get(account.task_id);
    if (!other || byNewest(account, other) < 0) newest.set(account.task_id, account);
  }
  return [...newest.values()];
}
