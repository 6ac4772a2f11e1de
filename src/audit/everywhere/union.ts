import { groupBy } from '../../core/group-by.ts';
import { parseSessionFolder } from '../../core/paths.ts';
import type { Oid } from '../../git/objects/store.ts';
import { FOLDER, type Source } from '../source/source.ts';
import type { Admission } from './admission.ts';
import type { KeptBeyond, RoomTrees } from './beyond.ts';
import { ownerEntry, type PlaceBeyond, placeEntry, placesBeyond, type Room, roomEntry } from './places.ts';
import { containsVersion } from './versions.ts';

/** A place that the union has from another tree than the one that is checked out. */
export interface Edit extends PlaceBeyond {
  /** What is checked out at that place; null for nothing. */
  was: Oid | null;
  /** The tree that has it. */
  from: Oid;
}

/** The notes about a tree from which something was left out. */
export interface Note {
  kind: 'broken' | 'forked' | 'unread' | 'many';
  tree: Oid;
  /** The first place; how many there are. */
  path: string;
  count: number;
}

export interface Union {
  edits: Edit[];
  notes: Note[];
  /** For each version that was looked at, whether it is valid: it need not be judged again. */
  verdicts: Record<string, boolean>;
}

export interface UnionContext {
  source: Source;
  room: Room;
  trees: RoomTrees;
  /** What was found earlier, under the same trust. */
  verdicts: Readonly<Record<string, boolean>>;
  admits: Admission;
}

/** A version of a place, and the tree that it is from. */
type Candidate = PlaceBeyond & { from: Oid };

/** What the other trees of a room add to the one that is checked out. */
export async function planUnion(beyond: KeptBeyond, context: UnionContext): Promise<Union> {
  const found = await candidates(beyond, context);
  const here = await placesHere(context, found);
  const news = found.filter(({ owner, name, oid }) => here.get(owner)?.get(name) !== oid);
  const notes: LeftOut[] = [];
  const verdicts = await judge(news, context);
  const held = news.filter((version) => {
    const verdict = verdicts.get(keyOf(version));
    if (verdict !== true) notes.push([verdict === false ? 'broken' : 'unread', version]);
    return verdict === true;
  });
  const edits: Edit[] = [];
  const names = namesHere(here);
  for (const [place, versions] of groupBy(held, placeOf)) {
    const name = names.get(place);
    const was = name === undefined ? null : (here.get(versions[0]!.owner)!.get(name) ?? null);
    const chosen = await choose(name === undefined ? null : { name, oid: was! }, versions, context, notes);
    if (chosen) edits.push({ ...chosen, was });
  }
  edits.sort((a, b) => (`${a.owner}/${a.name}` < `${b.owner}/${b.name}` ? -1 : 1));
  const decided = [...verdicts].filter((entry): entry is [string, boolean] => entry[1] !== null);
  return { edits, notes: byTree(notes), verdicts: Object.fromEntries(decided) };
}

/** The protected branch's come first: of two that fork, that one stays. Each version once. */
async function candidates({ reference, trees }: KeptBeyond, context: UnionContext): Promise<Candidate[]> {
  const { source, room, trees: all } = context;
  const shared = reference === null ? [] : await placesBeyond(source, room, all.head, reference);
  const others = all.all.filter((tree) => tree !== all.trunk && tree !== all.head).sort();
  const of = (tree: Oid): Candidate[] => (trees[tree] ?? []).map((place) => ({ ...place, from: tree }));
  const listed = [
    ...(all.trunk !== null && all.trunk !== all.head ? of(all.trunk) : []),
    ...shared.map((place) => ({ ...place, from: all.trunk ?? reference! })),
    ...others.flatMap(of),
  ];
  return [...new Map(listed.toReversed().map((version) => [keyOf(version), version])).values()].toReversed();
}

type Here = Map<string, Map<string, Oid>>;

/** The names and ids of what is checked out, of the owners in question. */
async function placesHere({ source, room, trees }: UnionContext, places: readonly PlaceBeyond[]): Promise<Here> {
  const here: Here = new Map();
  if (trees.head === null || places.length === 0) return here;
  const top = await source.list(roomEntry(room, trees.head));
  if (room === 'tasks') return here.set('', new Map(top.map(({ name, oid }) => [name, oid!])));
  const owners = new Set(places.map(({ owner }) => owner));
  for (const { name, mode, oid } of top) {
    if (mode !== FOLDER || !owners.has(name)) continue;
    const folders = await source.list(ownerEntry(name, oid!));
    here.set(name, new Map(folders.map((folder) => [folder.name, folder.oid!])));
  }
  return here;
}

/** By `placeOf`, what it is called where it is checked out. */
function namesHere(here: Here): Map<string, string> {
  const names = new Map<string, string>();
  for (const [owner, places] of here) for (const name of places.keys()) names.set(placeOf({ owner, name }), name);
  return names;
}

/** SPEC §6.6: a session has one folder. Two of the same identity whose ids begin alike are taken for versions of one. */
function placeOf({ owner, name }: Pick<PlaceBeyond, 'owner' | 'name'>): string {
  return `${owner}/${(owner !== '' && parseSessionFolder(name)?.sid8) || name}`;
}

function keyOf({ owner, name, oid }: PlaceBeyond): string {
  return `${owner}/${name} ${oid}`;
}

/** All at once: signatures are checked on all cores. */
async function judge(
  versions: readonly Candidate[],
  { admits, verdicts }: UnionContext,
): Promise<Map<string, boolean | null>> {
  const judged = versions.map(async (version): Promise<[string, boolean | null]> => {
    const key = keyOf(version);
    return [key, verdicts[key] ?? (await admits(version))];
  });
  return new Map(await Promise.all(judged));
}

type LeftOut = [Note['kind'], Candidate];

/**
 * Records are only added: of two versions of a session the one that has the other whole is the newer one. Where they fork, somebody
 * has signed two different records of one number: what is checked out stays, else the protected branch's.
 */
async function choose(
  here: Pick<PlaceBeyond, 'name' | 'oid'> | null,
  versions: readonly Candidate[],
  { source, room }: UnionContext,
  notes: LeftOut[],
): Promise<Candidate | null> {
  if (room === 'tasks') return here === null ? versions[0]! : null;
  let chosen: Candidate | null = null;
  for (const version of versions) {
    const stands = chosen ?? here;
    if (stands === null) {
      chosen = version;
      continue;
    }
    const [standing, entry] = [placeEntry({ ...version, ...stands }), placeEntry(version)];
    const isSamePlace = here === null || here.name === version.name;
    if (isSamePlace && (await containsVersion(source, entry, standing))) chosen = version;
    else if (!(await containsVersion(source, standing, entry))) notes.push(['forked', version]);
  }
  return chosen;
}

/** One for each tree and kind: whoever pushes thousands that do not hold is named once. */
function byTree(notes: readonly LeftOut[]): Note[] {
  const groups = groupBy(notes, ([kind, { from }]) => `${kind} ${from}`);
  return [...groups.values()].map((group) => {
    const [kind, version] = group[0]!;
    return { kind, tree: version.from, path: placeEntry(version).path, count: group.length };
  });
}
