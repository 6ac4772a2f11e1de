import type { Oid } from '../git/store.ts';
import type { Session } from '../journal/registry.ts';
import { recordsBeyond } from '../journal/restore.ts';
import { commitTree } from './commit-tree.ts';
import type { Repository } from './repository.ts';
import { dirsOf } from './session.ts';

/** Stages the records of sessions, then commits them and nothing else. The first one is whose commit it is. */
export function commitSessions(
  repository: Repository,
  sessions: readonly [Session, ...Session[]],
  message: string,
  stage: (isAgain: boolean) => Promise<void>,
): Promise<string> {
  return commitTree(repository, {
    identity: sessions[0].identity,
    message,
    paths: sessions.map(({ folder }) => folder),
    edit: (tree) => withRecords(repository, sessions, tree),
    stage,
  });
}

async function withRecords(repository: Repository, sessions: readonly Session[], before: Oid): Promise<Oid> {
  let tree = before;
  for (const session of sessions) {
    const choose = (present: string[]) => recordsBeyond(dirsOf(repository), session, present);
    tree = (await repository.store.addToFolder(tree, session.folder, choose)) ?? tree;
  }
  return tree;
}
