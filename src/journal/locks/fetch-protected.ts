import { groupBy } from '../../core/group-by.ts';
import type { Trust } from '../../core/trust/trust.ts';
import type { NativeGitStore } from '../../git/objects/native-store.ts';
import type { GitStore, Oid } from '../../git/objects/store.ts';
import { fetchForward, type TrackedBranch } from '../../git/refs/fetch-forward.ts';
import { listNamed } from '../../git/refs/remote.ts';
import type { GitAccess, Settings } from '../../repository/parts.ts';
import { protectedRefs, remoteNames, remoteOf, trackedTips, trackingRef } from '../../repository/tracking.ts';

interface Tracked extends TrackedBranch {
  remote: string;
  /** Where the remote has it, as far as is known. */
  oid: Oid;
}

/** Brings in what remotes have of the protected branches by now. False where that is nothing that this clone has not seen. */
export async function fetchProtected(repository: GitAccess & Settings, trust: Trust): Promise<boolean> {
  const byRemote = groupBy(await trackedBranches(repository, trust), ({ remote }) => remote);
  let isNews = false;
  for (const [name, branches] of byRemote) isNews = (await fetchFrom(repository, name, branches)) || isNews;
  return isNews;
}

async function fetchFrom({ git, store }: GitAccess, name: string, branches: readonly Tracked[]): Promise<boolean> {
  const remote = { git, name };
  const listed = await listNamed(
    remote,
    branches.map(({ ref }) => ref),
  );
  const there = new Map(listed.map(({ name: ref, oid }) => [ref, oid]));
  const moved: Tracked[] = [];
  for (const branch of branches) {
    const oid = there.get(branch.ref) ?? branch.oid;
    if (oid !== branch.oid && !(await isSeen(store, oid, branch.oid))) moved.push({ ...branch, oid });
  }
  if (moved.length === 0) return false;
  await fetchForward(remote, moved, WHY).catch((error) => throwUnlessHere(store, moved, error));
  return true;
}

/** Git lets one fetch after the other write a ref: another verb, or a person, may have been faster. */
async function throwUnlessHere(store: GitStore, wanted: readonly Tracked[], error: Error): Promise<void> {
  for (const { tracking, oid } of wanted) if ((await store.resolve(tracking)) !== oid) throw error;
}

const WHY = 'Somebody may hold a lock by a key that is new there, and nothing is written over before that is known';

/** A branch that went back says nothing that was not known. */
async function isSeen(store: NativeGitStore, there: Oid, tip: Oid): Promise<boolean> {
  if ((await store.isShallow()) || !(await store.has(there))) return false;
  return store.isAncestor(there, tip);
}

async function trackedBranches(repository: GitAccess & Settings, trust: Trust): Promise<Tracked[]> {
  const config = await repository.config();
  const tips = new Map((await trackedTips(repository, trust)).map(({ ref, oid }) => [ref, oid]));
  const known = remoteNames(config);
  return protectedRefs(trust).flatMap((ref) => {
    const remote = remoteOf(config, ref.slice('refs/heads/'.length));
    const tracking = trackingRef(config, ref);
    const oid = tracking === null ? undefined : tips.get(tracking);
    return tracking === null || oid === undefined || !known.includes(remote) ? [] : [{ ref, remote, tracking, oid }];
  });
}
