import { find } from '../../audit/source.ts';
import { openTree } from '../../audit/tree-source.ts';
import { HandoffError } from '../../core/error.ts';
import type { LogGrowth } from '../../core/log-growth.ts';
import { LEDGER } from '../../core/paths.ts';
import { readGit } from '../../git/run.ts';
import type { Oid } from '../../git/store.ts';
import { removeFile, writeFiles } from '../../journal/files.ts';
import { stateDirs } from '../../journal/registry.ts';
import { type Base, commitTree } from '../commit-tree.ts';
import type { PublishOptions } from '../publish.ts';
import { type Repository, requireWorkTree } from '../repository.ts';
import { strays } from './strays.ts';

/** What becomes of the files of the ledger; paths are seen from its folder. The checkpoint comes last. */
interface LedgerChange extends Pick<LogGrowth, 'size' | 'written' | 'removed'> {
  /** The protected branch that it was planned for. */
  branch: string;
  /** The folder of the ledger that it was planned for; null: there was none. */
  planned: Oid | null;
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
  const removed = new Set([...change.removed.map((path) => `${LEDGER}/${path}`), ...strays(topLevel, change.size)]);
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
      throw inVain(moved, change.branch);
    };
    const edit = (tree: Oid) => repository.store.editTree(tree, edits);
    return commitTree(repository, { identity, message, paths: [LEDGER], check, edit, stage });
  }
  await stage();
  return null;
}

/** The plan was made for one ledger: on top of another, which a pull may have brought meanwhile, it would take that one back. */
async function whatMoved({ store }: Repository, { branch, tree }: Base, planned: LedgerChange): Promise<string | null> {
  if (branch !== planned.branch) return `${branch} was checked out`;
  const found = (await find(await openTree(store, tree), LEDGER))?.oid ?? null;
  return found === planned.planned ? null : 'The ledger has changed';
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

function inVain(moved: string, branch: string): HandoffError {
  return new HandoffError('io', `${moved} meanwhile, and nothing was committed.`, {
    hint: `git handoff ledger append begins anew on what ${branch} has now.`,
  });
}
