import { askGrowth, readGrowth, type SessionFolder } from '../../audit/growth.ts';
import { type Ledger, readLeafHashes } from '../../audit/ledger.ts';
import { FOLDERS_AT_ONCE, limiter } from '../../audit/limit.ts';
import { FOLDER, find, type Source } from '../../audit/source.ts';
import { toHex } from '../../core/bytes.ts';
import { HandoffError } from '../../core/error.ts';
import { type Asked, later } from '../../core/later.ts';
import { leafHash } from '../../core/merkle.ts';
import { ROOT } from '../../core/paths.ts';
import type { Trust } from '../../core/trust.ts';
import { nodeSuite } from '../../crypto.ts';
import type { Oid } from '../../git/store.ts';
import type { Repository } from '../repository.ts';
import { readTreeSession, throwFinding } from '../tree-session.ts';

/** A seal that the tree has and the ledger has not. */
export interface Arrival {
  id: string;
  path: string;
  bytes: Uint8Array;
}

/** The sessions that may have such a seal. */
export interface Candidates {
  /** The folder of all sessions; null where there is none. */
  sessions: Oid | null;
  /** Which folder the ledger was last brought in line with; null where all sessions are looked at. */
  seen: Oid | null;
  folders: SessionFolder[];
}

/** Where the checkpoint says which sessions the ledger has seen, what came since; else all there are. Resolves once git was asked. */
export async function askCandidates(
  { store }: Repository,
  source: Source,
  ledger: Ledger | null,
): Promise<Asked<Candidates>> {
  const now = await find(source, `${ROOT}/sessions`);
  if (now?.mode !== FOLDER) return { answer: Promise.resolve({ sessions: null, seen: null, folders: [] }) };
  const seen = ledger === null ? null : await seenSessions(store, ledger);
  const asked = seen === null ? null : await askGrowth(source, { ...now, oid: seen }, now, throwFinding);
  const answer = async (): Promise<Candidates> => {
    const grown = (await asked?.answer) ?? null;
    if (grown) return { sessions: now.oid, seen, folders: grown };
    return { sessions: now.oid, seen: null, folders: (await readGrowth(source, null, now, throwFinding))! };
  };
  return { answer: later(answer()) };
}

/** The seals that a ledger lacks, by id. Every session of which a seal arrives is verified whole. */
export async function arrivedSeals(
  repository: Repository,
  trust: Trust,
  { source, ledger }: { source: Source; ledger: Ledger | null },
  { seen, folders }: Candidates,
): Promise<Arrival[]> {
  const isKnown = seen === null ? await knownHashes(ledger) : await knownIn(repository, seen);
  const some = limiter(FOLDERS_AT_ONCE);
  const seals: Arrival[] = [];
  const addSeals = async (folder: SessionFolder): Promise<void> => {
    const sealed = await sealsOf(repository, source, trust, folder);
    for (const seal of sealed) if (!(await isKnown(seal, folder))) seals.push(seal);
    repository.progress(seals.length);
  };
  await Promise.all(folders.map((folder) => some(1, () => addSeals(folder))));
  return seals.sort((a, b) => (a.id < b.id ? -1 : 1));
}

export const SESSIONS_LINE = 'sessions ';

/** The folder of sessions that the ledger was last brought in line with; null where it does not say, or the clone lacks it. */
async function seenSessions(store: Repository['store'], { checkpoint }: Ledger): Promise<Oid | null> {
  const oid = checkpoint.extensions.find((line) => line.startsWith(SESSIONS_LINE))?.slice(SESSIONS_LINE.length);
  if (oid === undefined || !/^[0-9a-f]{40,64}$/.test(oid)) return null;
  store.askAhead([oid]);
  return (await store.has(`${oid}^{tree}`)) ? oid : null;
}

/** A folder without a seal need not be read. What a revoked key signed comes too late for ever, and must not hold up the others. */
async function sealsOf(
  repository: Repository,
  source: Source,
  trust: Trust,
  { owner, entry }: SessionFolder,
): Promise<Arrival[]> {
  const names = (await source.list(entry)).map(({ name }) => name);
  if (!names.some((name) => name.endsWith('-seal.yaml'))) return [];
  try {
    const { files } = await readTreeSession(source, trust, owner, entry);
    const seals = files.filter(({ record }) => record.kind === 'seal');
    return seals.map(({ path, bytes, record }) => ({ id: record.id, path, bytes }));
  } catch (error) {
    if (!(error instanceof HandoffError) || error.code !== 'key_revoked') throw error;
    repository.warn(`Not appended: ${error.message}`);
    return [];
  }
}

type IsKnown = (seal: Arrival, folder: SessionFolder) => Promise<boolean>;

/** What stood there when the ledger was last brought in line is in it. */
async function knownIn({ store }: Repository, sessions: Oid): Promise<IsKnown> {
  const inside = `${ROOT}/sessions/`;
  return async ({ path }, { isNew }) => !isNew && store.has(`${sessions}:${path.slice(inside.length)}`);
}

async function knownHashes(ledger: Ledger | null): Promise<IsKnown> {
  const known = new Set(ledger ? await readLeafHashes(ledger, nodeSuite) : []);
  return async ({ bytes }) => known.has(toHex(leafHash(bytes, nodeSuite.sha256)));
}
