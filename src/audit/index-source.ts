import { decodeNames } from '../git/name-text.ts';
import type { Git } from '../git/run.ts';
import { readGit } from '../git/run.ts';
import type { GitStore } from '../git/store.ts';
import { type Entry, FILE, FOLDER, type Source } from './source.ts';

/** What of the index is read, and files beyond it: those at whose paths it has none. */
interface IndexView {
  paths?: readonly string[];
  beyond?: readonly { path: string; bytes: Uint8Array }[];
}

/** What is staged: the tree the next commit would have, without writing one. `git.dir` is the top of the work tree. */
export async function openIndex(
  git: Git,
  store: GitStore,
  { paths = [], beyond = [] }: IndexView = {},
): Promise<Source> {
  const listed = parse(decodeNames(await readGit(git, ['ls-files', '--stage', '-z', '--', ...paths])));
  const known = new Set(listed.map(({ path }) => path));
  const more = new Map(beyond.filter(({ path }) => !known.has(path)).map(({ path, bytes }) => [path, bytes]));
  const folders = group([...listed, ...[...more.keys()].map(toEntry)]);
  return {
    oid: null,
    root: async () => folders.get('') ?? [],
    list: async (folder) => folders.get(`${folder.path}/`) ?? [],
    read: async (file, limit) => more.get(file.path) ?? store.readBlob(file.oid!, limit),
    async readAll(files, limit) {
      const blobs = await store.readBlobs(
        files.map(({ oid }) => oid).filter((oid) => oid !== null),
        limit,
      );
      return files.map((file) => more.get(file.path) ?? blobs.shift()!);
    },
  };
}

function toEntry(path: string): Entry {
  return { path, name: path.slice(path.lastIndexOf('/') + 1), mode: FILE, oid: null };
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
    const known = folders.get(parent);
    if (known) return void known.push(entry);
    folders.set(parent, [entry]);
    const path = parent.slice(0, -1);
    add({ path, name: path.slice(path.lastIndexOf('/') + 1), mode: FOLDER, oid: null });
  };
  for (const file of files) add(file);
  return folders;
}
