import { copyFileSync, existsSync, lstatSync, readFileSync, rmSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { objectFormat } from '../objects/loose-object.ts';
import { ownName } from '../own-file.ts';
import { type Git, readGit } from '../run.ts';
import type { Leaf } from '../trees/tree-graft.ts';
import { lookUp } from './index-lookup.ts';
import type { Checkout } from './locked-index.ts';
import { pathBytes } from './path-bytes.ts';

/** What stands in the work tree at each path, as git would commit it: null for nothing, `other` for what it could not. */
export type Standing = ReadonlyMap<string, Leaf | null | 'other'>;

/**
 * Has git take these paths into a copy of the index, with all its filters, and tells what they are. The index itself is not touched;
 * `use` may go on with the git that sees the copy. Paths are bytes, one a character.
 */
export async function withStanding<T>(
  checkout: Checkout & { topLevel: string },
  paths: readonly string[],
  use: (standing: Standing, hidden: Git) => Promise<T>,
): Promise<T> {
  const { git, dirs, processes, topLevel } = checkout;
  const copy = ownName(join(dirs.gitDir, 'index'), processes);
  const hidden = { ...git, set: { ...git.set, GIT_INDEX_FILE: copy } };
  try {
    copyIndexTo(copy, join(dirs.gitDir, 'index'));
    const kinds = new Map(paths.map((path) => [path, kindAt(topLevel, path)]));
    const told = paths.filter((path) => TOLD.has(kinds.get(path)!));
    const input = Buffer.from(told.map((path) => `${path}\0`).join(''), 'latin1');
    await readGit(hidden, ADD, { input, config: CONFIG });
    const width = objectFormat(dirs.commonDir) === 'sha256' ? 32 : 20;
    const index = existsSync(copy) ? readFileSync(copy) : Buffer.alloc(12); // git writes none that would be empty
    const standing = new Map<string, Leaf | null | 'other'>(lookUp(index, told, width));
    for (const path of paths) if (!standing.has(path)) standing.set(path, kinds.get(path) === 'other' ? 'other' : null);
    return await use(standing, hidden);
  } finally {
    for (const path of [copy, `${copy}.lock`]) rmSync(path, { force: true });
  }
}

/** Whatever form the index has, the copy is whole, and of a version that is simple to read. */
const ADD = [
  ...['update-index', '--index-version', '2', '--ignore-skip-worktree-entries', '--add', '--remove', '--replace'],
  ...['-z', '--stdin'],
];
const CONFIG = {
  'core.safecrlf': 'false',
  'core.splitIndex': 'false',
  'core.untrackedCache': 'keep',
  'index.sparse': 'false',
};

/**
 * Whatever was changed in the second in which an index was written git compares again. A copy is younger: unless it has that time, a
 * change of that second would be taken for none.
 */
function copyIndexTo(copy: string, index: string): void {
  if (!existsSync(index)) return;
  const { mtimeMs } = statSync(index);
  copyFileSync(index, copy);
  const second = Math.floor(mtimeMs / 1000);
  utimesSync(copy, second, second);
}

type Kind = 'file' | 'link' | 'folder' | 'repository' | 'nothing' | 'below a file' | 'other';

/** At anything else `git update-index` would stop. */
const TOLD: ReadonlySet<Kind> = new Set(['file', 'link', 'repository', 'nothing']);

/** What the file system has at a path. Below a link nothing is ours. */
export function kindAt(topLevel: string, path: string): Kind {
  const names = path.split('/');
  for (let depth = 1; depth < names.length; depth++) {
    const parent = lstat(topLevel, names.slice(0, depth).join('/'));
    if (!parent) return 'nothing';
    if (!parent.isDirectory()) return 'below a file';
  }
  const found = lstat(topLevel, path);
  if (!found) return 'nothing';
  if (found.isFile()) return 'file';
  if (found.isSymbolicLink()) return 'link';
  if (!found.isDirectory()) return 'other';
  return lstat(topLevel, `${path}/.git`) ? 'repository' : 'folder';
}

function lstat(topLevel: string, path: string) {
  return lstatSync(pathBytes(topLevel, path), { throwIfNoEntry: false });
}
