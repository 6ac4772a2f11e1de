import type { Account } from '../../core/writeback/account.ts';
import type { Oid } from '../../git/objects/store.ts';
import type { RangeCommit } from '../../git/refs/range.ts';
import {
  type Candidates,
  eachPatchId,
  type Found,
  filterAsync,
  type HowFound,
  hasItsIds,
  type Rule,
  type ThoughtWork,
} from './candidates.ts';
import { findSame } from './found-by-patch.ts';
import type { SingleCommit } from './repeats.ts';

/** A squash where lines nearby had changed: git makes it of the thought's commit and of what the squash was put on. */
export async function wholeByTree(input: Candidates, account: Account): Promise<Found | null> {
  const work = await input.workOf(account);
  if (account.files.length === 0 || !work.isHere) return null;
  const difference = ({ oid }: RangeCommit) => Math.abs(input.own.get(oid)!.paths.length - account.files.length);
  const likely = [...input.free].sort((a, b) => difference(a) - difference(b)).slice(0, MOST_LIKELY);
  const ahead = await filterAsync(likely, work.isAhead);
  const listed = await filterAsync(ahead, async ({ parents }) => (await work.carriedOnto(parents[0]!)).isListed);
  const { repeats, head } = input;
  const isThere = async () => (await repeats.mergedAt(head, [account.commit])).length > 0;
  const commit = await findLasting(
    listed,
    (left) => repeats.firstMergeOf(left, account.commit),
    async (parent) => {
      const { paths } = await work.carriedOnto(parent);
      return (await work.isUntouched(parent, [...paths])) || isThere();
    },
  );
  if (!commit) return null;
  const { paths, beside } = await work.carriedOnto(commit.parents[0]!);
  return { commits: new Map([[commit.oid, { changed: paths }]]), beside };
}

/**
 * The first that git has made, and that lasts: where some of it was there already, and the protected branch has taken that back since,
 * what comes is half of it. `lasts` is asked about the commit it was put on.
 */
async function findLasting(
  commits: readonly RangeCommit[],
  first: (left: readonly RangeCommit[]) => Promise<RangeCommit | undefined>,
  lasts: (parent: Oid) => Promise<boolean>,
): Promise<RangeCommit | undefined> {
  let left = commits;
  for (let commit = await first(left); commit; commit = await first(left)) {
    if (await lasts(commit.parents[0]!)) return commit;
    left = left.slice(left.indexOf(commit) + 1);
  }
  return undefined;
}

/** A squash changes as many files as all that it squashes: only commits that come near it are made again. */
const MOST_LIKELY = 8;

/** A rebase where lines nearby had changed, or where the protected branch has some of it by now. */
export async function eachByTree(input: Candidates, account: Account): Promise<Found | null> {
  const work = await input.workOf(account);
  if (account.commitPatchIds.size === 0 || !hasItsIds(work, account)) return null;
  const commits: Found['commits'] = new Map();
  for (const patchId of eachPatchId(account)) {
    const originals = work.commits.get(patchId) ?? [];
    const same = await findSame(input, commits, patchId, originals);
    const picked = same ? null : await findPick(input, commits, originals, work);
    if (same) commits.set(same.oid, null);
    else if (picked) commits.set(picked.commit.oid, picked.how);
    else if ((await input.repeats.doneAt(input.head, originals)).length === 0) return null;
  }
  return { commits };
}

/** Where all of it is there and no commit tells, it covers nothing, and yet it is there. */
export const someByTree: Rule = async (input, account) => {
  const found = await eachByTree(input, account);
  return found && found.commits.size > 0 ? found : null;
};

interface Picked {
  commit: RangeCommit;
  how: HowFound;
}

/** The first that git has made of one of these, and that is not taken yet. */
async function findPick(
  { free, repeats, head }: Candidates,
  taken: Found['commits'],
  originals: readonly SingleCommit[],
  work: ThoughtWork,
): Promise<Picked | null> {
  if (originals.length === 0) return null;
  const left = await filterAsync(
    free.filter(({ oid }) => !taken.has(oid)),
    work.isAhead,
  );
  for (const original of originals) {
    const paths = await work.pathsOf(original);
    const isThere = async () => (await repeats.doneAt(head, [original])).length > 0;
    const lasts = async (parent: Oid) => (await work.isUntouched(parent, paths)) || isThere();
    const commit = await findLasting(left, (candidates) => repeats.firstPickOf(candidates, original), lasts);
    if (commit) return { commit, how: { changed: new Set(paths) } };
  }
  return null;
}
