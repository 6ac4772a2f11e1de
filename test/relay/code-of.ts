import { HandoffError } from '../../src/core/error.ts';

/** The code of the error that it throws; null where it throws none. */
export function codeOf(work: () => unknown): string | null {
  try {
    work();
    return null;
  } catch (error) {
    if (error instanceof HandoffError) return error.code;
    throw error;
  }
}
