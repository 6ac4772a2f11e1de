import type { Oid } from '../objects/store.ts';
import type { Trees } from './tree-edit.ts';
import { entryAt, listEntries } from './tree-listing.ts';

/** What stands at a path of a tree: a file, a link, or the commit of a submodule. */
export interface Leaf {
  /** As git writes it: `100644`, `100755`, `120000`, `160000`. */
  mode: string;
  oid: Oid;
}

/**
 * By path; null for one that is to go. Paths are bytes, one a character (`latin1`): what is no UTF-8 stays what it is.
 */
export type Leaves = ReadonlyMap<string, Leaf | null>;

/** A path at which two trees differ. */
export interface LeafChange {
  before: Leaf | null;
  after: Leaf | null;
}

interface GraftEntry {
  mode: string;
  oid: Oid;
}

const FOLDER = '40000';

/** A tree with other things at these paths. What is in their way, a file where a folder is to be or the reverse, goes. */
export async function graftTree(trees: Trees, tree: Oid | null, leaves: Leaves, width: number): Promise<Oid> {
  return trees.write('tree', await grafted(trees, tree, leaves, width));
}

async function grafted(trees: Trees, tree: Oid | null, leaves: Leaves, width: number): Promise<Uint8Array> {
  const entries = new Map<string, GraftEntry>(await entriesOf(trees, tree, width));
  for (const [name, below] of byFirstName(leaves)) {
    const leaf = below.get('');
    below.delete('');
    const found = entries.get(name);
    const folder = found?.mode === FOLDER ? found.oid : null;
    const bytes = below.size > 0 && !leaf ? await grafted(trees, folder, below, width) : null;
    if (leaf) entries.set(name, leaf);
    else if (bytes && bytes.length > 0) entries.set(name, { mode: FOLDER, oid: await trees.write('tree', bytes) });
    else if (bytes || folder === null) removeLeft(entries, name, found, leaf);
  }
  return formatEntries(entries);
}

/** A file stays where only something below its name is to go, which cannot be there. */
function removeLeft(
  entries: Map<string, unknown>,
  name: string,
  found: Pick<GraftEntry, 'mode'> | undefined,
  leaf: null | undefined,
): void {
  if (leaf === null || found?.mode === FOLDER) entries.delete(name);
}

/** git orders a folder as if its name ended in a slash. */
function formatEntries(entries: ReadonlyMap<string, GraftEntry>): Uint8Array {
  const key = ([name, { mode }]: [string, { mode: string }]): string => (mode === FOLDER ? `${name}/` : name);
  const sorted = [...entries].sort((a, b) => (key(a) < key(b) ? -1 : 1));
  return Buffer.concat(
    sorted.flatMap(([name, { mode, oid }]) => [Buffer.from(`${mode} ${name}\0`, 'latin1'), Buffer.from(oid, 'hex')]),
  );
}

/** Every path at which two trees differ, to the last folder. */
export async function compareLeaves(
  trees: Trees,
  before: Oid | null,
  after: Oid | null,
  width: number,
  prefix = '',
): Promise<Map<string, LeafChange>> {
  const changes = new Map<string, LeafChange>();
  if (before === after) return changes;
  const [old, now] = [await entriesOf(trees, before, width), await entriesOf(trees, after, width)];
  for (const name of new Set([...old.keys(), ...now.keys()])) {
    const [a, b] = [old.get(name), now.get(name)];
    if (a?.oid === b?.oid && a?.mode === b?.mode) continue;
    const path = prefix + name;
    const change = { before: leafOf(a), after: leafOf(b) };
    if (change.before || change.after) changes.set(path, change);
    const below = await compareLeaves(trees, folderOf(a), folderOf(b), width, `${path}/`);
    for (const [each, inside] of below) changes.set(each, inside);
  }
  return changes;
}

function leafOf(entry: GraftEntry | undefined): Leaf | null {
  return entry && entry.mode !== FOLDER ? { mode: entry.mode, oid: entry.oid } : null;
}

function folderOf(entry: GraftEntry | undefined): Oid | null {
  return entry?.mode === FOLDER ? entry.oid : null;
}

async function entriesOf(trees: Trees, tree: Oid | null, width: number): Promise<Map<string, GraftEntry>> {
  if (tree === null) return new Map();
  const listing = listEntries(await trees.read(tree), width);
  const entries = listing.starts.map((start) => entryAt(listing, start, width));
  return new Map(
    entries.map(({ mode, name, oid, end }) => [name, { mode, oid: listing.bytes.toString('hex', oid, end) }]),
  );
}

/** Paths by the name they begin with; '' is what is left of a path that has no more names. */
function byFirstName(leaves: Leaves): Map<string, Map<string, Leaf | null>> {
  const names = new Map<string, Map<string, Leaf | null>>();
  for (const [path, leaf] of leaves) {
    const slash = path.indexOf('/');
    const [name, rest] = slash < 0 ? [path, ''] : [path.slice(0, slash), path.slice(slash + 1)];
    names.set(name, (names.get(name) ?? new Map()).set(rest, leaf));
  }
  return names;
}
