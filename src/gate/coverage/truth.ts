import type { Account } from '../../core/writeback/account.ts';
import type { Oid } from '../../git/objects/store.ts';
import type { Directories, GitAccess } from '../../repository/parts.ts';
import { hasItsIds } from './candidates.ts';
import { openComparer } from './comparer.ts';
import { readWork } from './thought-work.ts';
import { readWholes } from './whole-step.ts';

/** What a thought says of its commit. */
export type Claim = 'commit_patch_ids' | 'patch_id' | 'files_changed';

/** A thought that lists so many commits may have left some out: where it began is not to be told from them. */
const ALL_LISTED = 1000;

/**
 * What a thought says of its commit, which is here, and git says otherwise; null where it tells the truth. `tips`: of the protected
 * branches, as far as they are known.
 */
export async function findUntruth(
  repository: GitAccess & Directories,
  account: Account,
  tips: readonly Oid[],
): Promise<Claim | null> {
  const { commit, wholePatchId, commitPatchIds, files } = account;
  if (wholePatchId === null && commitPatchIds.size === 0 && files.length === 0) return null;
  const comparer = openComparer(repository);
  try {
    const work = await readWork(repository, { comparer, knownCommits: [] }, account);
    if (!hasItsIds({ isHere: true, ...work }, account)) return 'commit_patch_ids';
    const shared = (await Promise.all(tips.map((tip) => comparer.mergeBases(commit, tip)))).flat();
    const anywhere = commitPatchIds.size > 0 ? [] : work.all.flatMap(({ parents }) => parents);
    const read = await readWholes(comparer, commit, { ...work, shared: [...shared, ...anywhere] });
    const wholes = read.map(({ change }) => change);
    const same = wholes.filter(({ patchId }) => patchId === wholePatchId);
    if (same.length === 0) return commitPatchIds.size < ALL_LISTED ? 'patch_id' : null;
    return same.some(({ paths }) => isSameList(paths, files)) ? null : 'files_changed';
  } finally {
    await comparer.close();
  }
}

function isSameList(paths: readonly string[], others: readonly string[]): boolean {
  return JSON.stringify(paths.toSorted()) === JSON.stringify(others.toSorted());
}
