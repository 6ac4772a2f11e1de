import { groupBy } from '../../core/group-by.ts';
import type { NativeGitStore } from '../../git/objects/native-store.ts';
import type { GitStore, Oid } from '../../git/objects/store.ts';
import { fetchForward, fetchNewest } from '../../git/refs/fetch-forward.ts';
import { listNamed } from '../../git/refs/remote.ts';
import type { GitAccess } from '../../repository/parts.ts';
import type { KeyBranch } from './key-branches.ts';

/** A branch that the remote has elsewhere by now. */
type Moved = KeyBranch & { oid: Oid };

/** Brings in what remotes have of the protected branches by now. False where that is nothing that this clone has not seen. */
export async function fetchProtected(repository: GitAccess, branches: readonly KeyBranch[]): Promise<boolean> {
  const byRemote = groupBy(branches, ({ remote }) => remote);
  let isNews = false;
  for (const [name, ofRemote] of byRemote) isNews = (await fetchFrom(repository, name, ofRemote)) || isNews;
  return isNews;
}

async function fetchFrom({ git, store }: GitAccess, name: string, branches: readonly KeyBranch[]): Promise<boolean> {
  const remote = { git, name };
  const listed = await listNamed(
    remote,
    branches.map(({ ref }) => ref),
  );
  const there = new Map(listed.map(({ name: ref, oid }) => [ref, oid]));
  const moved: Moved[] = [];
  for (const branch of branches) {
    const oid = there.get(branch.ref) ?? branch.oid;
    if (oid !== null && oid !== branch.oid && !(await isSeen(store, oid, branch.oid))) moved.push({ ...branch, oid });
  }
  const [whole, newest] = await byDepth(store, moved);
  if (whole.length > 0) await fetchForward(remote, whole, WHY).catch((error) => throwUnlessHere(store, whole, error));
  if (newest.length > 0) await fetchNewest(remote, newest, WHY).catch((error) => throwUnlessHere(store, newest, error));
  return moved.length > 0;
}

/**
 * A shallow clone shares too little with a branch that it does not track: all of its history would come along. Of what is here already
 * nothing comes, and to ask for its newest commit alone would cut off what this clone has before it.
 */
async function byDepth(store: NativeGitStore, moved: readonly Moved[]): Promise<[whole: Moved[], newest: Moved[]]> {
  const isShallow = moved.some(({ isOurs }) => isOurs) && (await store.isShallow());
  const newest: Moved[] = [];
  for (const branch of moved) if (isShallow && branch.isOurs && !(await store.has(branch.oid))) newest.push(branch);
  return [moved.filter((branch) => !newest.includes(branch)), newest];
}

/** Git lets one fetch after the other write a ref: another verb, or a person, may have been faster. */
async function throwUnlessHere(store: GitStore, wanted: readonly Moved[], error: Error): Promise<void> {
  for (const { tracking, oid } of wanted) if ((await store.resolve(tracking)) !== oid) throw error;
}

const WHY = 'Somebody may hold a lock by a key that is new there, and nothing is written over before that is known';

/** A branch that went back says nothing that was not known. */
async function isSeen(store: NativeGitStore, there: Oid, tip: Oid | null): Promise<boolean> {
  if (tip === null || (await store.isShallow()) || !(await store.has(there))) return false;
  return store.isAncestor(there, tip);
}
