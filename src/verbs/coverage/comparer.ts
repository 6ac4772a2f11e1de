import { ROOT } from '../../core/paths.ts';
import { type Changes, openChanges } from '../../git/changes.ts';
import { type Merger, openMerger } from '../../git/remerge.ts';
import type { Git } from '../../git/run.ts';
import type { GitStore } from '../../git/store.ts';
import { openWorkshop } from '../../git/workshop.ts';
import type { Repository } from '../repository.ts';

/** What commits are compared and made again with. Nothing but objects decides what comes out of it. */
export interface Comparer {
  git: Git;
  store: GitStore;
  changes: Changes;
  merger: Merger;
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
    async close() {
      await changes.close();
      workshop.close();
    },
  };
}
