import { readFileSync } from 'node:fs';
import { devNull } from 'node:os';
import { join } from 'node:path';
import type { GitConfig } from '../../git/config.ts';
import type { RepositoryDirs } from '../../git/discover.ts';
import { isExecutable } from '../../git/executable.ts';
import { isOursAlone } from './section.ts';

/** Whether git would run anything of somebody else's as this hook, where hooks are in their usual place. */
export function isForeignHook({ commonDir }: RepositoryDirs, name: string): boolean {
  const path = join(commonDir, 'hooks', name);
  return isExecutable(path) && !isOursAlone(readFileSync(path, 'latin1'));
}

/** `pre-commit` is not: what a project does to its own files it must not do to what was signed. */
const RUN_BY_COMMIT = [
  'prepare-commit-msg',
  'commit-msg',
  'post-commit',
  'reference-transaction',
  'post-index-change',
  'pre-auto-gc',
  'post-rewrite',
];

/**
 * For commits of our own records: what our hooks would check was checked before anything was written, so that git need not
 * start them. Nothing where a hook of somebody else's would be left out.
 */
export function withoutOwnHooks(
  dirs: RepositoryDirs,
  config: GitConfig,
  names: readonly string[] = RUN_BY_COMMIT,
): Record<string, string> {
  const elsewhere = config.keys().some((key) => key === 'core.hookspath' || key.startsWith('hook.'));
  return elsewhere || names.some((name) => isForeignHook(dirs, name)) ? {} : { 'core.hooksPath': devNull };
}
