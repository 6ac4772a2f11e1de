import { hasCode } from '../core/error-code.ts';

/** What a read gives; null when there is nothing to read. Anything else that goes wrong is an error. */
export function ifThere<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return null;
    throw error;
  }
}
