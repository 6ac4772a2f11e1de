import { type Finding, HandoffError, hasErrors } from '../../core/error.ts';
import { groupBy } from '../../core/group-by.ts';
import { ROOT, taskPath } from '../../core/paths.ts';
import type { PlacedRecord } from '../../core/record/record-summary.ts';
import type { Suite } from '../../core/record/verify.ts';
import { emptyHistory, type History } from '../../core/session/history.ts';
import { dropOldTasks, hasTooManyTasks } from '../../core/task/state.ts';
import type { Trust } from '../../core/trust/trust.ts';
import type { Report } from '../finding.ts';
import { type Entry, FOLDER, find, type Source } from '../source/source.ts';
import { isFolder, listUnique } from '../tree/layout.ts';
import { foldSessions, sidOf } from '../tree/session-records.ts';
import { readGrowth, type SessionFolder } from './growth.ts';
import {
  type HistoryCache,
  type HistoryState,
  isStillTrusted,
  labelsOf,
  type Owner,
  openHistoryCache,
  standingOf,
} from './history-cache.ts';

export interface HistoryOptions {
  suite: Suite;
  /** The folder where states are kept between runs; its name says which build wrote them. Null: nowhere. */
  cacheFolder: string | null;
  /** Another one, of whose states this may have grown. */
  baseFolder?: string | null;
  onProgress?(checked: number): void;
}

export interface ReadHistory {
  history: History;
  /** About what was read now. */
  findings: Finding[];
  /** Identities whose records count for nothing, because their keys were revoked. */
  distrusted: readonly string[];
}

/**
 * What the records of a tree add up to. Reads what was added since it was last asked, and nothing at all when that is
 * nothing: no verb costs more because history is long. What does not hold is reported and counts for nothing.
 */
export async function readHistory(source: Source, trust: Trust, options: HistoryOptions): Promise<ReadHistory> {
  const findings: Finding[] = [];
  const report: Report = (found) => findings.push(found);
  const now = await findSessions(source, report);
  if (!now) return { history: emptyHistory(), findings, distrusted: [] };
  const cache = openHistoryCache(now.oid ? options.cacheFolder : null);
  const cached = now.oid ? cache.get(now.oid) : null;
  if (cached && isStillTrusted(cached, trust)) return { ...cached, findings };
  const others = openHistoryCache(now.oid ? (options.baseFolder ?? null) : null);
  const { state, folders } =
    (await findBase(source, now, trust, cache, report)) ??
    (await findBase(source, now, trust, others, report)) ??
    (await fromNothing(source, now, trust, report));
  await foldSessions(state.history, folders, { source, trust, ...options, onSession: noting(state, trust) }, report);
  for (const { path } of findings.filter(({ severity }) => severity === 'warning')) noteDistrust(state, path!);
  if (hasTooManyTasks(state.history.tasks)) dropOldTasks(state.history.tasks, await definedTasks(source));
  if (now.oid && !hasErrors(findings)) cache.save({ ...state, sessions: now.oid });
  findings.sort((a, b) => ((a.path ?? '') < (b.path ?? '') ? -1 : 1));
  return { ...state, findings };
}

export async function findSessions(source: Source, report: Report): Promise<Entry | null> {
  const top = (await source.root()).find(({ name }) => name === ROOT);
  const rooms = top && isFolder(top, report) ? await listUnique(source, top, report) : [];
  const sessions = rooms.find(({ name }) => name === 'sessions');
  return sessions && isFolder(sessions, report) ? sessions : null;
}

/** By the names of their files: what is in those is for others to judge. */
async function definedTasks(source: Source): Promise<(id: string) => boolean> {
  const folder = await find(source, `${ROOT}/tasks`);
  const files = folder?.mode === FOLDER ? await source.list(folder) : [];
  const paths = new Set(files.map(({ path }) => path));
  return (id) => paths.has(taskPath(id));
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
    if (!folders || hasCopies(folders, state)) continue;
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

/** A new folder may hold a session of which its identity has another folder. To tell, both must be read. SPEC §6.6 */
function hasCopies(folders: readonly SessionFolder[], { owners }: HistoryState): boolean {
  const arrived = groupBy(
    folders.filter(({ isNew }) => isNew),
    ({ owner }) => owner,
  );
  return owners.some(({ name, sids }) => mentionsAny(sids, (arrived.get(name) ?? []).map(sidOf)));
}

/** Few are looked for in the text; for many it is taken apart, once. */
function mentionsAny(sids: string, wanted: readonly string[]): boolean {
  if (wanted.length <= FEW) return wanted.some((sid) => sids.includes(sid));
  const present = new Set(sids.split(' '));
  return wanted.some((sid) => present.has(sid));
}

const FEW = 16;

async function fromNothing(source: Source, now: Entry, trust: Trust, report: Report): Promise<Base> {
  const folders = (await readGrowth(source, null, now, report))!;
  const { repoId } = trust;
  const history = emptyHistory();
  return { state: { sessions: '', repoId, owners: [], distrusted: [], history }, folders };
}

/** Keeps account of what the verdict rests on: distrusted records too, since their keys may count elsewhere. */
function noting(
  state: HistoryState,
  trust: Trust,
): (folder: SessionFolder, records: readonly PlacedRecord[], fingerprints: readonly string[]) => void {
  return (folder, _, fingerprints) => {
    const owner = noteKeys(state.owners, folder.owner, fingerprints, trust);
    if (owner && folder.isNew) owner.sids += ` ${sidOf(folder)}`;
  };
}

function noteKeys(owners: Owner[], name: string, fingerprints: readonly string[], trust: Trust): Owner | null {
  const standing = standingOf(name, trust);
  if (standing === null) return null;
  const labels = labelsOf(name, trust);
  const found = owners.find((owner) => owner.name === name);
  const owner: Owner = found ?? { name, standing, fingerprints: [], sids: '' };
  if (!found) owners.push(owner);
  owner.fingerprints = [...new Set([...owner.fingerprints, ...fingerprints.map((print) => labels.get(print)!)])];
  return owner;
}

function noteDistrust(state: HistoryState, path: string): void {
  const owner = path.split('/')[2]!;
  if (!state.distrusted.includes(owner)) state.distrusted.push(owner);
}
