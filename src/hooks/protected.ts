import { openTree } from '../audit/source/tree-source.ts';
import { readPolicies } from '../audit/trust/trust.ts';
import { HandoffError } from '../core/error.ts';
import { nodeSuite } from '../crypto.ts';
import type { GitAccess } from '../repository/parts.ts';

/** Whether the policy at a commit protects a ref. Where there is none, nothing is; where it does not hold, everything is. */
export async function protects(repository: GitAccess, commit: string, ref: string): Promise<boolean> {
  const protectedRefs = await protectedAt(repository, commit);
  return protectedRefs === 'all' || protectedRefs.includes(ref);
}

async function protectedAt({ store }: GitAccess, commit: string): Promise<string[] | 'all'> {
  try {
    const policies = await readPolicies(await openTree(store, commit), nodeSuite, () => {});
    return policies.at(-1)?.rules.protected ?? 'all';
  } catch (error) {
    if (error instanceof HandoffError && error.code === 'not_initialised') return [];
    throw error;
  }
}
