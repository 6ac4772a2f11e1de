import type { Oid, Ref } from '../../git/objects/store.ts';
import { runGit } from '../../git/run.ts';
import { shortRef } from '../../repository/everywhere/left-out-lines.ts';
import type { Directories, GitAccess, Settings } from '../../repository/parts.ts';
import { trackingRef } from '../../repository/tracking.ts';
import { workTreeOf } from '../../repository/work-trees.ts';
import type { KnownSessions } from '../known-sessions.ts';

/** Where the work is that a baton is about. */
export interface Work {
  /** Where it was wrapped; null where that was on no branch. */
  branch: string | null;
  /** Where that branch is checked out on this machine. */
  worktree: string | null;
  /** The branch as a remote has it, as far as it was fetched. */
  remote: string | null;
  /** By how many commits the branch here is ahead of that, and behind; null where there is only one of them. */
  ahead: number | null;
  behind: number | null;
  /** Whether there is any branch of that name. */
  is_here: boolean;
}

export async function findWork(
  repository: GitAccess & Directories & Settings,
  knownSessions: KnownSessions,
  branch: string | null,
): Promise<Work> {
  if (branch === null) return { branch, worktree: null, remote: null, ahead: null, behind: null, is_here: false };
  const { own, remote } = await workRefs(repository, knownSessions, branch);
  const [ahead = null, behind = null] = own && remote ? await countBetween(repository, own.oid, remote.oid) : [];
  return {
    branch,
    worktree: workTreeOf(repository.dirs, branch),
    remote: remote && shortRef(remote.name),
    ahead,
    behind,
    is_here: own !== null || remote !== null,
  };
}

/** The branch here, and as a remote has it; null where it is not. */
export async function workRefs(
  repository: Settings,
  { tips }: KnownSessions,
  branch: string,
): Promise<{ own: Ref | null; remote: Ref | null }> {
  const own = tips.find(({ name }) => name === `refs/heads/${branch}`) ?? null;
  return { own, remote: await remoteOf(repository, tips, branch) };
}

/** The one that it follows, else the first that has a branch of that name. */
async function remoteOf(repository: Settings, tips: readonly Ref[], branch: string): Promise<Ref | null> {
  const followed = trackingRef(await repository.config(), `refs/heads/${branch}`);
  const named = tips.filter(({ name }) => name.startsWith('refs/remotes/') && name.endsWith(`/${branch}`));
  const isOfRemote = ({ name }: Ref): boolean => !name.slice('refs/remotes/'.length, -branch.length - 1).includes('/');
  return named.find(({ name }) => name === followed) ?? named.find(isOfRemote) ?? null;
}

/** Nothing where commits are missing, as in a shallow clone: that is no reason not to pick up. */
async function countBetween({ git }: GitAccess, own: Oid, remote: Oid): Promise<number[]> {
  if (own === remote) return [0, 0];
  const { code, stdout } = await runGit(git, ['rev-list', '--left-right', '--count', `${own}...${remote}`, '--']);
  return code === 0 ? stdout.toString('latin1').trim().split('\t').map(Number) : [];
}
