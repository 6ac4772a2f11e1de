import { type Finding, type FindingCode, HandoffError } from '../core/error.ts';

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

/** What a check threw, as a finding. A fault of the environment, or of ours, is no finding and is thrown on. */
export function toFinding(error: unknown, path: string): Finding {
  if (!(error instanceof HandoffError) || error.exitCode === 4) throw error;
  const { line, expected, found } = (error.data ?? {}) as { line?: number; expected?: unknown; found?: unknown };
  return {
    code: error.code as FindingCode,
    severity: 'error',
    path,
    ...(line === undefined ? {} : { line }),
    message: error.message,
    ...(typeof expected === 'string' ? { expected } : {}),
    ...(typeof found === 'string' ? { found } : {}),
    hint: error.hint ?? 'Restore the file from git.',
  };
}

/** Whether the same was found before: the same words about the same file. */
export function isAmong(known: readonly Finding[], { path, message }: Finding): boolean {
  return known.some((found) => found.path === path && found.message === message);
}

/** A finding that was not thrown. */
export function finding(code: FindingCode, path: string, expected: string, found: string, hint: string): Finding {
  return { code, severity: 'error', path, message: `expected ${expected}, found ${found}`, expected, found, hint };
}
