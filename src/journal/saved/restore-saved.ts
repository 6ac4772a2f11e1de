import { readdirSync } from 'node:fs';
import { HandoffError } from '../../core/error.ts';
import { ROOT } from '../../core/paths.ts';
import { listSome } from '../../core/text/list-some.ts';
import { kindAt, type Standing, withStanding } from '../../git/index/hidden-index.ts';
import { pathBytes } from '../../git/index/path-bytes.ts';
import type { Oid } from '../../git/objects/store.ts';
import { type Git, readGit } from '../../git/run.ts';
import type { LeafChange } from '../../git/trees/tree-graft.ts';
import type { Directories, GitAccess, TimeAndHost } from '../../repository/parts.ts';
import { requireWorkTree } from '../../repository/repository.ts';
import { foldersOf, isSame, mergeSaved } from './saved-merge.ts';
import { shownPath } from './saved-name.ts';

export interface Restored {
  /** All that was saved. */
  paths: string[];
  /** False where all of it was there already. */
  applied: boolean;
  warnings: { kind: string; message: string }[];
}

/**
 * Brings what was saved back into the work tree, on whatever HEAD is now. The index stays as it is. Every check comes before the first
 * file is written: whatever is neither what HEAD has nor what was saved is in the way.
 */
export async function restoreSaved(repository: GitAccess & Directories & TimeAndHost, commit: Oid): Promise<Restored> {
  const { store, git, dirs, host } = repository;
  const topLevel = requireWorkTree(repository);
  const saved = await store.readCommit(commit);
  const base = saved.parents[0] === undefined ? null : (await store.readCommit(saved.parents[0])).tree;
  const all = [...(await store.compareLeaves(base, saved.tree))].filter(([path]) => !path.startsWith(`${ROOT}/`));
  const submodules = all.filter(([, change]) => isSubmodule(change)).map(([path]) => shownPath(path));
  const changes = new Map(all.filter(([, change]) => !isSubmodule(change)));
  const headTree = (await store.resolve('HEAD')) === null ? null : (await store.readCommit('HEAD')).tree;
  const merged = await mergeSaved(repository, { commit, base, changes }, headTree);
  const repositories = [...merged.keys()].filter((path) => kindAt(topLevel, path) === 'repository');
  if (repositories.length > 0) throw wouldOverwrite(repositories.map(shownPath), commit);
  const checkout = { git, dirs, processes: host, topLevel };
  const applied = await withStanding(checkout, [...merged.keys()], async (standing, hidden) => {
    const missing = new Map([...merged].filter(([path, { after }]) => !isThere(standing, path, after)));
    assertNothingInTheWay(topLevel, standing, missing, commit);
    if (missing.size === 0) return false;
    const leaves = new Map([...merged].map(([path, { after }]) => [path, after]));
    await checkOut(hidden, await store.graftTree(headTree, leaves), toCheckOut(missing));
    return true;
  });
  return { paths: all.map(([path]) => shownPath(path)), applied, warnings: submoduleWarnings(submodules) };
}

function isSubmodule({ before, after }: LeafChange): boolean {
  return [before, after].some((leaf) => leaf?.mode === '160000');
}

function isThere(standing: Standing, path: string, wanted: LeafChange['after']): boolean {
  const found = standing.get(path)!;
  return found !== 'other' && isSame(found, wanted);
}

function assertNothingInTheWay(
  topLevel: string,
  standing: Standing,
  missing: ReadonlyMap<string, LeafChange>,
  commit: Oid,
): void {
  const inTheWay = new Set<string>();
  for (const [path, { before, after }] of missing) {
    if (!isThere(standing, path, before)) inTheWay.add(path);
    if (after === null) continue;
    for (const each of around(topLevel, path)) if (missing.get(each)?.after !== null) inTheWay.add(each);
  }
  if (inTheWay.size > 0) throw wouldOverwrite([...inTheWay].map(shownPath), commit);
}

/** What has to go before a file can be there: a file where one of its folders is to be, or all that is in a folder of its name. */
function around(topLevel: string, path: string): string[] {
  const isFile = (at: string): boolean => ['file', 'link', 'other'].includes(kindAt(topLevel, at));
  const kind = kindAt(topLevel, path);
  if (kind === 'below a file') return foldersOf(path).filter(isFile).slice(0, 1);
  return kind === 'folder' ? filesBelow(topLevel, path) : [];
}

function filesBelow(topLevel: string, folder: string): string[] {
  return readdirSync(pathBytes(topLevel, folder), { encoding: 'buffer', withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${Buffer.from(entry.name).toString('latin1')}`;
    return entry.isDirectory() ? filesBelow(topLevel, path) : [path];
  });
}

/** A file takes the place of a folder with all that is in it, and git would not know the names of that any more. */
function toCheckOut(missing: ReadonlyMap<string, LeafChange>): string[] {
  const isReplaced = (path: string): boolean => foldersOf(path).some((folder) => missing.get(folder)?.after);
  return [...missing.keys()].filter((path) => !isReplaced(path));
}

/** git writes the files, with all its filters, modes and links; what the tree has not, it removes. */
async function checkOut(hidden: Git, tree: Oid, paths: readonly string[]): Promise<void> {
  const args = ['restore', `--source=${tree}`, '--worktree', '--ignore-skip-worktree-bits'];
  const input = Buffer.from(paths.map((path) => `${path}\0`).join(''), 'latin1');
  await readGit(hidden, [...args, '--pathspec-from-file=-', '--pathspec-file-nul'], { input });
}

function wouldOverwrite(paths: readonly string[], commit: Oid): HandoffError {
  return new HandoffError(
    'would_overwrite',
    `Of what was saved, this is in the way here: ${paths.join(', ')}. Nothing was touched.`,
    {
      hint: `Commit yours, or put it aside: git stash push --include-untracked. Then restore again. What was saved: git show ${commit}`,
      data: { paths, commit },
    },
  );
}

function submoduleWarnings(paths: readonly string[]): Restored['warnings'] {
  if (paths.length === 0) return [];
  const message = `Submodules are left as they are: ${listSome(paths, 5)}. The saved commit says at which commit each of them was.`;
  return [{ kind: 'submodule', message }];
}
