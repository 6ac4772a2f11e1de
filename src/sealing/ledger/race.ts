import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { HandoffError } from '../../core/error.ts';
import { LEDGER } from '../../core/paths.ts';
import { ifThere } from '../../disk/if-there.ts';
import { moveCheckout } from '../../git/index/move-checkout.ts';
import { isOid } from '../../git/objects/asked-name.ts';
import type { Commit, Oid } from '../../git/objects/store.ts';
import { type Range, readRange } from '../../git/refs/range.ts';
import { fetchBranch, pushBranch } from '../../git/refs/remote.ts';
import { type Git, readGit } from '../../git/run.ts';
import type { Directories, GitAccess, Settings } from '../../repository/parts.ts';
import { readBranch } from '../../repository/position.ts';
import type { Repository } from '../../repository/repository.ts';
import { remoteNames, remoteOf, trackingRef } from '../../repository/tracking.ts';
import { movedMeanwhile } from './write.ts';

/** A branch as its remote had it when it was last heard of. */
interface Theirs {
  ref: string;
  oid: Oid;
}

/** Null where this clone has nothing of it, or there is no branch. */
export async function readTheirs(repository: GitAccess & Settings, branch: string | null): Promise<Theirs | null> {
  const ref = branch === null ? null : trackingRef(await repository.config(), `refs/heads/${branch}`);
  const { store } = repository;
  return ref !== null && (await store.has(ref)) ? { ref, oid: (await store.readCommit(ref)).oid } : null;
}

/** What is checked out, and what its remote has of it. */
export interface Tips {
  /** Null when HEAD is detached. */
  branch: string | null;
  headCommit: Commit;
  theirs: Theirs | null;
}

/** The branch is read once, and the rest by its name: another one may be checked out meanwhile. */
export async function readTips(repository: GitAccess & Directories & Settings): Promise<Tips> {
  const branch = readBranch(repository);
  const rev = branch === null ? 'HEAD' : `refs/heads/${branch}`;
  const [headCommit, theirs] = await Promise.all([repository.store.readCommit(rev), readTheirs(repository, branch)]);
  return { branch, headCommit, theirs };
}

/** How a branch is brought to where the remote is. */
interface Following {
  /** Also one that is only behind. */
  follows: boolean;
  /** Throws where it must not go there. */
  mayMove(to: Oid): Promise<void>;
}

/**
 * A branch whose own commits do nothing but append, and that has parted from the remote's, has lost a race: those commits are
 * dropped and made again on top of what won. Anything else is for a person to merge.
 */
export async function catchUp(
  repository: Repository,
  branch: string,
  { headCommit: seen, theirs }: Pick<Tips, 'headCommit' | 'theirs'>,
  { follows, mayMove }: Following,
): Promise<Standing> {
  if (theirs === null || isAtOrAfter(seen, theirs)) return 'ahead';
  const { git, store } = repository;
  const headCommit = await store.readCommit(`refs/heads/${branch}`); // as it is now: what was committed meanwhile counts
  const range = await readRange(git, headCommit.oid, [theirs.oid]);
  if (isAtOrAfter(headCommit, theirs) || (range.boundary.size === 1 && range.boundary.has(theirs.oid))) return 'ahead';
  const isBehind = range.commits.length === 0;
  if (isBehind ? !follows : !(await onlyAppends(git, range))) return 'parted';
  await mayMove(theirs.oid);
  const reason = `ledger append: moving to ${theirs.ref}`;
  const move = { branch, from: headCommit.oid, to: theirs.oid, derived: LEDGER, reason };
  const isMoved = await moveCheckout({ git, dirs: repository.dirs, processes: repository.host }, move);
  if (readBranch(repository) !== branch) throw movedMeanwhile('Something else was checked out', branch);
  if (!isMoved) return catchUp(repository, branch, { headCommit, theirs }, { follows, mayMove });
  const was = isBehind ? 'was behind' : 'had lost a race';
  repository.warn(`${branch} ${was} and is at ${theirs.oid.slice(0, 12)} now, as ${theirs.ref} is.`);
  return 'moved';
}

function isAtOrAfter(headCommit: Commit, { oid }: Theirs): boolean {
  return headCommit.oid === oid || headCommit.parents.includes(oid);
}

/** How a branch stands to its remote's: it has all of that, it was brought there, or only a person can bring them together. */
type Standing = 'ahead' | 'moved' | 'parted';

/**
 * Whether each of the commits that the branch has and the remote lacks does nothing but append, which writes tiles. One that does
 * nothing, or adds what a witness has signed, cannot be made again.
 */
async function onlyAppends(git: Git, { commits, boundary }: Range): Promise<boolean> {
  if (commits.some(({ parents }) => parents.length !== 1) || boundary.size !== 1) return false;
  const input = commits.map(({ oid }) => `${oid}\n`).join('');
  const args = ['diff-tree', '--stdin', '-r', '--name-only', '--no-renames', '-z'];
  const lines = (await readGit(git, args, { input })).toString('utf8').split('\0').slice(0, -1);
  const open = new Set(commits.map(({ oid }) => oid)); // git names each that changes anything, and then what
  const appends = new Set<string>();
  let commit = '';
  for (const line of lines) {
    if (open.delete(line)) commit = line;
    else if (!line.startsWith(`${LEDGER}/`)) return false;
    else if (line.startsWith(`${LEDGER}/tile/`)) appends.add(commit);
  }
  return appends.size === commits.length;
}

/**
 * Whether an append on a branch was in vain: the remote has moved on without it, and never had it, be it in another commit, as
 * after a rebase. What a remote did have, and has no longer, was taken back; where git keeps no log of that, nobody can tell.
 */
export async function wasInVain(
  repository: GitAccess & Directories & Settings,
  branch: string,
  commit: Oid,
  isHeldBy: (tip: Oid) => Promise<boolean>,
): Promise<boolean> {
  const { store } = repository;
  const theirs = await readTheirs(repository, branch);
  if (theirs === null || !(await store.has(commit))) return false;
  const seen = readSeen(repository, theirs.ref);
  if (seen.length === 0 || (await store.isAncestor(theirs.oid, commit))) return false;
  for (const tip of new Set([theirs.oid, ...seen])) {
    if (!(await store.has(tip))) continue;
    if ((await store.isAncestor(commit, tip)) || (await isHeldBy(tip))) return false;
  }
  return true;
}

/** All commits that a ref has been at, including the first, which `git log --walk-reflogs` leaves out. */
function readSeen({ dirs: { commonDir } }: Directories, ref: string): Oid[] {
  const log = ifThere(() => readFileSync(join(commonDir, 'logs', ref), 'latin1')) ?? '';
  const oids = log.split('\n').flatMap((line) => line.split(' ', 2));
  return oids.filter((oid) => isOid(oid) && !/^0+$/.test(oid));
}

/** Before anything is committed that could then not be pushed. */
export async function assertRemote(repository: Settings, branch: string): Promise<void> {
  const config = await repository.config();
  if (remoteNames(config).length > 0 || config.get(`branch.${branch}.remote`) !== undefined) return;
  throw new HandoffError('usage', `There is no remote to push ${branch} to.`, {
    hint: 'Without --push it is appended here: git handoff ledger append',
    data: { branch },
  });
}

/** False when somebody else was faster; then it is known here what they pushed. */
export async function pushLedger(repository: GitAccess & Settings, branch: string): Promise<boolean> {
  const config = await repository.config();
  const remote = { git: repository.git, name: remoteOf(config, branch) };
  const ref = `refs/heads/${branch}`;
  if (await pushBranch(remote, ref)) return true;
  await fetchBranch(remote, ref, trackingRef(config, ref)!);
  return false;
}
