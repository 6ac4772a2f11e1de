import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { hasCode } from '../core/error-code.ts';

/**
 * Makes a folder and those above it. Node's own way tries for ever where a file system says that a folder which is there is not, as
 * /proc does.
 */
export function makeFolder(path: string): void {
  if (made(path)) return;
  makeFolder(dirname(path));
  mkdirSync(path);
}

/** False where what it would be in is missing. */
function made(path: string): boolean {
  try {
    mkdirSync(path);
  } catch (error) {
    if (hasCode(error, 'ENOENT') && dirname(path) !== path) return false;
    if (!hasCode(error, 'EEXIST')) throw error;
  }
  return true;
}
