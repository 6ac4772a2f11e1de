import type { ObjectType } from '../objects/loose-object.ts';
import type { Oid, TreeEntry } from '../objects/store.ts';
import { findEntry, withEntry, withoutEntry } from '../objects/tree-bytes.ts';
import { parseTree } from '../objects/tree-object.ts';

/** Where trees are read, and what changes of them is written. */
export interface Trees {
  read(oid: Oid): Promise<Uint8Array>;
  write(type: ObjectType, bytes: Uint8Array): Promise<Oid>;
}

export interface NewFile {
  name: string;
  bytes: Uint8Array;
}

/** The files to add, or to put in the place of others, once it is known what the folder has. */
export type Choose = (present: TreeEntry[]) => readonly NewFile[];

/** Files by path; null for one that is to go. */
export type Edits = ReadonlyMap<string, Uint8Array | null>;

/** The tree with more files in one of its folders; null when none are wanted. */
export function addToFolder(trees: Trees, tree: Oid, folder: readonly string[], choose: Choose): Promise<Oid | null> {
  return graft(trees, tree, folder, choose, tree.length / 2);
}

async function graft(
  trees: Trees,
  tree: Oid | null,
  [name, ...below]: readonly string[],
  choose: Choose,
  width: number,
): Promise<Oid | null> {
  const bytes = tree === null ? new Uint8Array() : await trees.read(tree);
  if (name === undefined) {
    const files = choose(tree === null ? [] : parseTree(tree, bytes));
    return files.length === 0 ? null : trees.write('tree', await withFiles(trees, bytes, files, width));
  }
  const place = findEntry(bytes, '40000', name, width);
  const oid = await graft(trees, place.oid, below, choose, width);
  return oid === null ? null : trees.write('tree', withEntry(bytes, place, '40000', name, oid));
}

async function withFiles(
  trees: Trees,
  tree: Uint8Array,
  files: readonly NewFile[],
  width: number,
): Promise<Uint8Array> {
  let bytes = tree;
  for (const file of files) {
    const place = findEntry(bytes, '100644', file.name, width);
    bytes = withEntry(bytes, place, '100644', file.name, await trees.write('blob', file.bytes));
  }
  return bytes;
}

/** The tree with these files written anew, or without those that are null. A folder that is left empty goes. */
export async function editTree(trees: Trees, tree: Oid, edits: Edits): Promise<Oid> {
  return trees.write('tree', await edited(trees, await trees.read(tree), edits, tree.length / 2));
}

async function edited(trees: Trees, tree: Uint8Array, edits: Edits, width: number): Promise<Uint8Array> {
  let bytes = tree;
  for (const [name, below] of byFirstName(edits)) {
    const file = below.get('');
    const mode = file === undefined ? '40000' : '100644';
    const place = findEntry(bytes, mode, name, width);
    const oid =
      file === undefined
        ? await editedFolder(trees, place.oid, below, width)
        : file && (await trees.write('blob', file));
    bytes = oid === null ? withoutEntry(bytes, place) : withEntry(bytes, place, mode, name, oid);
  }
  return bytes;
}

/** Null for one that is left empty. */
async function editedFolder(trees: Trees, folder: Oid | null, edits: Edits, width: number): Promise<Oid | null> {
  const before = folder === null ? new Uint8Array() : await trees.read(folder);
  const bytes = await edited(trees, before, edits, width);
  return bytes.length === 0 ? null : trees.write('tree', bytes);
}

/** Paths by the name they begin with; '' is what is left of a path that has no more names. */
function byFirstName<T>(paths: ReadonlyMap<string, T>): Map<string, Map<string, T>> {
  const names = new Map<string, Map<string, T>>();
  for (const [path, value] of paths) {
    const [name = '', ...rest] = path.split('/');
    names.set(name, (names.get(name) ?? new Map()).set(rest.join('/'), value));
  }
  return names;
}
