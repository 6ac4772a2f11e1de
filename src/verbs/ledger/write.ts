import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { find } from '../../audit/source.ts';
import { openTree } from '../../audit/tree-source.ts';
import { HandoffError } from '../../core/error.ts';
import type { LogGrowth } from '../../core/log-growth.ts';
import { LEDGER } from '../../core/paths.ts';
import { hasTile, parseTilePath } from '../../core/tiles.ts';
import type { Oid } from '../../git/store.ts';
import { removeFile, writeFiles } from '../../journal/files.ts';
import { ifThere } from '../../journal/if-there.ts';
import { stateDirs } from '../../journal/registry.ts';
import { commitTree } from '../commit-tree.ts';
import type { PublishOptions } from '../publish.ts';
import { type Repository, requireWorkTree } from '../repository.ts';

/** What becomes of the files of the ledger; paths are seen from its folder. The checkpoint comes last. */
interface LedgerChange extends Pick<LogGrowth, 'size' | 'written' | 'removed'> {
  /** The folder of the ledger that it was planned for; null: there was none. */
  planned: Oid | null;
}

/** Files, index, commit. Everything in it can be made again from HEAD, so what was cut off is done anew. */
export async function writeLedger(
  repository: Repository,
  change: LedgerChange,
  { identity, message }: { identity: string; message: string },
  options: PublishOptions,
): Promise<string | null> {
  const topLevel = requireWorkTree(repository);
  const files = change.written.map(({ path, bytes }) => ({ path: `${LEDGER}/${path}`, bytes, replaces: true }));
  const paths = files.map(({ path }) => path);
  const removed = new Set([...change.removed.map((path) => `${LEDGER}/${path}`), ...strays(topLevel, change.size)]);
  writeFiles(topLevel, files, stateDirs(repository.stateDir).scratch);
  for (const path of removed) removeFile(topLevel, path);
  if (options.stage === false) return null;
  const stage = () => repository.index.add([...paths, ...removed]);
  if (options.commit !== false) {
    const edits = new Map<string, Uint8Array | null>(files.map(({ path, bytes }) => [path, bytes]));
    for (const path of removed) edits.set(path, null);
    const edit = async (tree: string) => {
      await assertUnmoved(repository, tree, change.planned);
      return repository.store.editTree(tree, edits);
    };
    return commitTree(repository, { identity, message, paths: [LEDGER], edit, stage });
  }
  await stage();
  return null;
}

/** The plan was made for one ledger: on top of another, which a pull may have brought meanwhile, it would take that one back. */
async function assertUnmoved({ store }: Repository, tree: Oid, planned: Oid | null): Promise<void> {
  const found = (await find(await openTree(store, tree), LEDGER))?.oid ?? null;
  if (found === planned) return;
  throw new HandoffError('io', 'The ledger has changed meanwhile, and nothing was committed.', {
    hint: 'git handoff ledger append begins anew on what is there now.',
  });
}

/** Tiles that an attempt which was cut off has left. */
function strays(topLevel: string, size: number): string[] {
  const ledger = join(topLevel, LEDGER);
  const isStray = (path: string): boolean => {
    const tile = parseTilePath(path);
    return tile !== null && !hasTile(size, tile) && lstatSync(join(ledger, path)).isFile();
  };
  return tilesUnder(ledger, 'tile')
    .filter(isStray)
    .map((path) => `${LEDGER}/${path}`);
}

const FOLDER = /^tile\/[^/]+$|\/x\d{3}$|\.p$/;

/** What may be a folder is known by its name: to ask of a thousand names what they are takes as long as all the rest. */
function tilesUnder(ledger: string, folder: string): string[] {
  const isFolder = (path: string) => FOLDER.test(path) && lstatSync(join(ledger, path)).isDirectory();
  const names = ifThere(() => readdirSync(join(ledger, folder))) ?? [];
  const paths = names.map((name) => `${folder}/${name}`);
  return paths.flatMap((path) => (isFolder(path) ? tilesUnder(ledger, path) : [path]));
}
