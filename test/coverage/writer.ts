import { type Account, countEach } from '../../src/core/writeback/account.ts';
import type { Text, Texts } from './edits.ts';
import type { Court } from './lab.ts';
import { type Merge, type Merging, openMerging } from './merging.ts';
import { ancestorsOf, type Entry, type Files, mergeBases, type Oid, writeCommit, writeFiles } from './objects.ts';

/** Writes commits as git and its users do. */
export interface Writer {
  court: Court;
  read(commit: Oid): Texts;
  /** Another author unless one is given. */
  commit(files: Texts, parents: readonly Oid[], author?: string): Oid;
  authorOf(commit: Oid): string;
  /** Null where git makes no such merge. */
  merge(ours: Oid, theirs: Oid): Made | null;
  /** A commit's change, applied to another; backwards: taken back there. */
  pick(commit: Oid, onto: Oid, isBackwards?: boolean): Made | null;
  /** A thought for everything since a commit, as the verb would fill it in. */
  thought(since: Oid, commit: Oid): Promise<Account>;
  mergeBase(a: Oid, b: Oid): Oid;
}

export interface Made {
  files: Texts;
  /** The paths that git left to decide. */
  conflicts: readonly string[];
}

/** `name` is in every commit: no two histories share one. */
export function openWriter(court: Court, merging: Merging, name: string): Writer {
  const { objects } = court;
  let count = 0;
  const commitOf = (oid: Oid) => objects.commit(oid)!;
  const parentTree = (oid: Oid): Oid => commitOf(commitOf(oid).parents[0]!).tree;
  const toTexts = (files: Files): Texts => new Map([...files].map(([path, entry]) => [path, toText(merging, entry)]));
  const made = (merge: Merge | null): Made | null =>
    merge && { files: toTexts(merging.objects.files(merge.tree)), conflicts: [...merge.conflicts.keys()] };
  return {
    court,
    read: (oid) => toTexts(objects.files(commitOf(oid).tree)),
    commit(files, parents, author) {
      const who = `${name} <${name}@example.org> ${1_700_000_000 + 60 * ++count} +0000`;
      const entries = new Map([...files].map(([path, text]) => [path, toEntry(court, text)]));
      const tree = writeFiles(objects, entries);
      return writeCommit(objects, { tree, parents, author: author ?? who, committer: who, message: `commit ${count}` });
    },
    authorOf: (oid) => commitOf(oid).author,
    merge: (ours, theirs) => made(merging.merge([ours, theirs])),
    pick(oid, onto, isBackwards = false) {
      const [before, after] = [parentTree(oid), commitOf(oid).tree];
      const { tree } = commitOf(onto);
      return made(isBackwards ? merging.mergeTrees(after, tree, before) : merging.mergeTrees(before, tree, after));
    },
    thought: (since, oid) => thoughtSince(court, name, ++count, since, oid),
    mergeBase: (a, b) => mergeBases(objects, a, b)[0]!,
  };
}

/** Where merges of histories are made while they are written. */
export function openWriting({ folder }: Court, scratch: string): Merging {
  return openMerging(folder, scratch);
}

const SUBMODULE = '160000';

function toText({ objects }: Merging, { mode, oid }: Entry): Text {
  return { mode, text: mode === SUBMODULE ? oid : objects.read(oid)!.bytes.toString('latin1') };
}

function toEntry({ objects }: Court, { mode, text }: Text): Entry {
  return { mode, oid: mode === SUBMODULE ? text : objects.write('blob', Buffer.from(text, 'latin1')) };
}

/** SPEC §9.2 */
async function thoughtSince(
  { objects, changes }: Court,
  name: string,
  clock: number,
  since: Oid,
  commit: Oid,
): Promise<Account> {
  const behind = ancestorsOf(objects, since);
  const commits = [...ancestorsOf(objects, commit)].filter((oid) => !behind.has(oid));
  const single = commits.filter((oid) => objects.commit(oid)!.parents.length < 2);
  const [before, after] = [since, commit].map((oid) => objects.commit(oid)!.tree);
  const [whole, ...each] = await changes.read([
    { before: before!, after: after! },
    ...single.map((oid) => ({ commit: oid })),
  ]);
  return {
    delta_id: `${name}-${clock}`,
    path: `${name}-${clock}`,
    task_id: 'P0.1',
    identity: 'ada',
    clock,
    commit,
    wholePatchId: whole!.patchId,
    commitPatchIds: countEach(each.map(({ patchId }) => patchId).filter((id) => id !== null)),
    files: [...whole!.paths].sort(),
    failed: [],
  };
}
