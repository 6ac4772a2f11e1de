import { auditDifference } from '../audit/delta/delta.ts';
import { MERGED, withoutOtherSide } from '../audit/delta/other-side.ts';
import { type Entry, find, type Source } from '../audit/source/source.ts';
import { openTree } from '../audit/source/tree-source.ts';
import { hasPolicy, loadTrust } from '../audit/trust/trust.ts';
import type { Finding } from '../core/error.ts';
import { quoteWord } from '../core/text/quote.ts';
import { nodeSuite } from '../crypto.ts';
import type { GitStore } from '../git/objects/store.ts';
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
  const now = await openTree(store, tree);
  const delta = await auditDifference({ before, now }, trust, { suite: nodeSuite });
  const left = await withoutOtherSide(store, delta.findings, { tree, own: 'HEAD', other: MERGED });
  return (await withoutPutBack(left, now, store)).map(withRestore);
}

/** A record that the last commit changed may have its bytes again: that commit is amended, or another one takes it back. */
async function withoutPutBack(findings: readonly Finding[], now: Source, store: GitStore): Promise<readonly Finding[]> {
  const changed = findings.filter(({ code }) => code === 'record_changed').map(({ path }) => path!);
  if (changed.length === 0) return findings;
  const { parents } = await store.readCommit('HEAD');
  const older = await Promise.all(parents.map((parent) => openTree(store, parent)));
  const putBack = new Set<string>();
  for (const path of changed) if (await isInOne(older, await find(now, path))) putBack.add(path);
  return findings.filter(({ code, path }) => code !== 'record_changed' || !putBack.has(path!));
}

async function isInOne(trees: readonly Source[], file: Entry | null): Promise<boolean> {
  if (!file) return false;
  const theirs = await Promise.all(trees.map((tree) => find(tree, file.path)));
  return theirs.some((each) => each?.oid === file.oid && each.mode === file.mode);
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
