import { isIdentityName } from '../../core/names.ts';
import { parseSessionFolder, parseTaskName, ROOT } from '../../core/paths.ts';
import type { Oid } from '../../git/objects/store.ts';
import { type Entry, FILE, FOLDER, type Source } from '../source/source.ts';
import { containsVersion } from './versions.ts';

/** A room of `.handoff` that branches add to: the folders of sessions, or the files of tasks. */
export type Room = 'sessions' | 'tasks';

/** A session's folder, or a task's file, as one tree has it. */
export interface PlaceBeyond {
  /** Whose session it is; nobody's for a task. */
  owner: string;
  name: string;
  oid: Oid;
}

export function roomEntry(room: Room, oid: Oid): Entry {
  return { path: `${ROOT}/${room}`, name: room, mode: FOLDER, oid };
}

export function ownerEntry(owner: string, oid: Oid): Entry {
  return { path: `${ROOT}/sessions/${owner}`, name: owner, mode: FOLDER, oid };
}

export function placeEntry({ owner, name, oid }: PlaceBeyond): Entry {
  if (owner === '') return { path: `${ROOT}/tasks/${name}`, name, mode: FILE, oid };
  return { path: `${ROOT}/sessions/${owner}/${name}`, name, mode: FOLDER, oid };
}

/** What one tree's room has and another's lacks, or has less of. Entries whose names are neither sessions nor tasks are skipped. */
export async function placesBeyond(source: Source, room: Room, before: Oid | null, now: Oid): Promise<PlaceBeyond[]> {
  if (before === now) return [];
  return room === 'tasks' ? tasksBeyond(source, before, now) : sessionsBeyond(source, before, now);
}

/** By name: which version of a definition counts is decided elsewhere. */
async function tasksBeyond(source: Source, before: Oid | null, now: Oid): Promise<PlaceBeyond[]> {
  const [old, entries] = await listBoth(
    source,
    before === null ? null : roomEntry('tasks', before),
    roomEntry('tasks', now),
  );
  const oldNames = new Set(old.map(({ name }) => name));
  const added = entries.filter(
    ({ name, mode }) => mode === FILE && parseTaskName(name) !== null && !oldNames.has(name),
  );
  return added.map(({ name, oid }) => ({ owner: '', name, oid: oid! }));
}

async function sessionsBeyond(source: Source, before: Oid | null, now: Oid): Promise<PlaceBeyond[]> {
  const old = before ? await source.list(roomEntry('sessions', before)) : [];
  const oldOwners = new Map(old.filter(isFolder).map((owner) => [owner.name, owner]));
  const owners = (await source.list(roomEntry('sessions', now))).filter(
    ({ name, mode }) => mode === FOLDER && isIdentityName(name),
  );
  const beyond: PlaceBeyond[] = [];
  for (const owner of owners) {
    const was = oldOwners.get(owner.name) ?? null;
    if (was?.oid !== owner.oid) beyond.push(...(await foldersBeyond(source, was, owner)));
  }
  return beyond;
}

async function foldersBeyond(source: Source, before: Entry | null, now: Entry): Promise<PlaceBeyond[]> {
  const [old, entries] = await listBoth(source, before, now);
  const oldFolders = new Map(old.filter(isFolder).map((folder) => [folder.name, folder]));
  const places: PlaceBeyond[] = [];
  for (const entry of entries) {
    const was = oldFolders.get(entry.name);
    if (entry.mode !== FOLDER || !parseSessionFolder(entry.name) || was?.oid === entry.oid) continue;
    if (was && (await containsVersion(source, was, entry))) continue;
    places.push({ owner: now.name, name: entry.name, oid: entry.oid! });
  }
  return places;
}

/** Folders of thousands begin with the same entries as a rule, and those are not looked at. */
async function listBoth(source: Source, before: Entry | null, now: Entry): Promise<[Entry[], Entry[]]> {
  if (before && source.compare) return source.compare(before, now);
  return [before ? await source.list(before) : [], await source.list(now)];
}

function isFolder({ mode }: Entry): boolean {
  return mode === FOLDER;
}
