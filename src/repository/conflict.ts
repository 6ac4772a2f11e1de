import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { openTree } from '../audit/source/tree-source.ts';
import { loadTrust } from '../audit/trust/trust.ts';
import { HandoffError } from '../core/error.ts';
import { LEDGER, ROOT } from '../core/paths.ts';
import { quoteWord } from '../core/text/quote.ts';
import { nodeSuite } from '../crypto.ts';
import type { Oid } from '../git/objects/store.ts';
import { readGit } from '../git/run.ts';
import type { Directories, GitAccess, Settings } from './parts.ts';
import { isRebasing, isWaiting } from './position.ts';
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
  const unmerged = await unmergedFiles(repository);
  const ours = [...unmerged].filter(([path]) => path.startsWith(`${ROOT}/`) && !path.startsWith(`${LEDGER}/`));
  const paths = ours.map(([path]) => path);
  const [first] = paths;
  if (first === undefined) return null;
  const source = await sourceFor(repository, ours);
  // a chain of policies is that of one branch, whole
  const kept = [...new Set(paths.map((path) => (path.startsWith(POLICIES) ? POLICIES.slice(0, -1) : path)))];
  const restore = `git restore --source=${quoteWord(source)} --staged --worktree -- ${kept.map(quoteWord).join(' ')}`;
  const next = await goOn(repository, source, kept);
  const others = unmerged.size > paths.length ? 'resolve the other files, and ' : '';
  return {
    message: `${first} is in conflict: two branches have each signed a next version, and one of them can count.`,
    hint: `${restore}; ${others}${next}; then make your own change again: ${again(paths).join('; ')}`,
    paths,
  };
}

/** For verbs that only read: git is asked where it says that it waits. */
export async function waitingConflict(repository: GitAccess & Directories & Settings): Promise<Conflict | null> {
  return isWaiting(repository) && repository.dirs.topLevel !== null ? findConflict(repository) : null;
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

/** Each with the blobs that the two sides have. */
async function unmergedFiles({ git }: GitAccess): Promise<Map<string, Oid[]>> {
  const magic = { ...git, set: { ...git.set, GIT_LITERAL_PATHSPECS: '0' } };
  const out = await readGit(magic, ['ls-files', '--unmerged', '--full-name', '-z', '--', ':/']);
  const files = new Map<string, Oid[]>();
  for (const line of out.toString('utf8').split('\0').slice(0, -1)) {
    const [, oid = '', stage = ''] = line.slice(0, line.indexOf('\t')).split(' ');
    const path = line.slice(line.indexOf('\t') + 1);
    files.set(path, [...(files.get(path) ?? []), ...(stage === BASE ? [] : [oid])]);
  }
  return files;
}

const BASE = '1';

/**
 * Names that side of the two which is the protected branch, as its remote has it, else as it is here. A branch that has something else
 * than both sides is behind them or ahead of them, and would take something back: then HEAD is named.
 */
async function sourceFor(repository: GitAccess & Settings, files: readonly [string, Oid[]][]): Promise<string> {
  const { store } = repository;
  const config = await repository.config();
  const trust = await loadTrust(await openTree(store, 'HEAD'), nodeSuite, () => {}).catch(() => null);
  const refs = trust ? protectedRefs(trust).flatMap((ref) => [trackingRef(config, ref) ?? ref, ref]) : [];
  for (const ref of refs) {
    const found = await Promise.all(files.map(([path]) => store.resolve(`${ref}:${path}`)));
    if (found.every((oid, at) => oid !== null && files[at]![1].includes(oid)))
      return ref.replace(/^refs\/(?:heads|remotes)\//, '');
  }
  return 'HEAD';
}

/** git picks no commit that has become empty, unless it is told to pass over it. */
async function goOn(repository: GitAccess & Directories, source: string, kept: readonly string[]): Promise<string> {
  if (isRebasing(repository)) return 'git rebase --continue';
  if (!existsSync(join(repository.dirs.gitDir, 'CHERRY_PICK_HEAD'))) return 'git commit --no-edit';
  return `git cherry-pick ${(await leavesNothing(repository, source, kept)) ? '--skip' : '--continue'}`;
}

/** Whether a commit would have nothing that HEAD has not, once these are as the source has them. */
async function leavesNothing({ git, store }: GitAccess, source: string, kept: readonly string[]): Promise<boolean> {
  const out = await readGit(git, ['diff-index', '--cached', '--name-only', '-z', 'HEAD']);
  const changed = out.toString('utf8').split('\0').slice(0, -1);
  const isKept = (path: string): boolean => kept.some((at) => path === at || path.startsWith(`${at}/`));
  if (!changed.every(isKept)) return false;
  const blobs = (rev: string) => Promise.all(kept.map((path) => store.resolve(`${rev}:${path}`)));
  const [theirs, own] = await Promise.all([blobs(source), blobs('HEAD')]);
  return theirs.every((oid, at) => oid === own[at]);
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
