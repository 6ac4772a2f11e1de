import type { Oid, Ref } from '../../git/objects/store.ts';

/** More commits than anybody has branches at; a clone of a huge project may still have fetched so many. */
const MOST_BRANCHES = 4096;

/** Branches that are looked at. */
export interface ShownBranches {
  tips: Ref[];
  /** How many branches were not looked at. */
  left: number;
}

/**
 * Whoever may push can push thousands of branches whose names come before all others, and what is not looked at is not known: who was
 * revoked, and which batons wait. So branches of this clone come first, then those that are `wanted`, be they as many as they like;
 * and of the others those at a commit that was looked at already cost nothing.
 */
export function mostBranches(refs: readonly Ref[], wanted: ReadonlySet<string>): ShownBranches {
  if (refs.length <= MOST_BRANCHES) return { tips: [...refs], left: 0 };
  const isFirst = ({ name }: Ref): boolean => wanted.has(name) || name.startsWith('refs/heads/');
  const tips = refs.filter(isFirst);
  const commits = new Set<Oid>(tips.map(({ oid }) => oid));
  let left = 0;
  for (const ref of refs.filter((each) => !isFirst(each))) {
    if (!commits.has(ref.oid) && commits.size >= MOST_BRANCHES) left++;
    else tips.push(ref);
    if (commits.size < MOST_BRANCHES) commits.add(ref.oid);
  }
  return { tips, left };
}
