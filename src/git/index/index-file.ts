import { type BigIntStats, lstatSync } from 'node:fs';
import { join } from 'node:path';
import { objectFormat } from '../objects/loose-object.ts';
import type { ObjectWriter } from '../objects/object-writer.ts';
import type { Oid } from '../objects/store.ts';
import { tryClearLeft } from '../own-file.ts';
import { type Git, gitFailure, readGitSync, runGit } from '../run.ts';
import { type IndexFiles, isPlain, replaceDirectly, wantedAsIs } from './index-direct.ts';
import { folderInIndex } from './index-folder.ts';
import { footprintOf } from './index-footprint.ts';
import { oidInIndex } from './index-lookup.ts';
import { isInPlace, type Together } from './index-place.ts';
import { replaceIndex, whileIndexLocked } from './locked-index.ts';
import { isLockedOut, untilUnlocked } from './until-unlocked.ts';

/**
 * git's index of one work tree: all that anybody outside this folder knows of it (decisions 0012 and 0027). `locked`: somebody
 * else has had it for seconds, and nothing was done.
 */
export interface IndexFile {
  /** Takes these files in as they are in the work tree, gone or there, and those of `others` that it does not have. */
  add(paths: readonly string[], others?: readonly string[]): Promise<'done' | 'locked'>;
  /** Another one as soon as anybody has written it. */
  version(): string;
  /**
   * Takes these bytes in, whatever the work tree has, and has `together` done at the same time: no git process sees one without
   * the other. Should it fail right after, `together` is done once more. Returns what tells whether nobody has changed the index since.
   */
  put(files: readonly FileToStage[], together: Together): Promise<(() => boolean) | 'locked'>;
  /** The same as long as nobody writes any file that the index has, but for those in a folder. Null where only git can tell. */
  footprint(topLevel: string, leftOut: string): string | null;
  /** What it has at a path; null for nothing. Undefined where only git can tell. */
  oid(path: string): Oid | null | undefined;
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

export function openIndexFile(place: IndexFiles): IndexFile {
  const writerFor = async (paths: readonly string[]): Promise<ObjectWriter | null> =>
    isPlain(place, await place.config(), paths) ? place.store.objectWriter() : null;
  return {
    async add(paths, others = []) {
      const all = [...new Set([...paths, ...others])];
      const asked = new Set(paths);
      const writer = await writerFor(all);
      const wanted = (by: ObjectWriter) => all.map((path) => wantedAsIs(place, by, path, !asked.has(path)));
      return untilUnlocked(async () => {
        tryClearLeft(place.dirs, place.processes);
        const outcome = writer ? replaceDirectly(place, writer, wanted(writer)) : 'git';
        if (outcome === 'git') return addByGit(place.git, all);
        return outcome === 'locked' ? 'locked' : 'done';
      });
    },
    version() {
      const stat = lstatSync(join(place.dirs.gitDir, 'index'), { bigint: true, throwIfNoEntry: false });
      return stat ? `${stat.ino} ${stat.mtimeNs} ${stat.size}` : 'none';
    },
    async put(files, together) {
      const oids = await Promise.all(files.map(({ bytes }) => bytes && place.store.writeBlob(bytes)));
      const named = files.map((file, n) => ({ ...file, oid: oids[n]! }));
      const writer = await writerFor(files.map(({ path }) => path));
      const direct = writer ? await putDirectly(place, writer, named, together) : 'git';
      const placed = direct === 'git' ? await putByGit(place, named, together) : direct;
      return placed === 'locked' ? placed : () => isInPlace(join(place.dirs.gitDir, 'index'), placed);
    },
    footprint: (topLevel, leftOut) => footprintOf(place.dirs, topLevel, leftOut),
    oid: (path) => oidInIndex(join(place.dirs.gitDir, 'index'), path, objectFormat(place.dirs.commonDir)),
    folder: (path) => folderInIndex(join(place.dirs.gitDir, 'index'), path, objectFormat(place.dirs.commonDir)),
  };
}

/** update-index, because `git add` would refuse what .gitignore names and obey pathspec magic. */
const ARGS = ['update-index', '--add', '--remove', '-z', '--stdin'];

async function addByGit(git: Git, paths: readonly string[]): Promise<'done' | 'locked'> {
  const result = await runGit(git, ARGS, { input: paths.map((path) => `${path}\0`).join('') });
  if (result.code === 0) return 'done';
  if (isLockedOut(result)) return 'locked';
  throw gitFailure(ARGS, result);
}

/** A file to stage whose bytes git has; null for one that is to go. */
type Named = FileToStage & { oid: Oid | null };

/** `git`: git has to do it. */
function putDirectly(
  place: IndexFiles,
  writer: ObjectWriter,
  files: readonly Named[],
  together: Together,
): Promise<BigIntStats | 'locked' | 'git'> {
  const wanted = files.map(({ path, at, oid }) => {
    const read = () => (oid === null ? ('gone' as const) : { oid, stat: lstatSync(at, { bigint: true }) });
    return { path, onlyIfAbsent: false, read };
  });
  return untilUnlocked(async () => {
    tryClearLeft(place.dirs, place.processes);
    const outcome = replaceDirectly(place, writer, wanted, together);
    return outcome === 'same' ? 'git' : outcome;
  });
}

/** git compares what it was told so with the work tree when it next looks. */
function putByGit(place: IndexFiles, files: readonly Named[], together: Together): Promise<BigIntStats | 'locked'> {
  const none = '0'.repeat(objectFormat(place.dirs.commonDir) === 'sha256' ? 64 : 40);
  const lines = files.map(({ path, oid }) => `${oid === null ? `0 ${none}` : `100644 ${oid}`}\t${path}\0`);
  return whileIndexLocked(place, () =>
    replaceIndex(place, (hidden) => {
      readGitSync(hidden, ['update-index', '-z', '--index-info'], lines.join(''));
      together();
    }),
  );
}
