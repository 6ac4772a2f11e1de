import type { Account } from '../../core/writeback/account.ts';
import type { RangeCommit } from '../../git/refs/range.ts';
import { type AnchorCase, type Candidates, eachPatchId, type Found, findAsync, hasItsIds } from './candidates.ts';
import type { SingleCommit } from './repeats.ts';

/** One commit that does all of it: a squash. The same patch may be another change, at a place that looks alike. */
export async function wholeByPatch({ alike, repeats, workOf }: Candidates, account: Account): Promise<Found | null> {
  const same = alike.get(account.wholePatchId ?? '') ?? [];
  if (same.length === 0 || !(await (await workOf(account)).isWhole())) return null;
  const commit = await findAsync(same, (each) => repeats.fitsOnce(each));
  return commit ? { commits: new Map([[commit.oid, null]]) } : null;
}

/** A commit for each of its commits: a rebase, or a cherry-pick of all of them. */
export async function eachByPatch(input: Candidates, account: Account): Promise<Found | null> {
  const ids = eachPatchId(account);
  if (ids.length === 0 || !ids.every((id) => input.alike.has(id))) return null;
  const work = await input.workOf(account);
  if (!hasItsIds(work, account)) return null;
  const commits: Found['commits'] = new Map();
  for (const patchId of ids) {
    const same = await findSame(input, commits, patchId, work.commits.get(patchId) ?? []);
    if (!same) return null;
    commits.set(same.oid, null);
  }
  return { commits };
}

/** The first that has a patch id, and is not taken yet. */
export async function findSame(
  input: Candidates,
  taken: Found['commits'],
  patchId: string,
  originals: readonly SingleCommit[],
): Promise<RangeCommit | undefined> {
  const alike = (input.alike.get(patchId) ?? []).filter(({ oid }) => !taken.has(oid));
  return findAsync(alike, (commit) => fitsAsPatch(input, commit, originals));
}

/** The same patch may be another change, at a place that looks alike: where that can be, git tells. */
async function fitsAsPatch(
  { repeats }: AnchorCase,
  commit: SingleCommit,
  originals: readonly SingleCommit[],
): Promise<boolean> {
  const all = await Promise.all([commit, ...originals].map((each) => repeats.fitsOnce(each)));
  if (all.every(Boolean)) return true;
  return (await findAsync(originals, (original) => repeats.isPickOf(commit, original))) !== undefined;
}
