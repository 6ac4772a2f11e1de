import { resolve } from 'node:path';
import { HandoffError } from '../core/error.ts';
import { discoverRepository, type RepositoryDirs } from '../git/discover.ts';
import type { Git } from '../git/run.ts';
import { openFound, type Repository, type RepositoryOptions } from '../repository/repository.ts';

/**
 * The repository that git means when it runs a hook. Mostly that is where the hook was started; after
 * `git --git-dir=X --work-tree=Y` only GIT_DIR knows.
 */
export function openHookRepository(directory: string, options: RepositoryOptions): Repository {
  const { env } = options;
  const set = objectPlaces(directory, env);
  const around = tryDiscover(directory, env);
  const named = env.GIT_DIR ? discoverRepository(resolve(directory, env.GIT_DIR), env) : around;
  if (!named) throw new HandoffError('not_a_repository', `Not in a git repository: ${directory}`);
  const dirs = around?.gitDir === named.gitDir ? around : { ...named, topLevel: workTree(directory, named, env) };
  const git: Git = { dir: dirs === around ? (dirs.topLevel ?? dirs.gitDir) : dirs.gitDir, env, set };
  return openFound(dirs, git, options);
}

function tryDiscover(directory: string, env: NodeJS.ProcessEnv): RepositoryDirs | null {
  try {
    return discoverRepository(directory, env);
  } catch (error) {
    if (error instanceof HandoffError && error.code === 'not_a_repository') return null;
    throw error;
  }
}

/** Git starts a hook at the top of the work tree, or in the git directory where there is none. */
function workTree(directory: string, { gitDir }: RepositoryDirs, env: NodeJS.ProcessEnv): string | null {
  if (env.GIT_WORK_TREE) return resolve(directory, env.GIT_WORK_TREE);
  return resolve(directory) === gitDir ? null : resolve(directory);
}

/** What is pushed waits in a quarantine, and only these say where. */
function objectPlaces(directory: string, env: NodeJS.ProcessEnv): Record<string, string> {
  const { GIT_OBJECT_DIRECTORY, GIT_ALTERNATE_OBJECT_DIRECTORIES, GIT_QUARANTINE_PATH } = env;
  return {
    ...(GIT_OBJECT_DIRECTORY ? { GIT_OBJECT_DIRECTORY: resolve(directory, GIT_OBJECT_DIRECTORY) } : {}),
    ...(GIT_ALTERNATE_OBJECT_DIRECTORIES ? { GIT_ALTERNATE_OBJECT_DIRECTORIES } : {}),
    ...(GIT_QUARANTINE_PATH ? { GIT_QUARANTINE_PATH } : {}),
  };
}
