import { type BigIntStats, closeSync, constants, fstatSync, openSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { hasCode } from '../../core/error-code.ts';
import type { GitConfig } from '../config.ts';
import type { Discards } from '../discards.ts';
import type { RepositoryDirs } from '../discover.ts';
import { isExecutable } from '../executable.ts';
import type { NativeGitStore } from '../objects/native-store.ts';
import type { ObjectWriter } from '../objects/object-writer.ts';
import { ownName, type Processes } from '../own-file.ts';
import type { Git } from '../run.ts';
import { copyIndex } from './index-copy.ts';
import type { IndexedFile, Wanted } from './index-entries.ts';
import { type Together, takePlace } from './index-place.ts';

/** What an index is opened with. */
export interface IndexFiles {
  git: Git;
  dirs: RepositoryDirs;
  store: Pick<NativeGitStore, 'objectWriter' | 'writeBlob'>;
  config(): Promise<GitConfig>;
  processes: Processes;
  discards: Discards;
}

const SETTINGS = /^(?:core\.(?:hookspath|splitindex|ignorecase|untrackedcache)|index\..*|feature\..*)$/;

/** Whether nothing was set up that git would heed, and this would not, when it changes the index. */
export function isPlain({ git, dirs }: IndexFiles, config: GitConfig, paths: readonly string[]): boolean {
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
export function replaceDirectly(
  { dirs, processes, discards }: IndexFiles,
  writer: ObjectWriter,
  wanted: readonly Wanted[],
  together?: Together,
): BigIntStats | 'same' | 'locked' | 'git' {
  const index = join(dirs.gitDir, 'index');
  const own = ownName(index, processes);
  try {
    const replaced = copyIndex(index, own, wanted, { format: writer.format, topLevel: dirs.topLevel! });
    if (replaced === null) return 'git';
    return replaced === 'same' ? 'same' : takePlace(index, own, replaced, discards, together);
  } catch (error) {
    if (!hasCode(error)) throw error;
    return 'git'; // it knows better how to say what is wrong
  } finally {
    rmSync(own, { force: true });
  }
}

export function wantedAsIs({ dirs }: IndexFiles, writer: ObjectWriter, path: string, onlyIfAbsent: boolean): Wanted {
  return { path, onlyIfAbsent, read: () => readPlain(join(dirs.topLevel!, path), writer) };
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
    return openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return null;
    throw error;
  }
}
