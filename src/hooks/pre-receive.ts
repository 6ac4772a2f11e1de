import { type Budget, budgetFinding, isOverBudget, whileTime } from '../core/budget.ts';
import { asHandoffError } from '../core/error.ts';
import { budgetOf } from '../gate/budget.ts';
import { isNullOid } from '../git/objects/asked-name.ts';
import type { Oid } from '../git/objects/store.ts';
import { followRef } from '../git/refs/symbolic-ref.ts';
import type { Directories } from '../repository/parts.ts';
import { tryPinRoot } from '../repository/pins/root-pin.ts';
import type { Repository } from '../repository/repository.ts';
import { type HookCall, type Judgement, judge, linesOf, passed, refused } from './judgement.ts';
import { isLockRef, type LockJudge, openLockJudge } from './lock-refs.ts';
import { lists, openPolicies, type Policies, type PolicyAt } from './policies.ts';
import { type Refs, readRefs } from './server-refs.ts';
import { findTrunk, type Trunk, USUAL } from './trunk.ts';
import { trustsAlike } from './trusts-alike.ts';

/** What a client asks for. Git has compared none of it with the repository yet. */
interface Update {
  /** What the client says that the ref is at. */
  claimed: string;
  now: string;
  ref: string;
}

/** Everything that is pushed at once. All of it is judged, so that whoever pushes sees all there is to mend. */
export async function preReceive(repository: Repository, { readInput, env }: HookCall): Promise<Judgement[]> {
  const updates = linesOf(await readInput()).map(parse);
  if (env.GIT_SHALLOW_FILE)
    return updates.map(({ ref }) => refused(ref, 'it comes from a shallow clone; run git fetch --unshallow there'));
  const budget = await budgetOf(repository);
  const judged: Judgement[] = [];
  try {
    budget.spend('refs', updates.length);
    const server = await openServer(repository, budget, updates);
    try {
      for (const update of whileTime(budget, updates)) judged.push(await judgeUpdate(server, update));
    } finally {
      await server.locks?.close();
    }
  } catch (error) {
    const over = asHandoffError(error);
    if (!isOverBudget(over)) throw over;
    judged.push({ ref: null, pass: false, reason: null, findings: [budgetFinding(over)], advisory: false }); // and nothing more is looked at
  }
  return judged;
}

function parse(line: string): Update {
  const [claimed = '', now = '', ref = ''] = line.split(' ');
  return { claimed, now, ref };
}

/** What is there, and what of it decides. */
interface Server {
  repository: Repository;
  budget: Budget;
  refs: Refs;
  policies: Policies;
  trunk: Trunk;
  /** Null where nobody is trusted yet. */
  locks: LockJudge | null;
  /** Whose policies count; null where nobody has begun. */
  root: string | null;
  /** What each ref is to become: more than one thing, where a push names it twice. */
  wanted: ReadonlyMap<string, ReadonlySet<string>>;
}

async function openServer(repository: Repository, budget: Budget, updates: readonly Update[]): Promise<Server> {
  const [refs, config] = await Promise.all([readRefs(repository), repository.config()]);
  const policies = openPolicies(repository, budget);
  const pinned = config.get('handoff.root');
  const trunk = await findTrunk(repository, refs, policies, pinned);
  const root = pinned ?? trunk.policy?.root ?? null;
  // before anything else is let in: from then on nobody can bring another
  if (root !== null) await tryPinRoot(repository, root, false);
  const locks = trunk.policy ? openLockJudge(repository, trunk.commit!, refs) : null;
  return { repository, budget, refs, policies, trunk, locks, root, wanted: wantedBy(repository, updates) };
}

function wantedBy({ dirs }: Directories, updates: readonly Update[]): Map<string, Set<string>> {
  const wanted = new Map<string, Set<string>>();
  for (const { ref, now } of updates) {
    const target = tryFollow(dirs, ref);
    wanted.set(target, (wanted.get(target) ?? new Set()).add(now));
  }
  return wanted;
}

/** One that leads nowhere is refused when its turn comes. */
function tryFollow(dirs: Repository['dirs'], ref: string): string {
  try {
    return followRef(dirs, ref);
  } catch (error) {
    asHandoffError(error);
    return ref;
  }
}

async function judgeUpdate(server: Server, { claimed, now, ref }: Update): Promise<Judgement> {
  const { repository, trunk, refs, wanted, budget, locks } = server;
  try {
    const target = followRef(repository.dirs, ref); // git writes to where a symbolic ref leads
    if ([ref, target].some((name) => name.startsWith('refs/replace/')))
      return refused(ref, 'it would show others other objects than those that were signed');
    const old = refs.get(target) ?? null;
    if (locks && isLockRef(target)) {
      if (wanted.get(target)!.size > 1) return refused(ref, 'this push would make it two things at once');
      return await locks.judge({ old, now, ref: target });
    }
    if (!(await isProtected(server, { target, old, now }))) return passed(ref);
    if (!isAt(claimed, old)) return refused(ref, moved(claimed, old));
    if (wanted.get(target)!.size > 1) return refused(ref, 'this push would make it two things at once');
    if (isNullOid(now)) return refused(ref, 'it is protected, and cannot be deleted');
    if (old === null && (await isOfTrunk(server, target, now))) {
      if (await trustsAlike(repository, now, trunk.commit!))
        return passed(ref, 'it begins at what the trunk has already');
      return refused(ref, OLDER_TRUST);
    }
    const base = await baseOf(server, old);
    // what is remembered has been accepted: of other branches than the trunk anybody may have chosen the policy
    const remembers = base !== null && base === trunk.commit && trunk.policy !== null;
    return await judge(repository, ref, {
      base: base ?? claimed,
      head: now,
      remembers,
      budget,
      trunk: trunk.policy && trunk.commit,
    });
  } catch (error) {
    const failure = asHandoffError(error);
    if (isOverBudget(failure)) throw failure;
    const { message, hint = '' } = failure;
    return refused(ref, `it could not be judged: ${message} ${hint}`.trimEnd()); // the others are judged all the same
  }
}

/** Git compares them too, but only after this hook: what is judged, and remembered, would be another change. */
function isAt(claimed: string, old: Oid | null): boolean {
  return old === null ? isNullOid(claimed) : claimed === old;
}

function moved(claimed: string, old: Oid | null): string {
  const name = (oid: string | null) => (oid === null || isNullOid(oid) ? 'not there' : `at ${oid.slice(0, 12)}`);
  return `the branch has moved: it is ${name(old)}, and the push takes it to be ${name(claimed)}; fetch and push again`;
}

interface Target {
  target: string;
  old: Oid | null;
  now: string;
}

/** Whether the branch's own policy protects the ref, or the trunk's. If there is none, the push that brings the first policy is judged. */
async function isProtected(server: Server, { target, old, now }: Target): Promise<boolean> {
  const { policies, trunk } = server;
  if (trunk.policy && target === trunk.headRef) return true; // whatever it becomes decides from then on
  if (trunk.policy && lists(trunk.policy, target)) return true;
  if (!target.startsWith('refs/heads/') && target !== trunk.headRef) return false; // no policy can list it
  const own = old === null ? null : await ownPolicy(server, old);
  if (own && lists(own, target)) return true;
  if (trunk.policy && USUAL.includes(target) && !isNullOid(now)) return wouldDecide(server, target, now);
  if (own) return false;
  if (trunk.policy || isNullOid(now)) return false;
  if (target === trunk.headRef) return true;
  const brought = await policies.arriving(now);
  return brought !== null && lists(brought, target);
}

/** Main or master, by a policy of the project that protects it, would be asked before a trunk that `HEAD` does not name. */
async function wouldDecide(server: Server, target: string, now: Oid): Promise<boolean> {
  const { refs, trunk } = server;
  if (trunk.headRef !== null && refs.get(trunk.headRef) === trunk.commit) return false;
  const brought = await ownPolicy(server, now);
  return brought !== null && lists(brought, target);
}

/** The policy that a branch has, if it is one of this repository. */
async function ownPolicy({ policies, root }: Pick<Server, 'policies' | 'root'>, old: Oid): Promise<PolicyAt | null> {
  const policy = await policies.standing(old);
  if (policy === null || policy === 'unreadable') return null;
  return root === null || policy.root === root ? policy : null;
}

const OLDER_TRUST =
  'at that commit of the trunk another policy was in force, or none, or an identity had other keys; the branch would be judged by that; ' +
  'begin the branch at a newer commit, or have it made where the server runs: git update-ref REF COMMIT';

/** A new branch that brings nothing. One that would be the trunk itself from then on may not take it back to an older state. */
async function isOfTrunk({ repository, trunk }: Server, target: string, now: Oid): Promise<boolean> {
  if (!trunk.policy || target === trunk.headRef || USUAL.includes(target)) return false;
  return repository.store.isAncestor(now, trunk.commit!);
}

/** A branch that is new, or has no policy to hold a change to, is held to the trunk's. */
async function baseOf(server: Server, old: Oid | null): Promise<Oid | null> {
  const { trunk } = server;
  if (old === null) return trunk.commit;
  return trunk.policy && !(await ownPolicy(server, old)) ? trunk.commit : old;
}
