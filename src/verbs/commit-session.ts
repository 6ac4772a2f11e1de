import { find } from '../audit/source.ts';
import { openTree } from '../audit/tree-source.ts';
import { commit } from '../journal/commit.ts';
import { commitDirectly, identOf, isPlain } from '../journal/direct-commit.ts';
import type { FileToWrite } from '../journal/files.ts';
import type { Session } from '../journal/registry.ts';
import { recordsBeyond } from '../journal/restore.ts';
import { readPosition } from './position.ts';
import type { Repository } from './repository.ts';
import { dirsOf } from './session.ts';

const ATTEMPTS = 5;

/** Commits a session's records, which are staged, and nothing else. By `git commit` where that could make a difference. */
export async function commitSession(repository: Repository, session: Session, message: string): Promise<string> {
  const config = await repository.config();
  for (let attempt = 0; attempt < ATTEMPTS && isPlain(repository.dirs, config); attempt++) {
    const { branch, head } = await readPosition(repository);
    const [author, committer] = (['AUTHOR', 'COMMITTER'] as const).map((role) =>
      identOf(role, repository.env, config, session.identity, repository.now()),
    );
    if (branch === null || head === null || !author || !committer) break;
    const files = await uncommitted(repository, session);
    if (files.length === 0) break;
    const draft = { branch, head, files, message: `${message}\n`, author, committer };
    const oid = await commitDirectly(repository.git, draft);
    if (oid !== null) return oid;
  }
  return commit(repository.git, config, { written: [session.folder], message, identity: session.identity });
}

/** The session's records that HEAD does not have, as they stand in the journal. */
async function uncommitted(repository: Repository, session: Session): Promise<FileToWrite[]> {
  const source = await openTree(repository.store, 'HEAD');
  const folder = await find(source, session.folder);
  const names = folder ? (await source.list(folder)).map(({ name }) => name) : [];
  return recordsBeyond(dirsOf(repository), session, names);
}
