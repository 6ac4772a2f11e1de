import { byNewest, insertNewest, type Moment } from './newest.ts';
import type { PlacedRecord } from './record-summary.ts';
import type { YamlMap } from './yaml.ts';

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

/** A thought record, and where to read the rest of it. */
export interface TaskThought extends Moment {
  identity: string;
  commit: string;
  path: string;
}

/** Who wrote with which number of the task's lock. */
interface TaskToken {
  token: number;
  session_id: string;
}

/** What the records say about one task: enough to tell its state whichever of them was read first. */
export interface TaskTrail {
  /** Who made the newest change; null while there is none. */
  by: Pick<TaskState, 'session_id' | 'identity' | 'progress'> | null;
  changes: TaskChange[];
  thoughts: TaskThought[];
  /** The highest first. */
  tokens: TaskToken[];
}

export type TaskTrails = Record<string, TaskTrail>;

/** More changes or thoughts than this, after the one that counts, and a task shows as still in progress. */
const NEWEST_STEPS = 16;

/**
 * Task ids are chosen by agents: without a limit, anyone's loop would slow everyone down for ever. Beyond it the oldest are
 * forgotten, and what one of them becomes later is told from its later records alone.
 */
const NEWEST_TASKS = 32_768;

/** Only what concerns tasks: changes, thoughts, and the tokens of their locks. */
export function addTaskRecord(tasks: TaskTrails, { path, record }: PlacedRecord): void {
  const { kind, id, fields } = record;
  const moment: Moment = { clock: fields.clock as number, delta_id: id };
  if (kind === 'thought') addThought(trailOf(tasks, fields.task_id as string), moment, path, fields);
  if (kind === 'task') addChange(trailOf(tasks, fields.task_id as string), moment, fields as unknown as ChangeFields);
  const lock = fields.lock as unknown as { task: string; token: number } | undefined;
  if (lock) addToken(trailOf(tasks, lock.task), { token: lock.token, session_id: fields.session_id as string });
}

function trailOf(tasks: TaskTrails, task: string): TaskTrail {
  // a task may be called `constructor`
  if (!Object.hasOwn(tasks, task)) tasks[task] = { by: null, changes: [], thoughts: [], tokens: [] };
  return tasks[task]!;
}

function addThought({ thoughts }: TaskTrail, moment: Moment, path: string, fields: YamlMap): void {
  const { identity, commit_sha } = fields as Record<'identity' | 'commit_sha', string>;
  insertNewest(thoughts, { ...moment, identity, commit: commit_sha, path }, NEWEST_STEPS);
}

function addToken({ tokens }: TaskTrail, added: TaskToken): void {
  if (tokens.some(({ token, session_id }) => token === added.token && session_id === added.session_id)) return;
  tokens.push(added);
  tokens.sort((a, b) => b.token - a.token || (a.session_id < b.session_id ? -1 : 1));
  tokens.length = Math.min(tokens.length, NEWEST_STEPS);
}

type ChangeFields = { status: TaskStatus; progress?: number; session_id: string; identity: string };

function addChange(trail: TaskTrail, moment: Moment, { status, progress, session_id, identity }: ChangeFields): void {
  insertNewest(trail.changes, { ...moment, status }, NEWEST_STEPS);
  if (trail.changes[0]!.delta_id !== moment.delta_id) return;
  trail.by = { session_id, identity, progress: progress ?? null };
}

/** Once for a session, so that a loop over many tasks does not look at all of them for each. */
export function dropOldTasks(tasks: TaskTrails): void {
  const ids = Object.keys(tasks);
  if (ids.length <= NEWEST_TASKS) return;
  const moments = new Map(ids.map((id) => [id, newest(tasks[id]!)]));
  ids.sort((a, b) => byNewest(moments.get(a)!, moments.get(b)!));
  for (const id of ids.slice(NEWEST_TASKS)) delete tasks[id];
}

/** Of one whose lock was only ever mentioned, the beginning of time. */
function newest({ changes, thoughts }: TaskTrail): Moment {
  const moments = [changes[0], thoughts[0]].filter((moment) => moment !== undefined);
  return moments.sort(byNewest)[0] ?? { clock: 0, delta_id: '' };
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
  const entered = lastEntered(changes);
  return byNewest(changes[0]!, thought) < 0 && (!entered || byNewest(thought, entered) < 0);
}

function lastEntered(changes: readonly TaskChange[]): TaskChange | undefined {
  return changes.find(({ status }, at) => status === 'in_progress' && changes[at + 1]?.status !== 'in_progress');
}

/** The thought that makes a task done, or would, were it said to be done now: the newest since it last entered in_progress. */
export function writebackOf({ changes, thoughts }: TaskTrail): TaskThought | null {
  const entered = lastEntered(changes);
  const thought = thoughts[0];
  return thought && (!entered || byNewest(thought, entered) < 0) ? thought : null;
}

/** Two accounts of one task as one: what an earlier change brought and what this one does. */
export function mergeTrails(a: TaskTrail, b: TaskTrail): TaskTrail {
  const merged: TaskTrail = { by: null, changes: [...a.changes], thoughts: [...a.thoughts], tokens: [...a.tokens] };
  for (const change of b.changes) insertNewest(merged.changes, change, NEWEST_STEPS);
  for (const thought of b.thoughts) insertNewest(merged.thoughts, thought, NEWEST_STEPS);
  for (const token of b.tokens) addToken(merged, token);
  merged.by = merged.changes[0]?.delta_id === a.changes[0]?.delta_id ? a.by : b.by;
  return merged;
}
