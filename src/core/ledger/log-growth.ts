import { concatBytes, equalBytes, toHex } from '../bytes/bytes.ts';
import type { Hash } from '../bytes/hash.ts';
import type { HandoffError } from '../error.ts';
import { leafHash, leafHashes, rootOfHashes } from '../seal/merkle.ts';
import {
  edgeOf,
  formatEntries,
  inconsistentTiles,
  openTile,
  parseEntries,
  parseHashes,
  type ReadTile,
  rootFromTiles,
  TILE_WIDTH,
  type Tile,
  tilePath,
} from './tiles.ts';

interface LogHead {
  size: number;
  root: Uint8Array;
}

export interface LogGrowth extends LogHead {
  written: { path: string; bytes: Uint8Array }[];
  removed: string[];
}

/**
 * What the files of a log become when these entries are added. Reads the right edge only, which has all of the root in it;
 * an empty log has the root of no leaves.
 */
export async function planGrowth(
  log: LogHead,
  entries: readonly Uint8Array[],
  read: ReadTile,
  sha256: Hash,
): Promise<LogGrowth> {
  const edge = await readEdge(log, read, sha256);
  const files = new Map(edge);
  const written = planTiles(log.size, entries, edge, sha256);
  for (const { path, bytes } of written) files.set(path, bytes);
  const size = log.size + entries.length;
  const root = await rootFromTiles(size, async (tile) => files.get(tilePath(tile))!, sha256);
  const kept = new Set(edgeOf(size).map(tilePath));
  return { size, root, written, removed: [...edge.keys()].filter((path) => !kept.has(path)) };
}

/** The partial tiles by path, when they give the root of the log and the bundle gives the hashes of level 0. */
async function readEdge(log: LogHead, read: ReadTile, sha256: Hash): Promise<Map<string, Uint8Array>> {
  const tiles = edgeOf(log.size);
  const bytes = await Promise.all(tiles.map((tile) => read(tile)));
  const edge = new Map(tiles.map((tile, i) => [tilePath(tile), bytes[i]!]));
  const root = await rootFromTiles(log.size, async (tile) => edge.get(tilePath(tile))!, sha256);
  if (!equalBytes(root, log.root)) throw wrongRoot(log, root);
  const [bundle, hashes] = tiles;
  if (bundle?.level !== 'entries') return edge;
  const path = tilePath(bundle);
  if (!equalBytes(leafHashes(parseEntries(bytes[0]!, bundle.width, path), sha256), bytes[1]!))
    throw inconsistentTiles(`Expected the entries of ${path} to have the hashes of ${tilePath(hashes!)}.`);
  return edge;
}

function planTiles(
  size: number,
  entries: readonly Uint8Array[],
  edge: ReadonlyMap<string, Uint8Array>,
  sha256: Hash,
): LogGrowth['written'] {
  const files = extend(openTile('entries', size), entries, edge);
  let added = entries.map((entry) => leafHash(entry, sha256));
  for (let level = 0; added.length > 0; level++) {
    const tiles = extend(openTile(level, size), added, edge);
    files.push(...tiles);
    added = tiles.filter(({ tile }) => tile.width === TILE_WIDTH).map(({ bytes }) => rootOfHashes(bytes, sha256));
  }
  return files.map(({ tile, bytes }) => ({ path: tilePath(tile), bytes }));
}

/** A tile with what is added to it, and the tiles after it. */
function extend(
  open: Tile,
  added: readonly Uint8Array[],
  edge: ReadonlyMap<string, Uint8Array>,
): { tile: Tile; bytes: Uint8Array }[] {
  if (added.length === 0) return [];
  const { level, index } = open;
  const items = [...(open.width === 0 ? [] : parseTile(open, edge.get(tilePath(open))!)), ...added];
  return Array.from({ length: Math.ceil(items.length / TILE_WIDTH) }, (_, i) => {
    const part = items.slice(i * TILE_WIDTH, (i + 1) * TILE_WIDTH);
    const bytes = level === 'entries' ? formatEntries(part) : concatBytes(...part);
    return { tile: { level, index: index + i, width: part.length }, bytes };
  });
}

function parseTile({ level, width }: Tile, bytes: Uint8Array): Uint8Array[] {
  return level === 'entries' ? parseEntries(bytes, width) : parseHashes(bytes);
}

function wrongRoot({ size, root }: LogHead, found: Uint8Array): HandoffError {
  const [expected, got] = [toHex(root), toHex(found)];
  return inconsistentTiles(`Expected the tiles of ${size} entries to give the root ${expected}, got ${got}.`, {
    size,
    expected,
    found: got,
  });
}
