import { decodeNames } from '../../git/objects/name-text.ts';
import type { GitStore } from '../../git/objects/store.ts';
import type { Git } from '../../git/run.ts';
import { readGit } from '../../git/run.ts';
import { type Entry, FOLDER, type Source } from './source.ts';

/** What is staged: the tree the next commit would have, without writing one. `git.dir` is the top of the work tree. */
export async function openIndex(git: Git, store: GitStore, paths: string[] = []): Promise<Source> {
  const listing = decodeNames(await readGit(git, ['ls-files', '--stage', '-z', '--', ...paths]));
  const folders = group(parse(listing));
  return {
    oid: null,
    root: async () => folders.get('') ?? [],
    list: async (folder) => folders.get(`${folder.path}/`) ?? [],
    read: (file, limit) => store.readBlob(file.oid!, limit),
    readAll(files, limit) {
      const oids = files.map((file) => file.oid!);
      return store.readBlobs(oids, limit);
    },
  };
}

/** `<mode> <oid> <stage>\t<path>` — a path in conflict appears once per stage, and shows as a duplicate. */
function parse(listing: readonly string[]): Entry[] {
  return listing.map((line) => {
    const tab = line.indexOf('\t');
    const [mode = '', oid = ''] = line.slice(0, tab).split(' ');
    const path = line.slice(tab + 1);
    return { path, name: path.slice(path.lastIndexOf('/') + 1), mode, oid };
  });
}

/** Entries by the folder they stand in, folders included. */
function group(files: readonly Entry[]): Map<string, Entry[]> {
  const folders = new Map<string, Entry[]>([['', []]]);
  const add = (entry: Entry): void => {
    const parent = entry.path.slice(0, entry.path.length - entry.name.length);
    const siblings = folders.get(parent);
    if (siblings) return void siblings.push(entry);
    folders.set(parent, [entry]);
    const path = parent.slice(0, -1);
    add({ path, name: path.slice(path.lastIndexOf('/') + 1), mode: FOLDER, oid: null });
  };
  for (const file of files) add(file);
  return folders;
}
