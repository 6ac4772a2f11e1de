import { isIdentityName } from '../../core/names.ts';
import { oncePer } from '../../core/once.ts';
import { parseSessionFolder } from '../../core/paths.ts';
import type { SessionFolder } from '../history/growth.ts';
import { type Entry, FOLDER, type Source } from '../source/source.ts';
import { fileKey, listRecords } from './growth.ts';
import type { ListedRecord } from './listed-record.ts';

/** Finds the session folders of a tree that have a record, at its place and with its bytes. Each folder is read once. */
export function openPresence(
  source: Source,
  sessions: Entry,
): (listed: Pick<ListedRecord, 'path' | 'blob'>) => Promise<SessionFolder[]> {
  const foldersAt = openFolders(source, sessions);
  const readPlace = oncePer(async (path: string) => {
    const found = await foldersAt(path);
    return Promise.all(found.map(async (folder) => ({ folder, files: await keysIn(source, folder) })));
  });
  return async ({ path, blob }) => {
    const places = await readPlace(path.slice(0, path.lastIndexOf('/')));
    return places.filter(({ files }) => files.has(`${path} ${blob}`)).map(({ folder }) => folder);
  };
}

async function keysIn(source: Source, { entry }: SessionFolder): Promise<ReadonlySet<string>> {
  return new Set((await listRecords(source, entry)).map(fileKey));
}

/** Finds the folder of a session by its path; two of them where a hand-made tree has a name twice. */
export function openFolders(source: Source, sessions: Entry): (path: string) => Promise<SessionFolder[]> {
  const readOwner = oncePer(async (name: string) => {
    const owners = (await source.list(sessions)).filter((entry) => entry.name === name && entry.mode === FOLDER);
    const lists = await Promise.all(owners.map((owner) => source.list(owner)));
    return lists.flat().filter(({ mode }) => mode === FOLDER);
  });
  return async (path) => {
    const [owner = '', name = ''] = path.split('/').slice(2);
    if (!isIdentityName(owner) || !parseSessionFolder(name)) return [];
    const entries = (await readOwner(owner)).filter((entry) => entry.name === name);
    return entries.map((entry) => ({ owner, entry, isNew: false }));
  };
}
