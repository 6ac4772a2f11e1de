import { join } from 'node:path';
import { parseJson } from '../../core/bytes/json.ts';
import { HandoffError } from '../../core/error.ts';
import { groupBy } from '../../core/group-by.ts';
import { MAX_RECORD_BYTES } from '../../core/limits.ts';
import { isOfKind } from '../../core/record/kinds.ts';
import { parseSessionRecord } from '../../core/record/record.ts';
import type { PlacedRecord } from '../../core/record/record-summary.ts';
import { type Suite, verifyRecord } from '../../core/record/verify.ts';
import type { TracedRecord } from '../../core/task/state.ts';
import type { Trust } from '../../core/trust/trust.ts';
import { isOid } from '../../git/objects/asked-name.ts';
import { findSessions } from '../history/history.ts';
import { type Entry, FILE, FOLDER, type Source } from '../source/source.ts';
import { dropCached, newestCached, readCached, writeCached } from '../tree/cache.ts';
import { type Covered, readUncovered } from './growth.ts';
import { openShards, type Shards } from './shards.ts';
import { isStanding, isTrusted } from './standing.ts';
import { type KeptTrace, keys, keysOf } from './trace.ts';

/**
 * What the sessions of a tree say about something that is named: all of it, however much there is and whatever came after. A history
 * is bounded and forgets: it is there to be shown. Verdicts ask here. Records that do not hold say nothing.
 */
export interface Evidence {
  /** Their changes, their thoughts, and whoever wrote under their locks. */
  ofTasks(ids: Iterable<string>): Promise<TracedRecord[]>;
  /** For each session, one record for each number of these locks that it wrote under. */
  holdersOf(tasks: Iterable<string>): Promise<TracedRecord[]>;
  reviewsOf(thoughts: Iterable<string>): Promise<TracedRecord<'review'>[]>;
  waiversOf(commits: Iterable<string>): Promise<TracedRecord<'waiver'>[]>;
  /** The thoughts that name one of these commits, or say that their change is one of these patches. */
  thoughtsAbout(commits: Iterable<string>, patchIds: Iterable<string>): Promise<PlacedRecord<'thought'>[]>;
}

export interface EvidenceOptions {
  suite: Suite;
  /** Where it is kept between runs; its name says which build wrote it. Null: nowhere. */
  cacheFolder: string | null;
  onProgress?(checked: number): void;
}

/** Nothing is read before something is asked. */
export function openEvidence(source: Source, trust: Trust, options: EvidenceOptions): Evidence {
  let opened: Promise<Opened | null> | undefined;
  const find = async (wanted: string[]): Promise<KeptTrace[]> => {
    if (wanted.length === 0) return [];
    opened ??= open(source, trust, options);
    const { shards, sessions } = (await opened) ?? {};
    if (!shards || !sessions) return [];
    return present(source, sessions, unique(shards.find(wanted).filter((trace) => isTrusted(trace, trust))));
  };
  return {
    ofTasks: (ids) => find(taskKeys(ids)),
    holdersOf: (tasks) => find([...tasks].map(keys.lock)),
    reviewsOf: async (thoughts) => (await find([...thoughts].map(keys.reviewOf))).filter(isOfKind('review')),
    waiversOf: async (commits) => (await find([...commits].map(keys.waiverOf))).filter(isOfKind('waiver')),
    thoughtsAbout: async (commits, patchIds) =>
      readWhole(source, await find(thoughtKeys(commits, patchIds)), trust, options.suite),
  };
}

/** Those that are in no tree yet count as well. */
export function withRecords(evidence: Evidence | null, records: readonly PlacedRecord[]): Evidence {
  const named = (wanted: readonly string[]): PlacedRecord[] => {
    const asked = new Set(wanted);
    return records.filter((placed) => keysOf(placed).some((key) => asked.has(key)));
  };
  return {
    ofTasks: async (ids) => [...((await evidence?.ofTasks(ids)) ?? []), ...named(taskKeys(ids))],
    holdersOf: async (tasks) => [...((await evidence?.holdersOf(tasks)) ?? []), ...named([...tasks].map(keys.lock))],
    reviewsOf: async (thoughts) => [
      ...((await evidence?.reviewsOf(thoughts)) ?? []),
      ...named([...thoughts].map(keys.reviewOf)).filter(isOfKind('review')),
    ],
    waiversOf: async (commits) => [
      ...((await evidence?.waiversOf(commits)) ?? []),
      ...named([...commits].map(keys.waiverOf)).filter(isOfKind('waiver')),
    ],
    thoughtsAbout: async (commits, patchIds) => [
      ...((await evidence?.thoughtsAbout(commits, patchIds)) ?? []),
      ...named(thoughtKeys(commits, patchIds)).filter(isOfKind('thought')),
    ],
  };
}

function taskKeys(ids: Iterable<string>): string[] {
  return [...ids].flatMap((id) => [keys.task(id), keys.lock(id)]);
}

function thoughtKeys(commits: Iterable<string>, patchIds: Iterable<string>): string[] {
  return [...[...commits].map(keys.thoughtOn), ...[...patchIds].map(keys.thoughtOfPatch)];
}

interface Opened {
  sessions: Entry;
  shards: Shards;
}

async function open(source: Source, trust: Trust, options: EvidenceOptions): Promise<Opened | null> {
  const sessions = await findSessions(source, () => {});
  if (!sessions) return null;
  const folder = sessions.oid ? options.cacheFolder : null;
  const place = folder && join(folder, trust.repoId.slice(0, 16));
  const states = place && join(place, 'covered');
  const shards = openShards(place);
  const same = states === null ? null : readCovered(states, sessions.oid!);
  if (same?.isWhole && same.standings.every((standing) => isStanding(standing, trust))) return { sessions, shards };
  let isKept = true;
  const read = (covered: Covered | null) =>
    readUncovered(sessions, covered, { source, trust, ...options }, (kept, reached) => {
      isKept = shards.add(kept) && isKept;
      if (states !== null && isKept) saveCovered(states, reached);
    });
  const covered = same ?? (states === null ? null : newestCovered(states));
  await read(covered).catch((error) => {
    if (covered === null || !isGone(error)) throw error;
    return read(null);
  });
  return { sessions, shards };
}

/** The objects of a branch that was deleted go away in time. If those of this tree are gone, the next reading says so. */
function isGone(error: unknown): boolean {
  return error instanceof HandoffError && error.code === 'io';
}

/** A branch or two, and where they were before. */
const STATES = 8;

function newestCovered(states: string): Covered | null {
  const name = newestCached(states).find(isOid);
  return name === undefined ? null : readCovered(states, name);
}

function readCovered(states: string, name: string): Covered | null {
  return parseJson(readCached(join(states, name)));
}

function saveCovered(states: string, covered: Covered): void {
  writeCached(join(states, covered.sessions), covered);
  for (const name of newestCached(states).slice(STATES)) dropCached(join(states, name));
}

/** Two processes may have kept the same. */
function unique(traces: readonly KeptTrace[]): KeptTrace[] {
  return [...new Map(traces.map((trace) => [`${trace.blob} ${trace.path}`, trace])).values()];
}

/** Those that this tree has, at their place and with these bytes. */
async function present(source: Source, sessions: Entry, traces: readonly KeptTrace[]): Promise<KeptTrace[]> {
  const owners = new Map((await source.list(sessions)).map((entry) => [entry.name, entry]));
  const found: KeptTrace[] = [];
  for (const [name, own] of groupBy(traces, ({ owner }) => owner)) {
    const owner = owners.get(name);
    const folders = owner?.mode === FOLDER ? await source.list(owner) : [];
    const byPath = new Map(folders.map((folder) => [folder.path, folder]));
    const groups = [...groupBy(own, ({ path }) => path.slice(0, path.lastIndexOf('/')))];
    const inFolders = groups.map(([path, group]) => presentIn(source, byPath.get(path), group));
    for (const traces of await Promise.all(inFolders)) for (const trace of traces) found.push(trace);
  }
  return found;
}

/** The folder of a session that has ended is what it was when it was read. */
async function presentIn(source: Source, folder: Entry | undefined, traces: KeptTrace[]): Promise<KeptTrace[]> {
  if (folder?.mode !== FOLDER) return [];
  if (traces.every(({ tree }) => tree === folder.oid)) return traces;
  const files = new Map((await source.list(folder)).map((file) => [file.path, file]));
  return traces.filter(({ path, blob }) => files.get(path)?.mode === FILE && files.get(path)?.oid === blob);
}

/** A trace that was kept tells where a record is. What the record says is read from bytes that are verified here. */
async function readWhole(
  source: Source,
  traces: readonly KeptTrace[],
  trust: Trust,
  suite: Suite,
): Promise<PlacedRecord<'thought'>[]> {
  const entries = traces.map(({ path, blob }) => ({ path, name: path.split('/').at(-1)!, mode: FILE, oid: blob }));
  const contents = await source.readAll(entries, MAX_RECORD_BYTES);
  const verify = async ({ path, owner }: KeptTrace, bytes: Uint8Array | HandoffError): Promise<PlacedRecord> => {
    if (bytes instanceof HandoffError) throw bytes;
    const { keys } = trust.identities.get(owner)!; // `isTrusted` has found it, with the key that signed
    return { path, record: await verifyRecord(parseSessionRecord(bytes), keys, suite) };
  };
  const whole = await Promise.all(traces.map((trace, at) => verify(trace, contents[at]!)));
  return whole.filter(isOfKind('thought'));
}
