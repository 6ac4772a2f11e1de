import { type Git, runGit } from './run.ts';
import type { GitStore, Oid } from './store.ts';

/** As git merges where nobody has configured anything. */
const CONFIG = {
  'merge.renames': 'true',
  'merge.directoryRenames': 'conflict',
  'merge.renormalize': 'false',
  'merge.conflictStyle': 'merge',
};

/**
 * The tree that git makes of these parents alone, with marks where it leaves the decision to a person. Null where it makes none:
 * histories that never met, more than two sides that conflict, a git that cannot (before 2.38).
 */
export async function remerge(git: Git, store: GitStore, parents: readonly Oid[]): Promise<Oid | null> {
  let [side, ...others] = parents as [Oid, ...Oid[]];
  let tree: Oid | null = null;
  for (const [at, other] of others.entries()) {
    const { code, stdout } = await runGit(git, ['merge-tree', '--write-tree', '--no-messages', side, other], {
      config: CONFIG,
    });
    const isLast = at === others.length - 1;
    if (code > 1 || (code === 1 && !isLast)) return null;
    tree = stdout.toString('latin1').split('\n', 1)[0]!;
    if (!isLast) side = await store.writeCommit({ ...NOBODY, tree, parents: [side, other] });
  }
  return tree;
}

const IDENT = 'git-handoff <git-handoff@git-handoff.invalid> 0 +0000';
const NOBODY = { author: IDENT, committer: IDENT, message: 'one side after the other\n' };
