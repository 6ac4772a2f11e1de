import { decodeName, spellings } from '../objects/name-text.ts';
import type { Oid } from '../objects/store.ts';
import { withoutEntry } from '../objects/tree-bytes.ts';
import type { Trees } from './tree-edit.ts';
import { ABSENT, entryAt, type Listing, listEntries, type RawEntry, unlikeRows } from './tree-listing.ts';

/** Files to hide in trees before they are merged, so that git's rename detection neither follows them nor takes them for a rename. */
export interface Sieve {
  /** The entry of the root that goes, whatever it is. */
  root: string;
  /** Whether a file is emptied, by its path. */
  takes(path: string): boolean;
  /** Whether there can be such a file in a folder, whose path ends in a slash. */
  mayBeIn(folder: string): boolean;
}

/**
 * The same trees, with the files that a sieve takes emptied: git follows no empty file, but sees that it is there, so that a folder
 * with nothing else in it stays in its place. A file that all trees have, and have alike, is left as it is: no merge moves it. Where
 * one tree has a file that is taken and another has a link, a submodule or a folder, a stand-in takes the place of the file: that
 * something was replaced is seen, and what is in the file is not.
 *
 * `assertFits` is told how many bytes it takes to hold the folders that are compared at once, and throws where that is too much.
 */
export async function siftTrees(
  trees: Trees,
  sieve: Sieve,
  roots: readonly Oid[],
  assertFits: (bytes: number) => void = () => {},
): Promise<Oid[]> {
  const empty = await trees.write('blob', new Uint8Array());
  const sifting = { trees, sieve, width: empty.length / 2, empty, assertFits };
  const sifted = await sift(sifting, { path: '', isReplaced: false, held: 0 }, roots);
  return roots.map((oid) => sifted.get(oid)!);
}

interface Sifting {
  trees: Trees;
  sieve: Sieve;
  /** The size of an object id, in bytes. */
  width: number;
  /** The file without a byte. */
  empty: Oid;
  assertFits(bytes: number): void;
}

interface Folder {
  /** Byte by byte, with a slash at its end; the root's is empty. */
  path: string;
  /** Some tree has something else in its place. */
  isReplaced: boolean;
  /** How many bytes are held by it and those above it. */
  held: number;
}

/** What becomes of one folder, as some trees have it: each once, however many have it alike. Null stands for those without it. */
async function sift(sifting: Sifting, folder: Folder, sides: Iterable<Oid | null>): Promise<Map<Oid | null, Oid>> {
  const drafts = new Map<Oid | null, Draft>();
  let { held } = folder;
  for (const oid of new Set(sides)) {
    const bytes = oid === null ? new Uint8Array() : await sifting.trees.read(oid);
    held += bytes.length * TIMES_HELD;
    sifting.assertFits(held);
    drafts.set(oid, toDraft(listEntries(bytes, sifting.width)));
  }
  await siftEntries(sifting, { ...folder, held }, [...drafts.values()]);
  const sifted = new Map<Oid | null, Oid>();
  for (const [oid, { listing, bytes }] of drafts) {
    if (oid !== null) sifted.set(oid, bytes === listing.bytes ? oid : await sifting.trees.write('tree', bytes));
  }
  return sifted;
}

/** As it is, and as it becomes. */
const TIMES_HELD = 2;

/** A folder, and what becomes of it: the same bytes, or a copy that is changed where it lies. */
interface Draft {
  listing: Listing;
  bytes: Buffer;
}

function toDraft(listing: Listing): Draft {
  return { listing, bytes: listing.bytes };
}

async function siftEntries(sifting: Sifting, folder: Folder, drafts: readonly Draft[]): Promise<void> {
  const listings = drafts.map(({ listing }) => listing);
  for (const row of unlikeRows(listings, sifting.width)) {
    const found = row.flatMap((start, at) => (start === ABSENT ? [] : find(drafts[at]!, start, sifting.width)));
    await siftName(sifting, folder, found, row.includes(ABSENT));
  }
  if (folder.path === '') for (const draft of drafts) leaveOut(draft, sifting); // at last: it moves what comes after it
}

interface Found {
  draft: Draft;
  entry: RawEntry;
  kind: 'file' | 'folder' | 'other';
}

function find(draft: Draft, start: number, width: number): Found {
  const entry = entryAt(draft.listing, start, width);
  return { draft, entry, kind: kindOf(entry) };
}

/** What stays of the entries of one name. */
async function siftName(sifting: Sifting, folder: Folder, found: readonly Found[], isAbsent: boolean): Promise<void> {
  const { sieve, empty } = sifting;
  const { name } = found[0]!.entry;
  if (folder.path === '' && name === sieve.root) return;
  const path = Buffer.from(folder.path + name, 'latin1');
  const kinds = new Set(found.map(({ kind }) => kind));
  const isMixed = folder.isReplaced || kinds.size > 1;
  if (kinds.has('folder')) {
    const below = { ...folder, path: `${folder.path}${name}/`, isReplaced: isMixed };
    await siftFolders(sifting, below, found, isAbsent || kinds.size > 1);
  }
  if (!kinds.has('file') || !sieve.takes(decodeName(path))) return;
  for (const each of found) if (each.kind === 'file') replace(each, isMixed ? STAND_IN : FILE, isMixed ? null : empty);
}

async function siftFolders(
  sifting: Sifting,
  folder: Folder,
  found: readonly Found[],
  isMissing: boolean,
): Promise<void> {
  if (!spellings(Buffer.from(folder.path, 'latin1')).some(sifting.sieve.mayBeIn)) return;
  const folders = found.filter(({ kind }) => kind === 'folder');
  const oids = folders.map(({ draft, entry }) => draft.listing.bytes.toString('hex', entry.oid, entry.end));
  const sifted = await sift(sifting, folder, isMissing ? [...oids, null] : oids);
  for (const [at, each] of folders.entries()) {
    const oid = sifted.get(oids[at]!)!;
    if (oid !== oids[at]) replace(each, each.entry.mode, oid);
  }
}

const FILE = '100644';
/** A submodule: git follows none by likeness, and looks into none. */
const STAND_IN = '160000';

/** As git reads a mode: it looks at the kind alone, whatever else the bits say and however many digits come first. */
function kindOf({ mode }: RawEntry): Found['kind'] {
  const kind = Number.parseInt(mode.slice(-6), 8) & 0o170000;
  if (kind === 0o100000) return 'file';
  return kind === 0o40000 ? 'folder' : 'other';
}

/** In as many bytes as before: a mode may begin with zeros. `oid`: null where it stays. */
function replace({ draft, entry }: Found, mode: string, oid: Oid | null): void {
  if (draft.bytes === draft.listing.bytes) draft.bytes = Buffer.from(draft.bytes);
  draft.bytes.write(mode.padStart(entry.mode.length, '0'), entry.start, 'latin1');
  if (oid !== null) draft.bytes.write(oid, entry.oid, 'hex');
}

function leaveOut(draft: Draft, { sieve, width }: Sifting): void {
  for (const start of draft.listing.starts) {
    const entry = entryAt(draft.listing, start, width);
    if (entry.name === sieve.root) draft.bytes = Buffer.from(withoutEntry(draft.bytes, { ...entry, oid: null }));
  }
}
