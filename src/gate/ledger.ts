import type { AuditedDifference } from '../audit/delta/delta.ts';
import { readDifferences } from '../audit/delta/differences.ts';
import { auditLedgerStep } from '../audit/delta/ledger.ts';
import { type Report, wordsOf } from '../audit/finding.ts';
import { find } from '../audit/source/source.ts';
import { openTree } from '../audit/source/tree-source.ts';
import { whileTime } from '../core/budget.ts';
import type { Finding } from '../core/error.ts';
import { LEDGER } from '../core/paths.ts';
import type { Trust } from '../core/trust/trust.ts';
import { nodeSuite } from '../crypto.ts';
import type { GitStore, Oid } from '../git/objects/store.ts';
import type { GitAccess, Settings } from '../repository/parts.ts';
import { protectedRefs, trackedTips } from '../repository/tracking.ts';
import type { Case } from './outcome.ts';
import { type HistoryStep, judgeRetired } from './retired.ts';

/** Whom base trusts. */
type TrustingCase = Case & { trust: Trust };

/** SPEC §11.4: the ledger only grows, and only on the protected branch, commit by commit along first parents. */
export async function judgeLedger(
  repository: GitAccess & Settings,
  input: TrustingCase,
  delta: AuditedDifference,
): Promise<Finding[]> {
  const { head, range, replaces, trust } = input;
  if (range.commits.length < 2 && !delta.touchesLedger) return [];
  const way = firstParents(input);
  const steps = await ledgerSteps(repository, way);
  if (steps.length === 0 && !delta.touchesLedger) return [];
  if (replaces || (await isOnProtected(repository, delta.trust, head)))
    return [...(await judgeSteps(repository, steps, input, delta)), ...(await judgeRetired(repository, trust, steps))];
  if (delta.touchesLedger) return [onBranch()];
  const late = await sinceMerge(repository, way, steps);
  return late.slice(-1).map(onTheWay);
}

/** Those after the newest merge in which the branch took over the base's ledger: what the branch did to it before is not on this line. */
async function sinceMerge(
  { store }: GitAccess,
  way: readonly HistoryStep[],
  steps: readonly HistoryStep[],
): Promise<HistoryStep[]> {
  const late: HistoryStep[] = [];
  const changing = new Set(steps);
  for (const step of way) {
    const [own, ...theirs] = await Promise.all([step.to, ...step.merged].map((commit) => ledgerOf(store, commit)));
    if (theirs.includes(own!)) break;
    if (changing.has(step)) late.push(step);
  }
  return late;
}

/** The way back to base, the newest step first; where a branch that has merged base takes its place, it leads through the branch. */
function firstParents({ head, range }: Case): HistoryStep[] {
  const parents = new Map(range.commits.map((commit) => [commit.oid, commit.parents]));
  const way: HistoryStep[] = [];
  for (let to: Oid | undefined = head; to !== undefined; ) {
    const [from, ...others]: Oid[] = parents.get(to) ?? [];
    if (from !== undefined) way.push({ from, to, merged: others.filter((oid) => !parents.has(oid)) });
    to = from;
  }
  return way;
}

/** Those that change the ledger. */
async function ledgerSteps({ store }: GitAccess, way: readonly HistoryStep[]): Promise<HistoryStep[]> {
  const commits = [...way.map(({ to }) => to), ...way.slice(-1).map(({ from }) => from)];
  const ledgers = await Promise.all(commits.map((commit) => ledgerOf(store, commit)));
  return way.filter((_, at) => ledgers[at] !== ledgers[at + 1]);
}

/** What tells one ledger from another; of none, nothing. */
async function ledgerOf(store: GitStore, commit: Oid): Promise<string> {
  const entry = await find(await openTree(store, commit), LEDGER);
  return entry ? `${entry.mode} ${entry.oid}` : '';
}

/** Whether a commit is in the past of a protected branch, here or as its remote has it. */
async function isOnProtected(repository: GitAccess & Settings, trust: Trust, head: Oid): Promise<boolean> {
  const { store } = repository;
  for (const ref of [...protectedRefs(trust), ...(await trackedTips(repository, trust)).map((tip) => tip.ref)])
    if ((await store.has(ref)) && (await store.isAncestor(head, (await store.readCommit(ref)).oid))) return true;
  return false;
}

/** The change as a whole was judged with all that it brings; each step by itself is judged too. */
async function judgeSteps(
  repository: GitAccess,
  steps: readonly HistoryStep[],
  { base, head, range, trust, budget }: TrustingCase,
  delta: AuditedDifference,
): Promise<Finding[]> {
  const findings: Finding[] = [];
  if (range.commits.length < 2) return findings; // a single one was judged as a whole
  const told = new Set(delta.findings.map(wordsOf));
  for (const step of whileTime(budget, steps)) {
    // a key that is revoked at the end may have signed on the way there
    const [found] = await judgeStep(repository, step, step.to === head ? [delta.trust] : [delta.trust, trust]);
    if (found && !told.has(wordsOf(found))) findings.push({ ...found, commit: step.to, ...wayOut(base, delta) });
    if (found) told.add(wordsOf(found));
  }
  return findings;
}

/** Where what arrives has the ledger as it is there, only the way leads elsewhere: a merge from there on has the same files. */
function wayOut(base: Oid, { touchesLedger }: AuditedDifference): { hint?: string } {
  if (touchesLedger) return {};
  const from = base.slice(0, 12);
  return { hint: `git branch mine-${from} && git reset --keep ${from} && git merge --no-ff --no-edit mine-${from}` };
}

/** Nothing where it holds for anybody's trust. */
async function judgeStep(
  { store }: GitAccess,
  { from, to }: HistoryStep,
  trusts: readonly Trust[],
): Promise<Finding[]> {
  const [before, now] = await Promise.all([openTree(store, from), openTree(store, to)]);
  const [old, ledger] = await Promise.all([find(before, LEDGER), find(now, LEDGER)]);
  let found: Finding[] = [];
  for (const trust of trusts) {
    found = [];
    const report: Report = (each) => found.push(each);
    const changes = await readDifferences({ before, now }, { before: old, now: ledger }, report);
    await auditLedgerStep({ before, now }, changes, { trust, suite: nodeSuite }, report);
    if (found.length === 0) return [];
  }
  return found;
}

function onBranch(): Finding {
  return {
    code: 'ledger_rewritten',
    severity: 'error',
    path: LEDGER,
    message: 'This branch changes the ledger, which grows on the protected branch only.',
    hint: 'Take it as it is there: git rm -rfq --ignore-unmatch .handoff/ledger && git checkout BASE -- .handoff/ledger. After the merge: git handoff ledger append',
  };
}

/** Although it takes it back later: a fast-forward would bring that to the protected branch. */
function onTheWay({ to }: HistoryStep): Finding {
  return {
    ...onBranch(),
    commit: to,
    message: `Commit ${to.slice(0, 12)} of this branch changes the ledger, which grows on the protected branch only.`,
    hint: 'Leave it out, and what takes it back: git rebase --interactive BASE',
  };
}
