import { oncePer } from '../../core/once.ts';
import { emptyTree } from '../../git/changes/changes.ts';
import { fitsOnce, isAtAnEnd } from '../../git/changes/hunk-place.ts';
import type { FileHunks } from '../../git/changes/hunk-reader.ts';
import type { Oid } from '../../git/objects/store.ts';
import { asChange, type CodeOf } from './code.ts';
import { type AskedPick, openCodeMerger, type Remade } from './code-merger.ts';
import type { Comparer } from './comparer.ts';

/** A commit and what it comes from: a commit with one parent, or with none. */
export interface SingleCommit {
  oid: Oid;
  parents: readonly Oid[];
}

/** Whether a commit does what another one did, after git has moved it. */
export interface Repeats {
  /** Its patch fits at one place of what it was applied to, and nowhere else. */
  fitsOnce(commit: SingleCommit): Promise<boolean>;
  /** The first of some commits whose code is what merging another one into its parent gives, with nothing left to decide. */
  firstMergeOf<C extends SingleCommit>(commits: readonly C[], merged: Oid): Promise<C | undefined>;
  /** The first whose code is what picking another one onto its parent gives. Git keeps who wrote it, and when. */
  firstPickOf<C extends SingleCommit>(commits: readonly C[], picked: SingleCommit): Promise<C | undefined>;
  /** Whether its code is what picking another one onto its parent gives, whoever is said to have written it. */
  isPickOf(commit: SingleCommit, picked: SingleCommit): Promise<boolean>;
  /** Those that change nothing where they are picked onto another: what they do has been done. */
  doneAt<C extends SingleCommit>(at: Oid, picked: readonly C[]): Promise<C[]>;
  /** Those that change nothing where they are merged into another. */
  mergedAt(at: Oid, commits: readonly Oid[]): Promise<Oid[]>;
}

/** `codeOf`: what counts. Records, and what is exempt, do not. */
export function openRepeats(comparer: Comparer, codeOf: CodeOf): Repeats {
  const { store } = comparer;
  const merger = openCodeMerger(comparer, codeOf);
  const treeOf = async (commit: Oid): Promise<Oid> => (await store.readCommit(commit)).tree;
  const parentTree = async ({ oid, parents: [parent] }: SingleCommit): Promise<Oid> =>
    parent === undefined ? emptyTree(oid) : treeOf(parent);
  /** `tree`: what it is compared with. */
  const toPick = async (picked: SingleCommit, onto: Oid, tree: Oid): Promise<AskedPick> => ({
    before: await parentTree(picked),
    after: await treeOf(picked.oid),
    onto,
    tree,
  });
  const isSame = (made: Remade | null) => isSameCode(comparer, codeOf, made);
  const first = async <C extends SingleCommit>(commits: readonly C[], made: readonly (Remade | null)[]) => {
    for (const [at, commit] of commits.entries()) if (await isSame(made[at]!)) return commit;
    return undefined;
  };
  const firstPick = async <C extends SingleCommit>(commits: readonly C[], picked: SingleCommit) => {
    const asked = commits.map(async (each) => toPick(picked, await parentTree(each), await treeOf(each.oid)));
    return first(commits, await merger.pick(await Promise.all(asked)));
  };
  const changingNothing = async <T>(all: readonly T[], made: readonly (Remade | null)[]): Promise<T[]> => {
    const answers = await Promise.all(made.map(isSame));
    return all.filter((_, at) => answers[at]);
  };
  return {
    fitsOnce: oncePerCommit(async (commit: SingleCommit) => {
      const [files = null] = await comparer.changes.readHunks([{ commit: commit.oid }]);
      return files !== null && allFitOnce(comparer, files);
    }),
    async firstMergeOf(commits, merged) {
      const children = commits.filter(({ parents }) => parents.length === 1);
      const asked = children.map(async ({ oid, parents: [parent] }) => ({
        sides: [parent!, merged],
        tree: await treeOf(oid),
      }));
      return first(children, await merger.merge(await Promise.all(asked)));
    },
    async firstPickOf(commits, picked) {
      const { author } = await store.readCommit(picked.oid);
      const authors = await Promise.all(commits.map(async ({ oid }) => (await store.readCommit(oid)).author));
      return firstPick(
        commits.filter((_, at) => authors[at] === author),
        picked,
      );
    },
    isPickOf: async (commit, picked) => (await firstPick([commit], picked)) !== undefined,
    async doneAt(at, picked) {
      const tree = await treeOf(at);
      const made = await merger.pick(await Promise.all(picked.map((each) => toPick(each, tree, tree))));
      return changingNothing(picked, made);
    },
    async mergedAt(at, commits) {
      const tree = await treeOf(at);
      return changingNothing(commits, await merger.merge(commits.map((oid) => ({ sides: [at, oid], tree }))));
    },
  };
}

function oncePerCommit<K extends { oid: Oid }, T>(answer: (commit: K) => Promise<T>): (commit: K) => Promise<T> {
  return oncePer(answer, ({ oid }) => oid);
}

/** Whether git, left alone, makes this code. */
export async function isSameCode({ changes }: Comparer, codeOf: CodeOf, made: Remade | null): Promise<boolean> {
  if (!made || codeOf(asChange(made.conflicts)).length > 0) return false;
  if (made.tree === made.compared) return true;
  const [change] = await changes.read([{ before: made.tree, after: made.compared }]);
  return codeOf(change!).length === 0;
}

const MOST_BYTES = 1 << 23;

/** Whether each hunk of a patch fits at one place of the file it is applied to. */
export async function allFitOnce({ store }: Comparer, files: readonly FileHunks[]): Promise<boolean> {
  const changed = files.filter(({ hunks }) => !hunks.every(isAtAnEnd));
  const read = await store.readBlobs(
    changed.map(({ oid }) => oid),
    MOST_BYTES,
  );
  return changed.every(({ hunks }, at) => {
    const bytes = read[at]!;
    return bytes instanceof Uint8Array && fitsOnce(bytes, hunks);
  });
}
