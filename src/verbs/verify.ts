import { join } from 'node:path';
import { openCache } from '../audit/cache.ts';
import { openIndex } from '../audit/index-source.ts';
import type { SessionAudit } from '../audit/session.ts';
import type { Source } from '../audit/source.ts';
import { openTree } from '../audit/tree-source.ts';
import type { Finding } from '../core/error.ts';
import { nodeSuite } from '../crypto.ts';
import { checkRollback, pinRoot, type SeenPolicy } from './pins.ts';
import { assertPinned, type Repository, requireWorkTree } from './repository.ts';
import { stagedChanges } from './staged.ts';

export interface VerifyOptions {
  rev?: string;
  staged?: boolean;
  root?: string;
}

export interface VerifyResult {
  checked: number;
  records: number;
  valid: boolean;
  findings: Finding[];
  root: string | null;
  policy_version: number | null;
}

/** Every record and document in a tree, or in the index. SPEC §7 */
export async function verify(repository: Repository, options: VerifyOptions = {}): Promise<VerifyResult> {
  const rev = options.rev ?? 'HEAD';
  const [source] = await Promise.all([openSource(repository, rev, options.staged ?? false), repository.config()]);
  const verdict = await judge(repository, source, options.root);
  const findings = [...verdict.findings];
  if (verdict.policy) {
    const rollback = await checkRollback(repository, verdict.policy, rev, options.staged ?? false);
    if (rollback) findings.push(rollback);
    await pinRoot(repository, verdict.policy.root);
  }
  if (options.staged) findings.push(...(await stagedChanges(repository)));
  return {
    checked: verdict.checked,
    records: verdict.records,
    valid: findings.every(({ severity }) => severity !== 'error'),
    findings,
    root: verdict.policy?.root ?? null,
    policy_version: verdict.policy?.version ?? null,
  };
}

function openSource(repository: Repository, rev: string, staged: boolean): Promise<Source> {
  if (!staged) return openTree(repository.store, rev);
  requireWorkTree(repository);
  return openIndex(repository.git, repository.store);
}

/** What a tree's content alone decides; pins and roots are looked at each time. */
interface Verdict {
  checked: number;
  records: number;
  findings: Finding[];
  policy: SeenPolicy | null;
}

/** A tree that held last time holds again: its oid covers every byte and mode in it. SPEC §7.4 */
async function judge(repository: Repository, source: Source, root: string | undefined): Promise<Verdict> {
  const verdicts = repository.build ? await openCache<Verdict>(cachePath(repository, 'trees'), 32) : null;
  const known = source.oid ? verdicts?.get(source.oid) : undefined;
  if (known?.policy) {
    await assertPinned(repository, known.policy.root, root);
    return known;
  }
  const verdict = await audit(repository, source, root);
  if (source.oid && verdict.policy && verdict.findings.length === 0) verdicts?.set(source.oid, verdict);
  await verdicts?.save();
  return verdict;
}

async function audit(repository: Repository, source: Source, root: string | undefined): Promise<Verdict> {
  const sessions =
    repository.build && source.oid ? await openCache<SessionAudit>(cachePath(repository, 'sessions')) : null;
  // Loaded only when something has to be judged: a warm run spends most of its time loading code.
  const { auditTree } = await import('../audit/tree.ts');
  const { trust, checked, records, findings } = await auditTree(source, {
    suite: nodeSuite,
    sessions,
    onProgress: repository.progress,
    onTrust: (found) => assertPinned(repository, found.repoId, root),
  });
  await sessions?.save();
  const policy = trust && { root: trust.repoId, version: trust.policy.version, id: trust.policy.id };
  return { checked, records, findings, policy };
}

function cachePath(repository: Repository, name: string): string {
  return join(repository.stateDir, 'cache', `${name}-${repository.build}.json`);
}
