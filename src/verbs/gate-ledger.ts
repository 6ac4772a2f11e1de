import type { Delta } from '../audit/delta.ts';
import { auditLedgerStep } from '../audit/delta-ledger.ts';
import { readDifferences } from '../audit/differences.ts';
import { isAmong, type Report } from '../audit/finding.ts';
import { find } from '../audit/source.ts';
import { openTree } from '../audit/tree-source.ts';
import type { Finding } from '../core/error.ts';
import { LEDGER } from '../core/paths.ts';
import type { Trust } from '../core/trust.ts';
import { nodeSuite } from '../crypto.ts';
import type { Oid } from '../git/store.ts';
import type { Case } from './gate-outcome.ts';
import type { Repository } from './repository.ts';
import { protectedRefs, trackedTips } from './tracking.ts';

/** Whom base trusts. */
type TrustingCase = Case & { trust: Trust };

/** SPEC §11.4: the ledger only grows, and only on the protected branch, commit by commit along first parents. */
export async function judgeLedger(repository: Repository, input: TrustingCase, delta: Delta): Promise<Finding[]> {
  const { head, replaces } = input;
  if (replaces) return judgeEdges(repository, input, delta);
  if (!delta.touchesLedger) return [];
  return (await isOnProtected(repository, delta.trust, head)) ? judgeEdges(repository, input, delta) : [onBranch()];
}

/** Whether a commit is in the past of a protected branch, here or as its remote has it. */
async function isOnProtected(repository: Repository, trust: Trust, head: Oid): Promise<boolean> {
  const { store } = repository;
  for (const ref of [...protectedRefs(trust), ...(await trackedTips(repository, trust)).map((tip) => tip.ref)])
    if ((await store.has(ref)) && (await store.isAncestor(head, (await store.readCommit(ref)).oid))) return true;
  return false;
}

/**
 * The change as a whole was judged with all that it brings; where it has several steps, each by itself is judged too. Where a
 * branch that has merged base takes its place, the way back leads through the branch.
 */
async function judgeEdges(repository: Repository, input: TrustingCase, delta: Delta): Promise<Finding[]> {
  const { head, range, trust } = input;
  if (range.commits.length < 2) return [];
  const parents = new Map(range.commits.map(({ oid, parents: [first] }) => [oid, first]));
  const findings: Finding[] = [];
  for (let at = head, from = parents.get(at); from !== undefined; at = from, from = parents.get(at)) {
    // a key that is revoked at the end may have signed on the way there
    const [found] = await judgeEdge(repository, from, at, at === head ? [delta.trust] : [delta.trust, trust]);
    if (found && !isAmong([...findings, ...delta.findings], found)) findings.push({ ...found, commit: at });
  }
  return findings;
}

/** Nothing where it holds for anybody's trust. */
async function judgeEdge({ store }: Repository, from: Oid, to: Oid, trusts: readonly Trust[]): Promise<Finding[]> {
  const [before, now] = await Promise.all([openTree(store, from), openTree(store, to)]);
  const [old, ledger] = await Promise.all([find(before, LEDGER), find(now, LEDGER)]);
  if (old?.oid === ledger?.oid && old?.mode === ledger?.mode) return [];
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
    hint: 'Take it as it is there: git restore --source=BASE --staged --worktree -- .handoff/ledger. After the merge: git handoff ledger append',
  };
}
