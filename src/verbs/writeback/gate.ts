import { metered } from '../../audit/source/metered-source.ts';
import type { Source } from '../../audit/source/source.ts';
import { openTree } from '../../audit/source/tree-source.ts';
import { hasPolicy, loadTrust } from '../../audit/trust/trust.ts';
import type { Budget } from '../../core/budget.ts';
import { type Finding, HandoffError, hinting } from '../../core/error.ts';
import { later } from '../../core/later.ts';
import { quoteWord } from '../../core/text/quote.ts';
import type { Trust } from '../../core/trust/trust.ts';
import { nodeSuite } from '../../crypto.ts';
import { budgetOf, hurried, stoppable, withinBudget } from '../../gate/budget.ts';
import { type Comparer, openComparer } from '../../gate/coverage/comparer.ts';
import { type JudgedCase, judge } from '../../gate/judge.ts';
import { answer, type GateResult } from '../../gate/result.ts';
import { openTrunkTrust } from '../../gate/trunk.ts';
import { isNullOid } from '../../git/objects/asked-name.ts';
import type { Oid } from '../../git/objects/store.ts';
import { noSuchRevision } from '../../git/objects/store-error.ts';
import { assertReadAlike, type Range, readNearRange, readRange } from '../../git/refs/range.ts';
import { limitMemory } from '../../git/run.ts';
import type { Directories, GitAccess, Settings } from '../../repository/parts.ts';
import { findRollbacks, seenTrust } from '../../repository/pins/rollbacks.ts';
import { tryPinRoot } from '../../repository/pins/root-pin.ts';
import { assertPinned, assertRoot, type Repository } from '../../repository/repository.ts';
import { protectedRefs, tipsThatHold } from '../../repository/tracking.ts';

export interface GateOptions {
  /** A revision, or an id of zeros where there is nothing. */
  base: string;
  /** Default: HEAD. */
  head?: string;
  root?: string;
  /** Head takes base's place as it is, as in a push: what base has and head has not is lost. Else head is to be merged. */
  replaces?: boolean;
  /** What these commits have was judged elsewhere and is not judged again. */
  knownCommits?: readonly string[];
  /** What is left of it, where several are judged at once; else what the configuration allows for one. */
  budget?: Budget;
  /** Whether what base trusts is remembered, as it is unless this says no: it was accepted, and nobody has chosen it for this. */
  remembers?: boolean;
  /**
   * The commit that the project's trunk is at, null for none: what it has decided since counts on other branches too. Else the first
   * branch that base's policy protects, as its remote has it.
   */
  trunk?: Oid | null;
}

/** May head replace base on a protected branch? SPEC §10 */
export async function gate(repository: Repository, options: GateOptions): Promise<GateResult> {
  if (options.root !== undefined) assertRoot(options.root);
  const resolving = later(resolveEnds(repository, options)); // git answers that while its configuration is read
  const budget = options.budget ?? (await budgetOf(repository));
  const { git, stop } = stoppable(limitMemory(repository.git, budget.memory));
  const comparer = openComparer({ ...repository, git }, budget);
  try {
    const ends = await resolving;
    const judging = () => judgeEnds(hurried({ ...repository, git }, budget), options, { ends, comparer, budget });
    return await withinBudget(budget, stop, judging, (finding) => answer(ends, 0, null, [finding]));
  } finally {
    await comparer.close();
  }
}

/** What a judgement works with. */
interface Means {
  ends: Ends;
  comparer: Comparer;
  budget: Budget;
}

async function judgeEnds(repository: Repository, options: GateOptions, means: Means): Promise<GateResult> {
  const { ends, budget } = means;
  if (await repository.store.isShallow()) return answer(ends, 0, null, [shallow()]);
  const [near, ground] = await Promise.all([nearRange(repository, ends), readGround(repository, ends.base, budget)]);
  const range = near ?? (await wholeRange(repository, ends));
  if (!ground) return judgeFirst(repository, means, range, options.root);
  budget.spend('commits', range.commits.length);
  if (!near) await assertReadAlike(repository.store, range.commits);
  const { before, trust, findings } = ground;
  if (!trust) return answer(ends, range.commits.length, null, findings);
  await assertPinned(repository, trust.repoId, options.root);
  const { replaces = false, remembers = true } = options;
  const base = ends.base!; // a policy was there
  const rollbacks = await findRollbacks(repository, seenTrust(trust), base, !remembers);
  const tip = await trunkOf(repository, options, trust, { ...ends, base });
  const accepted = tip === null ? null : await openTree(repository.store, tip);
  const asked = { ...means, ...ends, base, before, trust, range, replaces, tip, accepted };
  const result = await judgeByBoth(repository, asked, rollbacks.findings);
  if (options.root === undefined && remembers) await tryPinRoot(repository, trust.repoId, false);
  await rollbacks.remember();
  return result;
}

/** SPEC §10.9: by what the branch has, and if that takes the change, by what the trunk has decided since. */
async function judgeByBoth(repository: Repository, asked: JudgedCase, rollbacks: Finding[]): Promise<GateResult> {
  const { tip } = asked;
  const result = await judge(repository, asked, rollbacks);
  const trunk = result.pass && tip !== null ? await openTrunkTrust(repository, tip, asked) : null;
  return trunk ? judge(repository, { ...asked, trust: trunk.trust, trunk }, rollbacks) : result;
}

/**
 * A server says which it is. Else that the first protected branch has the change already does not mean that it was let in there, unless
 * it is asked of another protected branch.
 */
async function trunkOf(
  repository: GitAccess & Directories & Settings,
  { trunk }: GateOptions,
  trust: Trust,
  { base, head }: { base: Oid; head: Oid },
): Promise<Oid | null> {
  if (trunk !== undefined) return trunk === base ? null : trunk;
  const [first, ...others] = protectedRefs(trust);
  const [tip] = first === undefined ? [] : await tipsThatHold(repository, [first]);
  if (!tip || tip.oid === base) return null;
  const isOfOther = (await tipsThatHold(repository, others)).some(({ oid }) => oid === base);
  return isOfOther || !(await repository.store.isAncestor(head, tip.oid)) ? tip.oid : null;
}

async function nearRange({ store }: GitAccess, { base, head, knownCommits }: Ends): Promise<Range | null> {
  return base === null || knownCommits.length > 0 ? null : readNearRange(store, head, base);
}

function wholeRange({ git }: GitAccess, { base, head, knownCommits }: Ends): Promise<Range> {
  return readRange(git, head, base === null ? [] : [base, ...knownCommits]);
}

interface Ends {
  base: Oid | null;
  head: Oid;
  knownCommits: Oid[];
}

async function resolveEnds(
  { store }: GitAccess,
  { base, head = 'HEAD', knownCommits = [] }: GateOptions,
): Promise<Ends> {
  const resolve = async (rev: string): Promise<Oid> => {
    const oid = await store.resolve(`${rev}^{commit}`);
    if (oid === null) throw noSuchRevision(rev);
    return oid;
  };
  const [from, to, ...judged] = await Promise.all([
    isNullOid(base) ? null : resolve(base).catch(hintingOther(base)),
    resolve(head),
    ...knownCommits.map(resolve),
  ]);
  return { base: from!, head: to!, knownCommits: judged as Oid[] };
}

const OF_REMOTE = /^(?:refs\/remotes\/)?(?!refs\/)[\w.-]+\/([\w./-]+)$/;

/** By its full name, which no tag can have. A name that two refs have is told by theirs already. */
function hintingOther(rev: string): (error: unknown) => never {
  const branch = OF_REMOTE.exec(rev)?.[1];
  return (error) => {
    if (branch === undefined || !(error instanceof HandoffError) || error.data?.candidates) throw error;
    const hint = `git fetch brings what the remote has. Without a remote: --base ${quoteWord(`refs/heads/${branch}`)}`;
    return hinting('unknown_commit', hint)(error);
  };
}

interface Ground {
  before: Source;
  trust: Trust | null;
  findings: Finding[];
}

/** What was there, and whom it trusts; null where there was no policy. */
async function readGround({ store }: GitAccess, base: Oid | null, budget: Budget): Promise<Ground | null> {
  const inTime = { spend: () => budget.assertTime() }; // nobody pays for what was there, but for the time it takes
  const before = base === null ? null : metered(await openTree(store, base), inTime);
  if (!before || !(await hasPolicy(before))) return null;
  const findings: Finding[] = [];
  return { before, trust: await loadTrust(before, nodeSuite, (found) => findings.push(found)), findings };
}

/** SPEC §10.1: where there is no policy anything may come, but what brings one must bring one that holds. */
async function judgeFirst(
  repository: Repository,
  { ends, budget }: Means,
  range: Range,
  root: string | undefined,
): Promise<GateResult> {
  const source = metered(await openTree(repository.store, ends.head), budget);
  if (!(await hasPolicy(source)))
    return answer(ends, range.commits.length, null, root === undefined ? [] : [noPolicy(root)]);
  const { auditTree } = await import('../../audit/tree/tree.ts');
  const { trust, checked, findings } = await auditTree(source, {
    suite: nodeSuite,
    onProgress: repository.progress,
    onTrust: (found) => assertPinned(repository, found.repoId, root),
  });
  return { ...answer(ends, range.commits.length, trust, findings), records: checked };
}

/** Whoever names a root means that something is judged by it: a change that took it away would pass otherwise. */
function noPolicy(root: string): Finding {
  const [expected, found] = [`a policy whose root is ${root}`, 'no .handoff/policy on either side'];
  return {
    code: 'not_initialised',
    severity: 'error',
    path: '.handoff/policy',
    message: `There is nothing to judge by: expected ${expected}, found ${found}.`,
    expected,
    found,
    hint: 'Compare with a branch that has it, or leave out --root. To set it up: git handoff init',
  };
}

function shallow(): Finding {
  return {
    code: 'shallow_repository',
    severity: 'error',
    message: 'The clone is shallow: what is new in it, and what was there before, cannot be told apart.',
    hint: 'git fetch --unshallow; in CI, fetch the whole history (fetch-depth: 0, GIT_DEPTH: 0).',
  };
}
