import { type KeyObject, randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { recordName, sessionFolder } from '../../src/core/paths.ts';
import { consistencyProof, merkleRoot } from '../../src/core/seal/merkle.ts';
import { nodeHashes } from '../../src/crypto.ts';
import { type Draft, newKey, type Place, privateKey, signRecord, writeBytes } from '../handoff.ts';
import { type NamedKey, printOf, publicLine, reopen } from '../threats/forge.ts';

/** Random, and the same for the same seed. */
interface Dice {
  below(end: number): number;
  pick<T>(items: readonly T[]): T;
  chance(share: number): boolean;
}

/** Mulberry32. */
function dice(seed: number): Dice {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (end: number): number => Math.floor(next() * end);
  return { below, pick: (items) => items[below(items.length)]!, chance: (share) => next() < share };
}

/** A session as somebody wrote it, honest or not. */
export interface RandomSession {
  id: string;
  identity: string;
  folder: string;
  records: { id: string; bytes: Uint8Array; kind: Draft['kind']; path: string }[];
  predecessor: string | null;
}

/** A repository, and every private key that anybody in it has ever had: whoever has stolen one uses it. */
export interface World {
  place: Place;
  dice: Dice;
  keys: Map<string, KeyObject[]>;
  sessions: RandomSession[];
  clock: number;
  serial: number;
}

export function openWorld(place: Place, seed: number): World {
  const names = ['maintainer', 'donna', 'erin'];
  const keys = new Map(names.map((name) => [name, [privateKey(place, name)]]));
  return { place, dice: dice(seed), keys, sessions: [], clock: 100, serial: 0 };
}

export function keyFor(world: World, name: string): KeyObject {
  const key = newKey();
  world.keys.set(name, [...(world.keys.get(name) ?? []), key]);
  return key;
}

/** Any maintainer's key, whatever became of it: most of the time one of the root. */
export function someMaintainer({ dice: { chance, pick }, keys }: World): NamedKey {
  const name = keys.has('second') && chance(0.4) ? 'second' : 'maintainer';
  return [name, pick(keys.get(name)!)];
}

/** The key with which an agent may write now, if there is one. */
export async function activeAgents({ place, keys }: World): Promise<NamedKey[]> {
  const { identities } = await reopen(place).handoff.identity.list();
  return identities
    .filter(({ role }) => role === 'agent')
    .flatMap(({ identity, keys: listed }) => {
      const active = listed.filter(({ state }) => state === 'active').map(({ fingerprint }) => fingerprint);
      const own = keys.get(identity)?.find((key) => active.includes(printOf(key)));
      return own ? [[identity, own] as NamedKey] : [];
    });
}

export function openSession(world: World, identity: string, predecessor: RandomSession | null): RandomSession {
  const id = randomUUID();
  const folder = `.handoff/sessions/${identity}/${sessionFolder(AT, id)}`;
  const session = { id, identity, folder, records: [], predecessor: predecessor?.id ?? null };
  world.sessions.push(session);
  return session;
}

const AT = '2026-02-20T14:30:25.123Z';

/** Adds a record to a session, in the work tree only. */
export function addRecord(
  world: World,
  session: RandomSession,
  { kind, body, ...fields }: Draft,
  key: KeyObject,
): void {
  const { records, id, identity, folder, predecessor } = session;
  const seq = records.length + 1;
  const common = { handoff: 1, kind, repo: world.place.root, session_id: id, identity, seq };
  const chain = { prev: records.at(-1)?.id ?? null, clock: ++world.clock, at: AT };
  const inherited = predecessor ? { inherited_from: predecessor } : {};
  const written = signRecord({ ...common, ...chain, ...inherited, ...fields } as never, key, body);
  const path = `${folder}/${recordName(seq, kind)}`;
  writeBytes(world.place.dir, path, written.bytes);
  records.push({ ...written, kind, path });
}

/** What a seal over all that is there says. */
export function sealOf({ records }: RandomSession): Draft {
  const leaves = records.map(({ bytes }) => bytes);
  const root = hex(merkleRoot(leaves, nodeHashes.sha256));
  const last = records.findLastIndex(({ kind }) => kind === 'seal');
  if (last < 0) return { kind: 'seal', tree_size: leaves.length, root };
  const proof = consistencyProof(leaves, last, nodeHashes.sha256).map(hex);
  const previous = { tree_size: last, root: hex(merkleRoot(leaves.slice(0, last), nodeHashes.sha256)), proof };
  return { kind: 'seal', tree_size: leaves.length, root, previous };
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}

/** Forgets what a branch that was dropped had: sessions go on from what is there, and keys that nobody lists sign nothing. */
export function forgetDropped(world: World): void {
  const isThere = (path: string, bytes: Uint8Array): boolean => {
    const file = join(world.place.dir, path);
    return existsSync(file) && readFileSync(file).equals(bytes);
  };
  for (const session of world.sessions) {
    const end = session.records.findIndex(({ path, bytes }) => !isThere(path, bytes));
    if (end >= 0) session.records.length = end;
  }
  world.sessions = world.sessions.filter(({ records }) => records.length > 0);
  for (const [name, keys] of world.keys) {
    const file = join(world.place.dir, `.handoff/identities/${name}/identity.yaml`);
    const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
    const listed = keys.filter((key) => text.includes(publicLine(key)));
    if (listed.length > 0) world.keys.set(name, listed);
    else world.keys.delete(name);
  }
}
