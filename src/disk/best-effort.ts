import { hasCode } from '../core/error-code.ts';

/** For what only helps: a git directory may be read-only, and a work tree gone. Null where the file system says no. */
export function bestEffort<T>(act: () => T): T | null {
  try {
    return act();
  } catch (error) {
    if (!hasCode(error)) throw error;
    return null;
  }
}
