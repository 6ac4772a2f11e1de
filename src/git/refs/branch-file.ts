import {
  closeSync,
  constants,
  linkSync,
  lstatSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { hasCode } from '../../core/error-code.ts';
import type { Discards } from '../discards.ts';
import type { RepositoryDirs } from '../discover.ts';
import { isOid } from '../objects/asked-name.ts';
import type { Oid } from '../objects/store.ts';
import { clearLeft, isSameFile, ownName, type Processes } from '../own-file.ts';

// A branch whose ref is a file, moved as `git update-ref` would move it: under git's own locks, with the same lines in its logs.

/** A move of a branch as the reflog records it: from which commit to which, by whom and why. */
export interface BranchMove {
  branch: string;
  from: Oid;
  to: Oid;
  /** `Name <mail> seconds +0000` */
  by: string;
  reason: string;
}

/** Where branches are, and who moves them. */
export interface BranchMover {
  dirs: RepositoryDirs;
  processes: Processes;
  discards: Discards;
}

/**
 * `elsewhere`: the branch is no longer where it was, or no longer checked out, and nothing was done; `locked`: nor was it, because
 * somebody has a lock. `git`: this is not the plain case, or git has to say what is wrong.
 */
type Outcome = 'moved' | 'elsewhere' | 'locked' | 'git';

/** Whether the ref and both its logs are plain files: not packed, and no links. git adds to a log that is there, whatever is configured. */
export function isPlainBranch(dirs: RepositoryDirs, branch: string): boolean {
  const { ref, logs } = filesOf(dirs, branch);
  return [ref, ...logs].every((path) => lstatSync(path, { throwIfNoEntry: false })?.isFile());
}

export function moveBranchFile(place: BranchMover, move: BranchMove): Outcome {
  const outcome = tryMove(place, move);
  if (outcome !== 'locked') return outcome;
  return orByGit(() => clearLeft(place.dirs, place.processes)) ?? tryMove(place, move);
}

function tryMove({ dirs, processes, discards }: BranchMover, move: BranchMove): Outcome {
  const files = filesOf(dirs, move.branch);
  const own = ownName(join(dirs.commonDir, 'HEAD'), processes); // a work tree may be removed, and its folder with it
  try {
    return orByGit(() => {
      writeFileSync(own, `${move.to}\n`, { flag: 'wx', mode: 0o666 });
      return underLocks(own, files, move, discards);
    });
  } finally {
    if (!isLocking(own, files)) rmSync(own, { force: true });
  }
}

/** Whether a lock could not be removed: this name of it says whose it was, and the next command clears both away. */
function isLocking(own: string, { head, ref }: Files): boolean {
  return [head, ref].some((path) => isSameFile(`${path}.lock`, own));
}

/** The locks are further names of one file, so that the next process knows whose they were. HEAD is locked first, and let go last. */
function underLocks(own: string, files: Files, move: BranchMove, discards: Discards): Outcome {
  const lock = `${files.head}.lock`;
  linkSync(own, lock);
  try {
    const isCheckedOut = readFileSync(files.head, 'utf8') === `ref: refs/heads/${move.branch}\n`;
    return isCheckedOut ? moveRef(own, files, move, discards) : 'elsewhere';
  } finally {
    rmSync(lock, { force: true });
  }
}

function moveRef(own: string, { ref, logs }: Files, move: BranchMove, discards: Discards): Outcome {
  const lock = `${ref}.lock`;
  const added: { log: string; size: number }[] = [];
  linkSync(own, lock);
  try {
    const found = readFileSync(ref, 'latin1');
    if (found !== `${move.from}\n`) {
      rmSync(lock);
      return isOid(found.trimEnd()) ? 'elsewhere' : 'git';
    }
    for (const log of logs) {
      added.push({ log, size: lstatSync(log).size });
      append(log, logLine(move));
    }
    replaceRef(lock, ref, `${own}.old`, discards);
    return 'moved';
  } catch (error) {
    takeBack(added, lock);
    throw error;
  }
}

/** Once the lock was renamed the next one is somebody else's: so it is removed only here, and whatever else cannot be done. */
function takeBack(added: readonly { log: string; size: number }[], lock: string): void {
  try {
    for (const { log, size } of added) truncateSync(log, size); // git tells of it when it does it
  } finally {
    rmSync(lock, { force: true });
  }
}

function append(path: string, line: string): void {
  const file = openSync(path, constants.O_WRONLY | constants.O_APPEND | constants.O_NOFOLLOW);
  try {
    writeFileSync(file, line);
  } finally {
    closeSync(file);
  }
}

/** White space as git leaves it. */
function logLine({ from, to, by, reason }: BranchMove): string {
  return `${from} ${to} ${by}\t${reason.replace(/[ \t\n\r]+/g, ' ').replace(/^ | $/g, '')}\n`;
}

/** While a large file is being removed, whoever frees the room of even a small one waits: the old ref keeps another name until then. */
function replaceRef(lock: string, ref: string, old: string, discards: Discards): void {
  const isBusy = discards.isBusy();
  if (isBusy) linkSync(ref, old);
  try {
    renameSync(lock, ref);
  } finally {
    if (isBusy) discards.add(old);
  }
}

interface Files {
  head: string;
  ref: string;
  logs: string[];
}

function filesOf({ gitDir, commonDir }: RepositoryDirs, branch: string): Files {
  const name = `refs/heads/${branch}`;
  const logs = [join(commonDir, 'logs', name), join(gitDir, 'logs/HEAD')];
  return { head: join(gitDir, 'HEAD'), ref: join(commonDir, name), logs };
}

function orByGit<T>(work: () => T): T | 'locked' | 'git' {
  try {
    return work();
  } catch (error) {
    if (!hasCode(error)) throw error;
    return error.code === 'EEXIST' ? 'locked' : 'git';
  }
}
