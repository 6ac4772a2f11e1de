import type { Oid } from '../git/store.ts';
import type { Session } from '../journal/registry.ts';
import { recordsBeyond } from '../journal/restore.ts';
import { commitTree } from './commit-tree.ts';
import type { Repository } from './repository.ts';
import { dirsOf } from './session.ts';

/**
 * Commits the records of sessions and nothing else. `stage` stages them, and says whose they are: another branch, checked out
 * meanwhile, may have others.
 */
export async function commitSessions(
  repository: Repository,
  { identity }: Session,
  message: string,
  stage: (isAgain: boolean) => Promise<readonly Session[]>,
): Promise<{ commit: string; branch: string | null; sessions: readonly Session[] }> {
  let sessions: readonly Session[] = [];
  const made = await commitTree(repository, {
    identity,
    message,
    paths: () => sessions.map(({ folder }) => folder),
    edit: (tree) => withRecords(repository, sessions, tree),
    async stage(isAgain) {
      sessions = await stage(isAgain);
    },
  });
  return { ...made, sessions };
}

async function withRecords(repository: Repository, sessions: readonly Session[], before: Oid): Promise<Oid> {
  let tree = before;
  for (const session of sessions) {
    const choose = (present: string[]) => recordsBeyond(dirsOf(repository), session, present);
    tree = (await repository.store.addToFolder(tree, session.folder, choose)) ?? tree;
  }
  return tree;
}
