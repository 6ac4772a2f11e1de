import { ROOT } from '../../core/paths.ts';
import { exemptFolders, exemption } from '../../core/writeback/exemption.ts';
import type { CommitChange } from '../../git/changes/patch-reader.ts';
import type { Conflict } from '../../git/changes/remerge.ts';
import type { Sieve } from '../../git/trees/tree-sift.ts';

/** What of a change asks for an account. */
export interface CodeOf {
  (change: CommitChange): string[];
  /** What takes everything else out of a tree. */
  sieve: Sieve;
}

/** SPEC §10.4.1: exempt are files alone. A link or a submodule under such a name is code. `folders`: that the protected branch has. */
export function codeBy(patterns: readonly string[], folders?: ReadonlySet<string>): CodeOf {
  const isExempt = exemption(patterns, folders);
  const codeOf = ({ paths, unlikeFiles }: CommitChange): string[] =>
    paths.filter((path) => unlikeFiles.has(path) || !isExempt(path));
  return Object.assign(codeOf, { sieve: { root: ROOT, takes: isExempt, mayBeIn: exemptFolders(patterns) } });
}

/**
 * What is left to decide is changed by whoever decides it. In a merge of code alone exempt files are empty: one that is not is code,
 * to which git has given such a name, as it follows folders.
 */
export function asChange(conflicts: readonly Conflict[]): CommitChange {
  const code = conflicts.filter(({ path }) => !isRecord(path));
  const odd = code.filter(({ isFile, isEmpty }) => !isFile || !isEmpty);
  const paths = code.map(({ path }) => path);
  return { paths, unlikeFiles: new Set(odd.map(({ path }) => path)), patchId: null };
}

/** Records are judged elsewhere. */
function isRecord(path: string): boolean {
  return path === ROOT || path.startsWith(`${ROOT}/`);
}
