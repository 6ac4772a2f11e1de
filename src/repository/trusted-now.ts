import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Source } from '../audit/source/source.ts';
import { openTree } from '../audit/source/tree-source.ts';
import { openWorkTree } from '../audit/source/work-tree-source.ts';
import { loadTrust } from '../audit/trust/trust.ts';
import { HandoffError } from '../core/error.ts';
import { later } from '../core/later.ts';
import { ROOT } from '../core/paths.ts';
import type { Trust } from '../core/trust/trust.ts';
import { nodeSuite } from '../crypto.ts';
import { tryPinRoot } from './pins.ts';
import type { Position } from './position.ts';
import { assertPinned, type Repository } from './repository.ts';

/**
 * Files as they are now, for writing the next version. Where the work tree has none of them, as in a bare repository and in
 * a sparse checkout without .handoff, as HEAD has them.
 */
export async function currentSource({ dirs: { topLevel }, store }: Repository): Promise<Source> {
  const policy = `${ROOT}/policy`;
  const isHere = topLevel && (existsSync(join(topLevel, policy)) || (await store.resolve(`HEAD:${policy}`)) === null);
  return isHere ? openWorkTree(topLevel) : openTree(store, 'HEAD');
}

/** Files as the last commit has them, for reading what holds; on an unborn branch as they are now. */
export async function committedSource(repository: Repository, { head }: Position): Promise<Source> {
  return head ? openTree(repository.store, 'HEAD') : currentSource(repository);
}

/** Who is trusted here and now. A policy that does not hold ends every verb that writes. SPEC §5.8: the first root seen is pinned. */
export async function requireTrust(repository: Repository): Promise<Trust> {
  const trust = await readTrust(repository);
  await tryPinRoot(repository, trust.repoId, false);
  return trust;
}

/** The same for whoever must not take the first root that comes along for one that somebody has compared. */
export async function readTrust(repository: Repository): Promise<Trust> {
  later(repository.config()); // git gets ready while documents are read
  const problems: HandoffError[] = [];
  const trust = await loadTrust(await currentSource(repository), nodeSuite, (found) => {
    if (found.path?.includes('/policy/'))
      problems.push(new HandoffError(found.code, `${found.path}: ${found.message}`, { hint: found.hint }));
    else repository.warn(`${found.path}: ${found.message}`);
  });
  if (problems[0] || !trust)
    throw problems[0] ?? new HandoffError('policy_invalid', 'The genesis policy does not hold.');
  await assertPinned(repository, trust.repoId);
  return trust;
}
