import { LEDGER } from '../../core/paths.ts';
import { readRange } from '../../git/range.ts';
import { fetchBranch, pushBranch } from '../../git/remote.ts';
import { readGit } from '../../git/run.ts';
import type { Oid } from '../../git/store.ts';
import type { Repository } from '../repository.ts';
import { remoteOf, trackingRef } from '../tracking.ts';

/**
 * A branch whose own commits do nothing but append, and that has parted from the remote's, has lost a race: those commits are
 * dropped and made again on top of what won. Anything else is for a person to merge.
 */
export async function catchUp(repository: Repository, branch: string): Promise<void> {
  const { store, git } = repository;
  const tracking = trackingRef(await repository.config(), `refs/heads/${branch}`);
  if (tracking === null || !(await store.has(tracking))) return;
  const [head, theirs] = await Promise.all([store.readCommit('HEAD'), store.readCommit(tracking)]);
  if (head.oid === theirs.oid || head.parents.includes(theirs.oid)) return;
  if (!(await onlyAppends(repository, head.oid, theirs.oid))) return;
  await readGit(git, ['reset', '--quiet', '--keep', theirs.oid]);
  repository.warn(`${branch} had lost a race and is at ${theirs.oid.slice(0, 12)} now, as ${tracking} is.`);
}

/** Whether the branch has commits that the remote lacks, all of which only append, and lacks some that the remote has. */
async function onlyAppends({ git }: Repository, head: Oid, theirs: Oid): Promise<boolean> {
  const { commits, boundary } = await readRange(git, head, [theirs]);
  const [parted] = boundary;
  if (commits.some(({ parents }) => parents.length !== 1) || boundary.size !== 1 || parted === theirs) return false;
  const changed = await readGit(git, ['diff-tree', '-r', '--name-only', '--no-renames', '-z', parted!, head]);
  return changed
    .toString('utf8')
    .split('\0')
    .slice(0, -1)
    .every((path) => path.startsWith(`${LEDGER}/`));
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
