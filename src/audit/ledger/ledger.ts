import { concatBytes, equalBytes, toHex } from '../../core/bytes/bytes.ts';
import type { Hashes } from '../../core/bytes/hash.ts';
import { asHandoffError, HandoffError } from '../../core/error.ts';
import { type Checkpoint, ledgerOrigin, parseCheckpoint } from '../../core/ledger/checkpoint.ts';
import {
  formatVerifierKey,
  type Note,
  type OpenedNote,
  openNote,
  parseNote,
  parseVerifierKey,
  type Verifier,
} from '../../core/ledger/note.ts';
import {
  HASH_SIZE,
  parseEntries,
  parseHashes,
  type ReadTile,
  TILE_WIDTH,
  type Tile,
  tilePath,
  tilesOfLevel,
} from '../../core/ledger/tiles.ts';
import { CHECKPOINT, LEDGER } from '../../core/paths.ts';
import type { Suite } from '../../core/record/verify.ts';
import { rootOfHashes } from '../../core/seal/merkle.ts';
import { isRevoked, maintainerKeys, stands } from '../../core/trust/key-standing.ts';
import type { Trust } from '../../core/trust/trust.ts';
import { type Entry, FILE, FOLDER, find, type Source } from '../source/source.ts';

/** A ledger as a tree has it. Nobody has checked yet who signed its checkpoint, or that its tiles are what was signed. */
export interface Ledger {
  bytes: Uint8Array;
  note: Note;
  checkpoint: Checkpoint;
  read: ReadTile;
}

const MAX_CHECKPOINT_BYTES = 1 << 16;
/** 256 entries, each with two bytes of length. */
const MAX_TILE_BYTES = TILE_WIDTH * (2 + 0xffff);

/** Null where there is none. */
export async function readLedger(source: Source): Promise<Ledger | null> {
  const folder = await find(source, LEDGER);
  if (!folder) return null;
  if (folder.mode !== FOLDER) throw inconsistent(`${LEDGER} is no folder.`);
  const findFile = finder(source, folder);
  const entry = await findFile(CHECKPOINT);
  if (!entry) throw inconsistent('The ledger has no checkpoint.');
  const bytes = await readAtMost(source, entry, MAX_CHECKPOINT_BYTES);
  const note = parseNote(bytes);
  const read = async (tile: Tile): Promise<Uint8Array> => {
    const file = await findFile(tilePath(tile));
    if (!file) throw inconsistent(`The ledger has no ${tilePath(tile)}.`);
    return readAtMost(source, file, MAX_TILE_BYTES);
  };
  return { bytes, note, checkpoint: parseCheckpoint(note.text), read };
}

/** Those of a ledger that is not there. */
export async function noTiles(): Promise<never> {
  throw inconsistent('A ledger that has no checkpoint has no tiles either.');
}

async function readAtMost(source: Source, file: Entry, limit: number): Promise<Uint8Array> {
  try {
    return await source.read(file, limit);
  } catch (error) {
    if (!(error instanceof HandoffError) || error.code !== 'too_large') throw error;
    throw inconsistent(`${file.path}: ${error.message}`);
  }
}

/** Each folder is listed once. */
function finder(source: Source, top: Entry): (path: string) => Promise<Entry | null> {
  const lists = new Map<string, Promise<Map<string, Entry>>>();
  const list = (folder: Entry): Promise<Map<string, Entry>> => {
    if (!lists.has(folder.path)) lists.set(folder.path, source.list(folder).then(byName));
    return lists.get(folder.path)!;
  };
  return async (path) => {
    let entry: Entry | undefined = top;
    for (const name of path.split('/')) entry = entry?.mode === FOLDER ? (await list(entry)).get(name) : undefined;
    return entry?.mode === FILE ? entry : null;
  };
}

/** Where several entries have the same name, the first counts. */
function byName(entries: readonly Entry[]): Map<string, Entry> {
  return new Map(entries.map((entry) => [entry.name, entry] as const).reverse());
}

/** SPEC §11.3: a checkpoint of this repository, signed by a maintainer with a key that was not revoked. */
export async function openCheckpoint(
  { note, checkpoint }: Ledger,
  trust: Trust,
  suite: Suite,
  witnesses: readonly Verifier[] = [],
): Promise<OpenedNote> {
  const origin = ledgerOrigin(trust.repoId);
  if (checkpoint.origin !== origin)
    throw inconsistent(`Expected a ledger called ${origin}, found ${checkpoint.origin}.`);
  try {
    const opened = await openNote(note, [...ledgerVerifiers(trust, suite), ...witnesses], suite);
    if (opened.verified.some(({ verifier }) => verifier.type === 'ed25519')) return opened;
    throw inconsistent('No maintainer has signed the checkpoint, only witnesses have.');
  } catch (error) {
    throw (await isOfRevoked(note, trust, suite)) ? revokedSince() : error;
  }
}

/** Whether it is signed by a key of a maintainer that was revoked. */
async function isOfRevoked(note: Note, trust: Trust, suite: Suite): Promise<boolean> {
  try {
    await openNote(note, ledgerVerifiers(trust, suite, isRevoked), suite);
    return true;
  } catch (error) {
    asHandoffError(error);
    return false;
  }
}

function revokedSince(): HandoffError {
  return new HandoffError('ledger_inconsistent', 'The key of a maintainer that signed the ledger was revoked.', {
    hint: 'A maintainer signs it anew: git handoff ledger append on the protected branch.',
    data: { distrusted: true },
  });
}

/** Who may have signed a ledger: what a retired key signed stands. */
export function ledgerVerifiers(trust: Trust, suite: Hashes, isWanted?: typeof stands): Verifier[] {
  return ledgerVkeys(trust, suite, isWanted).map((vkey) => parseVerifierKey(vkey, suite));
}

/** The same, as proofs are checked with them. */
export function ledgerVkeys(trust: Trust, suite: Hashes, isWanted = stands): string[] {
  const origin = ledgerOrigin(trust.repoId);
  return maintainerKeys(trust, isWanted).map(({ bytes }) => formatVerifierKey(origin, bytes, suite));
}

/** The entries from one place on. */
export async function readEntriesFrom({ checkpoint: { size }, read }: Ledger, from: number): Promise<Uint8Array[]> {
  const entries: Uint8Array[] = [];
  for (const tile of tilesOfLevel('entries', size, Math.floor(from / TILE_WIDTH))) {
    const bundle = parseEntries(await read(tile), tile.width, tilePath(tile));
    entries.push(...bundle.slice(Math.max(0, from - tile.index * TILE_WIDTH)));
  }
  return entries;
}

/** The hashes of all entries in hex, if together they give the root. */
export async function readLeafHashes(
  { checkpoint: { size, root }, read }: Ledger,
  { sha256 }: Hashes,
): Promise<string[]> {
  const tiles: Uint8Array[] = [];
  for (const tile of tilesOfLevel(0, size)) tiles.push(await read(tile)); // the first that is missing ends it
  const hashes = concatBytes(...tiles);
  if (hashes.length !== size * HASH_SIZE || (size > 0 && !equalBytes(rootOfHashes(hashes, sha256), root)))
    throw inconsistent('The tiles of the ledger do not give the root that was signed.');
  return parseHashes(hashes).map(toHex);
}

/** Where seals stand in a ledger, by their hashes in hex; one that it does not have is left out. The newest are looked at first. */
export async function findLeaves(
  { checkpoint: { size }, read }: Ledger,
  leaves: readonly Uint8Array[],
): Promise<Map<string, number>> {
  const wanted = new Set(leaves.map(toHex));
  const starts = new Set(leaves.map((leaf) => startOf(leaf, 0)));
  const found = new Map<string, number>();
  // from the end, and no list of all: nobody may have looked yet whether a ledger is as large as it says
  for (let end = Math.ceil(size / TILE_WIDTH); end > 0 && found.size < wanted.size; end -= TILES_AT_ONCE) {
    const batch = take(tilesOfLevel(0, size, Math.max(0, end - TILES_AT_ONCE)), Math.min(TILES_AT_ONCE, end));
    const contents = await Promise.all(batch.map(read));
    for (const [i, { index }] of batch.entries()) {
      for (const at of placesOf(starts, contents[i]!)) {
        const hash = toHex(contents[i]!.subarray(at * HASH_SIZE, (at + 1) * HASH_SIZE));
        if (wanted.has(hash)) found.set(hash, index * TILE_WIDTH + at);
      }
    }
  }
  return found;
}

const TILES_AT_ONCE = 64;

function take<T>(items: Iterator<T>, count: number): T[] {
  return Array.from({ length: count }, () => items.next().value as T);
}

/** Which hashes of a tile begin so. */
function placesOf(starts: ReadonlySet<number>, hashes: Uint8Array): number[] {
  const places: number[] = [];
  for (let at = 0; at < hashes.length; at += HASH_SIZE)
    if (starts.has(startOf(hashes, at))) places.push(at / HASH_SIZE);
  return places;
}

/** Four bytes as a number: all that has to be looked at of most hashes. */
function startOf(bytes: Uint8Array, at: number): number {
  return (bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!;
}

export function inconsistent(message: string, data?: Record<string, unknown>, hint = TAKE_IT): HandoffError {
  return new HandoffError('ledger_inconsistent', message, { hint, ...(data && { data }) });
}

const TAKE_IT =
  'Only git handoff ledger append writes .handoff/ledger. Take it from the protected branch: git rm -rfq --ignore-unmatch .handoff/ledger && git checkout BRANCH -- .handoff/ledger';
