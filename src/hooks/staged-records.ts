import { auditDifference } from '../audit/delta/delta.ts';
import { MERGED, withoutOtherSide } from '../audit/delta/other-side.ts';
import { openTree } from '../audit/source/tree-source.ts';
import { hasPolicy, loadTrust } from '../audit/trust/trust.ts';
import type { Finding } from '../core/error.ts';
import { quoteWord } from '../core/text/quote.ts';
import { nodeSuite } from '../crypto.ts';
import { assertPinned, type Repository } from '../repository/repository.ts';
import { stagedTree } from '../repository/staged-tree.ts';
import { verify } from '../verbs/reading/verify.ts';

/**
 * What the next commit would do to `.handoff`: for a hook, which must not cost more because history is long. Code needs no
 * writeback yet: a thought names a commit that is there.
 */
export async function judgeStaged(repository: Repository): Promise<Finding[]> {
  const { store } = repository;
  const before = (await store.resolve('HEAD')) === null ? null : await openTree(store, 'HEAD');
  if (!before || !(await hasPolicy(before))) return whole(repository);
  const findings: Finding[] = [];
  const trust = await loadTrust(before, nodeSuite, (found) => findings.push(found));
  if (!trust) return findings;
  await assertPinned(repository, trust.repoId);
  const tree = await stagedTree(repository);
  const delta = await auditDifference({ before, now: await openTree(store, tree) }, trust, { suite: nodeSuite });
  const left = await withoutOtherSide(store, delta.findings, { tree, own: 'HEAD', other: MERGED });
  return left.map(withRestore);
}

/** Nothing is committed yet: what HEAD has can be put back. */
function withRestore(found: Finding): Finding {
  const { code, path } = found;
  if (path === undefined || (code !== 'record_changed' && code !== 'record_deleted')) return found;
  return { ...found, hint: `git restore --staged --worktree -- ${quoteWord(path)}` };
}

/** The commit that brings the policy. */
async function whole(repository: Repository): Promise<Finding[]> {
  return (await verify(repository, { staged: true })).findings;
}
