import { chmodSync, chownSync, lstatSync, rmdirSync, unlinkSync } from 'node:fs';
import { dirname } from 'node:path';
import { hasCode } from '../../core/error-code.ts';
import { bestEffort } from '../../disk/best-effort.ts';
import { guarded, replaceBy, syncFolder, writeSynced } from '../../disk/durable.ts';
import { ifThere } from '../../disk/if-there.ts';
import { readState } from '../../disk/state-file.ts';
import { type Boundary, isInside, resolveLinks, settingsRefused } from './settings-file.ts';
import type { PlannedFile } from './settings-plan.ts';

/** Writes a plan, all of it or nothing. A folder that was there for more than a program's settings is never removed. */
export function writePlan(files: readonly PlannedFile[], boundary: Boundary): void {
  const changed = files.filter(({ text, planned }) => text !== planned);
  for (const file of changed) assertSame(file);
  const done: PlannedFile[] = [];
  try {
    for (const file of changed) {
      assertSame(file);
      put(file, file.planned, boundary);
      done.push(file);
    }
  } catch (error) {
    // what failed is told; that a file could not be put back either would hide it
    for (const file of done.reverse()) bestEffort(() => put(file, file.text, boundary));
    throw error;
  }
}

/** Programs write their settings, too: what one has written meanwhile is not lost. */
function assertSame({ path, target, text }: PlannedFile): void {
  const bytes = guarded(path, () => readState(target));
  if ((bytes?.toString('utf8') ?? null) === text) return;
  throw settingsRefused(path, 'was changed by somebody else at this moment', 'Run the command again.');
}

function put(file: PlannedFile, text: string | null, boundary: Boundary): void {
  guarded(file.path, () => (text === null ? remove(file.target, boundary) : replace(file, text)));
}

function replace({ target, mode }: PlannedFile, text: string): void {
  const before = ifThere(() => lstatSync(target));
  replaceBy(target, (temporary) => {
    writeSynced(temporary, text);
    if (!before) return;
    chmodSync(temporary, mode);
    const made = lstatSync(temporary);
    if (made.uid !== before.uid || made.gid !== before.gid) chownSync(temporary, before.uid, before.gid);
  });
  syncFolder(dirname(target));
}

/** With the folders that are empty without it: git knows none of them. */
function remove(target: string, boundary: Boundary): void {
  ifThere(() => unlinkSync(target));
  let folder = dirname(target);
  while (isBelow(folder, boundary) && removedIfEmpty(folder)) folder = dirname(folder);
  syncFolder(folder);
}

function isBelow(folder: string, { roots }: Boundary): boolean {
  const real = roots.map(resolveLinks);
  return real.some((root) => isInside(folder, root)) && !real.includes(folder);
}

function removedIfEmpty(folder: string): boolean {
  try {
    rmdirSync(folder);
    return true;
  } catch (error) {
    if (hasCode(error, 'ENOTEMPTY', 'EEXIST', 'EPERM', 'EACCES', 'EBUSY')) return false;
    throw error;
  }
}
