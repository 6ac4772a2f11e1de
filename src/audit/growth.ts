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
  const owners = compare(before && (await source.list(before)), await listUnique(source, now, report));
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
  const folders = compare(
    owner.before && (await source.list(owner.before)),
    await listUnique(source, owner.now, report),
  );
  if (!folders) return null;
  const grown: SessionFolder[] = [];
  for (const { before, now } of folders.filter((change) => isSessionFolder(change.now, report))) {
    if (before && !(await hasOnlyGrown(source, before, now))) return null;
    grown.push({ owner: owner.now.name, entry: now, isNew: before === null });
  }
  return grown;
}

async function hasOnlyGrown(source: Source, before: Entry, now: Entry): Promise<boolean> {
  const files = compare(await source.list(before), await source.list(now));
  return files?.every((file) => file.before === null) ?? false;
}

interface Change {
  /** Null for what is new. */
  before: Entry | null;
  now: Entry;
}

/** What differs; null when an entry vanished or became something else. */
function compare(before: readonly Entry[] | null, now: readonly Entry[]): Change[] | null {
  const known = new Map(before?.map((entry) => [entry.name, entry]));
  const changes = now
    .map((entry) => ({ before: known.get(entry.name) ?? null, now: entry }))
    .filter((change) => change.before?.oid !== change.now.oid || change.before.mode !== change.now.mode);
  for (const { name } of now) known.delete(name);
  return known.size > 0 || changes.some((change) => change.before && change.before.mode !== change.now.mode)
    ? null
    : changes;
}
