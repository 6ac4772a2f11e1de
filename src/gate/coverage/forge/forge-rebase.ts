import type { Finding } from '../../../core/error.ts';
import { emptyTree } from '../../../git/changes/changes.ts';
import type { Pick } from '../../../git/changes/remerge.ts';
import type { Oid } from '../../../git/objects/store.ts';
import type { Range, RangeCommit } from '../../../git/refs/range.ts';
import type { CodeOf } from '../code.ts';
import { openCodeMerger } from '../code-merger.ts';
import type { Comparer } from '../comparer.ts';
import { isSameCode } from '../repeats.ts';
import { findFollowed, isSingle } from './followed-commits.ts';

/** A branch that does not have the protected one behind it, and is to be rebased. */
export interface ForgeRebase {
  base: Oid;
  head: Oid;
  range: Range;
}

/**
 * SPEC §10.4.10: a forge that rebases picks the commits of a branch one after the other, and merges are left out. Git can follow a file
 * in one of them where the branch as a whole shows nothing. So each is picked here, of all files and of code alone.
 */
export async function judgeForgeRebase(comparer: Comparer, codeOf: CodeOf, input: ForgeRebase): Promise<Finding[]> {
  const { base, head, range } = input;
  if (range.commits.length === 1) return []; // it is picked as it is merged
  const [followed, unlike] = await Promise.all([
    findFollowed(comparer, codeOf, base, range),
    comparer.readUnlike(base, head),
  ]);
  const single = range.commits.toReversed().filter(isSingle);
  const kept = new Set(unlike);
  const left = single.filter(({ oid }) => kept.has(oid));
  const found = followed === null ? [] : await judgeFollowed(comparer, codeOf, input, { followed, single, left });
  if (found.length > 0 || left.length === single.length) return found;
  return (await isMissed(comparer, codeOf, input, { single, left })) ? [gapOf(input)] : [];
}

interface Picked {
  single: readonly RangeCommit[];
  /** Without those that the protected branch has too. */
  left: readonly RangeCommit[];
}

async function judgeFollowed(
  comparer: Comparer,
  codeOf: CodeOf,
  input: ForgeRebase,
  { followed, single, left }: Picked & { followed: ReadonlySet<Oid> },
): Promise<Finding[]> {
  const { base } = input;
  const all = await findUnlike(comparer, codeOf, { base, commits: single, isAsked: ({ oid }) => followed.has(oid) });
  if (all || left.length === single.length) return all ? [unlikeCode(input, all)] : [];
  // what was left out has done nothing to the tree that the next one is picked onto: what git may follow there, nobody has asked yet
  const unlike = await findUnlike(comparer, codeOf, { base, commits: left, isAsked: () => true });
  return unlike ? [unlikeCode(input, unlike)] : [];
}

interface Picking {
  base: Oid;
  /** In the order in which they are picked. */
  commits: readonly RangeCommit[];
  /** Whether git can follow something there. */
  isAsked(commit: RangeCommit): boolean;
}

/**
 * Whether what is left out makes a difference: what was done, taken back and done again is on the protected branch as done, and
 * what a rebase leaves of it is that it was taken back.
 */
async function isMissed(
  comparer: Comparer,
  codeOf: CodeOf,
  { base, head }: ForgeRebase,
  { single, left }: Picked,
): Promise<boolean> {
  const [merged = null] = await comparer.merger.merge([[base, head]]);
  const end = merged?.conflicts.length === 0 ? await endOf(comparer, base, left) : null;
  if (!merged || end === null) return false;
  const isSame = (tree: Oid) => isSameCode(comparer, codeOf, { tree, compared: end, conflicts: [] });
  const before = (await comparer.store.readCommit(base)).tree; // nothing comes, and that is no half of anything
  if ((await isSame(merged.tree)) || (await isSame(before))) return false;
  const whole = await endOf(comparer, base, single);
  return whole === null || !(await isSame(whole));
}

/** Null where somebody has to decide something. */
async function endOf(comparer: Comparer, base: Oid, commits: readonly RangeCommit[]): Promise<Oid | null> {
  let onto = (await comparer.store.readCommit(base)).tree;
  for (const commit of commits) {
    const [made = null] = await comparer.merger.pick([await toPick(comparer, commit, onto)]);
    if (!made || made.conflicts.length > 0) return null;
    onto = made.tree;
  }
  return onto;
}

async function toPick({ store }: Comparer, { oid, parents: [parent] }: RangeCommit, onto: Oid): Promise<Pick> {
  const treeOf = async (commit: Oid): Promise<Oid> => (await store.readCommit(commit)).tree;
  return { before: parent === undefined ? emptyTree(oid) : await treeOf(parent), after: await treeOf(oid), onto };
}

/** The first that gives other code than code alone does. A conflict ends it: somebody decides, or nothing is rebased. */
async function findUnlike(
  comparer: Comparer,
  codeOf: CodeOf,
  { base, commits, isAsked }: Picking,
): Promise<Oid | undefined> {
  const { store, merger } = comparer;
  const codeMerger = openCodeMerger(comparer, codeOf);
  let onto = (await store.readCommit(base)).tree;
  for (const commit of commits.slice(0, commits.findLastIndex(isAsked) + 1)) {
    const { oid } = commit;
    const pick = await toPick(comparer, commit, onto);
    const [made = null] = await merger.pick([pick]);
    if (!made) return oid; // git does not say what it would do
    if (made.conflicts.length > 0) return undefined;
    if (isAsked(commit)) {
      const [remade = null] = await codeMerger.pick([{ ...pick, tree: made.tree }]);
      if (!(await isSameCode(comparer, codeOf, remade))) return oid;
    }
    onto = made.tree;
  }
  return undefined;
}

function unlikeCode({ base, head }: ForgeRebase, commit: Oid): Finding {
  const [main, branch, picked] = [base, head, commit].map((oid) => oid.slice(0, 12));
  return {
    code: 'writeback_missing',
    severity: 'error',
    commit,
    message: `Rebasing ${branch} onto ${main} would change code by way of files that ask for no account: in commit ${picked} git takes one for the other, as where a file was renamed.`,
    hint: `Rebase this branch (git rebase ${main}), look at what git makes of it (git log -p ${main}..), put it right, and account for each commit that changes code: git handoff thought TASK --commit COMMIT`,
  };
}

function gapOf({ base, head }: ForgeRebase): Finding {
  const [main, branch] = [base, head].map((oid) => oid.slice(0, 12));
  return {
    code: 'writeback_missing',
    severity: 'error',
    commit: head,
    message: `Rebasing ${branch} onto ${main} would not give what merging it gives: git leaves out commits that ${main} has too, and others that build on them or take them back stay.`,
    hint: `Rebase this branch (git rebase ${main}) or merge the protected one into it (git merge ${main}), look at what comes of it, put it right, and account for it: git handoff thought TASK --commit HEAD`,
  };
}
