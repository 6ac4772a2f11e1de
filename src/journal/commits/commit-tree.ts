import { setTimeout as sleep } from 'node:timers/promises';
import { HandoffError } from '../../core/error.ts';
import type { FileToWrite } from '../../disk/tree-files.ts';
import type { GitConfig } from '../../git/config.ts';
import type { Oid } from '../../git/objects/store.ts';
import type { BranchMover } from '../../git/refs/branch-file.ts';
import { isForeignHook, withoutOwnHooks } from '../../repository/git-hooks/own-hooks.ts';
import type { Directories, GitAccess, IndexAccess, Messages, Settings, TimeAndHost } from '../../repository/parts.ts';
import { type Position, readBranch, readPosition } from '../../repository/position.ts';
import type { Repository } from '../../repository/repository.ts';
import { commitByGit } from './commit.ts';
import { identOf, isPlain, moveBranch, type UnnamedCommit } from './direct-commit.ts';

/** What a commit is to hold, and nothing else. */
export interface TreeChange {
  identity: string;
  message: string;
  /** Where what it changes is, once it is staged, for `git commit`. */
  paths(): readonly string[];
  /** Throws where the change was not made for this branch, or this tree. */
  check?(base: Base): Promise<void>;
  /** What the commit is to hold byte for byte, where git makes it. */
  files?(): readonly FileToWrite[];
  /** The tree with the change in it. */
  edit(tree: Oid): Promise<Oid>;
  /** Brings the index in line; again, the work tree as well, where somebody has changed it since. */
  stage(isAgain: boolean): Promise<void>;
}

/** As often somebody else may be faster. Two processes of `git commit` at once get at each other's messages, so it is not left to git. */
const ATTEMPTS = 20;
const LONGEST_PAUSE = 100;

/** Stages a change, then commits it, at a cost that does not depend on how many files there are; by `git commit` where that could make a difference. */
export async function commitTree(repository: Repository, change: TreeChange): Promise<Made> {
  const config = await repository.config();
  const place = await branchPlace(repository);
  let isAgain = false;
  const prepare = async (): Promise<Base> => {
    const base = await readBase(repository);
    await change.check?.(base);
    await change.stage(isAgain); // before the commit is made: meanwhile the index that was replaced goes away
    isAgain = true;
    return base;
  };
  for (let attempt = 0; attempt < ATTEMPTS && isPlain(repository.dirs, config); attempt++) {
    const base = await prepare();
    const staged = repository.index.version();
    const made = await makeCommit(repository, config, base, change);
    if (!made) break;
    if (made.to === made.from || (await moveBranch(repository.git, made, place))) {
      const isReplaced = repository.index.version() !== staged && readBranch(repository) === base.branch;
      if (isReplaced) await change.stage(true).catch(warnNotStaged(repository));
      return { commit: made.to, branch: base.branch };
    }
    if (attempt > 0) await sleep(Math.random() * LONGEST_PAUSE);
  }
  const { branch } = await prepare();
  const { identity, message } = change;
  const files = change.files?.() ?? [];
  const commit = await commitByGit(repository, { written: [...change.paths()], message, identity, files });
  return { commit, branch };
}

/** A commit, and the branch that was checked out for it. */
interface Made {
  commit: Oid;
  branch: string | null;
}

/** What somebody put in the place of the index before the branch moved, as `git reset` does, would take the change back with the next commit. */
export function warnNotStaged(repository: Messages): (error: unknown) => void {
  return (error) => {
    if (!(error instanceof HandoffError)) throw error;
    repository.warn(`Committed, but somebody has changed the index meanwhile, and it is not staged: ${error.message}`);
  };
}

/** What a commit is made on; on an unborn branch there is neither commit nor tree. */
export interface Base extends Position {
  tree: Oid | null;
}

async function readBase(repository: GitAccess & Directories): Promise<Base> {
  const position = await readPosition(repository);
  return { ...position, tree: position.head && (await repository.store.readCommit(position.head)).tree };
}

/**
 * Null where there is no branch to commit to, or nobody to commit as: git has to say it. HEAD itself where it holds the change:
 * a `git commit` of somebody else took along what was staged, or an earlier attempt was cut off right after its commit.
 */
async function makeCommit(
  { store, dirs, env, now }: GitAccess & Directories & Settings & TimeAndHost,
  config: GitConfig,
  { branch, head, tree: before }: Base,
  { identity, message, edit }: TreeChange,
): Promise<UnnamedCommit | null> {
  const [author, committer] = (['AUTHOR', 'COMMITTER'] as const).map((role) =>
    identOf(role, env, config, identity, now()),
  );
  if (branch === null || head === null || before === null || !author || !committer) return null;
  const tree = await edit(before);
  const next = { tree, parents: [head], author, committer, message: `${message}\n` };
  const oid = tree === before ? head : await store.writeCommit(next);
  const settings = withoutOwnHooks(dirs, config, [REF_HOOK]);
  return { branch, from: head, to: oid, by: committer, reason: `commit: ${message.split('\n')[0]!}`, settings };
}

const REF_HOOK = 'reference-transaction';

/** Null where git has to move a branch: somebody else's hook is to hear of it, or it was configured how files are written. */
async function branchPlace({
  dirs,
  store,
  host,
  discards,
}: GitAccess & Directories & TimeAndHost & IndexAccess): Promise<BranchMover | null> {
  if (isForeignHook(dirs, REF_HOOK) || (await store.objectWriter()) === null) return null;
  return { dirs, processes: host, discards };
}
