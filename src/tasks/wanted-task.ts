import type { Trust } from '../core/trust/trust.ts';
import { warnOfCycle } from '../custody/cycle-warning.ts';
import { type Held, type HoldOptions, type Holds, openHolds } from '../journal/locks/holds.ts';
import type { Repository } from '../repository/repository.ts';
import { requireTask, type TaskDefinition } from '../repository/task-definitions.ts';
import { type Board, readBoard, withTrails } from './board.ts';

/** What is known of a task that somebody wants. */
export interface Wanted {
  board: Board;
  task: TaskDefinition;
  holds: Holds;
  held: Held | null;
}

export async function readWanted(
  repository: Repository,
  trust: Trust,
  options: HoldOptions & { id: string },
): Promise<Wanted> {
  const shown = await readBoard(repository, trust);
  warnOfCycle(repository, shown.tasks, shown.statusOf);
  const task = requireTask(shown.tasks, options.id);
  const board = await withTrails(shown, [options.id, ...task.depends_on]);
  const holds = await openHolds(repository, trust, options);
  return { board, task, holds, held: await holds.read(`task/${options.id}`) };
}
