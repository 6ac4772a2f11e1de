import { readCached, writeCached } from '../../audit/tree/cache.ts';
import { parseJson } from '../../core/bytes/json.ts';
import { ROOT } from '../../core/paths.ts';
import type { Trust } from '../../core/trust/trust.ts';
import type { GitConfig } from '../../git/config.ts';
import type { Oid, Ref } from '../../git/objects/store.ts';
import { readBranchTips } from '../../git/refs/branch-tips.ts';
import type { GitAccess, StateDirectory } from '../parts.ts';
import { cachePath, type Repository } from '../repository.ts';
import { protectedRefs, trackingRef } from '../tracking.ts';
import { mostBranches } from './most-branches.ts';

/** The rooms of `.handoff` that a commit has. */
interface Rooms {
  sessions: Oid | null;
  tasks: Oid | null;
}

/** Every branch that this clone knows of, and what it has. */
export interface Branches {
  tips: Ref[];
  head: Oid | null;
  /** The protected branch, as its remote has it, else as it is here; null where there is none yet. */
  trunk: Ref | null;
  rooms: ReadonlyMap<Oid, Rooms>;
}

export async function readBranches(repository: Repository, trust: Trust): Promise<Branches> {
  const [refs, head, config] = await Promise.all([
    readBranchTips(repository.git, repository.dirs),
    repository.store.resolve('HEAD'),
    repository.config(),
  ]);
  const { tips, left } = mostBranches(refs, followedRefs(refs, config, trust));
  if (left > 0) repository.warn(tooManyBranches(left));
  const commits = new Set(tips.map(({ oid }) => oid));
  if (head !== null) commits.add(head);
  return { tips, head, trunk: trunkOf(tips, config, trust), rooms: await readRooms(repository, [...commits], config) };
}

/** The protected branches as their remotes have them, and what the branches of this clone follow. */
function followedRefs(refs: readonly Ref[], config: GitConfig, trust: Trust): Set<string> {
  const own = refs.map(({ name }) => name).filter((name) => name.startsWith('refs/heads/'));
  const tracked = [...protectedRefs(trust), ...own].map((ref) => trackingRef(config, ref));
  return new Set(tracked.filter((ref) => ref !== null));
}

function tooManyBranches(left: number): string {
  return `There are too many branches here: ${left} of remotes are not looked at, so batons and tasks there are not known. If somebody has pushed them for nothing, delete them there, then: git fetch --prune`;
}

function trunkOf(tips: readonly Ref[], config: GitConfig, trust: Trust): Ref | null {
  const byName = new Map(tips.map((tip) => [tip.name, tip]));
  const names = protectedRefs(trust).flatMap((ref) => [trackingRef(config, ref), ref]);
  return names.map((name) => byName.get(name ?? '')).find((tip) => tip !== undefined) ?? null;
}

/** What a commit has never changes: it is asked once. */
async function readRooms(
  repository: GitAccess & StateDirectory,
  commits: readonly Oid[],
  config: GitConfig,
): Promise<ReadonlyMap<Oid, Rooms>> {
  const file = repository.build === null ? null : cachePath(repository, 'branches');
  const kept = file === null ? null : parseJson<Record<Oid, unknown>>(readCached(file));
  const rooms = new Map<Oid, Rooms>();
  const unknown: Oid[] = [];
  for (const commit of commits) {
    const keptRooms = kept && Object.hasOwn(kept, commit) ? kept[commit] : undefined;
    if (areRooms(keptRooms)) rooms.set(commit, keptRooms);
    else unknown.push(commit);
  }
  if (unknown.length === 0) return rooms;
  for (const [commit, found] of await askRooms(repository, unknown)) rooms.set(commit, found);
  if (file !== null) writeCached(file, Object.fromEntries([...rooms].filter(([, found]) => isFinal(found, config))));
  return rooms;
}

async function askRooms({ store }: GitAccess, commits: readonly Oid[]): Promise<Map<Oid, Rooms>> {
  const revs = commits.flatMap((commit) => [`${commit}:${ROOT}/sessions`, `${commit}:${ROOT}/tasks`]);
  const found = (await store.headers(revs)).map((header) => (header?.type === 'tree' ? header.oid : null));
  return new Map(commits.map((commit, at) => [commit, { sessions: found[at * 2]!, tasks: found[at * 2 + 1]! }]));
}

/** In a partial clone, what seems not to be there may only not have arrived. */
function isFinal({ sessions, tasks }: Rooms, config: GitConfig): boolean {
  const isPartial = config.keys().some((key) => /^(?:extensions\.partialclone|remote\..*\.promisor)$/.test(key));
  return !isPartial || (sessions !== null && tasks !== null);
}

/** Somebody else may have written the file. */
function areRooms(value: unknown): value is Rooms {
  const { sessions, tasks } = (value ?? {}) as Partial<Rooms>;
  return [sessions, tasks].every((oid) => oid === null || typeof oid === 'string');
}
