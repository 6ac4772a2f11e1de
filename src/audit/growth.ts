import type { Report } from './finding.ts';
import { isOwnedFolder, listUnique } from './layout.ts';
import type { Entry, Source } from './source.ts';
import { isSessionFolder } from './tree.ts';

/** A session's folder that must be read, since it is new or has grown. */
export interface SessionFolder {
  owner: string;
  entry: Entry;
  isNew: boolean;
}

/**
 * The session folders that differ between two `sessions` folders, all of them when there was none before. Null when
 * something vanished or was changed: records are only added, so this is another branch, and nothing can be built on it.
 */
export async function readGrowth(
  source: Source,
  before: Entry | null,
  now: Entry,
  report: Report,
): Promise<SessionFolder[] | null> {
  const owners = await readChanges(source, { before, now }, report);
  if (!owners) return null;
  const grown: SessionFolder[] = [];
  for (const owner of owners.filter((change) => isOwnedFolder(change.now, report))) {
    const folders = await readOwnerGrowth(source, owner, report);
    if (!folders) return null;
    for (const folder of folders) grown.push(folder); // spread arguments have a limit, histories none
  }
  return grown;
}

async function readOwnerGrowth(source: Source, owner: Change, report: Report): Promise<SessionFolder[] | null> {
  const folders = await readChanges(source, owner, report);
  if (!folders) return null;
  const grown: SessionFolder[] = [];
  for (const folder of folders.filter((change) => isSessionFolder(change.now, report))) {
    const isNew = folder.before === null;
    if (!isNew && !(await hasOnlyGrown(source, folder))) return null;
    grown.push({ owner: owner.now.name, entry: folder.now, isNew });
  }
  return grown;
}

/** What is wrong in a session's folder is reported when it is audited. */
async function hasOnlyGrown(source: Source, folder: Change): Promise<boolean> {
  const files = await readChanges(source, folder, () => {});
  return files?.every((file) => file.before === null) ?? false;
}

interface Change {
  /** Null for what is new. */
  before: Entry | null;
  now: Entry;
}

/** What differs in a folder; null when an entry vanished or became something else. */
async function readChanges(source: Source, { before, now }: Change, report: Report): Promise<Change[] | null> {
  const [old, entries] = await Promise.all([before ? source.list(before) : [], listUnique(source, now, report)]);
  const known = new Map(old.map((entry) => [entry.name, entry]));
  const changes: Change[] = [];
  const names = new Set<string>();
  for (const entry of entries) {
    const last = known.get(entry.name) ?? null;
    if (last && last.mode !== entry.mode) return null;
    if (last?.oid !== entry.oid || last === null) changes.push({ before: last, now: entry });
    names.add(entry.name);
  }
  return old.every(({ name }) => names.has(name)) ? changes : null;
}
