import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { ifThere } from '../disk/if-there.ts';
import type { RepositoryDirs } from '../git/discover.ts';

/** The work tree of this repository in which a branch is checked out; null for none. Reads files, starts nothing. */
export function workTreeOf(dirs: RepositoryDirs, branch: string): string | null {
  return workTreesOf(dirs, branch).find(isThere) ?? null;
}

/** Whether git takes a branch for checked out in a work tree whose folder is gone. */
export function isInLostWorkTree(dirs: RepositoryDirs, branch: string): boolean {
  const paths = workTreesOf(dirs, branch);
  return paths.length > 0 && !paths.some(isThere);
}

/** Where a work tree is that is named as sessions name theirs: `.`, or `worktrees/<name>`. Null where it is gone. */
export function workTreeCalled({ commonDir }: RepositoryDirs, name: string): string | null {
  const first = basename(commonDir) === '.git' ? dirname(commonDir) : null;
  const path = name === '.' ? first : topOf(join(commonDir, name));
  return path !== null && isThere(path) ? path : null;
}

/** A folder is a work tree as long as it says whose it is. */
function isThere(path: string): boolean {
  return existsSync(join(path, '.git'));
}

function workTreesOf({ commonDir }: RepositoryDirs, branch: string): string[] {
  const isOn = (gitDir: string): boolean =>
    ifThere(() => readFileSync(join(gitDir, 'HEAD'), 'utf8')) === `ref: refs/heads/${branch}\n`;
  const first = basename(commonDir) === '.git' && isOn(commonDir) ? [dirname(commonDir)] : [];
  const linked = join(commonDir, 'worktrees');
  const names = (ifThere(() => readdirSync(linked)) ?? []).map((name) => join(linked, name)).filter(isOn);
  return [...first, ...names.flatMap((gitDir) => topOf(gitDir) ?? [])];
}

/** git writes the path from there where it was asked for relative ones. */
function topOf(gitDir: string): string | null {
  const place = ifThere(() => readFileSync(join(gitDir, 'gitdir'), 'utf8'));
  return place && resolve(gitDir, dirname(place.trimEnd()));
}
