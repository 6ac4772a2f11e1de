import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { statusIn, taskTrail } from '../core/session/history-queries.ts';
import { isOpen, type OrderedTask } from '../core/task/order.ts';
import { recordsByTask } from '../core/task/records-by-task.ts';
import { stateOf, type TaskStatus, type TaskTrail, wholeTrail } from '../core/task/state.ts';
import type { Trust } from '../core/trust/trust.ts';
import { isAtWorkHere } from '../custody/at-work.ts';
import { type KnownSessions, readKnownSessions } from '../custody/known-sessions.ts';
import { ifThere } from '../disk/if-there.ts';
import type { Holder } from '../journal/locks/holder.ts';
import { readHold } from '../journal/locks/local-locks.ts';
import { dirsOf } from '../journal/sessions/session-state.ts';
import type { Everywhere } from '../repository/everywhere/everywhere.ts';
import type { StateDirectory, TimeAndHost } from '../repository/parts.ts';
import type { Repository } from '../repository/repository.ts';
import { readKnownTasks, type TaskDefinition } from '../repository/task-definitions.ts';

/** What is to be done, and how far it is. */
export interface Board {
  tasks: TaskDefinition[];
  knownSessions: KnownSessions;
  /** As far as it is shown; of those that `withTrails` was asked for, all of it. Null for a task that no record names. */
  trailOf(id: string): TaskTrail | null;
  statusOf(id: string): TaskStatus;
  isDefined(id: string): boolean;
  /** Who works on it, as far as this machine knows. */
  holderOf(id: string): Holder | null;
}

export async function readBoard(repository: Repository, trust: Trust, everywhere?: Everywhere): Promise<Board> {
  return boardOf(repository, trust, await readKnownSessions(repository, trust, everywhere));
}

/** For callers that have read the known sessions already. */
export async function boardOf(repository: Repository, trust: Trust, knownSessions: KnownSessions): Promise<Board> {
  const tasks = await readKnownTasks(repository, knownSessions);
  let ids: Set<string> | undefined;
  return {
    tasks,
    knownSessions,
    isDefined(id) {
      ids ??= new Set(tasks.map(({ task_id }) => task_id));
      return ids.has(id);
    },
    trailOf: (id) => taskTrail(knownSessions.history, id),
    statusOf: (id) => statusIn(knownSessions.history, id),
    holderOf: localHolders(repository, trust),
  };
}

/** The same board, for a verdict about some tasks: of those everything is known that anybody has recorded. */
export async function withTrails(board: Board, ids: readonly string[]): Promise<Board> {
  const records = await board.knownSessions.evidence.ofTasks(ids);
  const about = recordsByTask(records);
  const trails = new Map(ids.map((id) => [id, wholeTrail(id, about.get(id) ?? [])]));
  const statusOf = (trail: TaskTrail): TaskStatus => stateOf(trail)?.status ?? 'todo';
  return {
    ...board,
    trailOf: (id) => trails.get(id) ?? board.trailOf(id),
    statusOf: (id) => (trails.has(id) ? statusOf(trails.get(id)!) : board.statusOf(id)),
  };
}

/** Locks of tasks that were done long ago stay: one listing tells which tasks ever had one. */
export function localHolders(repository: StateDirectory & TimeAndHost, trust: Trust): (id: string) => Holder | null {
  const { locks } = dirsOf(repository);
  let names: Set<string> | undefined;
  return (id) => {
    names ??= new Set(ifThere(() => readdirSync(join(locks, 'task'))) ?? []);
    const hold = names.has(id) ? readHold(locks, `task/${id}`) : null;
    return hold && !hold.released && isAtWorkHere(repository, trust, hold.holder) ? hold.holder : null;
  };
}

/** What blocks an open task: dependencies that are not done or not defined. */
export function blockedBy({ depends_on, task_id }: OrderedTask, { statusOf, isDefined }: Board): string[] {
  if (!isOpen(statusOf(task_id))) return [];
  return [...new Set(depends_on)].filter((id) => !isDefined(id) || statusOf(id) !== 'done');
}
