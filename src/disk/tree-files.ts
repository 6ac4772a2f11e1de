import { linkSync, lstatSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { HandoffError } from '../core/error.ts';
import { hasCode } from '../core/error-code.ts';
import { guarded, removeIfThere, syncFolder, temporaryName, writeSynced, writeUnsynced } from './durable.ts';
import { ifThere } from './if-there.ts';

export interface FileToWrite {
  /** From the top of the work tree. */
  path: string;
  bytes: Uint8Array;
  /** Records never replace a file; documents replace their last version. */
  replaces?: boolean;
  /** It can be made again from what is committed, and need not survive a power cut. */
  isDerived?: boolean;
}

/**
 * Writes each file whole or not at all, and so that a power cut right after keeps it, unless it can be made again. `scratch` is
 * where a file is before it is whole: outside the tree, so that what a killed process leaves is not taken along by the next
 * `git add`.
 */
export function writeFiles(topLevel: string, files: readonly FileToWrite[], scratch: string): void {
  for (const { path } of files) guarded(path, () => assertNoLinks(topLevel, path)); // all of them before anything is written
  for (const file of files) guarded(file.path, () => writeFile(topLevel, file, scratch));
}

/** A file that is whole, and not in its place yet. */
export interface ReadyFile {
  /** Where it is until then. */
  at: string;
  take(): void;
  discard(): void;
}

/** For one that can be made again: makes it ready in `scratch`, so that it takes its place in one step. */
export function readyFile(topLevel: string, file: FileToWrite, scratch: string): ReadyFile {
  const target = join(topLevel, file.path);
  const at = join(scratch, basename(temporaryName(target)));
  guarded(file.path, () => {
    assertNoLinks(topLevel, file.path);
    tryElsewhere(() => {
      mkdirSync(scratch, { recursive: true });
      writeUnsynced(at, file.bytes);
    });
  });
  return {
    at,
    take: () => guarded(file.path, () => renameOrWrite(topLevel, file, at, scratch)),
    discard: () => rmSync(at, { force: true }),
  };
}

/** What cannot be renamed, because it was taken once or is on another file system, is written once more. */
function renameOrWrite(topLevel: string, file: FileToWrite, at: string, scratch: string): void {
  try {
    renameSync(at, join(topLevel, file.path));
  } catch (error) {
    if (!hasCode(error, ...AGAIN)) throw error;
    writeFile(topLevel, file, scratch);
  }
}

/** Whoever removes what cannot be made again wants to be sure that it is gone. */
export function removeFile(topLevel: string, path: string, { isDerived }: Pick<FileToWrite, 'isDerived'> = {}): void {
  guarded(path, () => {
    assertNoLinks(topLevel, path);
    rmSync(join(topLevel, path), { force: true });
    if (!isDerived) syncFolder(dirname(join(topLevel, path)));
  });
}

function writeFile(topLevel: string, file: FileToWrite, scratch: string): void {
  const target = join(topLevel, file.path);
  const made = mkdirSync(dirname(target), { recursive: true });
  const beside = temporaryName(target);
  if (!tryElsewhere(() => put(file, target, join(scratch, basename(beside))))) put(file, target, beside);
  if (file.isDerived) return;
  for (let folder = dirname(target); ; folder = dirname(folder)) {
    syncFolder(folder);
    if (!made || folder.length < made.length || folder === topLevel) return;
  }
}

/** The work tree is on another file system, or is all that may be written to. */
const ELSEWHERE = ['EXDEV', 'EACCES', 'EPERM', 'EROFS'];
const AGAIN = [...ELSEWHERE, 'ENOENT'];

/** False where it has to be done beside the file. */
function tryElsewhere(work: () => void): boolean {
  try {
    work();
    return true;
  } catch (error) {
    if (!hasCode(error, ...ELSEWHERE)) throw error;
    return false;
  }
}

function put({ bytes, replaces, isDerived }: FileToWrite, target: string, temporary: string): void {
  mkdirSync(dirname(temporary), { recursive: true });
  try {
    (isDerived ? writeUnsynced : writeSynced)(temporary, bytes);
    if (replaces) renameSync(temporary, target);
    else linkNew(temporary, bytes, target);
  } finally {
    removeIfThere(temporary);
  }
}

/**
 * Two processes may put the same record back at once: whoever comes second finds its work done, or half done where it is a
 * checkout of git, which writes into the file itself. And a checkout may have removed the folder since it was made.
 */
function linkNew(temporary: string, bytes: Uint8Array, target: string): void {
  for (let attempt = 1; ; attempt++) {
    try {
      linkSync(temporary, target);
      return;
    } catch (error) {
      if (hasCode(error, 'EEXIST') && ifThere(() => readFileSync(target))?.equals(bytes)) return;
      if (!hasCode(error, 'EEXIST', 'ENOENT') || attempt === ATTEMPTS) throw error;
    }
    Atomics.wait(NEVER, 0, 0, PAUSE);
    mkdirSync(dirname(target), { recursive: true });
  }
}

const ATTEMPTS = 10;
const PAUSE = 5;
const NEVER = new Int32Array(new SharedArrayBuffer(4));

/** A link in `.handoff` could send a write anywhere; each component is looked at. */
function assertNoLinks(topLevel: string, path: string): void {
  const parts = path.split('/');
  for (let depth = 1; depth <= parts.length; depth++) {
    const part = parts.slice(0, depth).join('/');
    const stats = lstatSync(join(topLevel, part), { throwIfNoEntry: false });
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
