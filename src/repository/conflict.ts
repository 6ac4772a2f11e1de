import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { openTree } from '../audit/source/tree-source.ts';
import { loadTrust } from '../audit/trust/trust.ts';
import { HandoffError } from '../core/error.ts';
import { LEDGER, ROOT } from '../core/paths.ts';
import { quoteWord } from '../core/text/quote.ts';
import { nodeSuite } from '../crypto.ts';
import { readGit } from '../git/run.ts';
import type { Directories, GitAccess, Settings } from './parts.ts';
import { isRebasing } from './position.ts';
import { protectedRefs, trackingRef } from './tracking.ts';

/** Says how to resolve a document in conflict, instead of what is wrong with its bytes. */
export interface Conflict {
  message: string;
  hint: string;
  paths: string[];
}

/**
 * Two branches have each signed the next version of a document, and git waits for somebody to choose; null where it does not. No two
 * versions can be joined by hand, as each is signed. SPEC §5.3: only the one that leads on from the protected branch's can be merged, so
 * that is kept, and one's own change made again on top. Asked only where something is wrong: it takes a process of git.
 */
export async function findConflict(repository: GitAccess & Directories & Settings): Promise<Conflict | null> {
  const unmerged = await unmergedPaths(repository);
  const paths = unmerged.filter((path) => path.startsWith(`${ROOT}/`) && !path.startsWith(`${LEDGER}/`));
  const [first] = paths;
  if (first === undefined) return null;
  const source = await sourceFor(repository, paths);
  // a chain of policies is that of one branch, whole
  const kept = [...new Set(paths.map((path) => (path.startsWith(POLICIES) ? POLICIES.slice(0, -1) : path)))];
  const restore = `git restore --source=${quoteWord(source)} --staged --worktree -- ${kept.map(quoteWord).join(' ')}`;
  const next = unmerged.length > paths.length ? `resolve the other files, and ${goOn(repository)}` : goOn(repository);
  return {
    message: `${first} is in conflict: two branches have each signed a next version, and one of them can count.`,
    hint: `${restore}; ${next}; then make your own change again: ${again(paths).join('; ')}`,
    paths,
  };
}

const POLICIES = `${ROOT}/policy/`;

/** In place of an error about bytes that are in conflict. */
export async function conflictOr(
  repository: GitAccess & Directories & Settings,
  error: HandoffError,
  path: string,
): Promise<HandoffError> {
  const conflict = repository.dirs.topLevel === null ? null : await findConflict(repository);
  if (!conflict?.paths.includes(path)) return error;
  const { message, hint, paths } = conflict;
  return new HandoffError(error.code, message, { hint, data: { paths }, cause: error });
}

async function unmergedPaths({ git }: GitAccess): Promise<string[]> {
  const magic = { ...git, set: { ...git.set, GIT_LITERAL_PATHSPECS: '0' } };
  const out = await readGit(magic, ['ls-files', '--unmerged', '--full-name', '-z', '--', ':/']);
  const lines = out.toString('utf8').split('\0').slice(0, -1);
  return [...new Set(lines.map((line) => line.slice(line.indexOf('\t') + 1)))];
}

/** The protected branch, as its remote has it if it is known, else as it is here; HEAD, where that has none of them. */
async function sourceFor(repository: GitAccess & Settings, paths: readonly string[]): Promise<string> {
  const config = await repository.config();
  const trust = await loadTrust(await openTree(repository.store, 'HEAD'), nodeSuite, () => {}).catch(() => null);
  const refs = trust ? protectedRefs(trust).flatMap((ref) => [trackingRef(config, ref) ?? ref, ref]) : [];
  for (const ref of refs) {
    const found = await Promise.all(paths.map((path) => repository.store.has(`${ref}:${path}`)));
    if (found.every(Boolean)) return ref.replace(/^refs\/(?:heads|remotes)\//, '');
  }
  return 'HEAD';
}

function goOn(repository: Directories): string {
  if (isRebasing(repository)) return 'git rebase --continue';
  const isPicking = existsSync(join(repository.dirs.gitDir, 'CHERRY_PICK_HEAD'));
  return isPicking ? 'git cherry-pick --continue' : 'git commit --no-edit';
}

function again(paths: readonly string[]): string[] {
  const commands = paths.map((path) => {
    const [, room = '', name = ''] = path.split('/');
    if (room === 'policy') return 'git handoff policy set KEY VALUE';
    if (room === 'tasks') return `git handoff task edit ${quoteWord(name.replace(/\.yaml$/, ''))}`;
    return room === 'identities' ? `git handoff identity rotate ${quoteWord(name)}` : 'git commit';
  });
  return [...new Set(commands)].slice(0, 5);
}
