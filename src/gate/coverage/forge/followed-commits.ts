import type { RawChange } from '../../../git/changes/raw-diff.ts';
import type { Oid } from '../../../git/objects/store.ts';
import type { Range, RangeCommit } from '../../../git/refs/range.ts';
import type { CodeOf } from '../code.ts';
import type { Comparer } from '../comparer.ts';
import { addTo, canFollow, readSide, type Side } from './follow.ts';

/**
 * The commits in which git may follow a file between code and what is no code; null where that is sure to be none, whatever is left
 * out because the protected branch has it.
 *
 * A commit is picked onto a running tree, and the two sides are what the commit does to its parent, which is known, and how the
 * running tree differs from that parent. Of the latter it is enough to know who can have done it:
 *
 * - The protected branch, since the branch left it, be it the first time or later.
 * - Not the commits before it on a line without merges: they are in the parent and in the running tree. A clean pick removes nothing
 *   that both have and the commit keeps, and adds nothing that none of them has. Where git followed a file, what was done to it is in
 *   another one by now: one that the commit has added.
 * - Where there are merges, also the commits that were picked before it and are not behind it, and what a merge has decided: that is
 *   in the parent, and no pick brings it.
 * - Where a commit is left out, it is in the parent and not in the running tree: as though it were undone there.
 */
export async function findFollowed(
  comparer: Comparer,
  codeOf: CodeOf,
  base: Oid,
  range: Range,
): Promise<ReadonlySet<Oid> | null> {
  const commits = range.commits.toReversed();
  const isFlattened = !commits.every(isSingle);
  const { ofBase, of } = await readDifferences(comparer, base, range);
  const [ours, withGaps] = [ofBase, ofBase].map((changes) => readSide(codeOf, changes)) as [Side, Side];
  const followed = new Set<Oid>();
  let isSure = true;
  for (const commit of commits) {
    const changes = of(commit);
    const [theirs, undone] = [changes, changes.map(reversed)].map((each) => readSide(codeOf, each)) as [Side, Side];
    const isFollowed = isSingle(commit) && canFollow(ours, theirs);
    if (isFollowed) followed.add(commit.oid);
    else if (isSingle(commit) && canFollow(withGaps, theirs)) isSure = false;
    if (isFollowed) for (const path of theirs.changed) ours.changed.add(path);
    if (isFlattened) for (const side of [ours, withGaps]) addTo(side, theirs);
    if (!isSingle(commit)) addTo(ours, undone);
    addTo(withGaps, undone);
  }
  return isSure && followed.size === 0 ? null : followed;
}

/** What a rebase picks. */
export function isSingle({ parents }: RangeCommit): boolean {
  return parents.length < 2;
}

interface Differences {
  /** What the protected branch has done since each place where the branch left it. */
  ofBase: RawChange[];
  /** What a commit does to its parent; of a merge, what is as in none of its parents. */
  of(commit: RangeCommit): RawChange[];
}

/** All at once: it is a process. */
async function readDifferences({ readRaw }: Comparer, base: Oid, { commits, boundary }: Range): Promise<Differences> {
  const left = [...boundary].map((parent) => ({ commit: base, parent }));
  const own = commits.flatMap(({ oid, parents }) =>
    parents.length === 0 ? [{ commit: oid }] : parents.map((parent) => ({ commit: oid, parent })),
  );
  const read = await readRaw([...left, ...own]);
  const byCommit = new Map<Oid, RawChange[][]>();
  for (const [at, { commit }] of own.entries())
    byCommit.set(commit, [...(byCommit.get(commit) ?? []), read[left.length + at]!]);
  return { ofBase: read.slice(0, left.length).flat(), of: ({ oid }) => inAll(byCommit.get(oid)!) };
}

/** Paths at which a commit differs from each of its parents. */
function inAll([first, ...others]: readonly RawChange[][]): RawChange[] {
  const sets = others.map((changes) => new Set(changes.map(({ path }) => path)));
  return first!.filter(({ path }) => sets.every((paths) => paths.has(path)));
}

function reversed({ path, before, after }: RawChange): RawChange {
  return { path, before: after, after: before };
}
