import { byNewest, insertNewest, type Moment } from './newest.ts';
import type { VerifiedRecord } from './verify.ts';

export type TaskStatus = 'todo' | 'in_progress' | 'blocked' | 'done' | 'cancelled';

export interface TaskState extends Moment {
  status: TaskStatus;
  progress: number | null;
  session_id: string;
  identity: string;
}

interface TaskChange extends Moment {
  status: TaskStatus;
}

/** What the records say about one task: enough to tell its state whichever of them was read first. */
export interface TaskTrail {
  /** Who made the newest change; null while there are only thoughts. */
  by: Pick<TaskState, 'session_id' | 'identity' | 'progress'> | null;
  changes: TaskChange[];
  thoughts: Moment[];
}

export type TaskTrails = Record<string, TaskTrail>;

/** More changes or thoughts than this, after the one that counts, and a task shows as still in progress. */
const NEWEST_STEPS = 16;

/**
 * Task ids are chosen by agents: without a limit, anyone's loop would slow everyone down for ever. Beyond it the oldest are
 * forgotten, and what one of them becomes later is told from its later records alone.
 */
const NEWEST_TASKS = 4096;

export function addTaskRecord(tasks: TaskTrails, { kind, id, fields }: VerifiedRecord): void {
  const task = fields.task_id as string;
  const isNew = !Object.hasOwn(tasks, task); // a task may be called `constructor`
  if (isNew) tasks[task] = { by: null, changes: [], thoughts: [] };
  const trail = tasks[task]!;
  const moment: Moment = { clock: fields.clock as number, delta_id: id };
  if (kind === 'thought') insertNewest(trail.thoughts, moment, NEWEST_STEPS);
  else addChange(trail, moment, fields as { status: TaskStatus; progress?: number } & Record<Author, string>);
  if (isNew) dropOldest(tasks);
}

type Author = 'session_id' | 'identity';

function addChange(
  trail: TaskTrail,
  moment: Moment,
  { status, progress, session_id, identity }: { status: TaskStatus; progress?: number } & Record<Author, string>,
): void {
  insertNewest(trail.changes, { ...moment, status }, NEWEST_STEPS);
  if (trail.changes[0]!.delta_id !== moment.delta_id) return;
  trail.by = { session_id, identity, progress: progress ?? null };
}

function dropOldest(tasks: TaskTrails): void {
  const ids = Object.keys(tasks);
  if (ids.length <= NEWEST_TASKS) return;
  delete tasks[ids.reduce((a, b) => (byNewest(newest(tasks[a]!), newest(tasks[b]!)) > 0 ? a : b))];
}

function newest({ changes, thoughts }: TaskTrail): Moment {
  return [changes[0], thoughts[0]].filter((moment) => moment !== undefined).sort(byNewest)[0]!;
}

/** `done` without a writeback is still in progress, whoever says otherwise. Null when no record changed it. */
export function stateOf({ by, changes, thoughts }: TaskTrail): TaskState | null {
  const change = changes[0];
  if (!change || !by) return null;
  const { status, clock, delta_id } = change;
  const isWithout = status === 'done' && !thoughts.some((thought) => isWriteback(thought, changes));
  return { status: isWithout ? 'in_progress' : status, ...by, clock, delta_id };
}

/** Written before the newest change, after the task last entered in_progress. */
function isWriteback(thought: Moment, changes: readonly TaskChange[]): boolean {
  const entered = changes.find(
    ({ status }, at) => status === 'in_progress' && changes[at + 1]?.status !== 'in_progress',
  );
  return byNewest(changes[0]!, thought) < 0 && (!entered || byNewest(thought, entered) < 0);
}
