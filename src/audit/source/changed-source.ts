import type { RawChange } from '../../git/changes/raw-diff.ts';
import { type Entry, FILE, FOLDER, type Source } from './source.ts';

/** A tree with some files added, changed or taken away, as an index differs from the last commit. Folders that differ have no id. */
export function openChanged(tree: Source, changes: readonly RawChange[]): Source {
  const top = emptyFolder();
  for (const change of changes) addChange(top, change);
  const listings = new Map<string, Entry[]>();
  const apply = async (entries: readonly Entry[], parent: string, changed: ChangedFolder): Promise<Entry[]> => {
    const named = entries.filter(({ name }) => !changed.files.has(name) && !changed.folders.has(name));
    for (const [name, file] of changed.files) if (file) named.push({ path: `${parent}${name}`, name, ...file });
    for (const [name, below] of changed.folders) {
      const path = `${parent}${name}`;
      const old = entries.find((entry) => entry.name === name && entry.mode === FOLDER);
      const left = await apply(old ? await tree.list(old) : [], `${path}/`, below);
      listings.set(path, left);
      if (left.length > 0) named.push({ path, name, mode: FOLDER, oid: null });
    }
    return named.sort((a, b) => (a.name < b.name ? -1 : 1));
  };
  let root: Promise<Entry[]> | undefined;
  return {
    oid: null,
    root: () => (root ??= tree.root().then((entries) => apply(entries, '', top))),
    list: async (folder) => (folder.oid === null ? (listings.get(folder.path) ?? []) : tree.list(folder)),
    read: (file, limit) => tree.read(file, limit),
    readAll: (files, limit) => tree.readAll(files, limit),
  };
}

/** A file that no object of git need hold yet; its id is what it would have. */
export interface FileBeyond {
  path: string;
  bytes: Uint8Array;
  oid: string;
}

/** A tree with files added at paths where it has none. */
export function openBeyond(tree: Source, files: readonly FileBeyond[]): Source {
  const contents = new Map(files.map(({ path, bytes }) => [path, bytes]));
  const changes = files.map(({ path, oid }) => ({ path, before: null, after: { mode: FILE, oid } }));
  const whole = openChanged(tree, changes);
  return {
    ...whole,
    read: async (file, limit) => contents.get(file.path) ?? tree.read(file, limit),
    async readAll(entries, limit) {
      const others = await tree.readAll(
        entries.filter(({ path }) => !contents.has(path)),
        limit,
      );
      return entries.map(({ path }) => contents.get(path) ?? others.shift()!);
    },
  };
}

interface ChangedFolder {
  /** Null for a file that is gone. */
  files: Map<string, RawChange['after']>;
  folders: Map<string, ChangedFolder>;
}

function emptyFolder(): ChangedFolder {
  return { files: new Map(), folders: new Map() };
}

function addChange(top: ChangedFolder, { path, after }: RawChange): void {
  const names = path.split('/');
  const file = names.pop()!;
  let folder = top;
  for (const name of names) {
    const below = folder.folders.get(name) ?? emptyFolder();
    folder.folders.set(name, below);
    folder = below;
  }
  folder.files.set(file, after);
}
