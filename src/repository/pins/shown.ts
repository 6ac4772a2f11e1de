import { find } from '../../audit/source/source.ts';
import { openTree } from '../../audit/source/tree-source.ts';
import type { Oid } from '../../git/objects/store.ts';
import type { Directories, GitAccess, Settings } from '../parts.ts';
import { tipsThatHold } from '../tracking.ts';

/** The commit in which a protected branch had a file as a tree has it; null where none has. */
export type FindShown = (path: string) => Promise<Oid | null>;

/**
 * SPEC §5.9: a policy that its maintainer threw away before anybody else had it is no newest one, and neither is a commit that
 * somebody pushed to a free branch. So what a tree shows counts as far as a protected branch has it too.
 */
export async function findShownIn({ repository, refs, commit }: Asked): Promise<FindShown> {
  const { store } = repository;
  const shared = await sharedCommits({ repository, refs, commit });
  if (shared.includes(commit)) return async () => commit;
  const tree = await openTree(store, commit);
  const trees = await Promise.all(shared.map(async (oid) => ({ oid, tree: await openTree(store, oid) })));
  return async (path) => {
    const entry = await find(tree, path);
    for (const other of trees) if (entry && (await find(other.tree, path))?.oid === entry.oid) return other.oid;
    return null;
  };
}

interface Asked {
  repository: GitAccess & Directories & Settings;
  /** The protected branches. */
  refs: readonly string[];
  commit: Oid;
}

/** The newest commits that a commit and the protected branches have in common. */
async function sharedCommits({ repository, refs, commit }: Asked): Promise<Oid[]> {
  const { store } = repository;
  const tips = (await tipsThatHold(repository, refs)).map(({ oid }) => oid);
  if (tips.includes(commit)) return [commit];
  if (await store.isShallow()) return []; // what is in common cannot be told there
  return (await Promise.all(tips.map((tip) => store.mergeBases(commit, tip)))).flat();
}
