import { openCache } from '../audit/tree/cache.ts';
import { ROOT } from '../core/paths.ts';
import { type Comparison, readChanges } from '../git/changes/changes.ts';
import type { Oid } from '../git/objects/store.ts';
import type { RangeCommit } from '../git/refs/range.ts';
import type { GitAccess, Messages, StateDirectory } from '../repository/parts.ts';
import { cachePath } from '../repository/repository.ts';

/** Patch ids of a commit, compared with its first parent. Null where there is nothing to compare. */
interface CommitPatches {
  /** The patch id of what the commit changes. */
  forward: string | null;
  /** The patch id of the same change read backwards: of the commit that this one reverts. Null for a merge, which only brings what others did. */
  backward: string | null;
}

const BATCH = 500;
const KEPT = 200_000;

/** What a commit changes never changes itself: each is compared once, as long as the cache lives. */
export async function readPatches(
  repository: GitAccess & StateDirectory & Messages,
  commits: readonly RangeCommit[],
): Promise<Map<Oid, CommitPatches>> {
  const cache = repository.build === null ? null : openCache<CommitPatches>(cachePath(repository, 'patch-ids'), KEPT);
  const found = new Map<Oid, CommitPatches>();
  const unknown: RangeCommit[] = [];
  for (const commit of commits) {
    const cached = cache?.get(commit.oid);
    if (cached) found.set(commit.oid, cached);
    else unknown.push(commit);
  }
  for (let at = 0; at < unknown.length; at += BATCH) {
    const batch = unknown.slice(at, at + BATCH);
    for (const [oid, patches] of await comparePatches(repository, batch)) {
      found.set(oid, patches);
      cache?.set(oid, patches);
    }
    repository.progress(found.size);
  }
  cache?.save();
  return found;
}

async function comparePatches(repository: GitAccess, commits: readonly RangeCommit[]): Promise<[Oid, CommitPatches][]> {
  const trees = await readTrees(
    repository,
    commits.flatMap(({ oid, parents }) => [oid, ...parents.slice(0, 1)]),
  );
  const comparisons = commits.map((commit) => comparisonsOf(commit, trees));
  const changes = await readChanges(repository.git, comparisons.flat(), ROOT);
  let next = 0;
  return commits.map(({ oid }, at) => {
    const forward = changes[next++]!.patchId;
    const backward = comparisons[at]!.length > 1 ? changes[next++]!.patchId : null;
    return [oid, { forward, backward }];
  });
}

function comparisonsOf({ oid, parents }: RangeCommit, trees: ReadonlyMap<Oid, Oid>): Comparison[] {
  const [first] = parents;
  const after = trees.get(oid)!;
  if (first === undefined) return [{ before: null, after }];
  const before = trees.get(first)!;
  return parents.length > 1
    ? [{ before, after }]
    : [
        { before, after },
        { before: after, after: before },
      ];
}

async function readTrees({ store }: GitAccess, oids: readonly Oid[]): Promise<Map<Oid, Oid>> {
  const commits = await Promise.all([...new Set(oids)].map((oid) => store.readCommit(oid)));
  return new Map(commits.map(({ oid, tree }) => [oid, tree]));
}
