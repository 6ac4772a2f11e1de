import { isFileMode } from '../../git/changes/patch-reader.ts';
import type { RawChange } from '../../git/changes/raw-diff.ts';
import type { Conflict, Merged, Merger } from '../../git/changes/remerge.ts';
import type { Oid } from '../../git/objects/store.ts';
import { asChange, type CodeOf } from './code.ts';
import type { Comparer } from './comparer.ts';

/**
 * Makes merges in which what is no code does not become code (SPEC §10.4, "to merge"). Git follows a file that one side renamed by
 * looking for a new file that is alike. It knows nothing of accounts: a copy of some code that was left in `.handoff/` or under an
 * exempt name, and removed, is taken for that code, and what another side did to the copy gets into the code.
 */
export function openCodeMerger(comparer: Comparer, codeOf: CodeOf): Merger {
  const { merger, mergeBases } = comparer;
  const luresIn = (before: Oid, sides: readonly Oid[]) => readLures(comparer, codeOf, before, sides);

  /** Whether git may have followed what is no code, in a merge that nobody sees: it makes one of several merge bases. */
  const isMisled = async (sides: readonly Oid[]): Promise<boolean> => {
    const bases = await mergeBases(sides[0]!, sides[1]!);
    for (const base of bases) if ((await luresIn(base, sides)).length > 0) return true;
    return isMisledByAny(bases);
  };
  const isMisledByAny = async (commits: readonly Oid[]): Promise<boolean> => {
    for (const pair of pairsOf(commits)) if (await isMisled(pair)) return true;
    return false;
  };

  const settle = async (made: Merged, before: Oid, sides: readonly Oid[]): Promise<Merged> => {
    const reported = new Set(made.conflicts.map(({ path }) => path));
    const lures = (await luresIn(before, sides)).filter((path) => !reported.has(path));
    if (lures.length === 0) return made;
    return { ...made, conflicts: [...made.conflicts, ...(await readFollowed(comparer, before, sides, made))] };
  };

  const settleMerge = async (made: Merged | null, sides: readonly Oid[]): Promise<Merged | null> => {
    if (!made) return null;
    if (sides.length > 2) return (await isMisledByAny(sides)) ? null : made;
    const bases = await mergeBases(sides[0]!, sides[1]!);
    if (await isMisledByAny(bases)) return null;
    let settled = made;
    for (const base of bases) settled = await settle(settled, base, sides);
    return settled;
  };

  return {
    async merge(sides) {
      const settled: (Merged | null)[] = [];
      for (const [at, made] of (await merger.merge(sides)).entries()) settled.push(await settleMerge(made, sides[at]!));
      return settled;
    },
    async pick(picks) {
      const settled: (Merged | null)[] = [];
      for (const [at, made] of (await merger.pick(picks)).entries()) {
        const { before, after, onto } = picks[at]!;
        settled.push(made && (await settle(made, before, [onto, after])));
      }
      return settled;
    },
  };
}

function pairsOf(commits: readonly Oid[]): [Oid, Oid][] {
  return commits.flatMap((one, at) => commits.slice(at + 1).map((other): [Oid, Oid] => [one, other]));
}

/** The files that are no code, and that one side has removed, or renamed, while another has not left them as they were. */
async function readLures({ readRaw }: Comparer, codeOf: CodeOf, before: Oid, sides: readonly Oid[]): Promise<string[]> {
  const [ours, theirs] = (await Promise.all(sides.map((side) => readRaw(before, side)))).map(byPath);
  const isLure = ([path, { before: was, after }]: [string, RawChange]): boolean => {
    const other = theirs!.get(path);
    if (!was || !other || (after && other.after)) return false;
    return codeOf(asChange([asConflict(path, was.mode)])).length === 0;
  };
  return [...ours!].filter(isLure).map(([path]) => path);
}

/**
 * New files whose content git has merged with something of another name: a file that one side alone has added is otherwise as it
 * was added, and one that both have added in two ways is a conflict.
 */
async function readFollowed(
  { readRaw }: Comparer,
  before: Oid,
  sides: readonly Oid[],
  made: Merged,
): Promise<Conflict[]> {
  const [merged, ...added] = (
    await Promise.all([made.tree, ...sides].map(async (after) => readRaw(before, after)))
  ).map((changes) => byPath(changes.filter((change) => change.before === null)));
  const isFollowed = (path: string): boolean => {
    const texts = new Set(added.flatMap((side) => side.get(path) ?? []).map(afterOf));
    const result = merged!.get(path);
    return texts.size > 1 || (result !== undefined && texts.size === 1 && !texts.has(afterOf(result)));
  };
  const paths = new Set(added.flatMap((side) => [...side.keys()]));
  return [...paths].filter(isFollowed).map((path) => asConflict(path, merged!.get(path)?.after?.mode ?? '000000'));
}

function byPath(changes: readonly RawChange[]): Map<string, RawChange> {
  return new Map(changes.map((change) => [change.path, change]));
}

function afterOf({ after }: RawChange): string {
  return `${after?.mode} ${after?.oid}`;
}

function asConflict(path: string, mode: string): Conflict {
  return { path, isFile: isFileMode(mode) };
}
