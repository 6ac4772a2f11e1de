import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { HandoffError } from '../core/error.ts';
import { statusIn, taskTrail } from '../core/session/history-queries.ts';
import { findCycle, isOpen, type LinkedTasks, type OrderedTask } from '../core/task/order.ts';
import { stateOf, type TaskStatus, type TaskTrail, wholeTrail } from '../core/task/state.ts';
import type { Trust } from '../core/trust/trust.ts';
import { type Known, readKnown } from '../custody/known-sessions.ts';
import { ifThere } from '../disk/if-there.ts';
import type { Holder } from '../journal/locks/holder.ts';
import { type Hold, readHold } from '../journal/locks/local-locks.ts';
import { readSession } from '../journal/sessions/registry.ts';
import { dirsOf, withLiveness } from '../journal/sessions/session-state.ts';
import type { Repository } from '../repository/repository.ts';
import { readKnownTasks, type TaskDefinition } from '../repository/task-definitions.ts';

/** What is to be done, and how far it is. */
export interface Board {
  tasks: TaskDefinition[];
  known: Known;
  /** As far as it is shown; of those that `withTrails` was asked for, all of it. Null for a task that no record names. */
  trailOf(id: string): TaskTrail | null;
  statusOf(id: string): TaskStatus;
  isDefined(id: string): boolean;
  /** Who works on it, as far as this machine knows. */
  holderOf(id: string): Holder | null;
}

export async function readBoard(repository: Repository, trust: Trust): Promise<Board> {
  const known = await readKnown(repository, trust);
  const tasks = await readKnownTasks(repository, trust);
  let ids: Set<string> | undefined;
  return {
    tasks,
    known,
    isDefined(id) {
      ids ??= new Set(tasks.map(({ task_id }) => task_id));
      return ids.has(id);
    },
    trailOf: (id) => taskTrail(known.history, id),
    statusOf: (id) => statusIn(known.history, id),
    holderOf: localHolders(repository, trust),
  };
}

/** The same board, for a verdict about some tasks: of those everything is known that anybody has recorded. */
export async function withTrails(board: Board, ids: readonly string[]): Promise<Board> {
  const records = await board.known.evidence.ofTasks(ids);
  const trails = new Map(ids.map((id) => [id, wholeTrail(id, records)]));
  const statusOf = (trail: TaskTrail): TaskStatus => stateOf(trail)?.status ?? 'todo';
  return {
    ...board,
    trailOf: (id) => trails.get(id) ?? board.trailOf(id),
    statusOf: (id) => (trails.has(id) ? statusOf(trails.get(id)!) : board.statusOf(id)),
  };
}

/** Locks of tasks that were done long ago stay: one listing tells which tasks ever had one. */
export function localHolders(repository: Repository, trust: Trust): (id: string) => Holder | null {
  const { locks } = dirsOf(repository);
  let names: Set<string> | undefined;
  return (id) => {
    names ??= new Set(ifThere(() => readdirSync(join(locks, 'task'))) ?? []);
    const hold = names.has(id) ? readHold(locks, `task/${id}`) : null;
    return hold && isAtWork(repository, trust, hold) ? hold.holder : null;
  };
}

function isAtWork(repository: Repository, trust: Trust, { holder, released }: Hold): boolean {
  const session = released ? null : readSession(dirsOf(repository), holder.session_id);
  return session !== null && withLiveness(repository, trust, session).liveness.state === 'active';
}

/** What keeps an open task from being begun: dependencies that are not done, and those that nobody has defined. */
export function blockedBy({ depends_on, task_id }: OrderedTask, { statusOf, isDefined }: Board): string[] {
  if (!isOpen(statusOf(task_id))) return [];
  return [...new Set(depends_on)].filter((id) => !isDefined(id) || statusOf(id) !== 'done');
}

export function assertNoCycle(linked: LinkedTasks<OrderedTask>): void {
  const cycle = findCycle(linked);
  if (!cycle) return;
  const message =
    cycle.length === 1
      ? `${cycle[0]} depends on itself.`
      : `These tasks wait for each other: ${[...cycle, cycle[0]].join(' → ')}.`;
  throw new HandoffError('task_cycle', message, {
    hint: 'Take one of these dependencies out: git handoff task edit ID --depends …',
    data: { cycle },
  });
}
