import { realpathSync } from 'node:fs';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { HandoffError } from '../../core/error.ts';
import { ifThere } from '../../disk/if-there.ts';
import { readGit } from '../../git/run.ts';
import type { Directories, GitAccess, Settings } from '../parts.ts';

/** Where git, or husky for it, looks for the hooks of a repository. */
export interface HookPlace {
  dir: string;
  /** Not in the repository: a directory for all of somebody's repositories. */
  outside: boolean;
  at(name: string): HookFile;
}

export interface HookFile {
  path: string;
  /** In the work tree, where others get it too: nothing of this machine may be in it. */
  shared: boolean;
  /** Run as a shell script, whatever its first line and mode say. */
  sourced: boolean;
}

export async function findHookPlace(repository: GitAccess & Directories & Settings): Promise<HookPlace> {
  const { dirs } = repository;
  const found = await hooksFolder(repository);
  const { commonDir, gitDir, topLevel } = dirs;
  const isIn = (roots: (string | null)[]) => roots.some((root) => root !== null && isBelow(root, found));
  const inGit = isIn([commonDir, gitDir]);
  const inTree = !inGit && isIn([topLevel, basename(commonDir) === '.git' ? dirname(commonDir) : null]);
  if (basename(found) === '_' && basename(dirname(found)) === '.husky') return huskyPlace(dirname(found), inTree);
  const at = (name: string) => ({ path: join(found, name), shared: inTree, sourced: false });
  return { dir: found, outside: !inGit && !inTree, at };
}

/** A path that begins with another character git has to spell out. */
async function hooksFolder({ git, dirs, config }: GitAccess & Directories & Settings): Promise<string> {
  const configured = (await config()).get('core.hookspath');
  if (configured === undefined) return join(dirs.commonDir, 'hooks');
  if (/^[\w./]/.test(configured)) return resolve(git.dir, configured);
  const out = await readGit(git, ['rev-parse', '--git-path', 'hooks']);
  return resolve(git.dir, out.toString('utf8').replace(/\n$/, ''));
}

/** What husky passes on. The others git runs from `_`, which is not committed. */
const HUSKY = ['pre-commit', 'prepare-commit-msg', 'pre-merge-commit', 'pre-push'];

/** husky fills `_` anew, and runs the file of the same name above it. */
function huskyPlace(dir: string, inTree: boolean): HookPlace {
  const at = (name: string): HookFile =>
    HUSKY.includes(name)
      ? { path: join(dir, name), shared: inTree, sourced: true }
      : { path: join(dir, '_', name), shared: false, sourced: false };
  return { dir, outside: !inTree, at };
}

export function assertInside({ dir, outside }: HookPlace): void {
  if (!outside) return;
  throw new HandoffError(
    'usage',
    `core.hooksPath leads out of this repository, to ${dir}: other repositories use it.`,
    {
      hint: 'Give this one a directory of its own (git config --local core.hooksPath .git/hooks), or install there for all of them: git handoff hooks install --force',
      data: { hooks_path: dir },
    },
  );
}

/** Compares real paths. For a path that does not exist yet, the nearest directory above it is resolved. */
function isBelow(root: string, path: string): boolean {
  const real = realPlace(path);
  return real === root || real.startsWith(root + sep);
}

function realPlace(path: string): string {
  const real = ifThere(() => realpathSync(path));
  return real ?? join(realPlace(dirname(path)), basename(path));
}
