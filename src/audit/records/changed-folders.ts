import { groupBy } from '../../core/group-by.ts';
import { isIdentityName } from '../../core/names.ts';
import { parseSessionFolder } from '../../core/paths.ts';
import { type Entry, FOLDER, type Source } from '../source/source.ts';

/** A session's folder that is new or has changed; `old` is what it was, null where that is of no use. */
export interface ChangedFolder {
  owner: string;
  entry: Entry;
  old: Entry | null;
}

interface FolderChanges {
  changed: ChangedFolder[];
  /** Paths of folders whose known records count no more. */
  gone: Set<string>;
}

/** How the session folders of one `sessions` folder differ from those of another; all are new where there was none. */
export async function changedFolders(source: Source, before: Entry | null, now: Entry): Promise<FolderChanges> {
  const all: FolderChanges = { changed: [], gone: new Set() };
  const owners = compare(before ? await source.list(before) : [], await source.list(now), isIdentityName);
  for (const { path } of owners.gone) all.gone.add(path);
  for (const { entry: owner, old } of owners.changed) {
    const folders = await compareFolders(source, old, owner);
    for (const { path } of folders.gone) all.gone.add(path);
    for (const folder of folders.changed) all.changed.push({ owner: owner.name, ...folder });
  }
  return all;
}

interface Compared {
  changed: { entry: Entry; old: Entry | null }[];
  gone: Entry[];
}

/** Most folders of thousands have grown at their end: what both begin with is not looked at. */
async function compareFolders(source: Source, old: Entry | null, now: Entry): Promise<Compared> {
  const isNamed = (name: string): boolean => parseSessionFolder(name) !== null;
  if (old && source.compare) return compare(...(await source.compare(old, now)), isNamed);
  return compare(old ? await source.list(old) : [], await source.list(now), isNamed);
}

/** A hand-made tree can have a name twice: then it is not known which became which, and both are read. */
function compare(was: readonly Entry[], is: readonly Entry[], isNamed: (name: string) => boolean): Compared {
  const isPlace = ({ name, mode }: Entry): boolean => mode === FOLDER && isNamed(name);
  const before = groupBy(was.filter(isPlace), ({ name }) => name);
  const found: Compared = { changed: [], gone: [] };
  for (const [name, entries] of groupBy(is.filter(isPlace), (entry) => entry.name)) {
    const olds = before.get(name) ?? [];
    before.delete(name);
    const old = olds.length === 1 && entries.length === 1 ? olds[0]! : null;
    if (old && old.oid === entries[0]!.oid) continue;
    for (const entry of entries) found.changed.push({ entry, old });
    if (!old) found.gone.push(...olds);
  }
  for (const olds of before.values()) found.gone.push(...olds);
  return found;
}
