import { type Asked, later } from '../../core/later.ts';
import type { Report } from '../finding.ts';
import type { Entry, Source } from '../source/source.ts';
import { isOwnedFolder, listUnique } from '../tree/layout.ts';
import { isSessionFolder } from '../tree/tree.ts';

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
  return (await askGrowth(source, before, now, report)).answer;
}

/** Resolves once git was asked; its answer comes later, and whoever asked has time for something else. */
export async function askGrowth(
  source: Source,
  before: Entry | null,
  now: Entry,
  report: Report,
): Promise<Asked<SessionFolder[] | null>> {
  const owners = await readChanges(source, { before, now }, report);
  if (!owners) return { answer: Promise.resolve(null) };
  const owned = owners.filter((change) => isOwnedFolder(change.now, report));
  return { answer: later(joinGrowth(owned.map((owner) => readOwnerGrowth(source, owner, report)))) };
}

async function joinGrowth(owners: readonly Promise<SessionFolder[] | null>[]): Promise<SessionFolder[] | null> {
  const grown = await Promise.all(owners);
  return grown.every((folders) => folders !== null) ? grown.flat() : null;
}

async function readOwnerGrowth(source: Source, owner: ChangedEntry, report: Report): Promise<SessionFolder[] | null> {
  const folders = await readMany(source, owner, report);
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
async function hasOnlyGrown(source: Source, folder: ChangedEntry): Promise<boolean> {
  const files = await readChanges(source, folder, () => {});
  return files?.every((file) => file.before === null) ?? false;
}

interface ChangedEntry {
  /** Null for what is new. */
  before: Entry | null;
  now: Entry;
}

/** What differs in a folder; null when an entry vanished or became something else. */
async function readChanges(
  source: Source,
  { before, now }: ChangedEntry,
  report: Report,
): Promise<ChangedEntry[] | null> {
  const [old, entries] = await Promise.all([before ? source.list(before) : [], listUnique(source, now, report)]);
  return compare(...withoutEqualEnds(old, entries));
}

/**
 * The same for a folder of thousands: the entries that both listings begin with are not looked at. A name that stands there
 * twice can only be that of a known session, and the caller notices that.
 */
async function readMany(source: Source, { before, now }: ChangedEntry, report: Report): Promise<ChangedEntry[] | null> {
  if (!before || !source.compare) return readChanges(source, { before, now }, report);
  return compare(...withoutEqualEnds(...(await source.compare(before, now))));
}

function compare(old: readonly Entry[], entries: readonly Entry[]): ChangedEntry[] | null {
  const oldEntries = new Map(old.map((entry) => [entry.name, entry]));
  const names = new Set(entries.map(({ name }) => name));
  const changes = entries
    .map((entry) => ({ before: oldEntries.get(entry.name) ?? null, now: entry }))
    .filter((change) => !change.before || !isSame(change.before, change.now));
  const isOther = changes.some((change) => change.before && change.before.mode !== change.now.mode);
  return isOther || old.some(({ name }) => !names.has(name)) ? null : changes;
}

/** Among thousands of folders only a few differ, so the equal ones at both ends are cut off before a map is made. */
function withoutEqualEnds(old: readonly Entry[], now: readonly Entry[]): [Entry[], Entry[]] {
  const most = Math.min(old.length, now.length);
  let matching = 0;
  while (matching < most && isSame(old[matching]!, now[matching]!)) matching++;
  let tail = 0;
  while (tail < most - matching && isSame(old[old.length - 1 - tail]!, now[now.length - 1 - tail]!)) tail++;
  return [old.slice(matching, old.length - tail), now.slice(matching, now.length - tail)];
}

function isSame(a: Entry, b: Entry): boolean {
  return a.oid === b.oid && a.name === b.name && a.mode === b.mode;
}
