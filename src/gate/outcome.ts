import type { Report } from '../audit/finding.ts';
import { openMerged } from '../audit/source/merged-source.ts';
import { metered } from '../audit/source/metered-source.ts';
import type { Source } from '../audit/source/source.ts';
import { openTree } from '../audit/source/tree-source.ts';
import type { Budget } from '../core/budget.ts';
import { ROOT } from '../core/paths.ts';
import type { Comparison } from '../git/changes/changes.ts';
import type { Oid } from '../git/objects/store.ts';
import { type Range, readRange } from '../git/refs/range.ts';
import type { GitAccess } from '../repository/parts.ts';

/** What is judged: head, where base is now. */
export interface Case {
  base: Oid;
  head: Oid;
  before: Source;
  range: Range;
  replaces: boolean;
  /** The budget for judging: code whose work grows with what arrives asks it first. */
  budget: Budget;
}

export interface Outcome {
  /** The tree as head has it. */
  theirs: Source;
  /** The tree as it is to be. */
  result: Source;
  /** What the code of the result is compared with, tree by tree. */
  beginnings: Comparison[];
  /** What base has and is not in head's past, where head takes its place all the same. */
  dropped: Range;
  /** The merge bases of head and base, if head is to be merged. Null if head itself will replace base. */
  mergeBases: readonly Oid[] | null;
}

const NOTHING: Range = { commits: [], boundary: new Set() };

/**
 * SPEC §10.2: a branch that has not seen the newest of the protected one is judged as merging it leaves it; what takes a branch's
 * place as it is, as it is.
 */
export async function openOutcome({ git, store }: GitAccess, input: Case, report: Report): Promise<Outcome> {
  const { base, head, before, range, replaces, budget } = input;
  const theirs = metered(await openTree(store, head), budget);
  const isAhead = base === head || range.boundary.has(base);
  if (isAhead || replaces) {
    const dropped = isAhead ? NOTHING : await readRange(git, base, [head]);
    return { theirs, result: theirs, beginnings: comparisons([before], theirs), dropped, mergeBases: null };
  }
  const mergeBases = await store.mergeBases(base, head);
  const bases = await Promise.all(mergeBases.map((oid) => openTree(store, oid)));
  const result = metered(await openMerged({ ours: before, theirs, bases }, ROOT, report), budget);
  return { theirs, result, beginnings: comparisons(bases, theirs), dropped: NOTHING, mergeBases };
}

/** Where there is nothing to begin from, all of it is new. */
function comparisons(beginnings: readonly Source[], { oid }: Source): Comparison[] {
  const after = oid!;
  return beginnings.length === 0
    ? [{ before: null, after }]
    : beginnings.map((source) => ({ before: source.oid, after }));
}
