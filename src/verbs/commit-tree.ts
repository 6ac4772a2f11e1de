import type { GitConfig } from '../git/config.ts';
import type { Oid } from '../git/store.ts';
import { commit } from '../journal/commit.ts';
import { identOf, isPlain, moveBranch, type UnnamedCommit } from '../journal/direct-commit.ts';
import { withoutOwnHooks } from '../journal/own-hooks.ts';
import { readPosition } from './position.ts';
import type { Repository } from './repository.ts';

/** What a commit is to hold, and nothing else. */
export interface TreeChange {
  identity: string;
  message: string;
  /** Where what it changes is, for `git commit`. */
  paths: readonly string[];
  /** The tree with the change in it. */
  edit(tree: Oid): Promise<Oid>;
  /** Brings the index in line. */
  stage(): Promise<void>;
}

const ATTEMPTS = 5;

/** Stages a change, then commits it, at a cost that does not depend on how many files there are; by `git commit` where that could make a difference. */
export async function commitTree(repository: Repository, change: TreeChange): Promise<string> {
  const config = await repository.config();
  let staged: Promise<void> | undefined;
  const staging = () => (staged ??= change.stage());
  for (let attempt = 0; attempt < ATTEMPTS && isPlain(repository.dirs, config); attempt++) {
    const made = await makeCommit(repository, config, change);
    if (!made) break;
    if (await moveBranch(repository.git, made, staging)) return made.oid;
  }
  await staging();
  const { identity, message, paths } = change;
  const settings = withoutOwnHooks(repository.dirs, config);
  return commit(repository.git, config, { written: [...paths], message, identity, settings });
}

/** Null where there is no branch to commit to, nobody to commit as, or nothing to commit: git has to say it. */
async function makeCommit(
  repository: Repository,
  config: GitConfig,
  { identity, message, edit }: TreeChange,
): Promise<UnnamedCommit | null> {
  const { store, env } = repository;
  const { branch, head } = await readPosition(repository);
  const ident = (role: 'AUTHOR' | 'COMMITTER') => identOf(role, env, config, identity, repository.now());
  const [author, committer] = [ident('AUTHOR'), ident('COMMITTER')];
  if (branch === null || head === null || !author || !committer) return null;
  const { tree: before } = await store.readCommit(head);
  const tree = await edit(before);
  if (tree === before) return null;
  const oid = await store.writeCommit({ tree, parents: [head], author, committer, message: `${message}\n` });
  const settings = withoutOwnHooks(repository.dirs, config, ['reference-transaction']);
  return { oid, branch, head, subject: message.split('\n')[0]!, settings };
}
