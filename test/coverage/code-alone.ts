import type { IsCode } from './exempt.ts';
import type { Merge, Merging } from './merging.ts';
import {
  ancestorsOf,
  type Entry,
  type Files,
  mergeBases,
  type Objects,
  type Oid,
  writeCommit,
  writeFiles,
} from './objects.ts';

/** A merge of code, and the code of the tree that it is compared with. */
export interface CodeMerge extends Merge {
  compared: Files;
}

/** SPEC §10.4.2: of code alone, for a tree that it is compared with. */
export interface CodeMerging {
  merge(commits: readonly Oid[], tree: Oid): CodeMerge | null;
  /** A commit onto a tree. */
  pick(commit: Oid, onto: Oid, tree: Oid): CodeMerge | null;
}

/** Slow and obvious: all of the history is written again without what is no code, and git merges that. */
export function openCodeMerging(merging: Merging, objects: Objects, isCode: IsCode): CodeMerging {
  const all = merging.objects;
  const treeOf = (commit: Oid): Oid => objects.commit(commit)!.tree;
  const write = (files: Files): Oid => writeFiles(all, files);
  const codeOf = (trees: readonly Files[]): Files[] => codeIn(trees, isCode, objects.write('blob', ''));
  return {
    merge(commits, tree) {
      const parts = takingPart(objects, commits);
      const [compared, ...code] = codeOf([tree, ...parts.map(treeOf)].map(all.files));
      const trees = new Map(parts.map((oid, at) => [oid, write(code[at]!)]));
      const copies = copyHistory(all, commits, trees);
      const merge = merging.merge(commits.map((oid) => copies.get(oid)!));
      return merge && { ...merge, compared: compared! };
    },
    pick(commit, onto, tree) {
      const { parents } = objects.commit(commit)!;
      const before: Files = parents.length === 0 ? new Map() : all.files(treeOf(parents[0]!));
      const [compared, ...code] = codeOf([all.files(tree), before, all.files(onto), all.files(treeOf(commit))]);
      const [common, ours, theirs] = code.map(write);
      const merge = merging.mergeTrees(common!, ours!, theirs!);
      return merge && { ...merge, compared: compared! };
    },
  };
}

/** These commits, the merge bases of any two of them, of any two of all those, and so on. */
function takingPart(objects: Objects, commits: readonly Oid[]): Oid[] {
  const found = new Set(commits);
  for (let before = 0; before < found.size; ) {
    before = found.size;
    for (const one of [...found])
      for (const other of [...found]) for (const oid of mergeBases(objects, one, other)) found.add(oid);
  }
  return [...found];
}

/** Every commit with the same parents and the same date. Of one that takes no part nobody looks at the files. */
function copyHistory(objects: Objects, commits: readonly Oid[], trees: ReadonlyMap<Oid, Oid>): Map<Oid, Oid> {
  const copies = new Map<Oid, Oid>();
  const copy = (oid: Oid): Oid => {
    const { parents, author, committer } = objects.commit(oid)!;
    const tree = trees.get(oid) ?? objects.write('tree', '');
    return writeCommit(objects, {
      tree,
      parents: parents.map((each) => copies.get(each)!),
      author,
      committer,
      message: oid,
    });
  };
  const behind = ancestorsOf(objects, ...commits);
  while (copies.size < behind.size) {
    for (const oid of behind) {
      const isReady = objects.commit(oid)!.parents.every((each) => copies.has(each));
      if (isReady && !copies.has(oid)) copies.set(oid, copy(oid));
    }
  }
  return copies;
}

/**
 * Without `.handoff`, and with an empty file for every exempt one that not all of these have alike; if one of them has something
 * else there, or beneath, or in the place of a folder that it is in, a submodule stands for the file.
 */
function codeIn(trees: readonly Files[], isCode: IsCode, empty: Oid): Files[] {
  const isExempt = (path: string, { mode }: Entry): boolean =>
    isRegular(mode) && !isCode(path, new Map([[path, { mode, oid: '' }]]), new Map());
  const isSame = (path: string, { mode, oid }: Entry): boolean =>
    trees.every((files) => files.get(path)?.mode === mode && files.get(path)?.oid === oid);
  return trees.map((files) => {
    const code = new Map<string, Entry>();
    for (const [path, entry] of files) {
      if (path === '.handoff' || path.startsWith('.handoff/')) continue;
      if (!isExempt(path, entry) || isSame(path, entry)) code.set(path, entry);
      else if (trees.some((other) => hasElse(other, path))) code.set(path, { mode: '160000', oid: entry.oid });
      else code.set(path, { mode: '100644', oid: empty });
    }
    return code;
  });
}

function isRegular(mode: string): boolean {
  return mode === '100644' || mode === '100755';
}

/** Whether there is something at a path, and it is no file. */
function hasElse(files: Files, path: string): boolean {
  const entry = files.get(path);
  if (entry) return !isRegular(entry.mode);
  return [...files.keys()].some((other) => other.startsWith(`${path}/`) || path.startsWith(`${other}/`));
}
