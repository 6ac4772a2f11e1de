import { type Finding, HandoffError } from '../core/error.ts';
import { emptyHistory, type History } from '../core/history.ts';
import { ROOT } from '../core/paths.ts';
import type { PlacedRecord } from '../core/record-summary.ts';
import type { Identity, Trust } from '../core/trust.ts';
import type { Suite } from '../core/verify.ts';
import type { Report } from './finding.ts';
import { readGrowth, type SessionFolder } from './growth.ts';
import {
  type HistoryCache,
  type HistoryState,
  isStillTrusted,
  labelOf,
  type Owner,
  openHistoryCache,
} from './history-cache.ts';
import { isFolder, listUnique } from './layout.ts';
import { maxBytes } from './session.ts';
import { foldSessions, sidOf } from './session-records.ts';
import type { Entry, Source } from './source.ts';

export interface HistoryOptions {
  suite: Suite;
  /** The folder where states are kept between runs; its name says which build wrote them. Null: nowhere. */
  cacheFolder: string | null;
  onProgress?(checked: number): void;
}

/**
 * What the records of a tree add up to. Reads what was added since it was last asked, and nothing at all when that is
 * nothing: no verb costs more because history is long. What does not hold is reported and counts for nothing.
 */
export async function readHistory(
  source: Source,
  trust: Trust,
  options: HistoryOptions,
): Promise<{ history: History; findings: Finding[] }> {
  const findings: Finding[] = [];
  const report: Report = (found) => findings.push(found);
  const now = await findSessions(source, report);
  if (!now) return { history: emptyHistory(), findings };
  const cache = openHistoryCache(now.oid ? options.cacheFolder : null);
  const known = now.oid ? cache.get(now.oid) : null;
  if (known && isStillTrusted(known, trust)) return { history: known.history, findings };
  const { state, folders } =
    (await findBase(source, now, trust, cache, report)) ?? (await fromNothing(source, now, trust, report));
  await foldSessions(state.history, folders, { source, trust, ...options, onSession: noting(state, trust) }, report);
  if (now.oid && findings.length === 0) cache.save({ ...state, sessions: now.oid, recordBytes: maxBytes(trust) });
  findings.sort((a, b) => ((a.path ?? '') < (b.path ?? '') ? -1 : 1));
  return { history: state.history, findings };
}

export async function findSessions(source: Source, report: Report): Promise<Entry | null> {
  const top = (await source.root()).find(({ name }) => name === ROOT);
  const rooms = top && isFolder(top, report) ? await listUnique(source, top, report) : [];
  const sessions = rooms.find(({ name }) => name === 'sessions');
  return sessions && isFolder(sessions, report) ? sessions : null;
}

/** A state, and the folders that are not in it yet. */
interface Base {
  state: HistoryState;
  folders: SessionFolder[];
}

/** The newest state that this tree has grown from. */
async function findBase(
  source: Source,
  now: Entry,
  trust: Trust,
  cache: HistoryCache,
  report: Report,
): Promise<Base | null> {
  for (const state of cache.all()) {
    if (!isStillTrusted(state, trust)) continue;
    const findings: Finding[] = [];
    const folders = await readGrowth(source, { ...now, oid: state.sessions }, now, (found) =>
      findings.push(found),
    ).catch(nullIfGone);
    if (!folders || folders.some((folder) => isCopy(folder, state))) continue;
    findings.forEach(report);
    return { state, folders };
  }
  return null;
}

/** The objects of a branch that was deleted go away in time. If those of this tree are gone, the next reading says so. */
function nullIfGone(error: unknown): null {
  if (error instanceof HandoffError && error.code === 'io') return null;
  throw error;
}

/** A new folder may hold a session that is elsewhere already. To tell, both must be read. SPEC §6.6 */
function isCopy(folder: SessionFolder, { sids }: HistoryState): boolean {
  return folder.isNew && sids.includes(sidOf(folder));
}

async function fromNothing(source: Source, now: Entry, trust: Trust, report: Report): Promise<Base> {
  const folders = (await readGrowth(source, null, now, report))!;
  const { repoId } = trust;
  const history = emptyHistory();
  return { state: { sessions: '', repoId, recordBytes: maxBytes(trust), owners: [], sids: '', history }, folders };
}

/** Keeps account of what the verdict rests on. */
function noting(state: HistoryState, trust: Trust): (folder: SessionFolder, records: readonly PlacedRecord[]) => void {
  return (folder, records) => {
    if (folder.isNew) state.sids += ` ${sidOf(folder)}`;
    const identity = trust.identities.get(folder.owner);
    if (identity) noteKeys(state.owners, identity, records);
  };
}

function noteKeys(owners: Owner[], { name, role, keys }: Identity, records: readonly PlacedRecord[]): void {
  const labels = new Map(keys.map((key) => [key.fingerprint, labelOf(key)]));
  const known = owners.find((owner) => owner.name === name);
  const owner = known ?? { name, role, fingerprints: [] };
  if (!known) owners.push(owner);
  owner.fingerprints = [
    ...new Set([...owner.fingerprints, ...records.map(({ record }) => labels.get(record.fingerprint)!)]),
  ];
}
