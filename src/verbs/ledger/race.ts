import { HandoffError } from '../../core/error.ts';
import { LEDGER } from '../../core/paths.ts';
import { type Range, readRange } from '../../git/range.ts';
import { fetchBranch, pushBranch } from '../../git/remote.ts';
import { readGit } from '../../git/run.ts';
import type { Oid } from '../../git/store.ts';
import { readBranch } from '../position.ts';
import type { Repository } from '../repository.ts';
import { remoteNames, remoteOf, trackingRef } from '../tracking.ts';

/**
 * A branch whose own commits do nothing but append, and that has parted from the remote's, has lost a race: those commits are
 * dropped and made again on top of what won. Anything else is for a person to merge. `follows`: one that is only behind is
 * brought to where the remote is.
 */
export async function catchUp(repository: Repository, branch: string, follows: boolean): Promise<Standing> {
  const { store, git } = repository;
  const tracking = await trackingOf(repository, branch);
  if (tracking === null) return 'ahead';
  const [head, theirs] = await Promise.all([store.readCommit('HEAD'), store.readCommit(tracking)]);
  if (head.oid === theirs.oid || head.parents.includes(theirs.oid)) return 'ahead';
  const range = await readRange(git, head.oid, [theirs.oid]);
  if (range.boundary.size === 1 && range.boundary.has(theirs.oid)) return 'ahead';
  const isBehind = range.commits.length === 0;
  if (isBehind ? !follows : !(await onlyAppends(repository, head.oid, range))) return 'parted';
  // unlike a reset it takes along what is staged, and stops where that is in the way
  await readGit(git, ['checkout', '--quiet', '--no-track', '-B', branch, theirs.oid, '--']);
  const was = isBehind ? 'was behind' : 'had lost a race';
  repository.warn(`${branch} ${was} and is at ${theirs.oid.slice(0, 12)} now, as ${tracking} is.`);
  return 'moved';
}

/** How a branch stands to its remote's: it has all of that, it was brought there, or only a person can bring them together. */
type Standing = 'ahead' | 'moved' | 'parted';

/** Whether all that the branch has and the remote lacks only appends. */
async function onlyAppends({ git }: Repository, head: Oid, range: Range): Promise<boolean> {
  const [parted] = range.boundary;
  if (range.commits.some(({ parents }) => parents.length !== 1) || range.boundary.size !== 1) return false;
  const changed = await readGit(git, ['diff-tree', '-r', '--name-only', '--no-renames', '-z', parted!, head]);
  return changed
    .toString('utf8')
    .split('\0')
    .slice(0, -1)
    .every((path) => path.startsWith(`${LEDGER}/`));
}

/**
 * Whether a commit of this branch was in vain: the remote has moved on without it, and never had it. What a remote did have, and
 * has no longer, was taken back.
 */
export async function wasInVain(repository: Repository, commit: Oid): Promise<boolean> {
  const { store, git } = repository;
  const branch = readBranch(repository);
  const tracking = branch === null ? null : await trackingOf(repository, branch);
  if (tracking === null || !(await store.has(commit))) return false;
  const args = ['log', '--walk-reflogs', '--format=%H', tracking, '--'];
  const seen = (await readGit(git, args)).toString('latin1').split('\n').slice(0, -1);
  const theirs = (await store.readCommit(tracking)).oid;
  if (await store.isAncestor(theirs, commit)) return false;
  for (const tip of new Set([theirs, ...seen])) if (await store.isAncestor(commit, tip)) return false;
  return true;
}

/** Null where this clone has nothing of it. */
async function trackingOf(repository: Repository, branch: string): Promise<string | null> {
  const tracking = trackingRef(await repository.config(), `refs/heads/${branch}`);
  return tracking !== null && (await repository.store.has(tracking)) ? tracking : null;
}

/** Whether a commit is the remote's as well, as it was last heard of. Without a remote there is nobody to race with. */
export async function isShared(repository: Repository, branch: string, commit: Oid): Promise<boolean> {
  const tracking = await trackingOf(repository, branch);
  return tracking === null || (await repository.store.readCommit(tracking)).oid === commit;
}

/** Before anything is committed that could then not be pushed. */
export async function assertRemote(repository: Repository, branch: string): Promise<void> {
  const config = await repository.config();
  if (remoteNames(config).length > 0 || config.get(`branch.${branch}.remote`) !== undefined) return;
  throw new HandoffError('usage', `There is no remote to push ${branch} to.`, {
    hint: 'Without --push it is appended here: git handoff ledger append',
    data: { branch },
  });
}

/** False when somebody else was faster; then it is known here what they pushed. */
export async function pushLedger(repository: Repository, branch: string): Promise<boolean> {
  const config = await repository.config();
  const remote = { git: repository.git, name: remoteOf(config, branch) };
  const ref = `refs/heads/${branch}`;
  if (await pushBranch(remote, ref)) return true;
  await fetchBranch(remote, ref, trackingRef(config, ref)!);
  return false;
}
