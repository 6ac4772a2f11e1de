import type { Finding } from '../../core/error.ts';
import { LEDGER, policyPath, ROOT } from '../../core/paths.ts';
import type { Suite } from '../../core/record/verify.ts';
import { emptyHistory, type History } from '../../core/session/history.ts';
import type { Trust } from '../../core/trust/trust.ts';
import { among, finding, type Report, refusing, wordsOf } from '../finding.ts';
import { type Entry, FOLDER, type Source } from '../source/source.ts';
import { isFile, reportLookalikes, reportNoPlace } from '../tree/layout.ts';
import { type PathUse, useOf } from '../tree/path-use.ts';
import { noVersions, type VersionReader } from '../trust/succession.ts';
import { loadTrust } from '../trust/trust.ts';
import { withAccepted } from './accepted.ts';
import { auditDependents } from './dependents.ts';
import { type Placed, readDifferences, type TreePair, unlike } from './differences.ts';
import { auditDocuments, reportLostSkills } from './documents.ts';
import { auditRetired, retiredWaivers } from './retired.ts';
import { auditSessions, type ChangedSession } from './sessions.ts';

export interface DifferenceOptions {
  suite: Suite;
  /** What the commits of the change have at a path; without it, nothing: a change of one step. */
  readVersions?: VersionReader;
  /** The trunk, where the change is to another protected branch. */
  trunk?: Source | null;
  onProgress?(checked: number): void;
}

export interface AuditedDifference {
  /** Who is trusted once it is accepted. */
  trust: Trust;
  /** How many files were added, changed or deleted. */
  files: number;
  sessions: ChangedSession[];
  /** Whether anything in the folder of the ledger is another. */
  touchesLedger: boolean;
  /** The history of those sessions alone. */
  history: History;
  findings: Finding[];
}

/**
 * Everything that a change does to `.handoff`, judged by who was trusted before it. SPEC §10.2, §10.3. What was there before is
 * not judged again: the cost is that of what is new.
 */
export async function auditDifference(
  trees: TreePair,
  trust: Trust,
  options: DifferenceOptions,
): Promise<AuditedDifference> {
  const findings: Finding[] = [];
  const report = reportOnce(findings);
  const [oldRoot, newRoot] = await Promise.all([trees.before.root(), trees.now.root()]);
  const isNew = unlike(oldRoot);
  reportLookalikes(
    newRoot.filter((entry) => entry.name === ROOT || isNew(entry)),
    report,
  );
  const pair = { before: topOf(oldRoot), now: topOf(newRoot) };
  const placed = (await readDifferences(trees, pair, report)).map((each) => ({ ...each, use: useOf(each.path) }));
  const limit = recordsPerPush(trust);
  const counted = placed.length - nextPolicyFiles(placed, trust);
  if (counted > limit) {
    report(tooMany(counted, limit));
    return { trust, files: placed.length, sessions: [], touchesLedger: false, history: emptyHistory(), findings };
  }
  const changes = placed.filter((each) => isAllowed(each, report));
  const next = await loadNext(trees, changes, trust, options.suite, report);
  const { suite, readVersions = noVersions, trunk = null } = options;
  const turn = { was: trust, is: next };
  if (next !== trust) await auditDependents(trees.now, new Set(placed.map(({ path }) => path)), turn, suite, report);
  await auditDocuments(trees, changes, { trust: next, old: trust, suite, readVersions, trunk }, refusing(report));
  reportLostSkills(placed, next, report);
  if (placed.some(({ use }) => use === 'pending')) {
    const { reportWithdrawn } = await import('../trust/pending.ts');
    const { reportCrowd } = await import('../trust/pending-crowd.ts');
    await reportCrowd(trees, changes, report);
    await reportWithdrawn(trees, placed, { trust: next, suite }, report);
  }
  await auditRetired(trees, changes, turn, suite, report);
  const ledger = placed.filter(({ path }) => path.startsWith(`${LEDGER}/`));
  if (ledger.length > 0) {
    const { auditLedgerStep } = await import('./ledger.ts');
    await auditLedgerStep(trees, ledger, { trust: next, suite: options.suite }, report);
  }
  const history = emptyHistory();
  const sessions = await auditSessions(trees, changes, { ...options, trust: next, history }, report);
  findings.push(...retiredWaivers(sessions, trust));
  findings.sort((a, b) => ((a.path ?? '') < (b.path ?? '') ? -1 : 1));
  const all = trunk ? await withAccepted(findings, changes, trunk) : findings;
  return { trust: next, files: placed.length, sessions, touchesLedger: ledger.length > 0, history, findings: all };
}

/** An identity is judged as somebody who is trusted, and as a document that arrives: what both find is told once. */
function reportOnce(findings: Finding[]): Report {
  const told = new Set<string>();
  return (found) => {
    const words = wordsOf(found);
    if (!told.has(words)) findings.push(found);
    told.add(words);
  };
}

function topOf(root: readonly Entry[]): Entry | null {
  return root.find(({ name }) => name === ROOT) ?? null;
}

/** The way back from a limit that is too small for anything: the next policy, and its file that waits for signatures, do not count. */
function nextPolicyFiles(placed: readonly Placed[], { policy }: Trust): number {
  const paths = [false, true].map((pending) => policyPath(policy.version + 1, pending));
  return placed.filter(({ path }) => paths.includes(path)).length;
}

function recordsPerPush({ policy }: Trust): number {
  return policy.rules.limits.records_per_push;
}

/** SPEC §7.2: records and policies are only added, documents only go on, and nothing else has a place. */
function isAllowed({ path, before, now, use }: Placed, report: Report): boolean {
  if (now === null) {
    if (use !== null && !REMOVABLE.has(use)) report(deleted(path));
    return false;
  }
  if (now.mode !== FOLDER && !isFile(now, report)) return false;
  if (use === null || now.mode === FOLDER) {
    reportNoPlace(now, 'what SPEC §2.2 lists', report);
    return false;
  }
  if (before === null || !IMMUTABLE.has(use)) return true;
  report(changed(path));
  return false;
}

/** What becomes of the ledger, and of what waits, is judged as a whole. */
const REMOVABLE: ReadonlySet<PathUse> = new Set(['pending', 'skill', 'proof', 'ledger']);
const IMMUTABLE: ReadonlySet<PathUse> = new Set(['record', 'policy']);

function deleted(path: string): Finding {
  return finding('record_deleted', path, 'the file that is there', 'nothing', KEEP);
}

function changed(path: string): Finding {
  return finding('record_changed', path, 'the bytes that are there', 'other bytes', KEEP);
}

const KEEP =
  'A revert takes back code, never records. Put them back: git restore --overlay --source=BASE --staged --worktree -- .handoff, then git commit --amend';

function tooMany(count: number, limit: number): Finding {
  const hint = 'Bring it in several parts, or ask for a higher limit: git handoff policy set limits.records_per_push';
  return finding('too_large', ROOT, `at most ${limit} files at once`, String(count), hint);
}

/**
 * SPEC §10.2: policies and identities of the result. Each of their links leads back to the policy that was there. What was wrong
 * before is not this change's doing.
 */
async function loadNext(
  { before, now }: TreePair,
  changes: readonly Placed[],
  trust: Trust,
  suite: Suite,
  report: Report,
): Promise<Trust> {
  if (!changes.some(({ use }) => use === 'policy' || use === 'identity')) return trust;
  const oldFindings: Finding[] = [];
  await loadTrust(before, suite, (found) => oldFindings.push(found));
  const isKnown = among(oldFindings);
  const arriving = new Set(changes.map(({ path }) => path));
  const refuse = refusing(report);
  const next = await loadTrust(now, suite, (found) => {
    if (arriving.has(found.path ?? '')) refuse(found);
    else if (!isKnown(found)) report(found);
  });
  return next?.repoId === trust.repoId ? next : trust;
}
