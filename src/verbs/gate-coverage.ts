import type { Account } from '../core/coverage.ts';
import type { Change } from '../git/changes.ts';
import { ancestorsIn, type Range, type RangeCommit } from '../git/range.ts';
import type { Oid } from '../git/store.ts';

/** Which thought covers which commits of a change. */
export type Covers = Map<Account, Set<Oid>>;

/** SPEC §10.4: a thought covers the commit that it names, and what of the change that commit descends from. */
export function coverByAncestry(range: Range, accounts: readonly Account[]): Covers {
  const commits = byOid(range);
  const covers: Covers = new Map();
  for (const account of accounts) {
    const found = ancestorsIn(commits, account.commit);
    if (found.size > 0) covers.set(account, found);
  }
  return covers;
}

function byOid({ commits }: Range): Map<Oid, RangeCommit> {
  return new Map(commits.map((commit) => [commit.oid, commit]));
}

export function isCovered(covers: Covers, oid: Oid): boolean {
  return [...covers.values()].some((commits) => commits.has(oid));
}

/**
 * After squash, rebase or cherry-pick the commit is another, and what it does the same. It is done once: the same patch on top of
 * itself is a change of its own, somewhere else in the file.
 */
export function coverByPatch(
  range: Range,
  byCommit: ReadonlyMap<Oid, Change>,
  accounts: readonly Account[],
  covers: Covers,
): void {
  const commits = byOid(range);
  for (const { oid } of [...range.commits].reverse()) {
    const patchId = byCommit.get(oid)?.patchId;
    const fitting = patchId ? accounts.filter(({ patchIds }) => patchIds.has(patchId)) : [];
    if (fitting.length === 0) continue;
    const ancestors = ancestorsIn(commits, oid);
    const isAgain = (done: Oid): boolean =>
      done !== oid && byCommit.get(done)?.patchId === patchId && ancestors.has(done);
    for (const account of fitting) {
      const covered = covers.get(account) ?? new Set<Oid>();
      if ([...covered].some(isAgain) || (ancestors.has(account.commit) && account.commit !== oid)) continue;
      covers.set(account, covered.add(oid));
    }
  }
}
