import { type BigIntStats, closeSync, constants, fstatSync, lstatSync, openSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { GitConfig } from '../config.ts';
import type { Discards } from '../discards.ts';
import type { RepositoryDirs } from '../discover.ts';
import { isExecutable } from '../executable.ts';
import { objectFormat } from '../objects/loose-object.ts';
import type { NativeGitStore, ObjectWriter } from '../objects/native-store.ts';
import type { Oid } from '../objects/store.ts';
import { ownName, type Processes, tryClearLeft } from '../own-file.ts';
import { type Git, type GitResult, gitFailure, readGitSync, runGit } from '../run.ts';
import { copyIndex } from './index-copy.ts';
import type { IndexedFile, Wanted } from './index-entries.ts';
import { folderInIndex } from './index-folder.ts';
import { isInPlace, type Together, takePlace } from './index-place.ts';
import { replaceIndex, whileIndexLocked } from './locked-index.ts';
import { untilUnlocked } from './until-unlocked.ts';

/** git's index of one work tree. */
export interface IndexFile {
  /** Takes these files in as they are in the work tree, gone or there, and those of `others` that it does not have. */
  add(paths: readonly string[], others?: readonly string[]): Promise<void>;
  /** Another one as soon as anybody has written it. */
  version(): string;
  /**
   * Takes these bytes in, whatever the work tree has, and has `together` done at the same time: no git process sees one without
   * the other. Should it fail right after, `together` is done once more. Returns what tells whether nobody has changed the index since.
   */
  put(files: readonly FileToStage[], together: Together): Promise<() => boolean>;
  /** The id of a folder of plain files, as it would be committed now. Null where only git can tell. */
  folder(path: string): Oid | null;
}

interface FileToStage {
  path: string;
  /** Null for one that is to go. */
  bytes: Uint8Array | null;
  /** Where the file is now that will be in the work tree, so that git need not compare it; by its whole name. */
  at: string;
}

/** What an index is opened with. */
export interface IndexPlace {
  git: Git;
  dirs: RepositoryDirs;
  store: Pick<NativeGitStore, 'objectWriter' | 'writeBlob'>;
  config(): Promise<GitConfig>;
  processes: Processes;
  discards: Discards;
}

export function openIndexFile(place: IndexPlace): IndexFile {
  const writerFor = async (paths: readonly string[]): Promise<ObjectWriter | null> =>
    isPlain(place, await place.config(), paths) ? place.store.objectWriter() : null;
  return {
    async add(paths, others = []) {
      const all = [...new Set([...paths, ...others])];
      const asked = new Set(paths);
      const writer = await writerFor(all);
      const wanted = (by: ObjectWriter) => all.map((path) => wantedAsIs(place, by, path, !asked.has(path)));
      const result = await untilUnlocked(async () => {
        tryClearLeft(place.dirs, place.processes);
        const outcome = writer ? replaceDirectly(place, writer, wanted(writer)) : 'git';
        if (outcome === 'git') return addByGit(place.git, all);
        return outcome === 'locked' ? LOCKED : DONE;
      });
      if (result.code !== 0) throw gitFailure(ARGS, result);
    },
    version() {
      const stat = lstatSync(join(place.dirs.gitDir, 'index'), { bigint: true, throwIfNoEntry: false });
      return stat ? `${stat.ino} ${stat.mtimeNs} ${stat.size}` : 'none';
    },
    async put(files, together) {
      const oids = await Promise.all(files.map(({ bytes }) => bytes && place.store.writeBlob(bytes)));
      const named = files.map((file, n) => ({ ...file, oid: oids[n]! }));
      const writer = await writerFor(files.map(({ path }) => path));
      const placed =
        (writer && (await putDirectly(place, writer, named, together))) ?? (await putByGit(place, named, together));
      return () => isInPlace(join(place.dirs.gitDir, 'index'), placed);
    },
    folder: (path) => folderInIndex(join(place.dirs.gitDir, 'index'), path, objectFormat(place.dirs.commonDir)),
  };
}

/** update-index, because `git add` would refuse what .gitignore names and obey pathspec magic. */
const ARGS = ['update-index', '--add', '--remove', '-z', '--stdin'];

function addByGit(git: Git, paths: readonly string[]): Promise<GitResult> {
  return runGit(git, ARGS, { input: paths.map((path) => `${path}\0`).join('') });
}

/** A file to stage whose bytes git has; null for one that is to go. */
type Named = FileToStage & { oid: Oid | null };

/** Null: git has to do it. */
async function putDirectly(
  place: IndexPlace,
  writer: ObjectWriter,
  files: readonly Named[],
  together: Together,
): Promise<BigIntStats | null> {
  const wanted = files.map(({ path, at, oid }) => {
    const read = () => (oid === null ? ('gone' as const) : { oid, stat: lstatSync(at, { bigint: true }) });
    return { path, onlyIfAbsent: false, read };
  });
  let placed: BigIntStats | null = null;
  const result = await untilUnlocked(async () => {
    tryClearLeft(place.dirs, place.processes);
    const outcome = replaceDirectly(place, writer, wanted, together);
    if (outcome === 'locked') return LOCKED;
    placed = typeof outcome === 'object' ? outcome : null;
    return DONE;
  });
  if (result.code !== 0) throw gitFailure(ARGS, result);
  return placed;
}

/** git compares what it was told so with the work tree when it next looks. */
function putByGit(place: IndexPlace, files: readonly Named[], together: Together): Promise<BigIntStats> {
  const none = '0'.repeat(objectFormat(place.dirs.commonDir) === 'sha256' ? 64 : 40);
  const lines = files.map(({ path, oid }) => `${oid === null ? `0 ${none}` : `100644 ${oid}`}\t${path}\0`);
  return whileIndexLocked(place, () =>
    replaceIndex(place, (hidden) => {
      readGitSync(hidden, ['update-index', '-z', '--index-info'], lines.join(''));
      together();
    }),
  );
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
function replaceDirectly(
  { dirs, processes, discards }: IndexPlace,
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
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    return 'git'; // it knows better how to say what is wrong
  } finally {
    rmSync(own, { force: true });
  }
}

function wantedAsIs({ dirs }: IndexPlace, writer: ObjectWriter, path: string, onlyIfAbsent: boolean): Wanted {
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
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
