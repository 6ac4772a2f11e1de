import { ROOT } from '../../core/paths.ts';
import { type Changes, openChanges } from '../../git/changes/changes.ts';
import { parseRaw, RAW, type RawChange } from '../../git/changes/raw-diff.ts';
import { type Merger, openMerger } from '../../git/changes/remerge.ts';
import { openWorkshop, type Workshop } from '../../git/changes/workshop.ts';
import type { GitStore, Oid } from '../../git/objects/store.ts';
import type { Trees } from '../../git/objects/tree-edit.ts';
import { openTreeReader } from '../../git/objects/tree-reader.ts';
import { type Git, readGit } from '../../git/run.ts';
import type { Repository } from '../../repository/repository.ts';

/** What commits are compared and made again with. Nothing but objects decides what comes out of it. */
export interface Comparer extends Pick<Workshop, 'writeCommit'> {
  git: Git;
  store: GitStore;
  changes: Changes;
  merger: Merger;
  /** What is written is seen by whoever compares and merges here, and by nobody else. */
  trees: Trees;
  /** In which files two trees differ, records included. */
  readRaw(before: Oid, after: Oid): Promise<RawChange[]>;
  /** Each pair is asked for once. */
  mergeBases(a: Oid, b: Oid): Promise<Oid[]>;
  /** Is told how many merges are about to be made. */
  spend(merges: number): void;
  close(): Promise<void>;
}

/** It gets ready while something else is read. `spend`: throws where that is too much. */
export function openComparer(
  { git, store, dirs }: Pick<Repository, 'git' | 'store' | 'dirs'>,
  spend: (merges: number) => void = () => {},
): Comparer {
  const workshop = openWorkshop(git, dirs.commonDir);
  const changes = openChanges(workshop.git, ROOT);
  const reader = openTreeReader(workshop.git);
  return {
    git,
    store,
    changes,
    merger: openMerger(workshop, spend),
    trees: { read: (oid) => reader.read(oid), write: async (type, bytes) => workshop.write(type, bytes) },
    writeCommit: workshop.writeCommit,
    readRaw: (before, after) => readRaw(workshop.git, before, after),
    mergeBases: oncePerPair((a, b) => store.mergeBases(a, b)),
    spend,
    async close() {
      await Promise.all([changes.close(), reader.close()]);
      workshop.close();
    },
  };
}

async function readRaw(git: Git, before: Oid, after: Oid): Promise<RawChange[]> {
  return parseRaw(await readGit(git, ['diff-tree', ...RAW, '--ignore-submodules=none', before, after, '--']));
}

function oncePerPair<T>(read: (a: Oid, b: Oid) => Promise<T>): (a: Oid, b: Oid) => Promise<T> {
  const known = new Map<string, Promise<T>>();
  return (a, b) => {
    const answer = known.get(`${a} ${b}`) ?? read(a, b);
    known.set(`${a} ${b}`, answer);
    return answer;
  };
}
