import { randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { HandoffError } from '../core/error.ts';
import { hasCode } from '../core/error-code.ts';
import { ifThere } from './if-there.ts';

// Everything here and in the journal is synchronous: the files are small and each step waits for the last, and a promise
// costs several times what such a file does.

/** Creates a file whole, so that a power cut right after keeps it. False when the name is taken: then nothing changed. */
export function createFile(path: string, bytes: Uint8Array | string): boolean {
  const isNew = createBy(path, (temporary) => writeSynced(temporary, bytes));
  if (isNew) confirm(path);
  return isNew;
}

/** The same, not synced: for what means nothing after a power cut, such as that a process is at something. */
export function createUnsynced(path: string, text: string): boolean {
  return createBy(path, (temporary) => writeUnsynced(temporary, text));
}

function createBy(path: string, write: (temporary: string) => void): boolean {
  const temporary = temporaryName(path);
  mkdirSync(dirname(path), { recursive: true });
  try {
    write(temporary);
    linkSync(temporary, path);
    return true;
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    throw error;
  } finally {
    removeIfThere(temporary);
  }
}

/** The name itself is on disk for good only when its folder is. */
function confirm(path: string): void {
  try {
    syncFolder(dirname(path));
  } catch (cause) {
    throw new HandoffError('io', `${path} is written, but the disk does not confirm it: ${(cause as Error).message}`, {
      hint: 'It counts as written, and only a power cut could lose it. Check the disk, and git handoff status, before you go on.',
      data: { path, written: true },
      cause,
    });
  }
}

/** Replaces a file in one step. Not synced: for what may be lost with the power, such as a heartbeat. */
export function replaceFile(path: string, text: string): void {
  replaceBy(path, (temporary) => writeUnsynced(temporary, text));
}

/** The same for what nobody but its owner may read. */
export function replacePrivate(path: string, text: string): void {
  replaceBy(path, (temporary) => writeNew(temporary, text, undefined, 0o600));
}

/** The same, so that a power cut right after keeps it. */
export function replaceSynced(path: string, text: string): void {
  replaceBy(path, (temporary) => writeSynced(temporary, text));
  syncFolder(dirname(path));
}

/** Puts what `write` makes beside it in its place, or leaves everything as it was. */
export function replaceBy(path: string, write: (temporary: string) => void): void {
  const temporary = temporaryName(path);
  mkdirSync(dirname(path), { recursive: true });
  try {
    write(temporary);
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

const EXCLUSIVE = constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY | constants.O_NOFOLLOW;

export function writeSynced(path: string, bytes: Uint8Array | string): void {
  writeNew(path, bytes, fsyncSync);
}

export function writeUnsynced(path: string, bytes: Uint8Array | string): void {
  writeNew(path, bytes);
}

function writeNew(path: string, bytes: Uint8Array | string, settle?: (file: number) => void, mode = 0o644): void {
  const file = openSync(path, EXCLUSIVE, mode);
  try {
    writeFileSync(file, bytes);
    settle?.(file);
  } finally {
    closeSync(file);
  }
}

export function syncFolder(path: string): void {
  const folder = openSync(path, constants.O_RDONLY);
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

/** Every record has some: `rmSync` would load a module for it, and look at the file twice. */
export function removeIfThere(path: string): void {
  ifThere(() => unlinkSync(path));
}

/** Beside the file, because a link or a rename cannot leave the file system. */
export function temporaryName(path: string): string {
  return join(dirname(path), `.tmp-${basename(path).slice(0, 16)}-${randomBytes(8).toString('hex')}`);
}

/** What the file system refuses is the environment's fault: exit 4, and the old state is intact. */
export function guarded<T>(path: string, write: () => T): T {
  try {
    return write();
  } catch (cause) {
    if (cause instanceof HandoffError || !hasCode(cause)) throw cause;
    const hint =
      cause.code === 'EEXIST'
        ? 'Another process wrote it first; run the command again.'
        : 'Free space or fix permissions, then run the command again.';
    throw new HandoffError('io', `${path} could not be written: ${cause.message}`, { hint, data: { path }, cause });
  }
}
