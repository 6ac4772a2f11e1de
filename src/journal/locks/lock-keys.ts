import { openTree } from '../../audit/source/tree-source.ts';
import { loadTrust } from '../../audit/trust/trust.ts';
import { HandoffError } from '../../core/error.ts';
import { once } from '../../core/once.ts';
import { joinTrust } from '../../core/trust/join.ts';
import { standingKeys } from '../../core/trust/key-standing.ts';
import type { Trust } from '../../core/trust/trust.ts';
import { nodeSuite } from '../../crypto.ts';
import { saysTheSame } from '../../repository/everywhere/joined-trust.ts';
import type { GitAccess, Settings } from '../../repository/parts.ts';
import { trackedTips } from '../../repository/tracking.ts';
import { fetchProtected } from './fetch-protected.ts';
import { keyBranches } from './key-branches.ts';
import type { LockRemote } from './remote-locks.ts';

/**
 * Whose signature on a lock counts: that of whoever is signed in here, or on a protected branch as this clone last saw it. A branch
 * that is older than that one does not know who was signed in since, nor which key was rotated or revoked: what a colleague holds by a
 * new key would be noise there, and be written over. For the same reason the remote is asked, once, where a key may be new. What was known
 * before is not forgotten then, whatever it answers.
 */
export function lockKeys(
  repository: GitAccess & Settings,
  trust: Trust,
  remote: string,
): Required<Pick<LockRemote, 'keysOf' | 'fetchKeys'>> {
  let joined = once(() => withProtected(repository, trust, remote));
  return {
    keysOf: async (name) => standingKeys((await joined()).identities.get(name)),
    fetchKeys: once(async () => {
      const before = await joined();
      const isNews = await fetchProtected(repository, await keyBranches(repository, trust, remote));
      if (isNews) joined = once(() => withProtected(repository, before, remote));
      return isNews;
    }),
  };
}

async function withProtected(repository: GitAccess & Settings, here: Trust, remote: string): Promise<Trust> {
  const [tracked, kept] = await Promise.all([trackedTips(repository, here), keyBranches(repository, here, remote)]);
  const tips = new Set([...tracked, ...kept].map(({ oid }) => oid).filter((oid) => oid !== null));
  const head = tips.size === 0 ? null : await repository.store.resolve('HEAD');
  let joined = here;
  for (const oid of tips) {
    if (oid === head || (await saysTheSame(repository, oid, head))) continue;
    const there = await tryTrust(repository, oid);
    if (there?.repoId === here.repoId) joined = await joinTrust(joined, there, nodeSuite);
  }
  return joined;
}

async function tryTrust({ store }: GitAccess, commit: string): Promise<Trust | null> {
  try {
    return await loadTrust(await openTree(store, commit), nodeSuite, () => {});
  } catch (error) {
    // where git-handoff is not, nobody is vouched for; what a partial clone left out says nothing about that
    if (error instanceof HandoffError && error.code !== 'io') return null;
    throw error;
  }
}
