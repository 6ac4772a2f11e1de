import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Source } from '../audit/source/source.ts';
import { openTree } from '../audit/source/tree-source.ts';
import { openWorkTree } from '../audit/source/work-tree-source.ts';
import { loadTrust } from '../audit/trust/trust.ts';
import { type Finding, HandoffError } from '../core/error.ts';
import { later } from '../core/later.ts';
import { ROOT } from '../core/paths.ts';
import type { Trust } from '../core/trust/trust.ts';
import { nodeSuite } from '../crypto.ts';
import { conflictOr, findConflict } from './conflict.ts';
import type { Directories, GitAccess } from './parts.ts';
import { tryPinRoot } from './pins/root-pin.ts';
import type { Position } from './position.ts';
import { assertPinned, type Repository } from './repository.ts';

/**
 * Files as they are now, for writing the next version. Where the work tree has none of them, as in a bare repository and in
 * a sparse checkout without .handoff, as HEAD has them.
 */
export async function currentSource({ dirs: { topLevel }, store }: GitAccess & Directories): Promise<Source> {
  const policy = `${ROOT}/policy`;
  const isHere = topLevel && (existsSync(join(topLevel, policy)) || (await store.resolve(`HEAD:${policy}`)) === null);
  return isHere ? openWorkTree(topLevel) : openTree(store, 'HEAD');
}

/** Files as the last commit has them, for reading what holds; on an unborn branch as they are now. */
export async function committedSource(repository: GitAccess & Directories, { head }: Position): Promise<Source> {
  return head ? openTree(repository.store, 'HEAD') : currentSource(repository);
}

/** What a verb reads besides: a record is written without any object of git. */
export type Needs = 'objects' | 'files';

/** Who is trusted here and now. A policy that does not hold ends every verb that writes. SPEC §5.8: the first root seen is pinned. */
export async function requireTrust(repository: Repository, needs: Needs = 'objects'): Promise<Trust> {
  const trust = await readTrust(repository, needs);
  await tryPinRoot(repository, trust.repoId, false);
  return trust;
}

/** As `requireTrust`, without pinning: for callers that must not treat a root as compared by a person. */
export async function readTrust(repository: Repository, needs: Needs = 'objects'): Promise<Trust> {
  if (needs === 'objects')
    repository.store.getReady(); // git starts while documents are read
  else later(repository.config());
  const problems: Finding[] = [];
  const trust = await loadTrust(await currentSource(repository), nodeSuite, (found) => problems.push(found));
  const [broken] = problems.filter(({ path }) => path?.includes('/policy/'));
  if (broken) {
    const error = new HandoffError(broken.code, `${broken.path}: ${broken.message}`, { hint: broken.hint });
    throw await conflictOr(repository, error, broken.path!);
  }
  await warnOf(repository, problems);
  if (!trust) throw new HandoffError('policy_invalid', 'The genesis policy does not hold.');
  await assertPinned(repository, trust.repoId);
  return trust;
}

/** Identities that do not hold count for nobody, and nothing else stops for that. */
async function warnOf(repository: Repository, problems: readonly Finding[]): Promise<void> {
  if (problems.length === 0) return;
  const conflict = repository.dirs.topLevel === null ? null : await findConflict(repository);
  for (const { path, message } of problems) {
    const isInConflict = conflict?.paths.includes(path!);
    repository.warn(isInConflict ? `${conflict!.message} ${conflict!.hint}` : `${path}: ${message}`);
  }
}
