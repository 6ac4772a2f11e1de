import { find } from '../../audit/source.ts';
import { openTree } from '../../audit/tree-source.ts';
import { HandoffError } from '../../core/error.ts';
import type { LogGrowth } from '../../core/log-growth.ts';
import { LEDGER, ROOT } from '../../core/paths.ts';
import { readGit } from '../../git/run.ts';
import type { Oid } from '../../git/store.ts';
import { removeFile, writeFiles } from '../../journal/files.ts';
import { stateDirs } from '../../journal/registry.ts';
import { type Base, commitTree } from '../commit-tree.ts';
import type { PublishOptions } from '../publish.ts';
import { type Repository, requireWorkTree } from '../repository.ts';
import { findStrays } from './strays.ts';

/** What becomes of the files of the ledger; paths are seen from its folder. The checkpoint comes last. */
interface LedgerChange extends Pick<LogGrowth, 'size' | 'written' | 'removed'> {
  /** What it was planned for. */
  plan: {
    /** The protected branch. */
    branch: string;
    /** The folder of the ledger; null: there was none. */
    ledger: Oid | null;
    /** The folder of sessions, and the seals that arrive from there. */
    sessions: Oid | null;
    seals: readonly { path: string }[];
  };
}

const DERIVED = { replaces: true, isDerived: true };

/** Files, index, commit. Everything in it can be made again from HEAD, so what was cut off is done anew. */
export async function writeLedger(
  repository: Repository,
  change: LedgerChange,
  { identity, message }: { identity: string; message: string },
  options: PublishOptions,
): Promise<string | null> {
  const topLevel = requireWorkTree(repository);
  const files = change.written.map(({ path, bytes }) => ({ path: `${LEDGER}/${path}`, bytes, ...DERIVED }));
  const paths = files.map(({ path }) => path);
  const removed = new Set([...change.removed.map((path) => `${LEDGER}/${path}`), ...findStrays(topLevel, change.size)]);
  writeFiles(topLevel, files, stateDirs(repository.stateDir).scratch);
  for (const path of removed) removeFile(topLevel, path, DERIVED);
  if (options.stage === false) return null;
  const stage = () => repository.index.add([...paths, ...removed]);
  if (options.commit !== false) {
    const edits = new Map<string, Uint8Array | null>(files.map(({ path, bytes }) => [path, bytes]));
    for (const path of removed) edits.set(path, null);
    const check = async (base: Base): Promise<void> => {
      const moved = await whatMoved(repository, base, change);
      if (moved === null) return;
      await putBack(repository, paths);
      throw movedMeanwhile(moved, change.plan.branch);
    };
    const edit = (tree: Oid) => repository.store.editTree(tree, edits);
    return commitTree(repository, { identity, message, paths: () => [LEDGER], check, edit, stage });
  }
  await stage();
  return null;
}

/** The plan was made for one ledger: on top of another, which a pull may have brought meanwhile, it would take that one back. */
async function whatMoved(
  { store }: Repository,
  { branch, tree }: Base,
  { plan }: LedgerChange,
): Promise<string | null> {
  if (branch !== plan.branch) return branch === null ? 'HEAD was detached' : `${branch} was checked out`;
  if (tree === null) return `${branch} has lost its commits`;
  const source = await openTree(store, tree);
  const oidOf = async (path: string): Promise<Oid | null> => (await find(source, path))?.oid ?? null;
  if ((await oidOf(LEDGER)) !== plan.ledger) return 'The ledger has changed';
  if ((await oidOf(`${ROOT}/sessions`)) === plan.sessions) return null;
  const isThere = await Promise.all(plan.seals.map(({ path }) => store.has(`${tree}:${path}`)));
  return isThere.every(Boolean) ? null : 'A seal that was to be appended has gone';
}

/** The work tree and the index have the ledger of HEAD again. */
async function putBack(repository: Repository, written: readonly string[]): Promise<void> {
  const { git, store, index } = repository;
  const topLevel = requireWorkTree(repository);
  const isThere = await Promise.all(written.map((path) => store.has(`HEAD:${path}`)));
  const extra = written.filter((_, i) => !isThere[i]);
  for (const path of extra) removeFile(topLevel, path, DERIVED);
  await index.add(extra);
  if (await store.has(`HEAD:${LEDGER}`)) await readGit(git, ['checkout', '--quiet', 'HEAD', '--', LEDGER]);
}

export function movedMeanwhile(moved: string, branch: string): HandoffError {
  return new HandoffError('io', `${moved} meanwhile, and nothing was committed.`, {
    hint: `git handoff ledger append begins anew on what ${branch} has now.`,
  });
}
