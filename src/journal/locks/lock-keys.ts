import { openTree } from '../../audit/source/tree-source.ts';
import { loadTrust } from '../../audit/trust/trust.ts';
import { HandoffError } from '../../core/error.ts';
import type { PublicKey } from '../../core/record/verify.ts';
import { standingKeys } from '../../core/trust/key-standing.ts';
import type { Identity, Trust } from '../../core/trust/trust.ts';
import { nodeSuite } from '../../crypto.ts';
import type { GitAccess, Settings } from '../../repository/parts.ts';
import { trackedTips } from '../../repository/tracking.ts';

/**
 * Whose signature on a lock counts: that of whoever is signed in here, or on a protected branch as this clone last saw it.
 * Without the second, a branch that is older than a colleague would not see what the colleague holds.
 */
export function lockKeys(repository: GitAccess & Settings, trust: Trust): (identity: string) => Promise<PublicKey[]> {
  let others: Promise<Trust[]> | undefined;
  const find = async (name: string): Promise<Identity | undefined> => {
    const here = trust.identities.get(name);
    if (here) return here;
    others ??= protectedTrusts(repository, trust);
    return (await others).map(({ identities }) => identities.get(name)).find((identity) => identity !== undefined);
  };
  return async (name) => standingKeys(await find(name));
}

async function protectedTrusts(repository: GitAccess & Settings, trust: Trust): Promise<Trust[]> {
  const trusts: Trust[] = [];
  for (const { oid } of await trackedTips(repository, trust)) {
    const there = await tryTrust(repository, oid);
    if (there?.repoId === trust.repoId) trusts.push(there);
  }
  return trusts;
}

async function tryTrust({ store }: GitAccess, commit: string): Promise<Trust | null> {
  try {
    return await loadTrust(await openTree(store, commit), nodeSuite, () => {});
  } catch (error) {
    if (error instanceof HandoffError) return null; // where git-handoff is not, nobody is vouched for
    throw error;
  }
}
