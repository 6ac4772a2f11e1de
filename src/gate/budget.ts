import {
  asBeyondGit,
  type Budget,
  type BudgetLimits,
  budgetFinding,
  DEFAULT_LIMITS,
  isOverBudget,
  openBudget,
} from '../core/budget.ts';
import { asHandoffError, type Finding, HandoffError } from '../core/error.ts';
import { later } from '../core/later.ts';
import type { GitConfig } from '../git/config.ts';
import type { Git } from '../git/run.ts';
import { openStop, type Stop } from '../git/stop.ts';
import type { Messages, Settings, TimeAndHost } from '../repository/parts.ts';

/** What one push may cost here, from now on. */
export async function budgetOf(repository: Settings & TimeAndHost): Promise<Budget> {
  return openBudget(readLimits(await repository.config()), () => repository.now().getTime());
}

/** SPEC §10.9: `handoff.budget.<what>` of git's configuration, which nobody can push. */
export function readLimits(config: GitConfig): BudgetLimits {
  const limits = { ...DEFAULT_LIMITS };
  for (const name of Object.keys(limits) as (keyof BudgetLimits)[]) {
    const text = config.get(`handoff.budget.${name}`);
    if (text !== undefined) limits[name] = parseLimit(name, text);
  }
  return limits;
}

const UNITS: Record<string, number> = { '': 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3 };

function parseLimit(name: string, text: string): number {
  const [, digits = '', unit = ''] = /^([1-9][0-9]{0,9})([kmg]?)$/i.exec(text.trim()) ?? [];
  if (digits !== '') return Number(digits) * UNITS[unit.toLowerCase()]!;
  const expected = 'a number from 1 on, perhaps with k, m or g';
  const message = `handoff.budget.${name}: expected ${expected}, found ${JSON.stringify(text)}.`;
  throw new HandoffError('usage', message, {
    hint: `git config handoff.budget.${name} ${DEFAULT_LIMITS[name as keyof BudgetLimits]}`,
    data: { expected, found: text },
  });
}

/** What is started with this git can be made to end. */
export function stoppable(git: Git): { git: Git; stop: Stop } {
  const stop = openStop();
  return { git: { ...git, stop }, stop };
}

/** Whoever tells of progress is asked for the time: between two records, that is. */
export function hurried<T extends Messages>(repository: T, budget: Budget): T {
  const progress = (checked: number): void => {
    budget.assertTime();
    repository.progress(checked);
  };
  return { ...repository, progress };
}

/**
 * A verdict, or a refusal where it would cost too much. What waits for git is stopped when the time is over, and git with it; what
 * computes asks the budget between its steps.
 */
export async function withinBudget<T>(
  budget: Budget,
  stop: Stop,
  judge: () => Promise<T>,
  refuse: (finding: Finding) => T,
): Promise<T> {
  const judging = later(judge());
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(budget.outOfTime()), budget.left());
  });
  try {
    const verdict = await Promise.race([judging, late]);
    budget.assertTime(); // what only computes may have let no timer fire
    return verdict;
  } catch (error) {
    const over = asBeyondGit(asHandoffError(error));
    if (!isOverBudget(over)) throw error;
    stop.stop();
    return refuse(budgetFinding(over));
  } finally {
    clearTimeout(timer);
  }
}
