import type { GitConfig } from '../git/config.ts';
import { commit } from '../journal/commit.ts';
import { identOf, isPlain, moveBranch, type UnnamedCommit } from '../journal/direct-commit.ts';
import { withoutOwnHooks } from '../journal/own-hooks.ts';
import type { Session } from '../journal/registry.ts';
import { recordsBeyond } from '../journal/restore.ts';
import { readPosition } from './position.ts';
import type { Repository } from './repository.ts';
import { dirsOf } from './session.ts';

const ATTEMPTS = 5;

/**
 * Stages the records of sessions, then commits them and nothing else. The first one is whose commit it is. By `git commit`
 * where that could make a difference.
 */
export async function commitSessions(
  repository: Repository,
  sessions: readonly [Session, ...Session[]],
  message: string,
  stage: () => Promise<void>,
): Promise<string> {
  const { identity } = sessions[0];
  const config = await repository.config();
  let staged: Promise<void> | undefined;
  const staging = () => (staged ??= stage());
  for (let attempt = 0; attempt < ATTEMPTS && isPlain(repository.dirs, config); attempt++) {
    const made = await makeCommit(repository, config, sessions, message);
    if (!made) break;
    if (await moveBranch(repository.git, made, staging)) return made.oid;
  }
  await staging();
  const settings = withoutOwnHooks(repository.dirs, config);
  return commit(repository.git, config, { written: sessions.map(({ folder }) => folder), message, identity, settings });
}

/** Null where there is no branch to commit to, nobody to commit as, or nothing to commit: git has to say it. */
async function makeCommit(
  repository: Repository,
  config: GitConfig,
  sessions: readonly [Session, ...Session[]],
  message: string,
): Promise<UnnamedCommit | null> {
  const { store, env } = repository;
  const { branch, head } = await readPosition(repository);
  const ident = (role: 'AUTHOR' | 'COMMITTER') => identOf(role, env, config, sessions[0].identity, repository.now());
  const [author, committer] = [ident('AUTHOR'), ident('COMMITTER')];
  if (branch === null || head === null || !author || !committer) return null;
  const { tree: before } = await store.readCommit(head);
  let tree = before;
  for (const session of sessions) {
    const choose = (present: string[]) => recordsBeyond(dirsOf(repository), session, present);
    tree = (await store.addToFolder(tree, session.folder, choose)) ?? tree;
  }
  if (tree === before) return null;
  const oid = await store.writeCommit({ tree, parents: [head], author, committer, message: `${message}\n` });
  const settings = withoutOwnHooks(repository.dirs, config, ['reference-transaction']);
  return { oid, branch, head, subject: message.split('\n')[0]!, settings };
}
