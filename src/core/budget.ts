import { comparedIn, type Finding, type FindingCode, HandoffError } from './error.ts';

/** What one push may cost whoever judges it. SPEC §10.9. Whoever runs the server sets it; nothing that is pushed does. */
export interface BudgetLimits {
  seconds: number;
  refs: number;
  commits: number;
  /** Merges that are made again, to see what was slipped in. */
  merges: number;
  /** Bytes of `.handoff` that are read: files, and the listings of folders. */
  bytes: number;
  /**
   * Bytes that git may take at once: to compare files it needs some fifty for every line, and lines may be empty. As many may folders
   * take that are compared at once, to make a merge again.
   */
  memory: number;
}

export const DEFAULT_LIMITS: BudgetLimits = {
  seconds: 120,
  refs: 10_000,
  commits: 100_000,
  merges: 512,
  bytes: 64 * 1024 * 1024,
  memory: 256 * 1024 * 1024,
};

type Cost = Exclude<keyof BudgetLimits, 'seconds' | 'memory'>;

/** Counts what a push costs. Every step that a push can make longer asks here first, so that none takes the server down. */
export interface Budget {
  /** Throws where this would be more than is allowed, or where the time is over. */
  spend(cost: Cost, amount: number): void;
  assertTime(): void;
  /** Throws where folders that are compared at once take more than git may take, or where the time is over. */
  assertFits(bytes: number): void;
  /** How many bytes git may take at once. */
  memory: number;
  /** How many milliseconds are left; never less than 0. For whoever waits for another process. */
  left(): number;
  /** What to say when they are over. */
  outOfTime(): HandoffError;
}

/** From now on, by a clock of milliseconds. */
export function openBudget(limits: BudgetLimits, clock: () => number): Budget {
  const end = clock() + limits.seconds * 1000;
  const spent: Record<Cost, number> = { refs: 0, commits: 0, merges: 0, bytes: 0 };
  let over: HandoffError | null = null; // made once: a hundred thousand callers may ask after that
  const assertTime = (): void => {
    if (over === null && clock() >= end) over = outOfTime(limits.seconds);
    if (over !== null) throw over;
  };
  return {
    spend(cost, amount) {
      spent[cost] += amount;
      if (over === null && spent[cost] > limits[cost]) over = tooMuch(cost, spent[cost], limits[cost]);
      assertTime();
    },
    assertTime,
    assertFits(bytes) {
      if (bytes > limits.memory) throw tooManyFolders(bytes, limits.memory);
      assertTime();
    },
    memory: limits.memory,
    left: () => Math.max(0, end - clock()),
    outOfTime: () => outOfTime(limits.seconds),
  };
}

/** One after the other, while there is time. A loop that waits for nothing but itself lets no timer end it. */
export function* whileTime<T>(budget: Pick<Budget, 'assertTime'>, items: Iterable<T>): Generator<T> {
  for (const item of items) {
    budget.assertTime();
    yield item;
  }
}

/** Bytes of their own, in the time that is left: for what those who push have not brought, and do not pay for. */
export function partOf(budget: Budget, bytes: number): Pick<Budget, 'spend'> {
  let spent = 0;
  return {
    spend(cost, amount) {
      spent += amount;
      if (spent > bytes) throw tooMuch(cost, spent, bytes);
      budget.assertTime();
    },
  };
}

const CODES: Record<Cost, FindingCode> = {
  refs: 'too_large',
  commits: 'too_large',
  merges: 'too_many_merges',
  bytes: 'too_large',
};

const NAMES: Record<Cost, string> = {
  refs: 'refs',
  commits: 'commits',
  merges: 'merges that have to be made again',
  bytes: 'bytes in .handoff',
};

function tooMuch(cost: Cost, found: number, limit: number): HandoffError {
  const [expected, arrived] = [`at most ${limit} ${NAMES[cost]}`, `${found} or more`];
  return new HandoffError(CODES[cost], `It is too much to judge at once: expected ${expected}, found ${arrived}.`, {
    hint: hintFor(cost),
    data: { budget: cost, expected, found: arrived },
  });
}

function outOfTime(seconds: number): HandoffError {
  const [expected, found] = [`a verdict within ${seconds} seconds`, 'more to judge after that'];
  return new HandoffError('over_budget', `It takes too long to judge: expected ${expected}, found ${found}.`, {
    hint: hintFor('seconds'),
    data: { budget: 'seconds', expected, found },
  });
}

/** Where git was not let take as much at once as it wanted, or could not, that; else the error as it is. */
export function asBeyondGit(error: HandoffError): HandoffError {
  const { wanted, limit, isTooDeep } = error.data ?? {};
  if (isTooDeep) return tooDeep();
  return wanted && limit ? outOfMemory(wanted, limit) : error;
}

function outOfMemory(wanted: number, limit: number): HandoffError {
  const [expected, found] = [`at most ${limit} bytes that git takes at once`, `${wanted} or more`];
  return new HandoffError('too_large', `A file is too large to compare: expected ${expected}, found ${found}.`, {
    hint: hintFor('memory'),
    data: { budget: 'memory', expected, found },
  });
}

function tooDeep(): HandoffError {
  const [expected, found] = ['folders that git can follow', 'folders that are nested more deeply'];
  return new HandoffError('too_large', `It cannot be compared: expected ${expected}, found ${found}.`, {
    hint: 'Leave the deepest folders out of every commit.',
    data: { budget: 'depth', expected, found },
  });
}

function tooManyFolders(wanted: number, limit: number): HandoffError {
  const [expected, found] = [`at most ${limit} bytes of folders that are compared at once`, `${wanted} or more`];
  const message = `The folders of a merge are too large to compare: expected ${expected}, found ${found}.`;
  return new HandoffError('too_large', message, {
    hint: `Merge fewer branches in one commit. ${higherLimit('memory')}`,
    data: { budget: 'memory', expected, found },
  });
}

/** The first works for whoever pushes, the second for whoever runs the server. */
function hintFor(cost: keyof BudgetLimits): string {
  const pieces = cost === 'refs' ? 'fewer refs at a time' : 'an older commit first: git push REMOTE COMMIT:BRANCH';
  const first = cost === 'memory' ? 'Leave the largest file out of every commit.' : `Push it in pieces, ${pieces}.`;
  return `${first} ${higherLimit(cost)}`;
}

function higherLimit(cost: keyof BudgetLimits): string {
  return `Or ask for a higher limit where it is judged: git config handoff.budget.${cost} NUMBER`;
}

/** Nothing is judged after that. It is one refusal of the whole, not a finding for each file. */
export function isOverBudget({ data }: HandoffError): boolean {
  return data?.budget !== undefined;
}

export function budgetFinding(error: HandoffError): Finding {
  const code = error.code as FindingCode; // one of those above: no other error has a budget in its data
  return { code, severity: 'error', message: error.message, ...comparedIn(error), hint: error.hint! };
}
