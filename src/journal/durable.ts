import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { link, mkdir, open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { HandoffError } from '../core/error.ts';

/** Creates a file whole, so that a power cut right after keeps it. False when the name is taken: then nothing changed. */
export async function createFile(path: string, bytes: Uint8Array | string): Promise<boolean> {
  const temporary = temporaryName(path);
  await mkdir(dirname(path), { recursive: true });
  try {
    await writeSynced(temporary, bytes);
    await link(temporary, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(temporary, { force: true });
  }
  await syncFolder(dirname(path)).catch((cause: Error) => {
    throw new HandoffError('io', `${path} is written, but the disk does not confirm it: ${cause.message}`, {
      hint: 'It counts as written, and only a power cut could lose it. Check the disk, and git handoff status, before you go on.',
      data: { path, written: true },
      cause,
    });
  });
  return true;
}

/** Replaces a file in one step. Not synced: for what may be lost with the power, such as a heartbeat. */
export async function replaceFile(path: string, text: string): Promise<void> {
  const temporary = temporaryName(path);
  await mkdir(dirname(path), { recursive: true });
  try {
    const file = await open(temporary, EXCLUSIVE, 0o644);
    await file.writeFile(text).finally(() => file.close());
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

const EXCLUSIVE = constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY | constants.O_NOFOLLOW;

export async function writeSynced(path: string, bytes: Uint8Array | string): Promise<void> {
  const file = await open(path, EXCLUSIVE, 0o644);
  try {
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
}

export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, constants.O_RDONLY);
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/** Beside the file, because a link or a rename cannot leave the file system. */
export function temporaryName(path: string): string {
  return join(dirname(path), `.tmp-${basename(path).slice(0, 16)}-${randomBytes(8).toString('hex')}`);
}

/** What the file system refuses is the environment's fault: exit 4, and the old state is intact. */
export async function guarded<T>(path: string, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    if (cause instanceof HandoffError || code === undefined) throw cause;
    const hint =
      code === 'EEXIST'
        ? 'Another process wrote it first; run the command again.'
        : 'Free space or fix permissions, then run the command again.';
    throw new HandoffError('io', `${path} could not be written: ${message}`, { hint, data: { path }, cause });
  }
}
