import { ROOT } from '../../core/paths.ts';
import { type Changes, openChanges } from '../../git/changes.ts';
import { parseRaw, RAW, type RawChange } from '../../git/raw-diff.ts';
import { type Merger, openMerger } from '../../git/remerge.ts';
import { type Git, readGit } from '../../git/run.ts';
import type { GitStore, Oid } from '../../git/store.ts';
import { openWorkshop } from '../../git/workshop.ts';
import type { Repository } from '../repository.ts';

/** What commits are compared and made again with. Nothing but objects decides what comes out of it. */
export interface Comparer {
  git: Git;
  store: GitStore;
  changes: Changes;
  merger: Merger;
  /** In which files two trees differ, records included; each pair is read once. */
  readRaw(before: Oid, after: Oid): Promise<RawChange[]>;
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
    readRaw: openRaw(workshop.git),
    async close() {
      await changes.close();
      workshop.close();
    },
  };
}

function openRaw(git: Git): Comparer['readRaw'] {
  const known = new Map<string, Promise<RawChange[]>>();
  const read = async (before: Oid, after: Oid): Promise<RawChange[]> =>
    parseRaw(await readGit(git, ['diff-tree', ...RAW, '--ignore-submodules=none', before, after, '--']));
  return (before, after) => {
    const key = `${before} ${after}`;
    const changes = known.get(key) ?? read(before, after);
    known.set(key, changes);
    return changes;
  };
}
