import { lstatSync, readFileSync, statSync } from 'node:fs';
import { devNull, platform } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { hasCode } from '../core/error-code.ts';
import { type GitConfig, toConfig } from './config.ts';
import type { RepositoryDirs } from './discover.ts';
import { parsePlainConfig } from './plain-config.ts';
import type { Git } from './run.ts';
import { isTold } from './trace-config.ts';

/** Bytes; nobody writes so much by hand. */
const LARGEST = 1 << 20;

/**
 * What git would tell of its configuration, read from the files themselves. Null wherever git could see it otherwise, or would
 * refuse the repository: then git is asked. `owner`: whose files git takes for ours. `system`: the file for the whole machine.
 */
export function readOwnConfig(
  git: Git,
  dirs: RepositoryDirs,
  owner: number | null,
  system: string | null,
): GitConfig | null {
  if (platform() !== 'linux' || git.set !== undefined || owner === null) return null;
  const ofUser = userFiles(git.env);
  if (ofUser === null || !isOwn(dirs, owner)) return null;
  try {
    const files = [...(system === null ? [] : [system]), ...ofUser].map(readEntries);
    const local = readEntries(join(dirs.commonDir, 'config'));
    const all = [...files, local];
    return isOrdinary(local) && all.every((each) => each !== null)
      ? toConfig(all.flat().filter(([key]) => isTold(key)))
      : null;
  } catch (error) {
    if (!hasCode(error)) throw error;
    return null;
  }
}

/** The user's own files; null where the environment names them in a way that is left to git. */
function userFiles({ GIT_CONFIG_GLOBAL, XDG_CONFIG_HOME, HOME }: NodeJS.ProcessEnv): string[] | null {
  if (GIT_CONFIG_GLOBAL !== undefined) return isAbsolute(GIT_CONFIG_GLOBAL) ? [GIT_CONFIG_GLOBAL] : null;
  if (!HOME || !isAbsolute(HOME)) return null;
  if (XDG_CONFIG_HOME !== undefined && !isAbsolute(XDG_CONFIG_HOME)) return null;
  return [join(XDG_CONFIG_HOME ?? join(HOME, '.config'), 'git/config'), join(HOME, '.gitconfig')];
}

/** Git refuses a repository of another owner unless safe.directory names it: that is left to git. */
function isOwn({ topLevel, gitDir }: RepositoryDirs, owner: number): boolean {
  if (topLevel === null) return false;
  const asked = [topLevel, join(topLevel, '.git'), gitDir];
  return asked.every((path) => lstatSync(path, { throwIfNoEntry: false })?.uid === owner);
}

function readEntries(path: string): [string, string][] | null {
  if (path === devNull) return [];
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return [];
  return stat.isFile() && stat.size <= LARGEST ? parsePlainConfig(readFileSync(path, 'utf8')) : null;
}

/** A repository of another format, or with its work tree elsewhere, is left to git. */
function isOrdinary(local: readonly [string, string][] | null): boolean {
  return (local ?? []).every(
    ([key, value]) =>
      !key.startsWith('extensions.') &&
      key !== 'core.worktree' &&
      (key !== 'core.repositoryformatversion' || value === '0'),
  );
}
