import { isOverBudget } from '../core/budget.ts';
import { comparedIn, type Finding, type FindingCode, HandoffError } from '../core/error.ts';

export type Report = (finding: Finding) => void;

/** Runs a check on one file; what it throws becomes a finding about that file, and null. */
export async function attempt<T>(path: string, report: Report, check: () => T | Promise<T>): Promise<T | null> {
  try {
    return await check();
  } catch (error) {
    report(toFinding(error, path));
    return null;
  }
}

/**
 * Turns an error that a check threw into a finding. Faults of the environment, bugs, and the end of the budget are thrown on.
 * SPEC §5.5: what a revoked key signed counts for nothing and breaks nothing; whoever judges what is new makes it an error
 * (`refusing`).
 */
export function toFinding(error: unknown, path: string): Finding {
  if (!(error instanceof HandoffError) || error.exitCode === 4 || isOverBudget(error)) throw error;
  const { line, distrusted } = error.data ?? {};
  return {
    code: error.code as FindingCode, // a check of a file throws these codes; the others belong to commands
    severity: error.code === 'key_revoked' || distrusted ? 'warning' : 'error',
    path,
    ...(line === undefined ? {} : { line }),
    message: error.message,
    ...comparedIn(error),
    hint: error.hint ?? 'Restore the file from git.',
  };
}

/** For a change that arrives: records that a tree would only distrust are errors here. */
export function refusing(report: Report): Report {
  return (found) => report({ ...found, severity: 'error' });
}

/** Tells whether the same was found before: the same words about the same file. Of thousands, each is looked at once. */
export function among(others: Iterable<Finding>): (found: Finding) => boolean {
  const words = new Set([...others].map(wordsOf));
  return (found) => words.has(wordsOf(found));
}

/** What a finding says, and of which file. */
export function wordsOf({ path, message }: Finding): string {
  return `${path}\n${message}`;
}

/** A finding that was not thrown. */
export function finding(code: FindingCode, path: string, expected: string, found: string, hint: string): Finding {
  return { code, severity: 'error', path, message: `expected ${expected}, found ${found}`, expected, found, hint };
}
