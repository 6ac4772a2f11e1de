import { createHash, randomBytes } from 'node:crypto';
import {
  accessSync,
  type BigIntStats,
  closeSync,
  constants,
  fstatSync,
  linkSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import type { GitConfig } from './config.ts';
import type { RepositoryDirs } from './discover.ts';
import { type IndexedFile, type Layout, readLayout, widthOf, withFiles } from './index-bytes.ts';
import { type ObjectFormat, objectFormat } from './loose-object.ts';
import type { NativeGitStore } from './native-store.ts';
import { type Git, type GitResult, gitFailure, runGit } from './run.ts';

/** git's index of one work tree. */
export interface IndexFile {
  /** Begins to read it, which takes as long as the repository is large, while the caller does other things. */
  prepare(): void;
  /** Takes these files in as they are in the work tree, and those of `others` that it does not have. */
  add(paths: readonly string[], others?: readonly string[]): Promise<void>;
}

interface Place {
  git: Git;
  dirs: RepositoryDirs;
  store: NativeGitStore;
  config(): Promise<GitConfig>;
  host: { pid: number; isRunning(pid: number): boolean };
}

export function openIndexFile(place: Place): IndexFile {
  let ahead: Promise<Snapshot | null> | null = null;
  const takeAhead = (): Promise<Snapshot | null> => {
    const snapshot = ahead ?? readSnapshot(indexPath(place));
    ahead = null;
    return snapshot;
  };
  return {
    prepare() {
      ahead ??= readSnapshot(indexPath(place));
    },
    async add(paths, others = []) {
      const plain = isPlain(place, await place.config(), [...paths, ...others]);
      const run = async (): Promise<GitResult> => {
        const outcome = plain ? await addDirectly(place, paths, others, await takeAhead()) : 'git';
        if (outcome === 'git') return addByGit(place.git, [...paths, ...others]);
        return outcome === 'done' ? DONE : LOCKED;
      };
      const result = await untilUnlocked(run);
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
/** In git's words, so that it is one case. */
const LOCKED: GitResult = { ...DONE, code: 128, stderr: "fatal: Unable to create 'index.lock': File exists" };

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

/** An index, and what its file was when it was read. */
interface Snapshot {
  bytes: Buffer;
  stat: BigIntStats;
}

function indexPath({ dirs }: Place): string {
  return join(dirs.gitDir, 'index');
}

async function readSnapshot(path: string): Promise<Snapshot | null> {
  try {
    const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
    try {
      const stat = await file.stat({ bigint: true });
      const bytes = Buffer.allocUnsafeSlow(Number(stat.size));
      const { bytesRead } = await file.read(bytes); // all at once: readFile asks for a little at a time
      return bytesRead === bytes.length ? { stat, bytes } : null;
    } finally {
      await file.close();
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    return null;
  }
}

const SETTINGS =
  /^(?:core\.(?:sharedrepository|fsync\w*|hookspath|splitindex|ignorecase|untrackedcache)|index\..*|feature\..*)$/;

/** Whether nothing was set up that git would do, and this would not, when the index changes. */
function isPlain({ git, dirs }: Place, config: GitConfig, paths: readonly string[]): boolean {
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
 * What `git update-index` does, without a process, and at a fraction of its cost where the index is large. The new index is
 * written beside the old one before the lock is taken, and takes its place only if the old one is still the one it was made
 * from. `git`: this is not the plain case.
 */
async function addDirectly(
  place: Place,
  paths: readonly string[],
  others: readonly string[],
  snapshot: Snapshot | null,
): Promise<'done' | 'locked' | 'git'> {
  if (!snapshot) return 'git';
  clearLeft(place);
  const format = objectFormat(place.dirs.commonDir);
  const sorted = [...new Set([...paths, ...others])].sort();
  const writtenAt = Number(snapshot.stat.mtimeNs / 1_000_000_000n);
  const layout = readLayout(snapshot.bytes, sorted, writtenAt, widthOf(format));
  if (!layout) return 'git';
  const files = await readFiles(place, layout, new Set(paths));
  if (!files) return 'git';
  if (files.length === 0) return 'done';
  const parts = withFiles(snapshot.bytes, layout, files, format);
  return parts ? replaceIndex(place, parts, format, snapshot.stat) : 'git';
}

/** Those to take in: all that are asked for, and of the others what the index lacks. Null when one is no plain file. */
async function readFiles(
  { dirs, store }: Place,
  { places }: Layout,
  asked: ReadonlySet<string>,
): Promise<IndexedFile[] | null> {
  const files: IndexedFile[] = [];
  for (const { path, start, end } of places) {
    if (start !== end && !asked.has(path)) continue;
    const file = readPlain(join(dirs.topLevel!, path));
    if (!file) return null;
    files.push({ path, oid: await store.writeBlob(file.bytes), stat: file.stat });
  }
  return files;
}

function readPlain(path: string): Snapshot | null {
  try {
    const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW);
    try {
      const stat = fstatSync(file, { bigint: true });
      return stat.isFile() && (stat.mode & 0o100n) === 0n ? { stat, bytes: readFileSync(file) } : null;
    } finally {
      closeSync(file);
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    return null;
  }
}

/** The name says whose it is: what a killed process left is known by its number. */
const OWN = /^index\.handoff-([0-9]+)-[0-9a-f]{12}$/;

async function replaceIndex(
  place: Place,
  parts: Uint8Array[],
  format: ObjectFormat,
  made: BigIntStats,
): Promise<'done' | 'locked' | 'git'> {
  const path = indexPath(place);
  const own = `${path}.handoff-${place.host.pid}-${randomBytes(6).toString('hex')}`;
  const lock = `${path}.lock`;
  try {
    await writeParts(own, parts, format);
    linkSync(own, lock); // git's own lock: from here on every other git process waits
  } catch (error) {
    rmSync(own, { force: true });
    return (error as NodeJS.ErrnoException).code === 'EEXIST' ? 'locked' : 'git';
  }
  try {
    if (!isSame(lstatSync(path, { bigint: true }), made)) return 'locked';
    renameSync(lock, path);
    return 'done';
  } finally {
    rmSync(own, { force: true });
    rmSync(lock, { force: true });
  }
}

/** The parts, then their checksum, which is made while they are being written. */
async function writeParts(path: string, parts: Uint8Array[], format: ObjectFormat): Promise<void> {
  const file = await open(path, 'wx', 0o666);
  try {
    const writing = file.writev(parts);
    const checksum = createHash(format);
    for (const part of parts) checksum.update(part);
    await writing;
    await file.writev([checksum.digest()]);
  } finally {
    await file.close();
  }
}

function isSame(now: BigIntStats, then: BigIntStats): boolean {
  return now.ino === then.ino && now.mtimeNs === then.mtimeNs && now.ctimeNs === then.ctimeNs && now.size === then.size;
}

/** A process that was killed may have left its new index, and the lock that it had just taken with it. */
function clearLeft({ dirs, host }: Place): void {
  const left = readdirSync(dirs.gitDir).filter((name) => {
    const pid = OWN.exec(name)?.[1];
    return pid !== undefined && !host.isRunning(Number(pid));
  });
  for (const name of left) {
    const lock = join(dirs.gitDir, 'index.lock');
    const mine = lstatSync(join(dirs.gitDir, name), { throwIfNoEntry: false });
    if (mine && lstatSync(lock, { throwIfNoEntry: false })?.ino === mine.ino) rmSync(lock, { force: true });
    rmSync(join(dirs.gitDir, name), { force: true });
  }
}
