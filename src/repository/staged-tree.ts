import { resolve, sep } from 'node:path';
import { MERGED, withoutOtherSide } from '../audit/delta/other-side.ts';
import { finding } from '../audit/finding.ts';
import type { Finding } from '../core/error.ts';
import { parsePolicyName, ROOT } from '../core/paths.ts';
import { quoteWord } from '../core/text/quote.ts';
import { decodeNames } from '../git/objects/name-text.ts';
import type { Oid } from '../git/objects/store.ts';
import { type Git, readGit } from '../git/run.ts';
import type { Directories, GitAccess, Settings } from './parts.ts';

/**
 * git as it sees the index that is about to be committed. In a hook that may be another file than the repository's own,
 * and only one that lies in its git directory is believed.
 */
export function stagedGit({ git, env, dirs }: GitAccess & Directories & Settings): Git {
  if (!env.GIT_INDEX_FILE || !dirs.topLevel) return git;
  const index = resolve(dirs.topLevel, env.GIT_INDEX_FILE);
  return index.startsWith(`${dirs.gitDir}${sep}`) ? { ...git, set: { ...git.set, GIT_INDEX_FILE: index } } : git;
}

/** The tree that the next commit would have. */
export async function stagedTree(repository: GitAccess & Directories & Settings): Promise<Oid> {
  return (await readGit(stagedGit(repository), ['write-tree'])).toString('latin1').trim();
}

/** Null while git waits for a conflict to be resolved, in whichever file: nothing can be committed before that. */
async function mergedTree(repository: GitAccess & Directories & Settings): Promise<Oid | null> {
  const unmerged = await readGit(stagedGit(repository), ['ls-files', '--unmerged', '-z']);
  return unmerged.length > 0 ? null : stagedTree(repository);
}

/** SPEC §7.2: records and policies are only added. What the index changes or deletes of HEAD's is found here. */
export async function stagedChanges(repository: GitAccess & Directories & Settings): Promise<Finding[]> {
  if (!(await repository.store.resolve('HEAD'))) return [];
  const args = ['diff-index', '--cached', '--raw', '--no-renames', '-z', '--no-abbrev', 'HEAD', '--', ROOT];
  const fields = decodeNames(await readGit(stagedGit(repository), args));
  const findings: Finding[] = [];
  for (let i = 0; i + 1 < fields.length; i += 2) {
    const status = fields[i]!.at(-1);
    const path = fields[i + 1]!;
    if (status === 'A' || !isImmutable(path)) continue;
    findings.push(status === 'D' ? deleted(path) : changed(path));
  }
  if (findings.length === 0) return findings;
  const tree = await mergedTree(repository);
  if (tree === null) return findings;
  return withoutOtherSide(repository.store, findings, { tree, own: 'HEAD', other: MERGED });
}

function isImmutable(path: string): boolean {
  const policy = path.startsWith(`${ROOT}/policy/`) ? parsePolicyName(path.slice(path.lastIndexOf('/') + 1)) : null;
  return path.startsWith(`${ROOT}/sessions/`) || policy?.pending === false;
}

function changed(path: string): Finding {
  return finding(
    'record_changed',
    path,
    'the bytes that are committed',
    'other bytes',
    `git restore --staged --worktree -- ${quoteWord(path)}`,
  );
}

function deleted(path: string): Finding {
  return finding(
    'record_deleted',
    path,
    'the record that is committed',
    'nothing',
    `git restore --staged --worktree -- ${quoteWord(path)}`,
  );
}
