import { limiter } from '../audit/source/limit.ts';
import { hinting } from '../core/error.ts';
import { isOid } from '../git/objects/asked-name.ts';
import type { Oid } from '../git/objects/store.ts';
import { followRef, readRefFile } from '../git/refs/symbolic-ref.ts';
import type { Directories, StateDirectory } from '../repository/parts.ts';
import { otherLines } from '../repository/pins/rollbacks.ts';
import { lists, type Policies, type PolicyAt } from './policies.ts';
import type { Refs } from './server-refs.ts';

/** What decides where a ref itself has no policy. */
export interface Trunk {
  /** The branch that HEAD names, whether it is there or not. */
  headRef: string | null;
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
 * Where a root is pinned, only policies of that root count: whoever may push can bring a policy of his own under any name; and main
 * and master only where they are protected, or he could leave the project's own at an old policy there. After the first that counts
 * no other is looked at, and what cannot be read decides nothing: else whoever may push a free branch could keep everybody else from
 * pushing.
 */
export async function findTrunk(
  repository: Directories & StateDirectory,
  refs: Refs,
  policies: Policies,
  pinned: string | undefined,
): Promise<Trunk> {
  const { dirs } = repository;
  const text = readRefFile(dirs, 'HEAD');
  const headRef = text !== null && isOid(text) ? null : followRef(dirs, 'HEAD');
  const top = headRef === null ? [{ ref: null, commit: text! }] : present(refs, [headRef]);
  const usual = [...top, ...present(refs, headRef === null ? USUAL : USUAL.filter((ref) => ref !== headRef))];
  const isOther = otherLines(repository); // signed, perhaps, by who had a root key long ago
  const isPinned = ({ ref, policy: { root, policyIds } }: Governing) =>
    pinned === undefined || (root === pinned && (ref === headRef || !isOther({ root, policyIds })));
  const read = (candidate: Candidate) =>
    top.includes(candidate) ? policies.atHead(candidate.commit) : policies.standing(candidate.commit);
  const decides = (governing: Governing) =>
    pinned === undefined || (isPinned(governing) && (governing.ref === headRef || isOwn(governing)));
  const { readable, governing, counts } = await lookInTurn(usual, read, decides);
  // a project that has not begun on its trunk is not held to what somebody tries elsewhere, but for a root that is pinned
  const looksFurther = !counts && (pinned !== undefined || usual.length === 0);
  const others = looksFurther ? (await withPolicies(branches(refs), policies, pinned)).filter(isPinned) : [];
  const found =
    counts ?? newest(others, usual.length === 0) ?? newest(governing.filter(isPinned), true) ?? governing[0];
  return { headRef, commit: (found ?? readable[0])?.commit ?? null, policy: found?.policy ?? null };
}

interface Looked {
  readable: Candidate[];
  governing: Governing[];
  counts: Governing | undefined;
}

async function lookInTurn(
  candidates: readonly Candidate[],
  read: (candidate: Candidate) => Promise<PolicyAt | null | 'unreadable'>,
  counts: (governing: Governing) => boolean,
): Promise<Looked> {
  const looked: Looked = { readable: [], governing: [], counts: undefined };
  for (const candidate of candidates) {
    const policy = await read(candidate);
    if (policy === 'unreadable') continue;
    looked.readable.push(candidate);
    if (policy === null) continue;
    looked.governing.push({ ...candidate, policy });
    looked.counts = looked.governing.slice(-1).find(counts);
    if (looked.counts) break;
  }
  return looked;
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

/** Several at once, so that git does not wait in between; few, as each may be as large as is read at all. */
const AT_ONCE = 8;

/** There may be as many as anybody likes to push: it costs what each costs, and none is left out, as it could be the trunk. */
async function withPolicies(
  candidates: readonly Candidate[],
  policies: Policies,
  root: string | undefined,
): Promise<Governing[]> {
  const limit = limiter(AT_ONCE);
  const read = async (candidate: Candidate): Promise<Governing[]> => {
    const policy = await policies.standing(candidate.commit, root);
    return policy === null || policy === 'unreadable' ? [] : [{ ...candidate, policy }];
  };
  const reading = Promise.all(candidates.map((candidate) => limit(1, () => read(candidate))));
  return (await reading.catch(hinting('over_budget', NAME_IT))).flat();
}

const NAME_IT =
  'It took that long to find the branch that has the policy. Where the server runs, name it: git symbolic-ref HEAD refs/heads/BRANCH';

/**
 * A branch that its own policy protects goes before one that is free, which anybody can leave at an old policy, or which tries
 * what is not decided yet; then the newest policy; then the order of names. One that is free decides only where nothing else is there.
 */
function newest(candidates: readonly Governing[], takesFree: boolean): Governing | undefined {
  const own = candidates.filter(isOwn);
  const asked = own.length > 0 || !takesFree ? own : candidates;
  return asked.toSorted((a, b) => b.policy.version - a.policy.version)[0];
}

function isOwn({ ref, policy }: Governing): boolean {
  return ref !== null && policy.root !== null && lists(policy, ref);
}
