import { link, lstat, mkdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { HandoffError } from '../core/error.ts';
import { guarded, syncFolder, temporaryName, writeSynced } from './durable.ts';

export interface FileToWrite {
  /** From the top of the work tree. */
  path: string;
  bytes: Uint8Array;
  /** Records never replace a file; documents replace their last version. */
  replaces?: boolean;
}

/** Writes each file whole or not at all, and so that a power cut right after keeps it. */
export async function writeFiles(topLevel: string, files: readonly FileToWrite[]): Promise<void> {
  for (const file of files) await guarded(file.path, () => writeFile(topLevel, file));
}

/** The same for files that another process may be writing at this moment: whoever comes second has nothing to do. */
export async function writeMissing(topLevel: string, files: readonly FileToWrite[]): Promise<void> {
  for (const file of files) {
    await guarded(file.path, () => writeFile(topLevel, file).catch(fineIfThere));
  }
}

function fineIfThere(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error;
}

export async function removeFile(topLevel: string, path: string): Promise<void> {
  await guarded(path, async () => {
    await assertNoLinks(topLevel, path);
    await rm(join(topLevel, path), { force: true });
    await syncFolder(dirname(join(topLevel, path)));
  });
}

async function writeFile(topLevel: string, { path, bytes, replaces }: FileToWrite): Promise<void> {
  await assertNoLinks(topLevel, path);
  const target = join(topLevel, path);
  const made = await mkdir(dirname(target), { recursive: true });
  const temporary = temporaryName(target);
  try {
    await writeSynced(temporary, bytes);
    if (replaces) await rename(temporary, target);
    else await link(temporary, target);
  } finally {
    await rm(temporary, { force: true });
  }
  for (let folder = dirname(target); ; folder = dirname(folder)) {
    await syncFolder(folder);
    if (!made || folder.length < made.length || folder === topLevel) return;
  }
}

/** A link in `.handoff` could send a write anywhere; each component is looked at before anything is written. */
async function assertNoLinks(topLevel: string, path: string): Promise<void> {
  const parts = path.split('/');
  for (let depth = 1; depth <= parts.length; depth++) {
    const part = parts.slice(0, depth).join('/');
    const stats = await lstat(join(topLevel, part)).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return null;
      throw error;
    });
    const expected = depth === parts.length ? stats?.isFile() : stats?.isDirectory();
    if (stats && !expected) throw notPlain(part, stats.isSymbolicLink() ? 'a symbolic link' : 'something else');
  }
}

function notPlain(path: string, what: string): HandoffError {
  return new HandoffError('foreign_directory', `${path} is ${what}; git-handoff writes only plain files and folders.`, {
    hint: 'Move it away, then run the command again.',
    data: { path },
  });
}
