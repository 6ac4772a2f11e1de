import { HandoffError } from '../../core/error.ts';
import { MAX_RECORD_BYTES } from '../../core/limits.ts';
import { parseRecordName } from '../../core/paths.ts';
import type { Suite } from '../../core/record/verify.ts';
import { FOLDERS_AT_ONCE, limiter } from '../source/limit.ts';
import { type Entry, FILE, type Source } from '../source/source.ts';
import { type ChangedFolder, changedFolders } from './changed-folders.ts';
import { type Covered, type Newest, type NewestRecord, withNewest } from './covered.ts';
import { type ListedRecord, toListed } from './listed-record.ts';

export interface ReadContext {
  source: Source;
  suite: Suite;
  onProgress?(checked: number): void;
}

/** So many folders are read before their lines are kept: memory does not grow with the tree. */
const FOLDERS_AT_A_TIME = 512;

/**
 * Reads the records of a `sessions` folder that another one, which is covered, does not have. Nothing is verified here, so it is
 * the same for every set of keys. Returns the newest of the folder.
 */
export async function readUncovered(
  now: Entry,
  covered: Covered | null,
  context: ReadContext,
  keep: (records: readonly ListedRecord[]) => void,
): Promise<Newest> {
  const before = covered && { ...now, oid: covered.sessions };
  const { changed, gone } = await changedFolders(context.source, before, now);
  const { newest: old, after } = covered ?? { newest: [], after: null };
  let newest: Newest = { newest: old.filter(({ path }) => !isBelow(gone, path)), after };
  let checked = 0;
  for (let at = 0; at < changed.length; at += FOLDERS_AT_A_TIME) {
    const read = await readFolders(changed.slice(at, at + FOLDERS_AT_A_TIME), context);
    keep(read.flatMap(({ fresh }) => fresh));
    newest = withNewest(stillThere(newest, read), read.flatMap(inFolder));
    checked += read.reduce((sum, { fresh }) => sum + fresh.length, 0);
    context.onProgress?.(checked);
  }
  return newest;
}

function isBelow(folders: ReadonlySet<string>, path: string): boolean {
  const folder = path.slice(0, path.lastIndexOf('/'));
  return folders.has(folder) || folders.has(folder.slice(0, folder.lastIndexOf('/')));
}

interface ReadFolder extends ChangedFolder {
  /** The paths and ids of its files. */
  files: ReadonlySet<string>;
  /** The records that were not there before. */
  fresh: ListedRecord[];
}

function readFolders(folders: readonly ChangedFolder[], context: ReadContext): Promise<ReadFolder[]> {
  const folderLimit = limiter(FOLDERS_AT_ONCE);
  return Promise.all(folders.map((folder) => folderLimit(1, () => readFolder(folder, context))));
}

async function readFolder(folder: ChangedFolder, { source, suite }: ReadContext): Promise<ReadFolder> {
  const { entry, old } = folder;
  const oldFiles = new Set(old ? (await source.list(old)).map(fileKey) : []);
  const files = await listRecords(source, entry);
  const fresh = await readRecords(
    source,
    files.filter((file) => !oldFiles.has(fileKey(file))),
    suite,
  );
  return { ...folder, files: new Set(files.map(fileKey)), fresh };
}

/** The files of a session's folder that have the name of a record. */
export async function listRecords(source: Source, folder: Entry): Promise<Entry[]> {
  return (await source.list(folder)).filter(({ name, mode }) => mode === FILE && parseRecordName(name));
}

/** A long session is read in parts. */
const FILES_AT_ONCE = 128;

export async function readRecords(source: Source, files: readonly Entry[], suite: Suite): Promise<ListedRecord[]> {
  const records: ListedRecord[] = [];
  for (let at = 0; at < files.length; at += FILES_AT_ONCE) {
    const batch = files.slice(at, at + FILES_AT_ONCE);
    const contents = await source.readAll(batch, MAX_RECORD_BYTES);
    for (const [n, bytes] of contents.entries()) {
      if (isMissing(bytes)) throw bytes; // it may be there another time, and then this would not be all
      const listed = toListed(batch[n]!, bytes, suite);
      if (listed) records.push(listed);
    }
  }
  return records;
}

function isMissing(bytes: Uint8Array | HandoffError): bytes is HandoffError {
  return bytes instanceof HandoffError && bytes.code === 'io';
}

export function fileKey({ path, oid }: Entry): string {
  return `${path} ${oid}`;
}

/** What was known of folders that have changed since, as far as they still have it. */
function stillThere({ newest, after }: Newest, folders: readonly ReadFolder[]): Newest {
  const byPath = new Map(folders.filter(({ old }) => old).map((folder) => [folder.entry.path, folder]));
  const kept = newest.flatMap((record) => {
    const folder = byPath.get(record.path.slice(0, record.path.lastIndexOf('/')));
    if (!folder) return [record];
    return folder.files.has(`${record.path} ${record.blob}`) ? [{ ...record, tree: folder.entry.oid! }] : [];
  });
  return { newest: kept, after };
}

function inFolder({ entry, fresh }: ReadFolder): NewestRecord[] {
  return fresh.map((listed) => ({ ...listed, tree: entry.oid! }));
}
