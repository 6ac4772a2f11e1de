import { warnOfCycle } from '../../custody/cycle-warning.ts';
import { waitingConflict } from '../../repository/conflict.ts';
import { openEverywhere } from '../../repository/everywhere/everywhere.ts';
import type { Repository } from '../../repository/repository.ts';
import { requireTrust } from '../../repository/trusted-now.ts';
import { type Board, localHolders, readBoard } from '../../tasks/board.ts';
import { type NextAction, nextActions } from '../../tasks/next-actions.ts';
import { openPlans, type Plan } from '../../tasks/next-plan.ts';

export interface NextResult {
  actions: NextAction[];
  /** Begun, and held by nobody on this machine any more: whoever continues it claims it. */
  put_down: Pick<NextAction, 'task_id' | 'title'>[];
}

const SHOWN = 10;

/** What can be begun now, the most important first. SPEC §9.1 */
export async function next(repository: Repository, { limit = SHOWN }: { limit?: number } = {}): Promise<NextResult> {
  const trust = await requireTrust(repository);
  const conflict = await waitingConflict(repository);
  if (conflict) repository.warn(`${conflict.message} ${conflict.hint}`);
  const everywhere = await openEverywhere(repository, trust);
  const plans = await openPlans<NextAction>(repository, everywhere);
  const knownSessions = plans?.read();
  const short = knownSessions ? answer(knownSessions, limit, localHolders(repository, trust)) : null;
  if (short) return short;
  const board = await readBoard(repository, trust, everywhere);
  const plan = toPlan(board, Math.max(limit, PLANNED));
  // what is kept warns nobody
  const isWarned = warnOfCycle(repository, board.tasks, board.statusOf);
  if (!isWarned) await plans?.save(plan, board.knownSessions);
  return answer(plan, limit, board.holderOf) ?? { actions: nextActions(board, limit), put_down: putDown(plan, board) };
}

/** More than anybody asks for, and than others may hold. */
const PLANNED = 64;

function toPlan(board: Board, most: number): Plan<NextAction> {
  const { tasks, knownSessions, statusOf } = board;
  const ranked = nextActions({ ...board, holderOf: () => null }, most);
  const begun = tasks.filter(
    ({ task_id: id }) => Object.hasOwn(knownSessions.history.tasks, id) && statusOf(id) === 'in_progress',
  );
  return {
    ranked,
    isAll: ranked.length < most,
    begun: begun.map(({ task_id, title }) => ({ task_id, title })),
  };
}

/** Null where so many of the first are held that others have to be looked for. */
function answer(plan: Plan<NextAction>, limit: number, holderOf: Board['holderOf']): NextResult | null {
  const actions = plan.ranked.filter(({ task_id }) => holderOf(task_id) === null).slice(0, limit);
  if (actions.length < limit && !plan.isAll) return null;
  return { actions, put_down: putDown(plan, { holderOf }) };
}

function putDown({ begun }: Plan<NextAction>, { holderOf }: Pick<Board, 'holderOf'>): NextResult['put_down'] {
  return begun.filter(({ task_id }) => holderOf(task_id) === null);
}
