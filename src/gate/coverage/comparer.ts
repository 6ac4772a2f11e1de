import { ROOT } from '../../core/paths.ts';
import { type Changes, openChanges } from '../../git/changes/changes.ts';
import { parseRaw, RAW, type RawChange } from '../../git/changes/raw-diff.ts';
import { type Merger, openMerger } from '../../git/changes/remerge.ts';
import { openWorkshop } from '../../git/changes/workshop.ts';
import type { GitStore, Oid } from '../../git/objects/store.ts';
import { type Git, readGit } from '../../git/run.ts';
import type { Repository } from '../../repository/repository.ts';

/** What commits are compared and made again with. Nothing but objects decides what comes out of it. */
export interface Comparer {
  git: Git;
  store: GitStore;
  changes: Changes;
  merger: Merger;
  /** In which files two trees differ, records included; each pair is read once. */
  readRaw(before: Oid, after: Oid): Promise<RawChange[]>;
  /** Each pair is asked for once. */
  mergeBases(a: Oid, b: Oid): Promise<Oid[]>;
  close(): Promise<void>;
}

/** It gets ready while something else is read. `spend`: what is told how many merges are about to be made. */
export function openComparer(
  { git, store, dirs }: Pick<Repository, 'git' | 'store' | 'dirs'>,
  spend?: (merges: number) => void,
): Comparer {
  const workshop = openWorkshop(git, dirs.commonDir);
  const changes = openChanges(workshop.git, ROOT);
  return {
    git,
    store,
    changes,
    merger: openMerger(workshop, spend),
    readRaw: oncePerPair((before, after) => readRaw(workshop.git, before, after)),
    mergeBases: oncePerPair((a, b) => store.mergeBases(a, b)),
    async close() {
      await changes.close();
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
