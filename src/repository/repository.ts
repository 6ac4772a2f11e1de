import { existsSync } from 'node:fs';
import { isAbsolute, join, relative } from 'node:path';
import { HandoffError } from '../core/error.ts';
import { hasCode } from '../core/error-code.ts';
import { makeFolder } from '../disk/make-folder.ts';
import type { Host } from '../disk/moment.ts';
import { appendConfig } from '../git/append-config.ts';
import { type GitConfig, readConfig, withValue, writeConfig } from '../git/config.ts';
import { openDiscards } from '../git/discards.ts';
import { discoverRepository, type RepositoryDirs } from '../git/discover.ts';
import { openIndexFile } from '../git/index/index-file.ts';
import { openNativeStore } from '../git/objects/native-store.ts';
import { tryClearLeft } from '../git/own-file.ts';
import type { Git } from '../git/run.ts';
import type { Directories, GitAccess, IndexAccess, Messages, Settings, StateDirectory, TimeAndHost } from './parts.ts';
import { readConfigFiles } from './system-config.ts';

/** What a verb works with. Time, environment and the store are here, so that nothing below reaches for them. */
export interface Repository
  extends GitAccess,
    Directories,
    Settings,
    StateDirectory,
    TimeAndHost,
    IndexAccess,
    Messages {
  /** What hooks start; null where it is not beside the code that runs. */
  program: Program | null;
  close(): Promise<void>;
  /** As `close`, for a process that is about to end: git ends by itself. */
  leave(): Promise<void>;
}

/** Node, and the script that decides whether it is needed. */
export interface Program {
  node: string;
  hook: string;
}

export interface RepositoryOptions {
  env: NodeJS.ProcessEnv;
  host: Host;
  build?: string | null;
  program?: Program | null;
  now?: () => Date;
  warn?: (message: string) => void;
  progress?: (checked: number) => void;
}

/**
 * The same repository, as another work tree of it is in. They share the process that reads objects, unless each work tree has a
 * configuration of its own, which that process could not tell.
 */
export async function openTreeAt(repository: Repository, path: string): Promise<Repository> {
  const { env, host, build, now, warn, progress } = repository;
  const opened = openRepositoryAt(path, { env, host, build, now, warn, progress });
  const { worktree } = opened;
  const isAlike = (await repository.config()).get('extensions.worktreeconfig') === undefined;
  const head = worktree === '.' ? 'main-worktree/HEAD' : `${worktree}/HEAD`;
  if (!isAlike || !/^[\w./-]+$/.test(head)) return opened;
  const options = { env, host, build, now, warn, progress, program: repository.program };
  return openFound(opened.dirs, opened.git, options, repository.store.seenFrom(opened.git, head));
}

export function openRepositoryAt(directory: string, options: RepositoryOptions): Repository {
  const dirs = discoverRepository(directory, options.env);
  return openFound(dirs, { dir: dirs.topLevel ?? dirs.gitDir, env: options.env }, options);
}

/** For whoever knows which repository is meant, and how git has to be called there. */
export function openFound(
  dirs: RepositoryDirs,
  git: Git,
  options: RepositoryOptions,
  store = openNativeStore(git),
): Repository {
  let config: Promise<GitConfig> | undefined;
  let read = async () => readConfigFiles({ git, dirs, host: options.host }) ?? store.config();
  const readAll = () => (config ??= read());
  const discards = openDiscards();
  const index = openIndexFile({ git, dirs, store, config: readAll, processes: options.host, discards });
  return {
    dirs,
    worktree: relative(dirs.commonDir, dirs.gitDir) || '.',
    git,
    store,
    index,
    discards,
    env: options.env,
    config: readAll,
    async setConfig(key, value) {
      const settings = await readAll();
      if (settings.get(key) === undefined && appendConfig(dirs, key, value)) {
        config = Promise.resolve(withValue(settings, key, value));
        return;
      }
      await writeConfig(git, key, value);
      config = undefined;
      read = () => readConfig(git); // the store's process knows what was there when it started
    },
    now: options.now ?? (() => new Date()),
    host: options.host,
    stateDir: stateDirectory(dirs, options.env),
    build: options.build ?? null,
    program: options.program ?? null,
    warn: options.warn ?? (() => {}),
    progress: options.progress ?? (() => {}),
    async close() {
      await Promise.all([store.close(), discards.settled()]);
    },
    leave() {
      store.leave();
      return discards.settled();
    },
  };
}

/** A relative path would be another place in every directory, and so another set of locks. */
function stateDirectory({ commonDir }: RepositoryDirs, { HANDOFF_STATE }: NodeJS.ProcessEnv): string {
  if (!HANDOFF_STATE) return join(commonDir, 'handoff');
  if (isAbsolute(HANDOFF_STATE)) return makeable(HANDOFF_STATE);
  throw new HandoffError('usage', `HANDOFF_STATE must be an absolute path, and is ${JSON.stringify(HANDOFF_STATE)}.`, {
    hint: 'Locks only hold if everybody finds them: name the directory from the root.',
  });
}

/** Where none can ever be, as in /proc, is found out before anything waits for it. Any other reason is told by what needs the folder. */
function makeable(state: string): string {
  try {
    if (!existsSync(state)) makeFolder(state);
  } catch (cause) {
    if (!hasCode(cause)) throw cause;
    if (cause.code === 'ENOENT') throw notMakeable(state, cause);
  }
  return state;
}

function notMakeable(state: string, cause: Error): HandoffError {
  return new HandoffError(
    'usage',
    `HANDOFF_STATE names ${JSON.stringify(state)}, and no directory can be made there.`,
    {
      hint: 'Name another one: HANDOFF_STATE=<absolute path>. Unset, it is handoff in the git directory.',
      cause,
    },
  );
}

/** A file that may be deleted at any time; only the build that wrote it reads it. */
export function cachePath(repository: StateDirectory, name: string): string {
  return `${cacheFolder(repository, name)}.json`;
}

/** A folder of such files. */
export function cacheFolder({ stateDir, build }: StateDirectory, name: string): string {
  return join(stateDir, 'cache', `${name}-${build}`);
}

/**
 * Where a verb begins that stages or commits: one that was killed may have left git's locks, and this one may find nothing to
 * write that would meet them.
 */
export function enterWorkTree(repository: Directories & TimeAndHost): string {
  const topLevel = requireWorkTree(repository);
  tryClearLeft(repository.dirs, repository.host);
  return topLevel;
}

/** The top of the work tree, for verbs that write. */
export function requireWorkTree({ dirs }: Directories): string {
  if (dirs.topLevel) return dirs.topLevel;
  throw new HandoffError('usage', 'This is a bare repository: there is no work tree to write to.', {
    hint: 'Run it in a clone: git clone <repository>, or name one with -C <directory>.',
  });
}

/** SPEC §5.8: the root a person pinned decides, never the one a tree brings along. */
export async function assertPinned(repository: Settings, found: string, given?: string): Promise<void> {
  const expected = given ?? (await repository.config()).get('handoff.root');
  if (expected === undefined || expected === found) return;
  throw new HandoffError(
    'root_mismatch',
    `The root of this repository is not the pinned one: expected ${expected}, found ${found}.`,
    {
      hint: 'The genesis policy was replaced, or this is another repository. Compare the root with a maintainer before you trust either.',
      data: { expected, found },
    },
  );
}

export function assertRoot(root: string): void {
  if (/^[0-9a-f]{64}$/.test(root)) return;
  throw new HandoffError('usage', `Expected a root of 64 hexadecimal digits, found ${JSON.stringify(root)}.`, {
    hint: 'git handoff trust prints it in a repository that has one.',
  });
}
