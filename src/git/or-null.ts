import { hasCode } from '../core/error-code.ts';

/** Null where there is nothing of that name, or a file where a folder would be. */
export function orNull<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return null;
    throw error;
  }
}
