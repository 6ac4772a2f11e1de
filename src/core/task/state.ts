import type { RecordHead, TaskRecord } from '../generated/types.ts';
import { type FieldsOf, isOfKind, type RecordKind } from '../record/kinds.ts';
import { byNewest, insertNewest, type StoryMoment } from '../session/newest.ts';

export type TaskStatus = TaskRecord['status'];

export interface TaskState extends StoryMoment {
  status: TaskStatus;
  progress: number | null;
  session_id: string;
  identity: string;
}

interface StatusChange extends StoryMoment {
  status: TaskStatus;
}

/** A thought record, and where to read the rest of it. */
export interface TaskThought extends StoryMoment {
  identity: string;
  commit: string;
  path: string;
}

/** Who wrote with which number of the task's lock. */
export interface TaskToken {
  token: number;
  session_id: string;
  identity: string;
}

/** What the records say about one task: enough to tell its state whichever of them was read first. */
export interface TaskTrail {
  /** Who made the newest change; null while there is none. */
  by: Pick<TaskState, 'session_id' | 'identity' | 'progress'> | null;
  changes: StatusChange[];
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

/** The keys of records that verdicts are made of. */
export const TRACED_KEYS = [
  'session_id',
  'identity',
  'clock',
  'task_id',
  'status',
  'progress',
  'commit_sha',
  'thought',
  'verdict',
  'lock',
] as const;

type TracedKey = (typeof TRACED_KEYS)[number];

/** What verdicts need of a record that was verified; a whole one will do as well. */
export interface TracedRecord<K extends RecordKind = RecordKind> {
  path: string;
  record: { [Each in K]: { kind: Each; id: string; fields: TracedFields<Each> } }[K];
}

type TracedFields<K extends RecordKind> = Pick<FieldsOf<K>, TracedKey & keyof FieldsOf<K>>;

/** Only what concerns tasks: changes, thoughts, and the tokens of their locks. */
export function addTaskRecord(tasks: TaskTrails, { path, record }: TracedRecord): void {
  if (record.kind === 'thought')
    insertNewest(trailOf(tasks, record.fields.task_id).thoughts, toThought({ path, record }), NEWEST_STEPS);
  if (record.kind === 'task') addChange(trailOf(tasks, record.fields.task_id), { path, record });
  const { lock } = record.fields;
  if (lock) addToken(trailOf(tasks, lock.task), toToken(record.fields, lock));
}

/**
 * The whole trail of one task, with nothing left out: for verdicts. `records` may be about other tasks too, in any order, and
 * some of them twice.
 */
export function wholeTrail(task: string, records: Iterable<TracedRecord>): TaskTrail {
  const each = [...new Map([...records].map((placed) => [placed.record.id, placed])).values()];
  const isAbout = ({ record }: TracedRecord<'task' | 'thought'>): boolean => record.fields.task_id === task;
  const changed = each.filter(isOfKind('task')).filter(isAbout);
  changed.sort((a, b) => byNewest(storyMomentOf(a), storyMomentOf(b)));
  const tokens = each.flatMap(({ record: { fields } }) =>
    fields.lock?.task === task ? [toToken(fields, fields.lock)] : [],
  );
  return {
    by: changed[0] ? changedBy(changed[0]) : null,
    changes: changed.map(toChange),
    thoughts: each.filter(isOfKind('thought')).filter(isAbout).map(toThought).sort(byNewest),
    tokens: [...new Map(tokens.map((held) => [`${held.token} ${holderOf(held)}`, held])).values()].sort(byNumber),
  };
}

function storyMomentOf({ record: { id, fields } }: TracedRecord): StoryMoment {
  return { clock: fields.clock, delta_id: id };
}

function toThought(placed: TracedRecord<'thought'>): TaskThought {
  const { identity, commit_sha } = placed.record.fields;
  return { ...storyMomentOf(placed), identity, commit: commit_sha, path: placed.path };
}

function toChange(placed: TracedRecord<'task'>): StatusChange {
  return { ...storyMomentOf(placed), status: placed.record.fields.status };
}

function changedBy({ record }: TracedRecord<'task'>): NonNullable<TaskTrail['by']> {
  const { session_id, identity, progress = null } = record.fields;
  return { session_id, identity, progress };
}

function toToken({ session_id, identity }: SessionKey, { token }: NonNullable<RecordHead['lock']>): TaskToken {
  return { token, session_id, identity };
}

function trailOf(tasks: TaskTrails, task: string): TaskTrail {
  // a task may be called `constructor`
  if (!Object.hasOwn(tasks, task)) tasks[task] = { by: null, changes: [], thoughts: [], tokens: [] };
  return tasks[task]!;
}

function addToken({ tokens }: TaskTrail, added: TaskToken): void {
  if (tokens.some((each) => each.token === added.token && isSameSession(each, added))) return;
  tokens.push(added);
  tokens.sort(byNumber);
  tokens.length = Math.min(tokens.length, NEWEST_STEPS);
}

/** SPEC §6.6: a session is its identity's; somebody else's of the same id is another one. */
export function isSameSession(a: SessionKey, b: SessionKey): boolean {
  return a.session_id === b.session_id && a.identity === b.identity;
}

export type SessionKey = Pick<TaskToken, 'session_id' | 'identity'>;

function holderOf({ session_id, identity }: SessionKey): string {
  return `${session_id} ${identity}`;
}

function byNumber(a: TaskToken, b: TaskToken): number {
  return b.token - a.token || (holderOf(a) < holderOf(b) ? -1 : 1);
}

function addChange(trail: TaskTrail, placed: TracedRecord<'task'>): void {
  insertNewest(trail.changes, toChange(placed), NEWEST_STEPS);
  if (trail.changes[0]!.delta_id === placed.record.id) trail.by = changedBy(placed);
}

export function hasTooManyTasks(tasks: TaskTrails): boolean {
  return Object.keys(tasks).length > NEWEST_TASKS;
}

/** Tasks that are not defined are dropped first, so that thousands of invented ones push out none that work waits for. */
export function dropOldTasks(tasks: TaskTrails, isDefined: (id: string) => boolean): void {
  const ids = Object.keys(tasks);
  const moments = new Map(ids.map((id) => [id, newest(tasks[id]!)]));
  const byUse = (a: string, b: string): number =>
    Number(isDefined(b)) - Number(isDefined(a)) || byNewest(moments.get(a)!, moments.get(b)!);
  for (const id of ids.sort(byUse).slice(NEWEST_TASKS)) delete tasks[id];
}

/** A task whose lock alone was ever mentioned counts as the oldest. */
function newest({ changes, thoughts }: TaskTrail): StoryMoment {
  const moments = [changes[0], thoughts[0]].filter((moment) => moment !== undefined);
  return moments.sort(byNewest)[0] ?? { clock: 0, delta_id: '' };
}

/** `done` without a writeback is still in progress, whoever says otherwise. Null when no record changed it. */
export function stateOf({ by, changes, thoughts }: TaskTrail): TaskState | null {
  const change = changes[0];
  if (!change || !by) return null;
  const { status, clock, delta_id } = change;
  const isWithout = status === 'done' && !thoughts.some(writebackAmong(changes));
  return { status: isWithout ? 'in_progress' : status, ...by, clock, delta_id };
}

/** Written before the newest change, after the task last entered in_progress. */
function writebackAmong(changes: readonly StatusChange[]): (thought: StoryMoment) => boolean {
  const entered = lastEntered(changes); // once, and not for each of thousands of thoughts
  return (thought) => byNewest(changes[0]!, thought) < 0 && (!entered || byNewest(thought, entered) < 0);
}

function lastEntered(changes: readonly StatusChange[]): StatusChange | undefined {
  return changes.find(({ status }, at) => status === 'in_progress' && changes[at + 1]?.status !== 'in_progress');
}

/** The thought that makes a task done, or would, were it said to be done now: the newest since it last entered in_progress. */
export function writebackOf(trail: TaskTrail): TaskThought | null {
  return thoughtsSinceEntered(trail)[0] ?? null;
}

/** Those that were written since it last entered in_progress, the newest first. */
export function thoughtsSinceEntered({ changes, thoughts }: TaskTrail): TaskThought[] {
  const entered = lastEntered(changes);
  const end = entered ? thoughts.findIndex((thought) => byNewest(thought, entered) > 0) : -1;
  return end < 0 ? thoughts : thoughts.slice(0, end);
}

/** The newest thought that was there when the newest change was said: what made a task done that is. */
export function writebackAtChange({ changes, thoughts }: TaskTrail): TaskThought | null {
  return thoughts.find(writebackAmong(changes)) ?? null;
}
