import { decodeName } from './name-text.ts';
import type { Oid } from './store.ts';
import { type RawEntry, readEntries } from './tree-bytes.ts';
import type { Trees } from './tree-edit.ts';

/** What is taken out of trees that are merged: nothing of it can then be followed to anywhere else, nor be what was followed. */
export interface Sieve {
  /** The entry of the root that goes, whatever it is. */
  root: string;
  /** Whether a file goes, by its path. */
  takes(path: string): boolean;
  /** Whether there can be such a file in a folder, whose path ends in a slash. */
  mayBeIn(folder: string): boolean;
}

/**
 * The same trees without what a sieve takes. A file that all of them have, and have alike, stays: no merge moves it, and a folder
 * that it keeps in its place stays there. Where one tree has a file that goes and another has a link, a submodule or a folder, a
 * stand-in takes the place of the file: that something was replaced is seen, and what is in the file is not.
 */
export async function siftTrees(trees: Trees, sieve: Sieve, roots: readonly Oid[]): Promise<Oid[]> {
  const sifted = await sift({ trees, sieve, width: roots[0]!.length / 2 }, '', roots, false);
  return Promise.all(sifted.map((oid) => oid ?? trees.write('tree', new Uint8Array())));
}

interface Sifting {
  trees: Trees;
  sieve: Sieve;
  /** Of an id, in bytes. */
  width: number;
}

/** The folder of each tree; null where a tree has none. `isReplaced`: some tree has something else in its place. */
async function sift(
  sifting: Sifting,
  folder: string,
  sides: readonly (Oid | null)[],
  isReplaced: boolean,
): Promise<(Oid | null)[]> {
  const having = await readFolders(sifting, sides);
  const edits = sides.map((): Edits => new Map());
  const siftName = async (name: string): Promise<void> => {
    const present = having.map((each) => each.get(name));
    const kept = await siftEntry(sifting, folder, present, isReplaced);
    for (const [at, entry] of kept.entries()) if (entry !== present[at]) edits[at]!.set(name, entry ?? null);
  };
  const isAsked = (name: string): boolean =>
    (folder === '' && name === sifting.sieve.root) || !isAlike(having.map((each) => each.get(name)));
  const names = new Set(having.flatMap((each) => [...each.keys()]));
  await Promise.all([...names].filter(isAsked).map(siftName));
  const isLeft = (at: number): boolean => sides[at] === null || edits[at]!.size === 0;
  return Promise.all(sides.map((oid, at) => (isLeft(at) ? oid : rewrite(sifting.trees, having[at]!, edits[at]!))));
}

type Entries = ReadonlyMap<string, RawEntry>;

/** Each tree once. */
async function readFolders({ trees, width }: Sifting, sides: readonly (Oid | null)[]): Promise<Entries[]> {
  const distinct = [...new Set(sides.filter((oid) => oid !== null))];
  const read = await Promise.all(distinct.map((oid) => trees.read(oid)));
  const entries = new Map(distinct.map((oid, at) => [oid, readEntries(read[at]!, width)]));
  return sides.map((oid) => (oid === null ? new Map() : entries.get(oid)!));
}

/** What becomes of entries; null for one that goes. */
type Edits = Map<string, RawEntry | null>;

function isAlike([first, ...others]: readonly (RawEntry | undefined)[]): boolean {
  return others.every((entry) => entry?.oid === first?.oid && entry?.mode === first?.mode);
}

/** What stays of the entries of one name. */
async function siftEntry(
  sifting: Sifting,
  folder: string,
  present: readonly (RawEntry | undefined)[],
  isReplaced: boolean,
): Promise<(RawEntry | undefined)[]> {
  const { sieve } = sifting;
  const { name } = present.find((entry) => entry !== undefined)!;
  if (folder === '' && name === sieve.root) return present.map(() => undefined);
  const path = folder + decodeName(Buffer.from(name, 'latin1'));
  const kinds = new Set(present.flatMap((entry) => (entry ? kindOf(entry) : [])));
  const isMixed = isReplaced || kinds.size > 1;
  const below = `${path}/`;
  const folders = present.map((entry) => (entry && kindOf(entry) === 'folder' ? entry.oid : null));
  const isOpened = kinds.has('folder') && sieve.mayBeIn(below);
  const sifted = isOpened ? await sift(sifting, below, folders, isMixed) : folders;
  const isTaken = kinds.has('file') && sieve.takes(path);
  return present.map((entry, at) => {
    if (!entry || kindOf(entry) === 'other') return entry;
    if (kindOf(entry) === 'folder') return withOid(entry, sifted[at]!);
    if (!isTaken) return entry;
    return isMixed ? { ...entry, mode: STAND_IN } : undefined;
  });
}

/** A submodule: git follows none by likeness, and looks into none. */
const STAND_IN = '160000';

/** As git reads a mode: it looks at the kind alone, whatever else the bits say and however many zeros come first. */
function kindOf({ mode }: RawEntry): 'file' | 'folder' | 'other' {
  const kind = Number.parseInt(mode, 8) & 0o170000;
  if (kind === 0o100000) return 'file';
  return kind === 0o40000 ? 'folder' : 'other';
}

function withOid(entry: RawEntry, oid: Oid | null): RawEntry | undefined {
  if (oid === null) return undefined;
  return oid === entry.oid ? entry : { ...entry, oid };
}

/** Null for a folder that is left empty. */
async function rewrite(trees: Trees, entries: Entries, edits: Edits): Promise<Oid | null> {
  const parts = [...entries.values()].flatMap((entry) => {
    const edited = edits.get(entry.name);
    return edited === undefined ? [entry.bytes] : edited ? formatEntry(edited) : [];
  });
  return parts.length === 0 ? null : trees.write('tree', Buffer.concat(parts));
}

function formatEntry({ mode, name, oid }: RawEntry): Uint8Array[] {
  return [Buffer.from(`${mode} ${name}\0`, 'latin1'), Buffer.from(oid, 'hex')];
}
