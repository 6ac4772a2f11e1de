import type { IsCode } from './exempt.ts';
import type { Merge, Merging } from './merging.ts';
import { type Files, mergeBases, type Objects, type Oid } from './objects.ts';

/** SPEC §10.4 "to merge": what is no code does not become code by a rename that git finds. */
export function withoutLures(merging: Merging, objects: Objects, isCode: IsCode): Merging {
  const filesOf = (commit: Oid): Files => objects.files(objects.commit(commit)!.tree);
  const isPlainCode = (path: string, files: Files) => !path.startsWith('.handoff/') && isCode(path, files, files);

  const luresIn = (base: Files, sides: readonly Files[]): string[] =>
    [...base.keys()].filter((path) => {
      const isGone = sides.some((side) => !side.has(path));
      const isLeft = sides.some((side) => isSame(side, base, path));
      return isGone && !isLeft && !isPlainCode(path, new Map([[path, base.get(path)!]]));
    });

  const isLured = (commits: readonly Oid[]): boolean =>
    commits.some((one, at) =>
      commits.slice(at + 1).some((other) => {
        const bases = mergeBases(objects, one, other);
        const sides = [filesOf(one), filesOf(other)];
        return bases.some((base) => luresIn(filesOf(base), sides).length > 0) || isLured(bases);
      }),
    );

  const settle = (merge: Merge | null, base: Files, sides: readonly Files[]): Merge | null => {
    if (!merge || luresIn(base, sides).every((path) => merge.conflicts.has(path))) return merge;
    const made = merging.objects.files(merge.tree);
    const conflicts = new Map(merge.conflicts);
    for (const path of new Set(sides.flatMap((side) => [...side.keys()]))) {
      const having = sides.filter((side) => side.has(path));
      const isBoth = having.length === 2 && !isSame(having[0]!, having[1]!, path);
      const isOther = having.length === 1 && made.has(path) && !isSame(having[0]!, made, path);
      if (!base.has(path) && (isBoth || isOther)) conflicts.set(path, [made.get(path)?.mode ?? '100644']);
    }
    return { ...merge, conflicts };
  };

  return {
    ...merging,
    merge(commits) {
      const merge = merging.merge(commits);
      if (commits.length > 2) return isLured(commits) ? null : merge;
      const bases = mergeBases(objects, commits[0]!, commits[1]!);
      if (isLured(bases)) return null;
      return bases.reduce((made, base) => settle(made, filesOf(base), commits.map(filesOf)), merge);
    },
    pick(commit, onto) {
      const { tree, parents } = objects.commit(commit)!;
      const base: Files = parents.length === 0 ? new Map() : filesOf(parents[0]!);
      return settle(merging.pick(commit, onto), base, [objects.files(onto), objects.files(tree)]);
    },
  };
}

function isSame(a: Files, b: Files, path: string): boolean {
  const [one, other] = [a.get(path), b.get(path)];
  return one?.mode === other?.mode && one?.oid === other?.oid;
}
