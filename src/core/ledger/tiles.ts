import { concatBytes } from '../bytes/bytes.ts';
import type { Hash } from '../bytes/hash.ts';
import { HandoffError } from '../error.ts';
import { oncePer } from '../once.ts';
import { merkleRoot, rootOfHashes } from '../seal/merkle.ts';
import { consistencyNodes, inclusionNodes, type TreeNode } from '../seal/tree-nodes.ts';

// C2SP tlog-tiles: an RFC 6962 tree as files. The hash at place i of level l is the root of the leaves from i * 256^l to
// (i + 1) * 256^l; a tile has up to 256 of them, one after another, and a bundle the entries under a tile of level 0.

export const TILE_WIDTH = 256;
const TILE_HEIGHT = 8;
export const HASH_SIZE = 32;
const MAX_LEVEL = 63;
const MAX_ENTRY = 0xffff;
const NONE = new Uint8Array(0);

export interface Tile {
  level: number | 'entries';
  index: number;
  /** 1 to 256; a tile below 256 is partial. */
  width: number;
}

/** Throws when it is not there. What one call needs it asks for at once, so that a reader can fetch it in one go. */
export type ReadTile = (tile: Tile) => Promise<Uint8Array>;

/** As in `tile/0/x001/234.p/5`. */
export function tilePath({ level, index, width }: Tile): string {
  const thousands = String(Math.floor(index / 1000)).replace(/^0$/, '');
  const folders = thousands.padStart(Math.ceil(thousands.length / 3) * 3, '0').replace(/.../g, 'x$&/');
  const last = String(index % 1000).padStart(3, '0');
  return `tile/${level}/${folders}${last}${width < TILE_WIDTH ? `.p/${width}` : ''}`;
}

/** As `tilePath` spells it and in no other way: no zeros in front, and no `.p` for a full one. */
const PATH = /^tile\/(entries|0|[1-9]\d?)\/((?:x(?!000)\d{3}\/(?:x\d{3}\/){0,4})?\d{3})(?:\.p\/([1-9]\d{0,2}))?$/;

/** Null for what is no tile, or is one spelled otherwise. */
export function parseTilePath(path: string): Tile | null {
  const parts = PATH.exec(path);
  if (parts === null) return null;
  const level = parts[1] === 'entries' ? 'entries' : Number(parts[1]);
  const index = Number(parts[2]!.replace(/\D/g, ''));
  const width = parts[3] === undefined ? TILE_WIDTH : Number(parts[3]);
  const isPartial = width < TILE_WIDTH;
  const isInRange = (level === 'entries' || level <= MAX_LEVEL) && Number.isSafeInteger(index);
  return isInRange && isPartial === (parts[3] !== undefined) ? { level, index, width } : null;
}

/** Every tile and bundle of a log of this size. */
export function tilesOf(size: number): Tile[] {
  return levelsOf(size).flatMap((level) => [...tilesOfLevel(level, size)]);
}

/** Those of one level, the first one first. One by one: nobody has looked yet whether a log is as large as it says. */
export function* tilesOfLevel(level: Tile['level'], size: number, first = 0): Generator<Tile> {
  const count = countAt(level, size);
  for (let index = first; index * TILE_WIDTH < count; index++) yield tileAt(level, index, count);
}

/** Whether a log of this size has this tile. */
export function hasTile(size: number, { level, index, width }: Tile): boolean {
  return tileAt(level, index, countAt(level, size)).width === width;
}

/** Reads the right edge only. */
export async function rootFromTiles(size: number, read: ReadTile, sha256: Hash): Promise<Uint8Array> {
  if (size === 0) return merkleRoot([], sha256);
  let height = 0;
  while (2 ** height < size) height++;
  return nodeReader(size, read, sha256)({ height, index: 0 });
}

export async function inclusionFromTiles(
  index: number,
  size: number,
  read: ReadTile,
  sha256: Hash,
): Promise<Uint8Array[]> {
  return Promise.all(inclusionNodes(index, size).map(nodeReader(size, read, sha256)));
}

/** Reads tiles of the larger log only. */
export async function consistencyFromTiles(
  size1: number,
  size2: number,
  read: ReadTile,
  sha256: Hash,
): Promise<Uint8Array[]> {
  return Promise.all(consistencyNodes(size1, size2).map(nodeReader(size2, read, sha256)));
}

/** Exactly `width` entries, each after its length in two bytes. */
export function parseEntries(bundle: Uint8Array, width: number, path = 'an entry bundle'): Uint8Array[] {
  const entries: Uint8Array[] = [];
  let at = 0;
  while (at + 2 <= bundle.length) {
    const end = at + 2 + bundle[at]! * 256 + bundle[at + 1]!;
    entries.push(bundle.subarray(at + 2, end));
    at = end;
  }
  if (at === bundle.length && entries.length === width) return entries;
  throw inconsistentTiles(`Expected ${path} to be ${width} entries, each after its length, and nothing else.`);
}

/** The hashes of a tile. */
export function parseHashes(tile: Uint8Array): Uint8Array[] {
  return Array.from({ length: tile.length / HASH_SIZE }, (_, i) => tile.subarray(i * HASH_SIZE, (i + 1) * HASH_SIZE));
}

export function formatEntries(entries: readonly Uint8Array[]): Uint8Array {
  return concatBytes(...entries.flatMap((entry) => [lengthOf(entry), entry]));
}

/** From the entries up; none for an empty log. */
function levelsOf(size: number): Tile['level'][] {
  const levels: Tile['level'][] = size > 0 ? ['entries'] : [];
  for (let level = 0; countAt(level, size) > 0; level++) levels.push(level);
  return levels;
}

/** How many entries or hashes a level has. */
function countAt(level: Tile['level'], size: number): number {
  return level === 'entries' ? size : Math.floor(size / TILE_WIDTH ** level);
}

function tileAt(level: Tile['level'], index: number, count: number): Tile {
  return { level, index, width: Math.min(TILE_WIDTH, count - index * TILE_WIDTH) };
}

/** The tile that the next hash or entry of a level goes to. It may be empty. */
export function openTile(level: Tile['level'], size: number): Tile {
  const count = countAt(level, size);
  return tileAt(level, Math.floor(count / TILE_WIDTH), count);
}

/** The partial tiles: the right edge of the tree. */
export function edgeOf(size: number): Tile[] {
  return levelsOf(size)
    .map((level) => openTile(level, size))
    .filter(({ width }) => width > 0);
}

/** The hash of any node of a log. A tile is read once. */
function nodeReader(size: number, read: ReadTile, sha256: Hash): (node: TreeNode) => Promise<Uint8Array> {
  const hashesOf = oncePer((tile: Tile) => readHashes(tile, read), tilePath);

  return async ({ height, index }) => {
    const width = 2 ** (height % TILE_HEIGHT);
    const hashes = await hashesAt(Math.floor(height / TILE_HEIGHT), Math.floor((index * width) / TILE_WIDTH));
    const start = ((index * width) % TILE_WIDTH) * HASH_SIZE;
    return rootOfHashes(hashes.subarray(start, start + width * HASH_SIZE), sha256);
  };

  /** A tile, and after its last hash the one of the leaves that do not yet fill a subtree of this level. */
  async function hashesAt(level: number, index: number): Promise<Uint8Array> {
    const tile = tileAt(level, index, countAt(level, size));
    const isLast = index === countAt(level + 1, size);
    return concatBytes(...(await Promise.all([tile.width > 0 ? hashesOf(tile) : NONE, isLast ? ragged(level) : NONE])));
  }

  async function ragged(level: number): Promise<Uint8Array> {
    if (size % TILE_WIDTH ** level === 0) return NONE;
    return rootOfHashes(await hashesAt(level - 1, countAt(level, size)), sha256);
  }
}

async function readHashes(tile: Tile, read: ReadTile): Promise<Uint8Array> {
  const hashes = await read(tile);
  const expected = tile.width * HASH_SIZE;
  if (hashes.length === expected) return hashes;
  throw inconsistentTiles(`Expected ${tilePath(tile)} to have ${expected} bytes, got ${hashes.length}.`);
}

function lengthOf(entry: Uint8Array): Uint8Array {
  if (entry.length <= MAX_ENTRY) return Uint8Array.of(entry.length >> 8, entry.length & 0xff);
  throw new HandoffError('too_large', `Expected an entry of at most ${MAX_ENTRY} bytes, got ${entry.length}.`);
}

/** The files of a log are not those of its checkpoint. */
export function inconsistentTiles(message: string, data?: Record<string, unknown>): HandoffError {
  return new HandoffError('ledger_inconsistent', message, {
    hint: 'The files of the ledger are not those that were signed: take them from a commit where `git handoff ledger verify` passes.',
    ...(data && { data }),
  });
}
