import type { Account } from '../core/coverage.ts';
import type { Change } from '../git/changes.ts';
import { ancestorsIn, type Range, type RangeCommit } from '../git/range.ts';
import type { Oid } from '../git/store.ts';

/** Which thought covers which commits of a change. */
export type Covers<A = Account> = Map<A, Set<Oid>>;

/** SPEC §10.4: a thought covers the commit that it names, and what of the change that commit descends from. */
export function coverByAncestry<A extends { commit: Oid }>(range: Range, accounts: readonly A[]): Covers<A> {
  const commits = new Map<Oid, RangeCommit>(range.commits.map((commit) => [commit.oid, commit]));
  const covers: Covers<A> = new Map();
  const known = new Map<Oid, Set<Oid>>();
  for (const account of accounts) {
    const found = known.get(account.commit) ?? ancestorsIn(commits, account.commit);
    known.set(account.commit, found);
    if (found.size > 0) covers.set(account, new Set(found));
  }
  return covers;
}

export function isCovered(covers: Covers<unknown>, oid: Oid): boolean {
  return [...covers.values()].some((commits) => commits.has(oid));
}

/**
 * After squash, rebase or cherry-pick the commit is another, and what it does the same. It is done once, and not on top of what
 * the thought names: the same patch once more is a change of its own, somewhere else in the file.
 */
export function coverByPatch(
  range: Range,
  byCommit: ReadonlyMap<Oid, Change>,
  accounts: readonly Account[],
  covers: Covers,
): void {
  const oldestFirst = range.commits.filter(({ oid }) => byCommit.get(oid)?.patchId).reverse();
  for (const account of accounts.filter(({ patchIds }) => patchIds.size > 0)) {
    const fitting = oldestFirst.filter(({ oid }) => account.patchIds.has(byCommit.get(oid)!.patchId!));
    if (fitting.length === 0) continue;
    const later = descendantsIn(range, account.commit);
    const done = new Set<string>();
    const covered = covers.get(account) ?? new Set<Oid>();
    for (const { oid } of fitting.filter((commit) => !later.has(commit.oid) && !covered.has(commit.oid))) {
      const patchId = byCommit.get(oid)!.patchId!;
      if (!done.has(patchId)) covered.add(oid);
      done.add(patchId);
    }
    if (covered.size > 0) covers.set(account, covered);
  }
}

/** The commits of a range that were made on top of one of them. */
function descendantsIn({ commits }: Range, from: Oid): Set<Oid> {
  const found = new Set<Oid>();
  for (const { oid, parents } of [...commits].reverse())
    if (parents.some((parent) => parent === from || found.has(parent))) found.add(oid);
  return found;
}
