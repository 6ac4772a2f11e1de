import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { find } from '../../audit/source/source.ts';
import { openTree } from '../../audit/source/tree-source.ts';
import { HandoffError } from '../../core/error.ts';
import type { LogGrowth } from '../../core/ledger/log-growth.ts';
import { LEDGER, ROOT } from '../../core/paths.ts';
import { type FileToWrite, readyFile, removeFile, writeFiles } from '../../disk/tree-files.ts';
import { assertUnlocked } from '../../git/index/locked-index.ts';
import type { NativeGitStore } from '../../git/objects/native-store.ts';
import type { Oid } from '../../git/objects/store.ts';
import { readGit } from '../../git/run.ts';
import { type Base, commitTree, warnNotStaged } from '../../journal/commits/commit-tree.ts';
import { assertHeld } from '../../journal/commits/held-bytes.ts';
import type { PublishOptions } from '../../journal/commits/publish.ts';
import { stateDirs } from '../../journal/sessions/registry.ts';
import type { Directories, GitAccess, IndexAccess, Messages } from '../../repository/parts.ts';
import { readBranch } from '../../repository/position.ts';
import { type Repository, requireWorkTree } from '../../repository/repository.ts';
import { findStrays } from './strays.ts';

/** What becomes of the files of the ledger; paths are seen from its folder. The checkpoint comes last. */
interface LedgerChange extends Pick<LogGrowth, 'size' | 'written' | 'removed'> {
  /** What it was planned for. */
  plan: {
    /** The protected branch. */
    branch: string;
    /** The tree that it was checked out with. */
    tree: Oid;
    /** The folder of sessions, and the seals that arrive from there. */
    sessions: Oid | null;
    seals: readonly { path: string }[];
  };
}

export const DERIVED = { replaces: true, isDerived: true };

/** Files, index, commit. Everything in it can be made again from HEAD, so what was cut off is done anew. */
export async function writeLedger(
  repository: Repository,
  change: LedgerChange,
  { identity, message }: { identity: string; message: string },
  options: PublishOptions,
): Promise<string | null> {
  const topLevel = requireWorkTree(repository);
  const files = change.written.map(({ path, bytes }) => ({ path: `${LEDGER}/${path}`, bytes, ...DERIVED }));
  const old = new Set([...change.removed.map((path) => `${LEDGER}/${path}`), ...findStrays(topLevel, change.size)]);
  if (options.stage === false || (options.commit === false && !options.stage)) {
    writeFiles(topLevel, files, stateDirs(repository.stateDir).scratch);
    for (const path of old) removeFile(topLevel, path, DERIVED);
    return null;
  }
  const stage = staging(repository, files, [...old]);
  if (options.commit === false) {
    await stage();
    return null;
  }
  const edits = new Map<string, Uint8Array | null>(files.map(({ path, bytes }) => [path, bytes]));
  for (const path of old) edits.set(path, null);
  const giveUp = async (moved: string): Promise<never> => {
    await putBack(repository, [...edits.keys()]);
    throw movedMeanwhile(moved, change.plan.branch);
  };
  const check = async (base: Base): Promise<void> => {
    const moved = await whatMoved(repository, base, change.plan, edits);
    if (moved !== null) await giveUp(moved);
  };
  const edit = (tree: Oid) => repository.store.editTree(tree, edits);
  const { commit } = await commitTree(repository, { identity, message, paths: () => [LEDGER], check, edit, stage });
  // where git commits, what somebody has thrown away is nothing to commit
  if (!(await hasFile(repository.store, commit, files.at(-1)!))) await giveUp('What was staged has gone');
  await assertHeld(repository, commit, files);
  await stageOnce(repository, { branch: change.plan.branch, commit }, stage);
  return commit;
}

/**
 * Brings work tree and index in line, as often as somebody has changed them since. New tiles come first, which nobody else looks
 * at. The checkpoint, which is the last of the files, is replaced together with the index, and what is old goes then too: a `git
 * commit --all` in between would commit a checkpoint without its tiles.
 */
export function staging(
  repository: Repository,
  files: readonly FileToWrite[],
  old: readonly string[],
): () => Promise<void> {
  const topLevel = requireWorkTree(repository);
  const { scratch } = stateDirs(repository.stateDir);
  const [tiles, checkpoint] = [files.slice(0, -1), files.at(-1)!];
  let isInLine = (): boolean => false;
  return async () => {
    if (isInLine()) return;
    writeFiles(topLevel, tiles, scratch);
    const ready = readyFile(topLevel, checkpoint, scratch);
    const there = tiles.map(({ path, bytes }) => ({ path, bytes, at: join(topLevel, path) }));
    const gone = old.map((path) => ({ path, bytes: null, at: '' }));
    try {
      const staged = [...there, { ...checkpoint, at: ready.at }, ...gone];
      const outcome = await repository.index.put(staged, () => {
        ready.take();
        for (const path of old) tryRemove(repository, path);
      });
      const isInPlace = assertUnlocked(repository.dirs, outcome);
      isInLine = () => isInPlace() && files.every((file) => isThere(topLevel, file));
    } finally {
      ready.discard();
    }
  };
}

/** They may have thrown it away right before the branch was moved. What they have checked out since is not ours to change. */
async function stageOnce(
  repository: GitAccess & Directories & Messages,
  { branch, commit }: { branch: string; commit: Oid },
  stage: () => Promise<void>,
): Promise<void> {
  const { store } = repository;
  const [now, made] = await Promise.all(['HEAD', commit].map((rev) => store.resolve(`${rev}:${LEDGER}`)));
  if (now !== made || readBranch(repository) !== branch) return;
  await stage().catch(warnNotStaged(repository));
}

/** The next append clears away what stays. */
function tryRemove(repository: Directories & Messages, path: string): void {
  try {
    removeFile(requireWorkTree(repository), path, DERIVED);
  } catch (error) {
    if (!(error instanceof HandoffError)) throw error;
    repository.warn(`An old tile stays: ${error.message}`);
  }
}

function isThere(topLevel: string, { path, bytes }: FileToWrite): boolean {
  return lstatSync(join(topLevel, path), { throwIfNoEntry: false })?.size === bytes.length;
}

async function hasFile(store: NativeGitStore, commit: Oid, { path, bytes }: FileToWrite): Promise<boolean> {
  return (await store.resolve(`${commit}:${path}`)) === (await store.writeBlob(bytes));
}

/** Files by path; null for one that is to go. */
type Edits = ReadonlyMap<string, Uint8Array | null>;

/** The plan was made for one ledger: on top of another, which a pull may have brought meanwhile, it would take that one back. */
async function whatMoved(
  { store }: GitAccess,
  { branch, tree }: Base,
  plan: LedgerChange['plan'],
  edits: Edits,
): Promise<string | null> {
  if (branch !== plan.branch) return branch === null ? 'HEAD was detached' : `${branch} was checked out`;
  if (tree === null) return `${branch} has lost its commits`;
  const [now, then] = await Promise.all([tree, plan.tree].map((each) => readOids(store, each)));
  if ((await now!(LEDGER)) !== (await then!(LEDGER)) && !(await isTakenAlong(store, [tree, plan.tree], edits)))
    return 'The ledger has changed';
  if ((await now!(`${ROOT}/sessions`)) === plan.sessions) return null;
  const isThere = await Promise.all(plan.seals.map(({ path }) => store.has(`${tree}:${path}`)));
  return isThere.every(Boolean) ? null : 'A seal that was to be appended has gone';
}

/** Whether a ledger differs from what it was by nothing but this change, or a part of it: somebody's commit took that along. */
async function isTakenAlong(store: NativeGitStore, [tree, before]: [Oid, Oid], edits: Edits): Promise<boolean> {
  const trees = [tree, before, ...(await Promise.all([tree, before].map((each) => store.editTree(each, edits))))];
  const [now, then, next, whole] = await Promise.all(trees.map((each) => readOids(store, each)));
  if ((await next!(LEDGER)) !== (await whole!(LEDGER))) return false;
  for (const path of edits.keys()) {
    const found = await now!(path);
    if (found !== (await then!(path)) && found !== (await whole!(path))) return false;
  }
  return true;
}

async function readOids(store: NativeGitStore, tree: Oid): Promise<(path: string) => Promise<Oid | null>> {
  const source = await openTree(store, tree);
  return async (path) => (await find(source, path))?.oid ?? null;
}

/** The work tree and the index have the ledger of HEAD again. */
async function putBack(repository: GitAccess & Directories & IndexAccess, written: readonly string[]): Promise<void> {
  const { dirs, git, store, index } = repository;
  const topLevel = requireWorkTree(repository);
  const isThere = await Promise.all(written.map((path) => store.has(`HEAD:${path}`)));
  const extra = written.filter((_, i) => !isThere[i]);
  for (const path of extra) removeFile(topLevel, path, DERIVED);
  assertUnlocked(dirs, await index.add(extra));
  if (await store.has(`HEAD:${LEDGER}`)) await readGit(git, ['checkout', '--quiet', 'HEAD', '--', LEDGER]);
}

export function movedMeanwhile(moved: string, branch: string): HandoffError {
  return new HandoffError('io', `${moved} meanwhile, and nothing was committed.`, {
    hint: `git handoff ledger append begins anew on what ${branch} has now.`,
  });
}
