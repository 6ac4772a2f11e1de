import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { openAdmission } from '../../audit/everywhere/admission.ts';
import { type KeptBeyond, type RoomTrees, readBeyond } from '../../audit/everywhere/beyond.ts';
import { boundedTrees, openPurse } from '../../audit/everywhere/bounded-trees.ts';
import type { Room } from '../../audit/everywhere/places.ts';
import { type Note, planUnion, type Union } from '../../audit/everywhere/union.ts';
import { type EditedRoom, editRoom, openUnion } from '../../audit/everywhere/union-source.ts';
import type { Source } from '../../audit/source/source.ts';
import { openTree } from '../../audit/source/tree-source.ts';
import { dropCached, newestCached, readCached, writeCached } from '../../audit/tree/cache.ts';
import { judgedBy } from '../../audit/trust/judged-by.ts';
import { parseJson } from '../../core/bytes/json.ts';
import type { Trust } from '../../core/trust/trust.ts';
import { nodeSuite } from '../../crypto.ts';
import type { Oid, Ref } from '../../git/objects/store.ts';
import type { GitAccess, StateDirectory } from '../parts.ts';
import { cacheFolder, cachePath, type Repository } from '../repository.ts';
import { type Branches, readBranches } from './branches.ts';
import { joinedTrust } from './joined-trust.ts';
import { leftOutLines } from './left-out-lines.ts';

/** What is committed, seen whole: that of the branch that is checked out, and what every other branch has beyond it. */
export interface Everywhere {
  /** Null where nothing is committed anywhere. */
  source: Source | null;
  /** The tree at HEAD; null if nothing is committed. The same object as `source` if no other branch has more. */
  headTree: Source | null;
  /** The trust by which records of other branches are judged. */
  trust: Trust;
  /** Every branch that was looked at. */
  tips: readonly Ref[];
  /** The branch on which something was found that is not checked out, by its path; null for what is. */
  refOf(path: string): string | null;
}

/** Reads, and changes nothing but what is kept for the next time. */
export async function openEverywhere(repository: Repository, here: Trust): Promise<Everywhere> {
  const branches = await readBranches(repository, here);
  const headTree = branches.head === null ? null : await openTree(repository.store, branches.head);
  const trust = await joinedTrust(repository, here, branches);
  const trees = { sessions: roomTrees(branches, 'sessions'), tasks: roomTrees(branches, 'tasks') };
  const isAlone = Object.values(trees).every(({ head: own, all }) => all.every((tree) => tree === own));
  const { tips } = branches;
  const onlyHere: Everywhere = { source: headTree, headTree, trust, tips, refOf: () => null };
  if (isAlone) return onlyHere;
  const unions = await readUnions(repository, trust, trees);
  for (const line of leftOutLines(unions.notes, refsOf(branches))) repository.warn(line);
  if (!unions.sessions && !unions.tasks) return onlyHere;
  const base = headTree ?? emptyTree(await openTree(repository.store, anyTree(trees)));
  return {
    ...onlyHere,
    source: openUnion(base, unions, (id) => keptRoom(repository, id)),
    refOf: openRefs(unions, refsOf(branches)),
  };
}

/** Only what is checked out: for whoever changes it, or judges what has happened to it. */
export async function openHere({ store }: GitAccess, trust: Trust): Promise<Everywhere> {
  const headTree = (await store.resolve('HEAD')) === null ? null : await openTree(store, 'HEAD');
  return { source: headTree, headTree, trust, tips: [], refOf: () => null };
}

/** What is kept of a union. */
interface Unions {
  sessions: EditedRoom | null;
  tasks: EditedRoom | null;
  notes: Note[];
}

function roomTrees({ tips, head, trunk, rooms }: Branches, room: Room): RoomTrees {
  const of = (commit: Oid | undefined): Oid | null => (commit && rooms.get(commit)?.[room]) || null;
  const own = of(head ?? undefined);
  const all = new Set([own, ...tips.map(({ oid }) => of(oid))].filter((tree) => tree !== null));
  return { head: own, trunk: of(trunk?.oid), all: [...all] };
}

/** By tree, the first branch that has it. */
function refsOf({ tips, rooms, trunk }: Branches): Map<Oid, string> {
  const refs = new Map<Oid, string>();
  for (const { name, oid } of trunk ? [trunk, ...tips] : tips)
    for (const tree of Object.values(rooms.get(oid) ?? {})) if (tree && !refs.has(tree)) refs.set(tree, name);
  return refs;
}

function openRefs({ sessions, tasks }: Unions, refs: ReadonlyMap<Oid, string>): Everywhere['refOf'] {
  const froms = new Map<string, Oid>();
  for (const { edits } of [sessions, tasks].flatMap((room) => (room ? Object.values(room.folders) : [])))
    for (const { owner, name, from } of edits) froms.set(`${owner}/${name}`, from);
  return (path) => {
    const [, room, owner, name] = path.split('/');
    const from = froms.get(room === 'tasks' ? `/${owner}` : `${owner}/${name}`);
    return (from && refs.get(from)) ?? null;
  };
}

/** Objects, and no folders: nothing is checked out. */
function emptyTree(tree: Source): Source {
  return { ...tree, oid: null, root: async () => [] };
}

type Trees = Record<Room, RoomTrees>;

/** A tip may be anything at all; a tree that was found to be one can be read. */
function anyTree({ sessions, tasks }: Trees): Oid {
  return sessions.all[0] ?? tasks.all[0]!;
}

async function readUnions(repository: GitAccess & StateDirectory, trust: Trust, trees: Trees): Promise<Unions> {
  const folder = repository.build === null ? null : cacheFolder(repository, 'unions');
  const judged = digest(judgedBy(trust));
  const name = digest([
    judged,
    ...ROOMS.flatMap((room) => [room, trees[room].head, trees[room].trunk, ...sorted(trees[room])]),
  ]);
  const cached = folder && parseJson<Partial<Unions>>(readCached(join(folder, name)));
  if (cached && isUnions(cached)) return cached;
  const made = await makeUnions(repository, trust, judged, trees);
  if (folder) keepUnions(folder, name, made);
  return made;
}

const ROOMS: readonly Room[] = ['sessions', 'tasks'];

function sorted({ all }: RoomTrees): Oid[] {
  return all.toSorted();
}

/** What was found about the trees of other branches, one by one, and under which trust. */
interface Kept {
  judged: string;
  rooms: Record<Room, KeptBeyond & Pick<Union, 'verdicts'>>;
}

async function makeUnions(
  repository: GitAccess & StateDirectory,
  trust: Trust,
  judged: string,
  trees: Trees,
): Promise<Unions> {
  const { store } = repository;
  const file = repository.build === null ? null : cachePath(repository, 'beyond');
  const kept = readKept(file);
  const sizesOf = async (oids: readonly Oid[]) => (await store.headers(oids)).map((header) => header?.size ?? null);
  const source = boundedTrees(await openTree(store, anyTree(trees)), sizesOf, openPurse());
  const admits = openAdmission(source, trust, nodeSuite);
  const unions: Unions = { sessions: null, tasks: null, notes: [] };
  const found = emptyKept(judged);
  for (const room of ROOMS) {
    const { verdicts, ...old } = kept.rooms[room];
    const { unread, ...beyond } = await readBeyond(source, room, old, trees[room]);
    const usable = kept.judged === judged ? verdicts : {};
    const context = { source, room, trees: trees[room], verdicts: usable, admits };
    const union = await planUnion(beyond, context);
    found.rooms[room] = { ...beyond, verdicts: union.verdicts };
    unions[room] = await editRoom(source, room, trees[room].head, union.edits);
    unions.notes.push(
      ...Object.entries(beyond.left).map(([tree, count]): Note => ({ kind: 'many', tree, path: '', count })),
      ...union.notes,
      ...unread.map(({ tree }): Note => ({ kind: 'unread', tree, path: '', count: 1 })),
    );
  }
  if (file) writeCached(file, found);
  return unions;
}

/** A branch or two, and where they and others were before; a file for each union, and one for each of its rooms. */
const KEPT = 24;

/** What could not be read is tried again the next time. */
function keepUnions(folder: string, name: string, unions: Unions): void {
  for (const room of [unions.sessions, unions.tasks]) if (room) writeCached(join(folder, room.id), room);
  if (unions.notes.every(({ kind }) => kind !== 'unread')) writeCached(join(folder, name), unions);
  for (const old of newestCached(folder).slice(KEPT)) dropCached(join(folder, old));
}

function keptRoom(repository: StateDirectory, id: Oid): EditedRoom | null {
  if (repository.build === null) return null;
  const room = parseJson<Partial<EditedRoom>>(readCached(join(cacheFolder(repository, 'unions'), id)));
  return isRoom(room) ? room : null;
}

function readKept(file: string | null): Kept {
  const kept = file === null ? null : parseJson<Partial<Kept>>(readCached(file));
  const isWhole = ROOMS.every((room) => {
    const { trees, left, verdicts, reference } = kept?.rooms?.[room] ?? {};
    return trees && left && verdicts && reference !== undefined;
  });
  return isWhole ? (kept as Kept) : emptyKept('');
}

function emptyKept(judged: string): Kept {
  const none = () => ({ reference: null, trees: {}, left: {}, verdicts: {} });
  return { judged, rooms: { sessions: none(), tasks: none() } };
}

/** Somebody else may have written the file. */
function isUnions(value: Partial<Unions>): value is Unions {
  const areNotes = Array.isArray(value.notes) && value.notes.every(isNote);
  return areNotes && [value.sessions, value.tasks].every((room) => room === null || isRoom(room));
}

function isNote(note: Partial<Note> | null): boolean {
  return typeof note?.tree === 'string' && typeof note.path === 'string';
}

function isRoom(room: Partial<EditedRoom> | null | undefined): room is EditedRoom {
  return typeof room?.id === 'string' && typeof room.folders === 'object' && room.folders !== null;
}

function digest(parts: readonly (string | null)[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}
