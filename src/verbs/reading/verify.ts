import { openIndex } from '../../audit/source/index-source.ts';
import type { Source } from '../../audit/source/source.ts';
import { openTree } from '../../audit/source/tree-source.ts';
import { openCache } from '../../audit/tree/cache.ts';
import type { SessionAudit } from '../../audit/tree/session.ts';
import { type Finding, HandoffError, hasErrors } from '../../core/error.ts';
import { findRollbacks, type SeenTrust, seenTrust } from '../../repository/pins/rollbacks.ts';
import { tryPinRoot } from '../../repository/pins/root-pin.ts';
import { assertPinned, assertRoot, cachePath, type Repository, requireWorkTree } from '../../repository/repository.ts';
import { stagedChanges, stagedGit } from '../../repository/staged-tree.ts';
import { ledgerRef } from '../../repository/tracking.ts';

export interface VerifyOptions {
  rev?: string;
  staged?: boolean;
  root?: string;
  /** Warnings are errors too. */
  strict?: boolean;
}

export interface VerifyResult {
  checked: number;
  records: number;
  valid: boolean;
  findings: Finding[];
  root: string | null;
  /** Whether this very call pinned the root. */
  first_use: boolean;
  /** Whether the root was given. */
  given: boolean;
  policy_version: number | null;
}

/** Every record and document in a tree, or in the index. SPEC §7 */
export async function verify(repository: Repository, options: VerifyOptions = {}): Promise<VerifyResult> {
  if (options.staged && options.rev !== undefined) throw bothAsked(options.rev);
  if (options.root !== undefined) assertRoot(options.root);
  const rev = options.rev ?? 'HEAD';
  const [source] = await Promise.all([openSource(repository, rev, options.staged ?? false), repository.config()]);
  const verdict = await judge(repository, source, options.root);
  const findings = [...verdict.findings];
  const given = options.root !== undefined;
  let firstUse = false;
  if (verdict.trust) {
    const rollbacks = await findRollbacks(repository, verdict.trust, rev, options.staged ?? false);
    findings.push(...rollbacks.findings);
    await rollbacks.remember();
    firstUse = await tryPinRoot(repository, verdict.trust.root, given);
    if (!hasErrors(findings))
      findings.push(...(await ledgerFindings(repository, source, verdict.trust, isOfHere(options))));
  }
  if (options.staged) findings.push(...(await stagedChanges(repository)));
  const told = options.staged ? await withConflicts(repository, findings) : findings;
  const judged = options.strict ? told.map(strictly) : told;
  return {
    checked: verdict.checked,
    records: verdict.records,
    valid: !hasErrors(judged),
    findings: judged,
    root: verdict.trust?.root ?? null,
    first_use: firstUse,
    given,
    policy_version: verdict.trust?.policy.version ?? null,
  };
}

/** While git waits for a merge to be resolved, the index has two of a name. */
async function withConflicts(repository: Repository, findings: readonly Finding[]): Promise<Finding[]> {
  if (!findings.some(({ code }) => code === 'name_lookalike')) return [...findings];
  const { findConflict } = await import('../../repository/conflict.ts');
  const conflict = await findConflict(repository);
  if (!conflict) return [...findings];
  const { message, hint, paths } = conflict;
  return findings.map((found) => (paths.includes(found.path ?? '') ? { ...found, message, hint } : found));
}

/** For users who accept nothing that a revoked key has signed. SPEC §5.5 */
function strictly(found: Finding): Finding {
  return { ...found, severity: 'error' };
}

function isOfHere({ rev, staged }: VerifyOptions): boolean {
  return rev === undefined && !staged;
}

/** SPEC §11.5. Any other commit may be older, and so may its ledger. */
async function ledgerFindings(
  repository: Repository,
  source: Source,
  trust: SeenTrust,
  isHere: boolean,
): Promise<Finding[]> {
  const { ledgerRollback, otherLedger } = await import('../../sealing/ledger/pin.ts');
  const compare = isHere ? ledgerRollback : otherLedger;
  return compare(repository, source, { repoId: trust.root, ref: ledgerRef(trust.protectedRefs) });
}

function bothAsked(rev: string): HandoffError {
  return new HandoffError('usage', `Expected a revision or --staged, found both ${JSON.stringify(rev)} and --staged.`, {
    hint: 'git handoff verify REV looks at a commit, git handoff verify --staged at the index.',
  });
}

function openSource(repository: Repository, rev: string, staged: boolean): Promise<Source> {
  if (!staged) return openTree(repository.store, rev).catch((error) => explainUnborn(error, rev));
  requireWorkTree(repository);
  return openIndex(stagedGit(repository), repository.store);
}

/** Before the first commit there is nothing that could be asked for by another name. */
function explainUnborn(error: unknown, rev: string): never {
  if (rev !== 'HEAD' || !(error instanceof HandoffError) || error.code !== 'usage') throw error;
  throw new HandoffError('not_initialised', 'There is no commit yet, and so no record to verify.', {
    hint: 'git handoff init sets this repository up; git handoff verify --staged looks at what is staged.',
    cause: error,
  });
}

/** What a tree's content alone decides; pins and roots are looked at each time. */
interface Verdict {
  checked: number;
  records: number;
  findings: Finding[];
  trust: SeenTrust | null;
}

/** A tree that held last time holds again: its oid covers every byte and mode in it. SPEC §7.4 */
async function judge(repository: Repository, source: Source, root: string | undefined): Promise<Verdict> {
  const verdicts = repository.build ? openCache<Verdict>(cachePath(repository, 'trees'), 32) : null;
  const cached = source.oid ? verdicts?.get(source.oid) : undefined;
  if (cached?.trust) {
    await assertPinned(repository, cached.trust.root, root);
    return cached;
  }
  const verdict = await audit(repository, source, root);
  if (source.oid && verdict.trust && !hasErrors(verdict.findings)) verdicts?.set(source.oid, verdict);
  verdicts?.save();
  return verdict;
}

async function audit(repository: Repository, source: Source, root: string | undefined): Promise<Verdict> {
  const sessions = repository.build && source.oid ? openCache<SessionAudit>(cachePath(repository, 'sessions')) : null;
  // Loaded only when something has to be judged: a warm run spends most of its time loading code.
  const [{ auditTree }, { nodeSuite }] = await Promise.all([
    import('../../audit/tree/tree.ts'),
    import('../../crypto.ts'),
  ]);
  const { trust, checked, records, findings } = await auditTree(source, {
    suite: nodeSuite,
    sessions,
    onProgress: repository.progress,
    onTrust: (found) => assertPinned(repository, found.repoId, root),
  });
  sessions?.save();
  return { checked, records, findings, trust: trust && seenTrust(trust) };
}
