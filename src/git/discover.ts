import { accessSync, constants, lstatSync, readFileSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import { delimiter, dirname, isAbsolute, join, resolve, sep } from 'node:path';
import { HandoffError } from '../core/error.ts';
import { isTrue, parseConfigFile } from './config-file.ts';
import { NO_REPOSITORY } from './objects/store-error.ts';

export interface RepositoryDirs {
  /** Null in a bare repository, and when asked from inside a git directory. */
  topLevel: string | null;
  gitDir: string;
  /** Where refs, objects and configuration are: the same as gitDir except in a linked worktree. */
  commonDir: string;
}

/**
 * Finds the repository as `git rev-parse` would, without a process. GIT_DIR is ignored on purpose: a hook or a shell
 * may have left it behind, and the directory the caller names decides.
 */
export function discoverRepository(dir: string, env: NodeJS.ProcessEnv): RepositoryDirs {
  const start = realDirectory(dir);
  for (const at of searchPath(start, env)) {
    const dotGit = findDotGit(at);
    if (dotGit) return describe(dotGit, at);
    if (isGitDirectory(at)) return describe(at, null);
  }
  throw notFound(start);
}

function realDirectory(dir: string): string {
  try {
    return realpathSync(dir);
  } catch (cause) {
    throw new HandoffError('not_a_repository', `There is no directory ${dir}`, { ...NO_REPOSITORY, cause });
  }
}

function notFound(dir: string): HandoffError {
  return new HandoffError('not_a_repository', `Not in a git repository: ${dir}`, NO_REPOSITORY);
}

function* searchPath(start: string, env: NodeJS.ProcessEnv): Generator<string> {
  const ceiling = nearestCeiling(start, env.GIT_CEILING_DIRECTORIES ?? '');
  const crosses = isTrue(env.GIT_DISCOVERY_ACROSS_FILESYSTEM);
  const device = statSync(start).dev;
  let at = start;
  while (true) {
    yield at;
    const parent = dirname(at);
    if (parent === at || parent === ceiling) return;
    if (!crosses && statSync(parent).dev !== device) return;
    at = parent;
  }
}

// As in git: only a proper ancestor counts, and after an empty entry the rest is taken as spelt.
function nearestCeiling(start: string, list: string): string | null {
  let spelt = false;
  let nearest: string | null = null;
  for (const entry of list.split(delimiter)) {
    if (entry === '') spelt = true;
    if (!isAbsolute(entry)) continue;
    const ceiling = spelt ? resolve(entry) : (tryRealpath(entry) ?? resolve(entry));
    const inside = start !== ceiling && start.startsWith(ceiling.endsWith(sep) ? ceiling : ceiling + sep);
    if (inside && ceiling.length > (nearest?.length ?? 0)) nearest = ceiling;
  }
  return nearest;
}

function findDotGit(dir: string): string | null {
  const path = join(dir, '.git');
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat?.isFile()) return readGitFile(path, dir);
  return stat?.isDirectory() && isGitDirectory(path) ? path : null;
}

// A `.git` file that leads nowhere stops the search, as it stops git's.
function readGitFile(path: string, dir: string): string {
  const target = /^gitdir: (.+?)[\r\n]*$/s.exec(readFileSync(path, 'utf8'))?.[1];
  const gitDir = target && resolve(dir, target);
  if (gitDir && isGitDirectory(gitDir)) return gitDir;
  throw new HandoffError('not_a_repository', `${path} does not lead to a git directory`, {
    hint: 'If the worktree or the repository was moved, run `git worktree repair` in the main repository.',
  });
}

function isGitDirectory(dir: string): boolean {
  if (!isHead(join(dir, 'HEAD'))) return false;
  const common = commonDirectory(dir);
  return canEnter(join(common, 'objects')) && canEnter(join(common, 'refs'));
}

function isHead(path: string): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (!stat) return false;
  if (stat.isSymbolicLink()) return readlinkSync(path).startsWith('refs/');
  return stat.isFile() && /^(ref:\s*refs\/|[0-9a-f]{40})/.test(readFileSync(path, 'latin1'));
}

function commonDirectory(gitDir: string): string {
  const text = tryRead(join(gitDir, 'commondir'));
  return text === null ? gitDir : resolve(gitDir, text.replace(/[\r\n]+$/, ''));
}

function describe(path: string, foundIn: string | null): RepositoryDirs {
  const gitDir = realpathSync(path);
  const commonDir = realpathSync(commonDirectory(gitDir));
  const config = layoutConfig(gitDir, commonDir);
  const worktree = config.get('core.worktree');
  if (worktree !== undefined) return { topLevel: realpathSync(resolve(gitDir, worktree)), gitDir, commonDir };
  return { topLevel: isTrue(config.get('core.bare')) ? null : foundIn, gitDir, commonDir };
}

// A linked worktree is never bare even when the repository it belongs to is, unless it has its own configuration.
function layoutConfig(gitDir: string, commonDir: string): Map<string, string> {
  const shared = parseConfigFile(tryRead(join(commonDir, 'config')) ?? '');
  if (isTrue(shared.get('extensions.worktreeconfig'))) {
    return new Map([...shared, ...parseConfigFile(tryRead(join(gitDir, 'config.worktree')) ?? '')]);
  }
  return gitDir === commonDir ? shared : new Map();
}

function tryRead(path: string): string | null {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ? readFileSync(path, 'utf8') : null;
}

function tryRealpath(path: string): string | null {
  return statSync(path, { throwIfNoEntry: false }) ? realpathSync(path) : null;
}

function canEnter(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
