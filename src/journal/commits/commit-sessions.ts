import type { Oid, TreeEntry } from '../../git/objects/store.ts';
import type { NewFile } from '../../git/trees/tree-edit.ts';
import type { Directories, GitAccess, StateDirectory } from '../../repository/parts.ts';
import type { Repository } from '../../repository/repository.ts';
import type { Session } from '../sessions/registry.ts';
import { dirsOf } from '../sessions/session-state.ts';
import { changedIn } from './changed-at-head.ts';
import { commitTree } from './commit-tree.ts';
import { journalledFiles, recordsBeyond } from './restore.ts';

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
    files: () => sessions.flatMap((session) => journalledFiles(dirsOf(repository), session)),
    edit: (tree) => withRecords(repository, sessions, tree),
    async stage(isAgain) {
      sessions = await stage(isAgain);
    },
  });
  return { ...made, sessions };
}

async function withRecords(
  repository: GitAccess & Directories & StateDirectory,
  sessions: readonly Session[],
  before: Oid,
): Promise<Oid> {
  let tree = before;
  for (const session of sessions) {
    const choose = (present: readonly TreeEntry[]) => lackingIn(repository, session, present);
    tree = (await repository.store.addToFolder(tree, session.folder, choose)) ?? tree;
  }
  return tree;
}

/** The records that a folder does not have, and those that it has with other bytes. */
function lackingIn(
  repository: Directories & StateDirectory,
  session: Session,
  present: readonly TreeEntry[],
): NewFile[] {
  const changed = changedIn(repository, session, present).map(({ path, bytes }) => ({
    name: path.slice(path.lastIndexOf('/') + 1),
    bytes,
  }));
  const names = present.map(({ name }) => name);
  return [...recordsBeyond(dirsOf(repository), session, names), ...changed];
}
