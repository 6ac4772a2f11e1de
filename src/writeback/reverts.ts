import type { Oid } from '../git/objects/store.ts';
import { shallowAncestry } from '../git/objects/store-error.ts';
import { ancestorsIn, type RangeCommit, readRange } from '../git/refs/range.ts';
import { gitFailure, runGit } from '../git/run.ts';
import type { GitAccess, Messages, StateDirectory } from '../repository/parts.ts';
import { readPatches } from './commit-patches.ts';

/** The change that made a task done, as its thought tells it. */
export interface DoneChange {
  task_id: string;
  commit_sha: Oid;
  /** Null where nothing changed, or nobody said. */
  patch_id: string | null;
  commit_patch_ids: string[];
  /** Commits from before it, or its own: whence to look. None where this clone has none of them. */
  since: Oid[];
  /** The change that the task had when it was said to be done, where this one was written back later. */
  earlier: DoneChange | null;
}

/** The commits of a branch that took a change back, the newest first. Changes that stand are left out. SPEC §9.6 */
export async function findReverts(
  repository: GitAccess & StateDirectory & Messages,
  tip: Oid,
  changes: readonly DoneChange[],
): Promise<Map<DoneChange, Oid[]>> {
  if (changes.length === 0) return new Map();
  if (await repository.store.isShallow()) throw shallowAncestry();
  const all = changes.flatMap((change) => (change.earlier ? [change, change.earlier] : [change]));
  const start = await commonStart(repository, tip, all);
  const { commits } = await readRange(repository.git, tip, start === null ? [] : [start]);
  const range = new Map(commits.map((commit) => [commit.oid, commit]));
  const counts = await countPatches(repository, range, all.filter(hasPatchId), start);
  const meant = changes.map((change) => (onlyTakesBackEarlier(change, counts) ? change.earlier! : change));
  const untold = meant.filter(({ patch_id, commit_patch_ids }) => patch_id === null && commit_patch_ids.length === 0);
  const { gone, standing } = byPatches(range, meant.filter(hasPatchId), counts);
  return new Map([...gone, ...(await byMessages(repository, range, [...untold, ...standing]))]);
}

function hasPatchId({ patch_id }: DoneChange): boolean {
  return patch_id !== null;
}

/** A revert is written back as any change, often for the task whose change it takes back: that is not what makes the task done. */
function onlyTakesBackEarlier(change: DoneChange, { applied, takenBack }: Counts): boolean {
  const { earlier } = change;
  if (!earlier || !hasPatchId(change) || !hasPatchId(earlier)) return false;
  const undoing = new Set(ownParts(earlier).flatMap((part) => takenBack.get(part) ?? []));
  return ownParts(change).every((part) => applied.get(part)?.some((oid) => undoing.has(oid)));
}

/** What patch ids show: which changes were reverted, and about which nothing was found, not even that they were made again. */
interface Told {
  gone: [DoneChange, Oid[]][];
  standing: DoneChange[];
}

type Commits = ReadonlyMap<Oid, RangeCommit>;

/** More would not fit a command line. */
const MOST_NAMED = 10_000;

/** Whence to look: what all of these commits, and the branch, have in common. Null: from the beginning. */
async function commonStart({ git }: GitAccess, tip: Oid, changes: readonly DoneChange[]): Promise<Oid | null> {
  if (changes.some(({ since }) => since.length === 0)) return null;
  const starts = [...new Set(changes.flatMap(({ since }) => since))];
  let common: Oid = tip;
  for (let at = 0; at < starts.length; at += MOST_NAMED) {
    const args = ['merge-base', '--octopus', common, ...starts.slice(at, at + MOST_NAMED)];
    const result = await runGit(git, args);
    if (result.code > 1) throw gitFailure(args, result);
    if (result.code === 1) return null;
    common = result.stdout.toString('latin1').split('\n', 1)[0]!;
  }
  return common;
}

/** For each part of a change: the commits of the branch that applied it, and those that took it back. */
interface Counts {
  applied: ReadonlyMap<string, readonly Oid[]>;
  takenBack: ReadonlyMap<string, readonly Oid[]>;
}

/**
 * Tells, of each commit of a change, which commits of the branch apply it and which take it back; one that does so for
 * a whole change, or for all that a merge brought, does so for each of its commits. So a squash, a rebase, a revert of a merge,
 * one commit by commit, and a revert of a revert all come out right.
 */
async function countPatches(
  repository: GitAccess & StateDirectory & Messages,
  range: Commits,
  changes: readonly DoneChange[],
  start: Oid | null,
): Promise<Counts> {
  if (changes.length === 0) return { applied: new Map(), takenBack: new Map() };
  const patches = await readPatches(repository, [...range.values()]);
  const parts = partsOf(changes);
  // what all have in common is not looked at, and the change that ends there was applied before
  const before = changes
    .filter(({ commit_sha }) => commit_sha === start)
    .flatMap(({ patch_id, commit_sha }) =>
      [...parts.get(patch_id!)!].map((part): [string, Oid[]] => [part, [commit_sha]]),
    );
  const applied = new Map(before);
  const takenBack = new Map<string, Oid[]>();
  const affected = affecting(range, patches, parts);
  for (const { oid, parents } of range.values()) {
    if (parents.length > 1) continue; // what it brings is counted where it was made
    const { forward, backward } = patches.get(oid)!;
    for (const part of affected(forward)) addTo(applied, part, oid);
    for (const part of affected(backward)) addTo(takenBack, part, oid);
  }
  return { applied, takenBack };
}

function addTo(lists: Map<string, Oid[]>, part: string, oid: Oid): void {
  const list = lists.get(part);
  if (list) list.push(oid);
  else lists.set(part, [oid]);
}

/** What was taken back as often as applied is gone. */
function byPatches(range: Commits, changes: readonly DoneChange[], { applied, takenBack }: Counts): Told {
  const isFromBefore = olderThanAll(range);
  const parts = new Map(
    changes.flatMap(ownParts).map((part) => {
      const by = applied.get(part) ?? [];
      const back = (takenBack.get(part) ?? []).filter((oid) => !isFromBefore(oid, by));
      return [part, { times: by.length, back }];
    }),
  );
  const isGone = (part: string): boolean => parts.get(part)!.back.length >= Math.max(parts.get(part)!.times, 1);
  const isUntouched = (part: string): boolean => parts.get(part)!.back.length === 0 && parts.get(part)!.times <= 1;
  const gone = changes.filter((change) => ownParts(change).every(isGone));
  return {
    gone: gone.map((change) => [
      change,
      inOrder(range, new Set(ownParts(change).flatMap((part) => parts.get(part)!.back))),
    ]),
    standing: changes.filter((change) => ownParts(change).every(isUntouched)),
  };
}

/**
 * Whether a commit was there before a change was applied for the first time. Whoever takes out what an older commit put in makes
 * that commit's change backwards: so the older one looks as if it took the change back.
 */
function olderThanAll(range: Commits): (oid: Oid, appliedBy: readonly Oid[]) => boolean {
  const ancestorsOf = new Map<Oid, Set<Oid>>();
  const ancestors = (oid: Oid): Set<Oid> => {
    if (!ancestorsOf.has(oid)) ancestorsOf.set(oid, ancestorsIn(range, oid));
    return ancestorsOf.get(oid)!;
  };
  return (oid, appliedBy) =>
    appliedBy.some((by) => ancestors(by).has(oid)) && !appliedBy.some((by) => !range.has(by) || ancestors(oid).has(by));
}

type Patches = Awaited<ReturnType<typeof readPatches>>;
type Affecting = (patchId: string | null) => Set<string>;

/** The parts that a patch is about: its own, and those of all commits that a merge with this patch brought. */
function affecting(range: Commits, patches: Patches, parts: ReadonlyMap<string, ReadonlySet<string>>): Affecting {
  const merges = new Map<string, Oid[]>();
  for (const { oid, parents } of range.values()) {
    const id = parents.length > 1 ? patches.get(oid)!.forward : null;
    if (id !== null) merges.set(id, [...(merges.get(id) ?? []), oid]);
  }
  return (id) => {
    if (id === null) return new Set();
    const brought = (merges.get(id) ?? []).flatMap((merge) => [...sideOf(range, merge)]);
    const ids = brought.map((oid) => (range.get(oid)!.parents.length > 1 ? null : patches.get(oid)!.forward));
    return new Set([id, ...ids].flatMap((each) => [...(parts.get(each ?? '') ?? [])]));
  };
}

/** The commits that a patch id stands for, among those that are looked for: itself, or all of a whole change. */
function partsOf(changes: readonly DoneChange[]): Map<string, Set<string>> {
  const parts = new Map<string, Set<string>>();
  const add = (id: string, part: string): void => {
    parts.set(id, (parts.get(id) ?? new Set()).add(part));
  };
  for (const change of changes) {
    for (const part of ownParts(change)) {
      add(part, part);
      add(change.patch_id!, part);
    }
  }
  return parts;
}

function ownParts({ patch_id, commit_patch_ids }: DoneChange): string[] {
  return commit_patch_ids.length > 0 ? commit_patch_ids : [patch_id!];
}

/** The commits that a merge brought to its first parent. */
function sideOf(range: Commits, merge: Oid): Set<Oid> {
  const [first, ...others] = range.get(merge)!.parents;
  const before = ancestorsIn(range, first!);
  return new Set(others.flatMap((parent) => [...ancestorsIn(range, parent)]).filter((oid) => !before.has(oid)));
}

function inOrder(range: Commits, oids: ReadonlySet<Oid>): Oid[] {
  return [...range.keys()].filter((oid) => oids.has(oid));
}

/**
 * What `git revert` writes. All there is to go by where a record tells no patch ids, and where lines nearby have changed since, so
 * that what takes the change back is another patch.
 */
async function byMessages(
  repository: GitAccess,
  range: Commits,
  changes: readonly DoneChange[],
): Promise<[DoneChange, Oid[]][]> {
  if (changes.length === 0) return [];
  const reverters = new Map<Oid, Oid[]>();
  for (const { oid, message } of await Promise.all([...range.keys()].map((oid) => repository.store.readCommit(oid)))) {
    for (const [, reverted] of message.matchAll(/^This reverts commit ([0-9a-f]{40}|[0-9a-f]{64})\b/gm))
      reverters.set(reverted!, [...(reverters.get(reverted!) ?? []), oid]);
  }
  /** Those that no later one took back again. */
  const standing = (oid: Oid): Oid[] => (reverters.get(oid) ?? []).filter((by) => standing(by).length === 0);
  const merges = [...reverters.keys()].filter((oid) => (range.get(oid)?.parents.length ?? 0) > 1);
  return changes
    .map((change): [DoneChange, Oid[]] => {
      const brought = merges.filter((merge) => sideOf(range, merge).has(change.commit_sha));
      return [change, inOrder(range, new Set([change.commit_sha, ...brought].flatMap(standing)))];
    })
    .filter(([, by]) => by.length > 0);
}
