import { accessSync, constants } from 'node:fs';
import { hasCode } from '../core/error-code.ts';

/** Whether it is there and may be run, as git asks before it runs a hook. */
export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch (error) {
    if (!hasCode(error)) throw error;
    return false;
  }
}
