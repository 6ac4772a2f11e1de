import { limiter } from '../audit/source/limit.ts';
import { metered } from '../audit/source/metered-source.ts';
import { FOLDER, find, type Source } from '../audit/source/source.ts';
import { openTree } from '../audit/source/tree-source.ts';
import { hasPolicy, type KnownPolicies, readPolicies } from '../audit/trust/trust.ts';
import type { Budget } from '../core/budget.ts';
import { ROOT } from '../core/paths.ts';
import type { Policy } from '../core/trust/trust.ts';
import { nodeSuite } from '../crypto.ts';
import type { Oid } from '../git/objects/store.ts';
import type { Repository } from '../repository/repository.ts';

/** What the policies of a commit say, as far as they hold. */
export interface PolicyAt {
  /** Of which repository it is; null where not even the first policy holds. */
  root: string | null;
  version: number;
  /** Where nothing holds, nobody knows what is free. */
  protected: readonly string[] | 'all';
}

/** The policies of commits; null where one has none. */
export interface Policies {
  at(commit: Oid): Promise<PolicyAt | null>;
}

/** A push names thousands of refs, whose commits have the same policies, or all but one: each file is judged once. */
export function openPolicies({ store }: Repository, budget: Budget): Policies {
  const byTree = new Map<Oid, Promise<PolicyAt | null>>();
  const known: KnownPolicies = new Map();
  const oneByOne = limiter(1); // so that each knows what the one before has read
  return {
    async at(commit) {
      const source = metered(await openTree(store, commit), budget);
      const folder = await find(source, `${ROOT}/policy`);
      if (folder?.mode !== FOLDER) return null;
      const found = byTree.get(folder.oid!) ?? oneByOne(1, () => readAt(source, known));
      byTree.set(folder.oid!, found);
      return found;
    },
  };
}

async function readAt(source: Source, known: KnownPolicies): Promise<PolicyAt | null> {
  if (!(await hasPolicy(source))) return null;
  return toPolicyAt(await readPolicies(source, nodeSuite, () => {}, known));
}

function toPolicyAt(policies: readonly Policy[]): PolicyAt {
  const [genesis, newest] = [policies[0], policies.at(-1)];
  if (!genesis || !newest) return { root: null, version: 0, protected: 'all' };
  return { root: genesis.id.slice('sha256:'.length), version: newest.version, protected: newest.rules.protected };
}

export function lists({ protected: refs }: PolicyAt, ref: string): boolean {
  return refs === 'all' || refs.includes(ref);
}
