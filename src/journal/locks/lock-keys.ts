import { openTree } from '../../audit/source/tree-source.ts';
import { loadTrust } from '../../audit/trust/trust.ts';
import { HandoffError } from '../../core/error.ts';
import type { PublicKey } from '../../core/record/verify.ts';
import type { Identity, Trust } from '../../core/trust/trust.ts';
import { nodeSuite } from '../../crypto.ts';
import type { Repository } from '../../repository/repository.ts';
import { trackedTips } from '../../repository/tracking.ts';

/**
 * Whose signature on a lock counts: that of whoever is signed in here, or on a protected branch as this clone last saw it.
 * Without the second, a branch that is older than a colleague would not see what the colleague holds.
 */
export function lockKeys(repository: Repository, trust: Trust): (identity: string) => Promise<PublicKey[]> {
  let others: Promise<Trust[]> | undefined;
  const find = async (name: string): Promise<Identity | undefined> => {
    const here = trust.identities.get(name);
    if (here) return here;
    others ??= protectedTrusts(repository, trust);
    return (await others).map(({ identities }) => identities.get(name)).find((identity) => identity !== undefined);
  };
  return async (name) => keysOf(await find(name));
}

/** What a retired key signed while it was active stands; what a revoked one signed says nothing. */
export function keysOf(identity: Identity | undefined): PublicKey[] {
  return identity?.keys.filter(({ state }) => state !== 'revoked') ?? [];
}

async function protectedTrusts(repository: Repository, trust: Trust): Promise<Trust[]> {
  const trusts: Trust[] = [];
  for (const { oid } of await trackedTips(repository, trust)) {
    const there = await tryTrust(repository, oid);
    if (there?.repoId === trust.repoId) trusts.push(there);
  }
  return trusts;
}

async function tryTrust({ store }: Repository, commit: string): Promise<Trust | null> {
  try {
    return await loadTrust(await openTree(store, commit), nodeSuite, () => {});
  } catch (error) {
    if (error instanceof HandoffError) return null; // where git-handoff is not, nobody is vouched for
    throw error;
  }
}
