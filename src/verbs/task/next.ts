import type { Repository } from '../../repository/repository.ts';
import { requireTrust } from '../../repository/trusted-now.ts';
import { type Board, readBoard } from '../../tasks/board.ts';
import { type NextAction, nextActions } from '../../tasks/next-actions.ts';

export interface NextResult {
  actions: NextAction[];
  /** Begun, and held by nobody on this machine any more: whoever continues it claims it. */
  put_down: Pick<NextAction, 'task_id' | 'title'>[];
}

const SHOWN = 10;

/** What can be begun now, the most important first. SPEC §9.1 */
export async function next(repository: Repository, { limit = SHOWN }: { limit?: number } = {}): Promise<NextResult> {
  const board = await readBoard(repository, await requireTrust(repository));
  return { actions: nextActions(board, limit), put_down: putDown(board) };
}

function putDown({ tasks, known, statusOf, holderOf }: Board): NextResult['put_down'] {
  const begun = tasks.filter(
    ({ task_id: id }) =>
      Object.hasOwn(known.history.tasks, id) && statusOf(id) === 'in_progress' && holderOf(id) === null,
  );
  return begun.map(({ task_id, title }) => ({ task_id, title }));
}
