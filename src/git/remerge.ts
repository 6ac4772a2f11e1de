import { type Git, runGit } from './run.ts';
import type { GitStore, Oid } from './store.ts';

/** As git merges where nobody has configured anything. */
const CONFIG = {
  'merge.renames': 'true',
  'merge.directoryRenames': 'conflict',
  'merge.renormalize': 'false',
  'merge.conflictStyle': 'merge',
};

/** For each merge what `remerge` gives; those of two sides by one process, as far as it gets. */
export async function remergeAll(
  git: Git,
  store: GitStore,
  merges: readonly (readonly Oid[])[],
): Promise<(Oid | null)[]> {
  const pairs = merges.filter(({ length }) => length === 2);
  const answers = pairs.length > 1 ? await mergePairs(git, pairs) : [];
  const trees = new Map(answers.map((tree, at) => [pairs[at]!, tree]));
  const made: (Oid | null)[] = [];
  for (const parents of merges) made.push(trees.get(parents) ?? (await remerge(git, store, parents)));
  return made;
}

/** As many trees as git answers with: none before 2.39, and none after two histories that never met, at which it gives up. */
async function mergePairs(git: Git, pairs: readonly (readonly Oid[])[]): Promise<Oid[]> {
  const args = ['merge-tree', '--write-tree', '--no-messages', '--stdin'];
  const input = pairs.map((sides) => `${sides.join(' ')}\n`).join('');
  const { stdout } = await runGit(git, args, { config: CONFIG, input });
  // a status, the tree, a line for each file in conflict, and nothing
  const answers = stdout.toString('latin1').matchAll(/[01]\0([0-9a-f]{40,64})\0(?:[^\0]+\0)*\0/g);
  return [...answers].map(([, tree]) => tree!);
}

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
