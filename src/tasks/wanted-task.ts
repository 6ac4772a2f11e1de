import type { Trust } from '../core/trust/trust.ts';
import { warnOfCycle } from '../custody/cycle-warning.ts';
import { type LockOptions, type LockState, type Locks, openLocks } from '../journal/locks/open-locks.ts';
import type { Repository } from '../repository/repository.ts';
import { requireTask, type TaskDefinition } from '../repository/task-definitions.ts';
import { type Board, readBoard, withTrails } from './board.ts';

/** What is known of a task that somebody wants. */
export interface Wanted {
  board: Board;
  task: TaskDefinition;
  locks: Locks;
  held: LockState | null;
}

export async function readWanted(
  repository: Repository,
  trust: Trust,
  options: LockOptions & { id: string },
): Promise<Wanted> {
  const shown = await readBoard(repository, trust);
  warnOfCycle(repository, shown.tasks, shown.statusOf);
  const task = requireTask(shown.tasks, options.id);
  const board = await withTrails(shown, [options.id, ...task.depends_on]);
  const locks = await openLocks(repository, trust, options);
  return { board, task, locks, held: await locks.read(`task/${options.id}`) };
}
