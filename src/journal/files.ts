import { link, lstat, mkdir, readFile, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { HandoffError } from '../core/error.ts';
import { absent } from './absent.ts';
import { guarded, syncFolder, temporaryName, writeSynced } from './durable.ts';

export interface FileToWrite {
  /** From the top of the work tree. */
  path: string;
  bytes: Uint8Array;
  /** Records never replace a file; documents replace their last version. */
  replaces?: boolean;
}

/**
 * Writes each file whole or not at all, and so that a power cut right after keeps it. `scratch` is where a file is before
 * it is whole: outside the tree, so that what a killed process leaves is not taken along by the next `git add`.
 */
export async function writeFiles(topLevel: string, files: readonly FileToWrite[], scratch: string): Promise<void> {
  for (const file of files) await guarded(file.path, () => writeFile(topLevel, file, scratch));
}

export async function removeFile(topLevel: string, path: string): Promise<void> {
  await guarded(path, async () => {
    await assertNoLinks(topLevel, path);
    await rm(join(topLevel, path), { force: true });
    await syncFolder(dirname(join(topLevel, path)));
  });
}

async function writeFile(topLevel: string, file: FileToWrite, scratch: string): Promise<void> {
  await assertNoLinks(topLevel, file.path);
  const target = join(topLevel, file.path);
  const made = await mkdir(dirname(target), { recursive: true });
  const beside = temporaryName(target);
  await put(file, target, join(scratch, basename(beside))).catch((error: NodeJS.ErrnoException) => {
    if (!ELSEWHERE.has(error.code ?? '')) throw error;
    return put(file, target, beside);
  });
  for (let folder = dirname(target); ; folder = dirname(folder)) {
    await syncFolder(folder);
    if (!made || folder.length < made.length || folder === topLevel) return;
  }
}

/** The work tree is on another file system, or is all that may be written to. */
const ELSEWHERE = new Set(['EXDEV', 'EACCES', 'EPERM', 'EROFS']);

async function put({ bytes, replaces }: FileToWrite, target: string, temporary: string): Promise<void> {
  await mkdir(dirname(temporary), { recursive: true });
  try {
    await writeSynced(temporary, bytes);
    if (replaces) await rename(temporary, target);
    else await link(temporary, target).catch((error) => assertSame(target, bytes, error));
  } finally {
    await rm(temporary, { force: true });
  }
}

/** Two processes may put the same record back at once: whoever comes second finds its work done. */
async function assertSame(target: string, bytes: Uint8Array, error: NodeJS.ErrnoException): Promise<void> {
  if (error.code !== 'EEXIST' || !(await readFile(target)).equals(bytes)) throw error;
}

/** A link in `.handoff` could send a write anywhere; each component is looked at before anything is written. */
async function assertNoLinks(topLevel: string, path: string): Promise<void> {
  const parts = path.split('/');
  for (let depth = 1; depth <= parts.length; depth++) {
    const part = parts.slice(0, depth).join('/');
    const stats = await lstat(join(topLevel, part)).catch(absent);
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
