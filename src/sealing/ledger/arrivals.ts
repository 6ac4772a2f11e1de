import type { Report } from '../../audit/finding.ts';
import { askGrowth, readGrowth, type SessionFolder } from '../../audit/history/growth.ts';
import { namedSessions } from '../../audit/ledger/complete.ts';
import { findLeaves, type Ledger, readLeafHashes } from '../../audit/ledger/ledger.ts';
import { FOLDERS_AT_ONCE, limiter } from '../../audit/source/limit.ts';
import { FOLDER, find, type Source } from '../../audit/source/source.ts';
import { toHex } from '../../core/bytes/bytes.ts';
import { HandoffError } from '../../core/error.ts';
import { type Asked, later } from '../../core/later.ts';
import { ROOT } from '../../core/paths.ts';
import { leafHash } from '../../core/seal/merkle.ts';
import type { Trust } from '../../core/trust/trust.ts';
import { nodeSuite } from '../../crypto.ts';
import type { Oid } from '../../git/objects/store.ts';
import type { GitAccess, Messages } from '../../repository/parts.ts';
import type { Repository } from '../../repository/repository.ts';
import { readTreeFiles, throwFinding } from '../../repository/tree-session.ts';

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
  repository: GitAccess & Messages,
  source: Source,
  ledger: Ledger | null,
): Promise<Asked<Candidates>> {
  const now = await find(source, `${ROOT}/sessions`);
  const seen = ledger === null || now?.mode !== FOLDER ? null : await seenSessions(repository.store, ledger);
  const asked = seen === null ? null : await askGrowth(source, { ...now!, oid: seen }, now!, passOver(repository));
  const answer = async (): Promise<Candidates> => {
    const grown = (await asked?.answer) ?? null;
    return grown ? { sessions: now!.oid, seen, folders: grown } : allCandidates(repository, source);
  };
  return { answer: later(answer()) };
}

/** Whatever any checkpoint says. */
export async function allCandidates(repository: Messages, source: Source): Promise<Candidates> {
  const now = await find(source, `${ROOT}/sessions`);
  if (now?.mode !== FOLDER) return { sessions: null, seen: null, folders: [] };
  return { sessions: now.oid, seen: null, folders: (await readGrowth(source, null, now, passOver(repository)))! };
}

/** What has no place among the sessions must not hold up the others. */
function passOver({ warn }: Messages): Report {
  return ({ path, message }) => warn(`Passed over: ${path}: ${message}`);
}

/** The seals that a ledger lacks, by id. A session whose seal arrives is verified whole. */
export async function arrivedSeals(
  repository: Messages,
  trust: Trust,
  { source, ledger }: { source: Source; ledger: Ledger | null },
  { seen, folders }: Candidates,
): Promise<Arrival[]> {
  const isKnown = seen === null ? await knownHashes(ledger) : knownIn(ledger);
  const folderLimit = limiter(FOLDERS_AT_ONCE);
  const seals: Arrival[] = [];
  const addSeals = async (folder: SessionFolder): Promise<void> => {
    const sealed = await sealsOf(repository, source, trust, folder);
    for (const seal of sealed) if (!(await isKnown(seal, folder))) seals.push(seal);
    repository.progress(seals.length);
  };
  await Promise.all(folders.map((folder) => folderLimit(1, () => addSeals(folder))));
  return seals.sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** The folder of sessions that the ledger was last brought in line with; null where it does not say, or the clone lacks it. */
async function seenSessions(store: Repository['store'], ledger: Ledger): Promise<Oid | null> {
  const oid = namedSessions(ledger);
  if (oid === null) return null;
  store.askAhead([oid]);
  return (await store.has(`${oid}^{tree}`)) ? oid : null;
}

/**
 * A folder without a seal need not be read. A session that does not hold must not hold up the others. A seal that counts is taken,
 * although it is over records of a key that was revoked since: it makes none of them count (SPEC §5.5).
 */
async function sealsOf(
  repository: Messages,
  source: Source,
  trust: Trust,
  { owner, entry }: SessionFolder,
): Promise<Arrival[]> {
  const names = (await source.list(entry)).map(({ name }) => name);
  if (!names.some((name) => name.endsWith('-seal.yaml'))) return [];
  try {
    const files = await readTreeFiles(source, trust, owner, entry, (found) => {
      if (found.severity === 'error') throwFinding(found);
      if (found.path?.endsWith('-seal.yaml')) repository.warn(`Not appended: ${found.path}: ${found.message}`);
    });
    const seals = files.filter(({ record }) => record.kind === 'seal');
    return seals.map(({ path, bytes, record }) => ({ id: record.id, path, bytes }));
  } catch (error) {
    if (!(error instanceof HandoffError) || error.exitCode === 4) throw error;
    repository.warn(`Not appended: ${error.message} (once it holds: git handoff ledger append --all)`);
    return [];
  }
}

type IsKnown = (seal: Arrival, folder: SessionFolder) => Promise<boolean>;

/** A session that is new since then cannot be in it. One that has changed may have been in it, with this seal or without. */
function knownIn(ledger: Ledger | null): IsKnown {
  return async ({ bytes }, { isNew }) =>
    !isNew && ledger !== null && (await findLeaves(ledger, [leafHash(bytes, nodeSuite.sha256)])).size > 0;
}

async function knownHashes(ledger: Ledger | null): Promise<IsKnown> {
  const inLedger = new Set(ledger ? await readLeafHashes(ledger, nodeSuite) : []);
  return async ({ bytes }) => inLedger.has(toHex(leafHash(bytes, nodeSuite.sha256)));
}
