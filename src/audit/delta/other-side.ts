import type { Finding } from '../../core/error.ts';
import { ROOT } from '../../core/paths.ts';
import type { GitStore } from '../../git/objects/store.ts';

/** A merge that is not finished: what is merged into HEAD. */
export const MERGED = 'MERGE_HEAD';

const POLICIES = `${ROOT}/policy`;

/** What comes of a merge, and the two that it joins: a tree and two commits, as git names them. */
interface Merge {
  tree: string;
  own: string;
  other: string;
}

/**
 * Without what is, at its path, as the other side has made it. Where both sides have signed a next version one of them is kept: to this
 * side that is a change, and yet what resolves the conflict. A chain of policies is that of one side, whole.
 */
export async function withoutOtherSide(
  store: GitStore,
  findings: readonly Finding[],
  { tree, own, other }: Merge,
): Promise<Finding[]> {
  const [ours, theirs] = await Promise.all([own, other].map((rev) => store.resolve(rev)));
  if (findings.length === 0 || !ours || !theirs) return [...findings];
  const bases = await store.mergeBases(ours, theirs);
  const isTheirs = async ({ path }: Finding): Promise<boolean> => {
    if (path === undefined) return false;
    const place = path.startsWith(`${POLICIES}/`) ? POLICIES : path;
    const [kept, made, ...before] = await Promise.all(
      [tree, theirs, ...bases].map((rev) => store.resolve(`${rev}:${place}`)),
    );
    return !!kept && kept === made && !before.includes(kept);
  };
  const excused = await Promise.all(findings.map(isTheirs));
  return findings.filter((_, at) => !excused[at]);
}
