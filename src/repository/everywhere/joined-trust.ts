import { openTree } from '../../audit/source/tree-source.ts';
import { loadTrust } from '../../audit/trust/trust.ts';
import { HandoffError } from '../../core/error.ts';
import { ROOT } from '../../core/paths.ts';
import { joinTrust } from '../../core/trust/join.ts';
import type { Trust } from '../../core/trust/trust.ts';
import { nodeSuite } from '../../crypto.ts';
import type { Oid } from '../../git/objects/store.ts';
import type { GitAccess, Messages } from '../parts.ts';
import type { Branches } from './branches.ts';

/**
 * Whom to trust about what other branches say: those whom the protected branch trusts, and those who are new on this one. As a rule
 * both say the same, and nothing is read.
 */
export async function joinedTrust(
  repository: GitAccess & Messages,
  here: Trust,
  { head, trunk }: Branches,
): Promise<Trust> {
  if (trunk === null || trunk.oid === head || (await saysTheSame(repository, trunk.oid, head))) return here;
  const theirs = await trustAt(repository, trunk.oid);
  if (theirs === null) return here;
  if (theirs.repoId === here.repoId) return joinTrust(here, theirs, nodeSuite);
  repository.warn(`${trunk.name} has another root than this branch: git handoff trust. Nothing of it is taken.`);
  return here;
}

/** Whether two commits have the same policies and identities. */
export async function saysTheSame({ store }: GitAccess, trunk: Oid, head: Oid | null): Promise<boolean> {
  if (head === null) return false;
  const rooms = ['policy', 'identities'];
  const revs = [trunk, head].flatMap((commit) => rooms.map((room) => `${commit}:${ROOT}/${room}`));
  const [policy, identities, ...own] = (await store.headers(revs)).map((header) => header?.oid ?? null);
  return policy === own[0] && identities === own[1];
}

/** Null where nobody can be trusted by it: then this branch decides, as it does where there is no protected one. */
async function trustAt({ store }: GitAccess, commit: Oid): Promise<Trust | null> {
  try {
    return await loadTrust(await openTree(store, commit), nodeSuite, () => {});
  } catch (error) {
    if (error instanceof HandoffError) return null;
    throw error;
  }
}
