import { createHash, randomBytes } from 'node:crypto';
import {
  accessSync,
  type BigIntStats,
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  linkSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { GitConfig } from './config.ts';
import type { RepositoryDirs } from './discover.ts';
import { EntryMerger, type IndexedFile, type Wanted } from './index-entries.ts';
import { forgetTrees } from './index-trees.ts';
import type { ObjectFormat } from './loose-object.ts';
import type { NativeGitStore, ObjectWriter } from './native-store.ts';
import { type Git, type GitResult, gitFailure, runGit } from './run.ts';

/** git's index of one work tree. */
export interface IndexFile {
  /** Takes these files in as they are in the work tree, and those of `others` that it does not have. */
  add(paths: readonly string[], others?: readonly string[]): Promise<void>;
  /** Waits until nothing is left of what was replaced. */
  close(): Promise<void>;
}

/** What an index is opened with. */
export interface IndexPlace {
  git: Git;
  dirs: RepositoryDirs;
  store: Pick<NativeGitStore, 'objectWriter'>;
  config(): Promise<GitConfig>;
  host: { pid: number; isRunning(pid: number): boolean };
}

export function openIndexFile(place: IndexPlace): IndexFile {
  let cleared: Promise<void> = Promise.resolve();
  return {
    close: () => cleared,
    async add(paths, others = []) {
      const all = [...new Set([...paths, ...others])];
      const writer = isPlain(place, await place.config(), all) ? await place.store.objectWriter() : null;
      const result = await untilUnlocked(async () => {
        const outcome = writer ? addDirectly(place, writer, all, new Set(paths)) : 'git';
        if (outcome === 'git') return addByGit(place.git, all);
        if (outcome === 'locked') return LOCKED;
        cleared = outcome.cleared;
        return DONE;
      });
      if (result.code !== 0) throw gitFailure(ARGS, result);
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

/** The old index goes away meanwhile: that of a large repository takes as long as a git process. */
interface Added {
  cleared: Promise<void>;
}

const ATTEMPTS = 40;

/**
 * Another git process holds the index for a moment: it is asked again for about six seconds. At odd times, so that a
 * hundred who wait do not meet again each time.
 */
export async function untilUnlocked(run: () => Promise<GitResult>): Promise<GitResult> {
  for (let attempt = 1; ; attempt++) {
    const result = await run();
    if (result.code === 0 || attempt === ATTEMPTS || !/\.lock': File exists/.test(result.stderr)) return result;
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 300));
  }
}

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

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * What `git update-index` does, without a process, and for a third of its time where the index is large. The new index is
 * written beside the old one before the lock is taken, and takes its place only if the old one is still the one it was made
 * from: so the lock is held for a moment. `git`: this is not the plain case.
 */
function addDirectly(
  { dirs, host }: IndexPlace,
  writer: ObjectWriter,
  paths: readonly string[],
  asked: ReadonlySet<string>,
): Added | 'locked' | 'git' {
  const index = join(dirs.gitDir, 'index');
  const own = `${index}.handoff-${host.pid}-${randomBytes(6).toString('hex')}`;
  const wanted = paths.map((path) => ({
    path,
    onlyIfAbsent: !asked.has(path),
    read: () => readPlain(join(dirs.topLevel!, path), writer),
  }));
  try {
    clearLeft(dirs.gitDir, host.isRunning);
    const made = copyIndex(index, own, wanted, writer.format);
    if (made === null) return 'git';
    return made === 'same' ? { cleared: Promise.resolve() } : takePlace(index, own, made);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    return 'git'; // it knows better how to say what is wrong
  } finally {
    rmSync(own, { force: true });
  }
}

/** Null when it is no plain file: git has to say so. */
function readPlain(path: string, writer: ObjectWriter): IndexedFile | null {
  const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    const stat = fstatSync(file, { bigint: true });
    if (!stat.isFile() || stat.mode & 0o100n) return null;
    return { stat, oid: writer.write('blob', readFileSync(file)) };
  } finally {
    closeSync(file);
  }
}

/** Writes the index with these files in it. Returns what the old one was; `same` when it had them all, null for git. */
function copyIndex(
  index: string,
  own: string,
  wanted: readonly Wanted[],
  format: ObjectFormat,
): BigIntStats | 'same' | null {
  const from = openSync(index, constants.O_RDONLY | constants.O_NOFOLLOW);
  const to = openSync(own, 'wx', 0o666);
  try {
    const made = fstatSync(from, { bigint: true });
    const merging = { from, to, wanted, format, writtenAt: Number(made.mtimeNs / 1_000_000_000n) };
    // how many are new stands first in the file, and is known last
    const likely = wanted.filter(({ onlyIfAbsent }) => !onlyIfAbsent).length;
    const added = mergeIndex(merging, likely);
    if (added === null || added === 'same') return added;
    return added === likely || mergeIndex(merging, added) === added ? made : null;
  } finally {
    closeSync(from);
    closeSync(to);
  }
}

interface Merging {
  from: number;
  to: number;
  wanted: readonly Wanted[];
  format: ObjectFormat;
  writtenAt: number;
}

const HEADER = 12;
const PIECE = 1 << 19;

/** Returns how many entries were added; what was written is right if that is what was expected. */
function mergeIndex({ from, to, wanted, format, writtenAt }: Merging, expected: number): number | 'same' | null {
  const width = format === 'sha256' ? 32 : 20;
  const header = Buffer.alloc(HEADER);
  if (readSync(from, header, 0, HEADER, 0) < HEADER || header.toString('latin1', 0, 4) !== 'DIRC') return null;
  if (![2, 3].includes(header.readUInt32BE(4))) return null;
  const count = header.readUInt32BE(8);
  header.writeUInt32BE(count + expected, 8);
  const output = openOutput(to, format);
  output.push(header);
  const merger = new EntryMerger(count, wanted, width, writtenAt, output.push);
  const rest = mergeEntries(from, merger);
  if (merger.failed || rest.length < width) return null;
  if (!merger.changed) return 'same';
  const extensions = withoutTrees(rest.subarray(0, -width), wanted, width);
  if (!extensions || rest.subarray(-width).every((byte) => byte === 0)) return null; // without a checksum, on purpose
  output.push(extensions);
  output.finish();
  return merger.added;
}

/** Feeds the entries, piece by piece: the whole index in memory would cost more than all the rest. Returns what follows. */
function mergeEntries(from: number, merger: EntryMerger): Buffer {
  let buffer = Buffer.allocUnsafe(PIECE);
  let kept = 0;
  for (let position = HEADER; !merger.isDone && !merger.failed; ) {
    const size = readSync(from, buffer, kept, PIECE - kept, position);
    if (size === 0) return Buffer.alloc(0);
    position += size;
    const taken = merger.push(buffer.subarray(0, kept + size));
    kept += size - taken;
    buffer.copyWithin(0, taken, taken + kept);
    if (merger.isDone) buffer = Buffer.concat([buffer.subarray(0, kept), readFrom(from, position)]);
  }
  merger.finish();
  return merger.isDone ? buffer : Buffer.alloc(0);
}

function readFrom(file: number, position: number): Buffer {
  const bytes = Buffer.allocUnsafe(Math.max(0, Number(fstatSync(file).size) - position));
  return bytes.subarray(0, readSync(file, bytes, 0, bytes.length, position));
}

/** Bytes go out in order from the beginning, and are summed up on the way. */
function openOutput(to: number, format: ObjectFormat): { push(bytes: Uint8Array): void; finish(): void } {
  const checksum = createHash(format);
  let position = 0;
  const write = (bytes: Uint8Array): void => {
    for (let at = 0; at < bytes.length; ) {
      const size = writeSync(to, bytes, at, bytes.length - at, position);
      at += size;
      position += size;
    }
  };
  return {
    push(bytes) {
      checksum.update(bytes);
      write(bytes);
    },
    finish() {
      write(checksum.digest());
      ftruncateSync(to, position);
    },
  };
}

/** Any extension but `TREE` is git's business. */
function withoutTrees(extensions: Buffer, wanted: readonly Wanted[], width: number): Buffer | null {
  if (extensions.length === 0) return extensions;
  if (extensions.length < 8 || extensions.toString('latin1', 0, 4) !== 'TREE') return null;
  if (extensions.readUInt32BE(4) !== extensions.length - 8) return null;
  const folders = wanted.map(({ path }) => dirname(path));
  const trees = forgetTrees(extensions.subarray(8), folders, width);
  if (!trees) return null;
  const header = Buffer.from(extensions.subarray(0, 8));
  header.writeUInt32BE(trees.length, 4);
  return Buffer.concat([header, trees]);
}

/** The room of a large index takes as long to free as a git process takes. */
const LARGE = 1n << 20n;

/** git's own lock: from the link on every other git process waits. */
function takePlace(index: string, own: string, made: BigIntStats): Added | 'locked' {
  const [lock, old] = [`${index}.lock`, `${own}.old`];
  try {
    linkSync(own, lock);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return 'locked';
    throw error;
  }
  try {
    if (!isSame(lstatSync(index, { bigint: true }), made)) return 'locked';
    if (made.size > LARGE) linkSync(index, old);
    renameSync(lock, index);
    return { cleared: made.size > LARGE ? rm(old, { force: true }) : Promise.resolve() };
  } finally {
    rmSync(lock, { force: true });
  }
}

function isSame(now: BigIntStats, then: BigIntStats): boolean {
  return now.ino === then.ino && now.mtimeNs === then.mtimeNs && now.ctimeNs === then.ctimeNs && now.size === then.size;
}

/** The name says whose it is: what a killed process left is known by its number. */
const OWN = /^index\.handoff-([0-9]+)-[0-9a-f]{12}(?:\.old)?$/;

/** A process that was killed may have left its new index, and the lock that it had just taken with it. */
function clearLeft(gitDir: string, isRunning: (pid: number) => boolean): void {
  const left = readdirSync(gitDir).filter((name) => {
    const pid = OWN.exec(name)?.[1];
    return pid !== undefined && !isRunning(Number(pid));
  });
  for (const path of left.map((name) => join(gitDir, name))) {
    const lock = join(gitDir, 'index.lock');
    const ino = lstatSync(path, { throwIfNoEntry: false })?.ino;
    if (ino !== undefined && lstatSync(lock, { throwIfNoEntry: false })?.ino === ino) rmSync(lock, { force: true });
    rmSync(path, { force: true });
  }
}
