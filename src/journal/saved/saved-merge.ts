import { delimiter, join } from 'node:path';
import { HandoffError } from '../../core/error.ts';
import { quoteWord } from '../../core/text/quote.ts';
import { openMerger } from '../../git/changes/remerge.ts';
import { openWorkshop } from '../../git/changes/workshop.ts';
import type { Oid } from '../../git/objects/store.ts';
import type { Leaf, LeafChange } from '../../git/trees/tree-graft.ts';
import type { Directories, GitAccess } from '../../repository/parts.ts';
import { shownPath } from './saved-name.ts';

/** What was saved, what it was made from, and the changes between them that may be brought back. */
export interface SavedWork {
  commit: Oid;
  base: Oid | null;
  changes: ReadonlyMap<string, LeafChange>;
}

/**
 * What HEAD has, and would have with the saved changes in it, at every path that they are about. A path that only one of them changed needs no
 * git; else it is merged as `git cherry-pick` would, and any conflict is an error.
 */
export async function mergeSaved(
  repository: GitAccess & Directories,
  saved: SavedWork,
  head: Oid | null,
): Promise<Map<string, LeafChange>> {
  const ours = await repository.store.compareLeaves(saved.base, head);
  const merged = new Map<string, LeafChange>();
  const clashing = clashes(saved.changes, ours);
  for (const [path, { before, after }] of saved.changes) {
    const here = ours.has(path) ? ours.get(path)!.after : before;
    // where HEAD has it already, the work tree has to have it too
    if (isSame(here, after) || isSame(here, before)) merged.set(path, { before: here, after });
    else clashing.push(path);
  }
  if (clashing.length === 0) return merged;
  return new Map([...merged, ...(await mergeByGit(repository, saved, head, clashing))]);
}

export function isSame(a: Leaf | null, b: Leaf | null): boolean {
  return a?.oid === b?.oid && a?.mode === b?.mode;
}

/** Where one of them has a file, and the other one something below that name. */
function clashes(saved: SavedWork['changes'], ours: SavedWork['changes']): string[] {
  const [theirs, here] = [saved, ours].map((changes) =>
    [...changes].filter(([, { after }]) => after).map(([path]) => path),
  );
  const [foldersThere, foldersHere] = [theirs!, here!].map((paths) => new Set(paths.flatMap(foldersOf)));
  return [...theirs!.filter((path) => foldersHere!.has(path)), ...here!.filter((path) => foldersThere!.has(path))];
}

/** `a` and `a/b` of `a/b/c`. */
export function foldersOf(path: string): string[] {
  const names = path.split('/').slice(0, -1);
  return names.map((_, last) => names.slice(0, last + 1).join('/'));
}

async function mergeByGit(
  { git, dirs, store }: GitAccess & Directories,
  { commit, base, changes }: SavedWork,
  head: Oid | null,
  clashing: readonly string[],
): Promise<Map<string, LeafChange>> {
  const workshop = openWorkshop(git, dirs.commonDir);
  try {
    const { GIT_OBJECT_DIRECTORY: made = '', GIT_ALTERNATE_OBJECT_DIRECTORIES: theirs = '' } = workshop.git.set ?? {};
    // what is merged has to be there when it is checked out; only the commits that say what to merge are not
    const set = {
      ...workshop.git.set,
      GIT_OBJECT_DIRECTORY: join(dirs.commonDir, 'objects'),
      GIT_ALTERNATE_OBJECT_DIRECTORIES: [theirs, JSON.stringify(made)].join(delimiter),
    };
    const merger = openMerger({ ...workshop, git: { ...workshop.git, set } });
    const [before, onto] = [await store.graftTree(base, new Map()), await store.graftTree(head, new Map())];
    const leaves = new Map([...changes].map(([path, { after }]) => [path, after]));
    const [merged] = await merger.pick([{ before, after: await store.graftTree(base, leaves), onto }]);
    if (merged?.conflicts.length === 0) return await store.compareLeaves(onto, merged.tree);
    throw conflict(commit, merged?.conflicts.map(({ path }) => path) ?? clashing.map(shownPath));
  } finally {
    workshop.close();
  }
}

function conflict(commit: Oid, paths: readonly string[]): HandoffError {
  return new HandoffError(
    'would_overwrite',
    `HEAD has changed what was saved, and git cannot merge the two: ${paths.join(', ')}. Nothing was touched.`,
    {
      hint: `Look at it: git show ${commit}. To merge it by hand: git cherry-pick --no-commit ${quoteWord(commit)}`,
      data: { paths, commit },
    },
  );
}
