import { createHash } from 'node:crypto';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type Entry, FOLDER, find, type Source } from '../audit/source/source.ts';
import { dropCached, newestCached, readCached, writeCached } from '../audit/tree/cache.ts';
import { judgedBy } from '../audit/trust/judged-by.ts';
import { parseJson } from '../core/bytes/json.ts';
import { HandoffError } from '../core/error.ts';
import { ROOT } from '../core/paths.ts';
import type { KnownSessions } from '../custody/known-sessions.ts';
import { ifThere } from '../disk/if-there.ts';
import { readEntry, recordNumbers } from '../journal/sessions/records.ts';
import { listSessions, type Session } from '../journal/sessions/registry.ts';
import { dirsOf } from '../journal/sessions/session-state.ts';
import type { Everywhere } from '../repository/everywhere/everywhere.ts';
import type { Directories, StateDirectory, TimeAndHost } from '../repository/parts.ts';
import { cacheFolder } from '../repository/repository.ts';

/** What `next` answers, as far as it follows from what is committed and who is trusted. Who holds a task is not in it. */
export interface Plan<T> {
  /** The first of the tasks that can be begun. */
  ranked: T[];
  /** Whether there are no others. */
  isAll: boolean;
  /** Those that are in progress. */
  begun: { task_id: string; title: string }[];
}

/** Plans of earlier runs. With many thousand tasks, reading all of them is what `next` would wait for. */
export interface Plans<T> {
  read(): Plan<T> | null;
  /** Does nothing where more than commits has made the plan: what this machine has journalled, or a task that is only in the work tree. */
  save(plan: Plan<T>, knownSessions: KnownSessions): Promise<void>;
}

/** A plan, and under which circumstances it is the same without reading anything. */
interface KeptPlan<T> extends Plan<T> {
  /** The number of the last record of each session of this machine that was committed. */
  committed: Record<string, number>;
  /** Which state of the folder of tasks in the work tree had none that is not committed. */
  folder: string;
}

/** Null where nothing is kept. */
export async function openPlans<T>(
  repository: Directories & StateDirectory & TimeAndHost,
  { source, trust }: Pick<Everywhere, 'source' | 'trust'>,
): Promise<Plans<T> | null> {
  if (repository.build === null || source === null) return null;
  const [tasks, sessions] = await Promise.all([find(source, `${ROOT}/tasks`), find(source, `${ROOT}/sessions`)]);
  const folder = cacheFolder(repository, 'next');
  const path = join(folder, nameOf([repository.worktree, tasks?.oid, sessions?.oid, ...judgedBy(trust)]));
  return {
    read() {
      const kept = parseJson<Partial<KeptPlan<T>>>(readCached(path));
      return isKept(kept) && isSame(repository, kept) ? kept : null;
    },
    async save(plan, { held, isSound }) {
      const state = folderState(repository);
      const committed = Object.fromEntries([...held].map((id) => [id, lastNumber(repository, id)]));
      const kept = { ...plan, committed, folder: state ?? '' };
      if (!isSound || state === null || !isSame(repository, kept)) return;
      if (!(await hasOnlyCommitted(repository, source, tasks))) return;
      writeCached(path, kept);
      for (const name of newestCached(folder).slice(STATES)) dropCached(join(folder, name));
    },
  };
}

/** A branch or two in a few work trees, and where they were before. */
const STATES = 8;

function nameOf(parts: readonly (string | null | undefined)[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}

function isKept<T>(kept: Partial<KeptPlan<T>> | null): kept is KeptPlan<T> {
  const { ranked, begun, committed, isAll } = kept ?? {};
  const areTasks = [ranked, begun].every((tasks) => Array.isArray(tasks) && tasks.every((task) => task));
  return areTasks && typeof committed === 'object' && committed !== null && isAll !== undefined;
}

function isSame<T>(
  repository: Directories & StateDirectory & TimeAndHost,
  { committed, folder }: KeptPlan<T>,
): boolean {
  const sessions = listSessions(dirsOf(repository));
  return (
    folderState(repository) === folder && sessions.every((session) => saysNothingNew(repository, session, committed))
  );
}

/** Whether all of its records are committed, or none of them can change the state of a task. */
function saysNothingNew(
  repository: StateDirectory,
  { session_id }: Session,
  committed: Record<string, number>,
): boolean {
  const dirs = dirsOf(repository);
  const numbers = recordNumbers(dirs, session_id);
  if (Object.hasOwn(committed, session_id) && committed[session_id] === numbers.at(-1)) return true;
  try {
    const entries = numbers.map((number) => readEntry(dirs, session_id, number));
    return !entries.some((entry) => 'kind' in entry && (entry.kind === 'task' || entry.kind === 'thought'));
  } catch (error) {
    if (error instanceof HandoffError) return false; // whoever reads it says what is wrong
    throw error;
  }
}

function lastNumber(repository: StateDirectory, id: string): number {
  return recordNumbers(dirsOf(repository), id).at(-1) ?? 0;
}

/** A folder that was changed a moment ago can change once more without looking different. */
const SETTLED = 2_000;

/** Another one as soon as a file is added to the folder of tasks in the work tree; null where that cannot be told yet. */
function folderState({ dirs: { topLevel }, now }: Directories & TimeAndHost): string | null {
  const stat = topLevel === null ? undefined : statSync(join(topLevel, FOLDER_PATH), STAT);
  if (!stat) return 'none';
  return now().getTime() - Number(stat.mtimeMs) < SETTLED ? null : `${stat.ino} ${stat.mtimeNs}`;
}

const FOLDER_PATH = `${ROOT}/tasks`;
const STAT = { bigint: true, throwIfNoEntry: false } as const;

async function hasOnlyCommitted({ dirs }: Directories, source: Source, tasks: Entry | null): Promise<boolean> {
  const { topLevel } = dirs;
  const names = topLevel === null ? [] : (ifThere(() => readdirSync(join(topLevel, FOLDER_PATH))) ?? []);
  const committed = new Set((tasks?.mode === FOLDER ? await source.list(tasks) : []).map(({ name }) => name));
  return names.every((name) => committed.has(name));
}
