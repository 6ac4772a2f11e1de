import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { LogGrowth } from '../../core/log-growth.ts';
import { LEDGER } from '../../core/paths.ts';
import { parseTilePath, tilePath, tilesOf } from '../../core/tiles.ts';
import { removeFile, writeFiles } from '../../journal/files.ts';
import { ifThere } from '../../journal/if-there.ts';
import { stateDirs } from '../../journal/registry.ts';
import { commitTree } from '../commit-tree.ts';
import type { PublishOptions } from '../publish.ts';
import { type Repository, requireWorkTree } from '../repository.ts';

/** What becomes of the files of the ledger; paths are seen from its folder. The checkpoint comes last. */
type LedgerChange = Pick<LogGrowth, 'size' | 'written' | 'removed'>;

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
    const edit = (tree: string) => repository.store.editTree(tree, edits);
    return commitTree(repository, { identity, message, paths: [LEDGER], edit, stage });
  }
  await stage();
  return null;
}

/** Tiles that an attempt which was cut off has left. */
function strays(topLevel: string, size: number): string[] {
  const ledger = join(topLevel, LEDGER);
  const wanted = new Set(tilesOf(size).map(tilePath));
  return tilesUnder(ledger, 'tile')
    .filter((path) => !wanted.has(path) && parseTilePath(path) && lstatSync(join(ledger, path)).isFile())
    .map((path) => `${LEDGER}/${path}`);
}

const FOLDER = /^tile\/[^/]+$|\/x\d{3}$|\.p$/;

/** A folder of tiles is known by its name: to ask of a thousand names what they are takes as long as all the rest. */
function tilesUnder(ledger: string, folder: string): string[] {
  const names = ifThere(() => readdirSync(join(ledger, folder))) ?? [];
  const paths = names.map((name) => `${folder}/${name}`);
  return paths.flatMap((path) => (FOLDER.test(path) ? tilesUnder(ledger, path) : [path]));
}
