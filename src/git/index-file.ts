import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { GitConfig } from './config.ts';
import type { Discards } from './discards.ts';
import type { RepositoryDirs } from './discover.ts';
import { isExecutable } from './executable.ts';
import { copyIndex } from './index-copy.ts';
import type { IndexedFile } from './index-entries.ts';
import { takePlace } from './index-place.ts';
import type { NativeGitStore, ObjectWriter } from './native-store.ts';
import { ownName, type Processes, tryClearLeft } from './own-file.ts';
import { type Git, type GitResult, gitFailure, runGit } from './run.ts';
import { untilUnlocked } from './until-unlocked.ts';

/** git's index of one work tree. */
export interface IndexFile {
  /** Takes these files in as they are in the work tree, gone or there, and those of `others` that it does not have. */
  add(paths: readonly string[], others?: readonly string[]): Promise<void>;
  /** Another one as soon as anybody has written it. */
  version(): string;
}

/** What an index is opened with. */
export interface IndexPlace {
  git: Git;
  dirs: RepositoryDirs;
  store: Pick<NativeGitStore, 'objectWriter'>;
  config(): Promise<GitConfig>;
  processes: Processes;
  discards: Discards;
}

export function openIndexFile(place: IndexPlace): IndexFile {
  return {
    async add(paths, others = []) {
      const all = [...new Set([...paths, ...others])];
      const writer = isPlain(place, await place.config(), all) ? await place.store.objectWriter() : null;
      const result = await untilUnlocked(async () => {
        tryClearLeft(place.dirs, place.processes);
        const outcome = writer ? addDirectly(place, writer, all, new Set(paths)) : 'git';
        if (outcome === 'git') return addByGit(place.git, all);
        return outcome === 'locked' ? LOCKED : DONE;
      });
      if (result.code !== 0) throw gitFailure(ARGS, result);
    },
    version() {
      const stat = lstatSync(join(place.dirs.gitDir, 'index'), { bigint: true, throwIfNoEntry: false });
      return stat ? `${stat.ino} ${stat.mtimeNs} ${stat.size}` : 'none';
    },
  };
}

/** update-index, because `git add` would refuse what .gitignore names and obey pathspec magic. */
const ARGS = ['update-index', '--add', '--remove', '-z', '--stdin'];

function addByGit(git: Git, paths: readonly string[]): Promise<GitResult> {
  return runGit(git, ARGS, { input: paths.map((path) => `${path}\0`).join('') });
}

const DONE: GitResult = { code: 0, stdout: Buffer.alloc(0), stderr: '' };
/** In git's words, so that it is one case for whoever waits. */
const LOCKED: GitResult = { ...DONE, code: 128, stderr: "fatal: Unable to create 'index.lock': File exists." };

const SETTINGS = /^(?:core\.(?:hookspath|splitindex|ignorecase|untrackedcache)|index\..*|feature\..*)$/;

/** Whether nothing was set up that git would heed, and this would not, when it changes the index. */
function isPlain({ git, dirs }: IndexPlace, config: GitConfig, paths: readonly string[]): boolean {
  return (
    paths.every((path) => path.startsWith('.handoff/')) &&
    git.set?.GIT_INDEX_FILE === undefined &&
    !config.keys().some((key) => SETTINGS.test(key) && !/^(?:false|no|off|0)$/i.test(config.get(key)!)) &&
    !isExecutable(join(dirs.commonDir, 'hooks', 'post-index-change'))
  );
}

/**
 * What `git update-index` does, without a process, and for a third of its time where the index is large. The new index is
 * written beside the old one before the lock is taken, and takes its place only if the old one is still the one it was made
 * from: so the lock is held for a moment. `git`: this is not the plain case.
 */
function addDirectly(
  { dirs, processes, discards }: IndexPlace,
  writer: ObjectWriter,
  paths: readonly string[],
  asked: ReadonlySet<string>,
): 'done' | 'locked' | 'git' {
  const index = join(dirs.gitDir, 'index');
  const own = ownName(index, processes);
  const wanted = paths.map((path) => ({
    path,
    onlyIfAbsent: !asked.has(path),
    read: () => readPlain(join(dirs.topLevel!, path), writer),
  }));
  try {
    const replaced = copyIndex(index, own, wanted, { format: writer.format, topLevel: dirs.topLevel! });
    if (replaced === null) return 'git';
    return replaced === 'same' ? 'done' : takePlace(index, own, replaced, discards);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    return 'git'; // it knows better how to say what is wrong
  } finally {
    rmSync(own, { force: true });
  }
}

/** Null when it is no plain file: git has to say so. */
function readPlain(path: string, writer: ObjectWriter): IndexedFile | 'gone' | null {
  const file = openIfThere(path);
  if (file === null) return 'gone';
  try {
    const stat = fstatSync(file, { bigint: true });
    if (!stat.isFile() || stat.mode & 0o100n) return null;
    return { stat, oid: writer.write('blob', readFileSync(file)) };
  } finally {
    closeSync(file);
  }
}

function openIfThere(path: string): number | null {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
