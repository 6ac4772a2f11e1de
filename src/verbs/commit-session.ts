import type { GitConfig } from '../git/config.ts';
import { commit } from '../journal/commit.ts';
import { type Draft, identOf, isPlain, moveBranch } from '../journal/direct-commit.ts';
import type { Session } from '../journal/registry.ts';
import { recordsBeyond } from '../journal/restore.ts';
import { readPosition } from './position.ts';
import type { Repository } from './repository.ts';
import { dirsOf } from './session.ts';

const ATTEMPTS = 5;

/** Stages a session's records, then commits them and nothing else. By `git commit` where that could make a difference. */
export async function commitSession(
  repository: Repository,
  session: Session,
  message: string,
  stage: () => Promise<void>,
): Promise<string> {
  const config = await repository.config();
  let staged: Promise<void> | undefined;
  const staging = () => (staged ??= stage());
  for (let attempt = 0; attempt < ATTEMPTS && isPlain(repository.dirs, config); attempt++) {
    const draft = await draftCommit(repository, config, session, message);
    if (!draft) break;
    if (await moveBranch(repository.git, draft, staging)) return draft.oid;
  }
  await staging();
  return commit(repository.git, config, { written: [session.folder], message, identity: session.identity });
}

/** Null where there is no branch to commit to, nobody to commit as, or nothing to commit: git has to say it. */
async function draftCommit(
  repository: Repository,
  config: GitConfig,
  session: Session,
  message: string,
): Promise<Draft | null> {
  const { store, env } = repository;
  const { branch, head } = await readPosition(repository);
  const ident = (role: 'AUTHOR' | 'COMMITTER') => identOf(role, env, config, session.identity, repository.now());
  const [author, committer] = [ident('AUTHOR'), ident('COMMITTER')];
  if (branch === null || head === null || !author || !committer) return null;
  const { tree: before } = await store.readCommit(head);
  const choose = (present: string[]) => recordsBeyond(dirsOf(repository), session, present);
  const tree = await store.addToFolder(before, session.folder, choose);
  if (tree === null) return null;
  const oid = await store.writeCommit({ tree, parents: [head], author, committer, message: `${message}\n` });
  return { branch, head, oid, subject: message.split('\n')[0]! };
}
