import { accessSync, constants } from 'node:fs';

/** Whether it is there and may be run, as git asks before it runs a hook. */
export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    return false;
  }
}
