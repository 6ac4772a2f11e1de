import { FOLDERS_AT_ONCE, limiter } from '../audit/source/limit.ts';
import { isOid, type Oid } from '../git/objects/store.ts';
import { followRef, readRefFile } from '../git/refs/symbolic-ref.ts';
import type { Repository } from '../repository/repository.ts';
import { lists, type Policies, type PolicyAt } from './policies.ts';
import type { Refs } from './server-refs.ts';

/** What decides where a ref itself has no policy. */
export interface Trunk {
  /** The branch that HEAD names, whether it is there or not. */
  head: string | null;
  commit: Oid | null;
  policy: PolicyAt | null;
}

/** A branch, or a detached HEAD, that could be it. */
interface Candidate {
  ref: string | null;
  commit: Oid;
}

type Governing = Candidate & { policy: PolicyAt };

/**
 * SPEC §10.9: the branch that HEAD names, main, master; then any other, as servers are set up with a HEAD that nobody pushes to.
 * Where a root is pinned, only policies of that root count: whoever may push can bring a policy of his own under any name.
 */
export async function findTrunk(
  { dirs }: Pick<Repository, 'dirs'>,
  refs: Refs,
  policies: Policies,
  pinned: string | undefined,
): Promise<Trunk> {
  const text = readRefFile(dirs, 'HEAD');
  const head = text !== null && isOid(text) ? null : followRef(dirs, 'HEAD');
  const usual = [...(head === null ? [{ ref: null, commit: text! }] : present(refs, [head])), ...present(refs, USUAL)];
  const governing = await withPolicies(usual, policies);
  const isPinned = ({ policy }: Governing) => pinned === undefined || policy.root === pinned;
  // a project that has not begun on its trunk is not held to what somebody tries elsewhere, but for a root that is pinned
  const looksFurther = pinned !== undefined || usual.length === 0;
  const others = async () =>
    newest((await withPolicies(branches(refs), policies)).filter(isPinned), usual.length === 0);
  const found = governing.find(isPinned) ?? (looksFurther ? await others() : undefined) ?? governing[0];
  return { head, commit: (found ?? usual[0])?.commit ?? null, policy: found?.policy ?? null };
}

/** The names that a trunk usually has. */
export const USUAL = ['refs/heads/main', 'refs/heads/master'];

function present(refs: Refs, names: readonly string[]): Candidate[] {
  return names.filter((ref) => refs.has(ref)).map((ref) => ({ ref, commit: refs.get(ref)! }));
}

function branches(refs: Refs): Candidate[] {
  return present(
    refs,
    [...refs.keys()].filter((ref) => ref.startsWith('refs/heads/')),
  );
}

/** Many at once: git answers them one after the other, without waiting in between. */
async function withPolicies(candidates: readonly Candidate[], policies: Policies): Promise<Governing[]> {
  const limit = limiter(FOLDERS_AT_ONCE);
  const read = async (candidate: Candidate): Promise<Governing[]> => {
    const policy = await policies.at(candidate.commit);
    return policy ? [{ ...candidate, policy }] : [];
  };
  return (await Promise.all(candidates.map((candidate) => limit(1, () => read(candidate))))).flat();
}

/**
 * A branch that its own policy protects goes before one that is free, which anybody can leave at an old policy, or which tries
 * what is not decided yet; then the newest policy; then the order of names. One that is free decides only where nothing else is there.
 */
function newest(candidates: readonly Governing[], takesFree: boolean): Governing | undefined {
  const isOwn = ({ ref, policy }: Governing) => policy.root !== null && lists(policy, ref!);
  const own = candidates.filter(isOwn);
  const asked = own.length > 0 || !takesFree ? own : candidates;
  return asked.toSorted((a, b) => b.policy.version - a.policy.version)[0];
}
