import { FOLDER, find, type Source } from '../audit/source/source.ts';
import type { Trust } from '../core/trust/trust.ts';
import { namedPaths } from '../core/writeback/exemption.ts';

/** What asks for no writeback, and which of it are folders on the protected branch. */
export interface Exempt {
  patterns: readonly string[];
  folders: ReadonlySet<string>;
}

/** `trees`: of the protected branch. More than one where work began at several of its commits. */
export async function readExempt({ policy }: Pick<Trust, 'policy'>, trees: readonly Source[]): Promise<Exempt> {
  const patterns = policy.rules.exempt;
  const folders = new Set<string>();
  for (const path of namedPaths(patterns)) {
    const entries = await Promise.all(trees.map((tree) => find(tree, path)));
    if (entries.some((entry) => entry?.mode === FOLDER)) folders.add(path);
  }
  return { patterns, folders };
}
