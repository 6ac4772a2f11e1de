import { createHash } from 'node:crypto';
import { groupBy } from '../../core/group-by.ts';
import { ROOT } from '../../core/paths.ts';
import type { Oid } from '../../git/objects/store.ts';
import { type Entry, FILE, FOLDER, type Source } from '../source/source.ts';
import { type Room, roomEntry } from './places.ts';
import type { Edit } from './union.ts';

/** A folder of the union: one of a tree, with some entries of others. Its id follows from what is in it, as git's do. */
interface EditedFolder {
  id: Oid;
  base: Oid | null;
  edits: Edit[];
}

/** A room of the union, as it is kept: whoever read it last compares what it has become with this. */
export interface EditedRoom {
  id: Oid;
  base: Oid | null;
  /** By owner; tasks have the empty owner. */
  folders: Record<string, EditedFolder>;
}

/** Null for a room that no other tree adds to. */
export async function editRoom(
  source: Source,
  room: Room,
  base: Oid | null,
  edits: readonly Edit[],
): Promise<EditedRoom | null> {
  if (edits.length === 0) return null;
  const owners = base && room === 'sessions' ? await source.list(roomEntry(room, base)) : [];
  const bases = new Map(owners.map(({ name, mode, oid }) => [name, mode === FOLDER ? oid : null]));
  const folders: Record<string, EditedFolder> = {};
  for (const [owner, own] of groupBy(edits, ({ owner: name }) => name)) {
    const below = room === 'tasks' ? base : (bases.get(owner) ?? null);
    folders[owner] = {
      id: idOf([below, ...own.map(({ name, oid }) => `${name} ${oid}`)], own[0]!.oid),
      base: below,
      edits: own,
    };
  }
  const ids = Object.values(folders).map(({ id }) => id);
  return { id: idOf([room, base, ...ids], edits[0]!.oid), base, folders };
}

/** As long as the ids of this repository are, and never that of one of its trees. */
function idOf(parts: readonly (string | null)[], like: Oid): Oid {
  return createHash('sha256')
    .update(JSON.stringify(['union', ...parts]))
    .digest('hex')
    .slice(0, like.length);
}

export interface UnionRooms {
  sessions: EditedRoom | null;
  tasks: EditedRoom | null;
}

/**
 * A tree with what others add to two of its rooms. Rooms of earlier unions can be listed as well, as long as they are kept: that is how
 * what has been read of one is not read again.
 */
export function openUnion(tree: Source, rooms: UnionRooms, readRoom: (id: Oid) => EditedRoom | null): Source {
  const edited = new Map<Oid, EditedRoom | null>();
  const folders = new Map<Oid, EditedFolder>();
  const note = (room: EditedRoom): EditedRoom => {
    edited.set(room.id, room);
    for (const folder of Object.values(room.folders)) folders.set(folder.id, folder);
    return room;
  };
  for (const room of [rooms.sessions, rooms.tasks]) if (room) note(room);
  const roomOf = (id: Oid): EditedRoom | null => {
    if (!edited.has(id)) {
      const kept = readRoom(id);
      if (kept) note(kept);
      else edited.set(id, null);
    }
    return edited.get(id)!;
  };
  const listFolder = async (folder: Entry, { base, edits }: EditedFolder, mode: string): Promise<Entry[]> => {
    const entries = base ? await tree.list({ ...folder, oid: base }) : [];
    const names = new Set(edits.map(({ name }) => name));
    return sorted([
      ...entries.filter(({ name }) => !names.has(name)),
      ...edits.map((edit) => toEntry(folder, edit, mode)),
    ]);
  };
  const listSessions = async (folder: Entry, { base, folders: owners }: EditedRoom): Promise<Entry[]> => {
    const entries = base ? await tree.list({ ...folder, oid: base }) : [];
    const place = ([name, { id }]: [string, EditedFolder]): Entry => toEntry(folder, { name, oid: id }, FOLDER);
    const others = entries.filter(({ name }) => !Object.hasOwn(owners, name));
    return sorted([...others, ...Object.entries(owners).map(place)]);
  };
  const list = async (folder: Entry): Promise<Entry[]> => {
    if (folder.path === ROOT) return listRooms(tree, folder, rooms);
    const own = folders.get(folder.oid!);
    if (own) return listFolder(folder, own, FOLDER);
    const room = isRoom(folder) ? roomOf(folder.oid!) : null;
    if (room === null) return tree.list(folder);
    return folder.name === 'tasks' ? listFolder(folder, room.folders['']!, FILE) : listSessions(folder, room);
  };
  return {
    oid: tree.oid,
    root: async () => withRoot(await tree.root(), rooms),
    list,
    async compare(before, now) {
      if (isRoom(now)) return [await list(before), await list(now)];
      const [old, is] = [before, now].map(({ oid }) => folders.get(oid!) ?? { id: oid!, base: oid, edits: [] });
      return compareEdited(tree, [before, old!], [now, is!]);
    },
    read: (file, limit) => tree.read(file, limit),
    readAll: (files, limit) => tree.readAll(files, limit),
  };
}

function isRoom({ path }: Entry): boolean {
  return path === `${ROOT}/sessions` || path === `${ROOT}/tasks`;
}

function toEntry(folder: Entry, { name, oid }: { name: string; oid: Oid }, mode: string): Entry {
  return { path: `${folder.path}/${name}`, name, mode, oid };
}

function sorted(entries: Entry[]): Entry[] {
  return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** An unborn branch has no `.handoff` yet. */
function withRoot(entries: readonly Entry[], { sessions, tasks }: UnionRooms): Entry[] {
  if (!sessions && !tasks) return [...entries];
  const oid = idOf(
    [entries.find(({ name }) => name === ROOT)?.oid ?? null, sessions?.id ?? null],
    (sessions ?? tasks)!.id,
  );
  const top: Entry = { path: ROOT, name: ROOT, mode: FOLDER, oid };
  return sorted([...entries.filter(({ name }) => name !== ROOT), top]);
}

async function listRooms(tree: Source, folder: Entry, rooms: UnionRooms): Promise<Entry[]> {
  const top = (await tree.root()).find(({ name }) => name === ROOT);
  const entries = top?.mode === FOLDER ? await tree.list(top) : [];
  const edited = [
    rooms.sessions && (['sessions', rooms.sessions.id] as const),
    rooms.tasks && (['tasks', rooms.tasks.id] as const),
  ];
  const added = edited.filter((each) => each !== null).map(([name, oid]) => toEntry(folder, { name, oid }, FOLDER));
  const names = new Set(added.map(({ name }) => name));
  return sorted([...entries.filter(({ name }) => !names.has(name)), ...added]);
}

type Side = readonly [Entry, EditedFolder];

/** What differs between two folders: what git says of those that they are made of, and what was added to either. */
async function compareEdited(tree: Source, [before, old]: Side, [now, is]: Side): Promise<[Entry[], Entry[]]> {
  const [was, added] = await compareBases(tree, { ...before, oid: old.base }, { ...now, oid: is.base });
  if (old.edits.length === 0 && is.edits.length === 0) return [was, added];
  const [wasByName, addedByName] = [was, added].map((entries) => new Map(entries.map((entry) => [entry.name, entry])));
  const [oldEdits, isEdits] = [old, is].map(({ edits }) => new Map(edits.map((edit) => [edit.name, edit])));
  const names = new Set([...oldEdits!.keys(), ...isEdits!.keys()]);
  const pick = (name: string, mine: Side[1], [own, base, otherBase]: Lookup): Entry[] => {
    const edit = own.get(name);
    if (edit) return [toEntry(now, edit, FOLDER)];
    const based = base.get(name);
    if (based || otherBase.has(name)) return based ? [based] : [];
    // in neither difference: both bases have the same there, and the other side's edit says what
    const said = (mine === old ? isEdits! : oldEdits!).get(name)!.was;
    return said === null ? [] : [toEntry(now, { name, oid: said }, FOLDER)];
  };
  const [left, right]: [Entry[], Entry[]] = [[], []];
  for (const name of names) {
    const [a] = pick(name, old, [oldEdits!, wasByName!, addedByName!]);
    const [b] = pick(name, is, [isEdits!, addedByName!, wasByName!]);
    if (a?.oid === b?.oid) continue;
    if (a) left.push(a);
    if (b) right.push(b);
  }
  return [
    [...was.filter(({ name }) => !names.has(name)), ...left],
    [...added.filter(({ name }) => !names.has(name)), ...right],
  ];
}

type Lookup = readonly [ReadonlyMap<string, Edit>, ReadonlyMap<string, Entry>, ReadonlyMap<string, Entry>];

async function compareBases(tree: Source, before: Entry, now: Entry): Promise<[Entry[], Entry[]]> {
  if (before.oid === now.oid) return [[], []];
  if (before.oid === null) return [[], await tree.list(now)];
  if (now.oid === null) return [await tree.list(before), []];
  if (tree.compare) return tree.compare(before, now);
  return [await tree.list(before), await tree.list(now)];
}
